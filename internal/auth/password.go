package auth

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
)

// hashMemory, hashPasses, hashThreads, hashSalt and hashKey are the parameters of new password hashes. OWASP
// recommends them for argon2id.
const (
	hashMemory  = 19 * 1024 // KiB
	hashPasses  = 2
	hashThreads = 1
	hashSalt    = 16 // bytes
	hashKey     = 32 // bytes
)

// maxHashMemory, maxHashPasses and maxHashThreads are the largest accepted parameters of a stored hash. So a
// manipulated row cannot exhaust the process.
const (
	maxHashMemory  = 128 * 1024 // KiB
	maxHashPasses  = 10
	maxHashThreads = 8
)

// minPassword is the shortest password in characters, and maxPassword the longest in bytes.
const (
	minPassword = 8
	maxPassword = 1024
)

// ErrPassword means that a new password is not allowed. It has fewer than 8 characters, more than 1024 bytes,
// or control characters, or it looks like an access token. Text that is not valid UTF-8 is not allowed either.
var ErrPassword = errors.New("password must have at least 8 characters, at most 1024 bytes, no control characters, " +
	"and not look like an access token")

var errHash = errors.New("not a usable argon2id hash")

// passwordHash is a password hash with its parameters.
type passwordHash struct {
	memory  uint32 // KiB
	passes  uint32
	threads uint8
	salt    []byte
	key     []byte
}

// hashPassword checks and hashes a new password. This takes about 50 ms and 19 MiB.
func hashPassword(password string) (string, error) {
	if !utf8.ValidString(password) || strings.ContainsFunc(password, unicode.IsControl) || isToken(removeSpaces(password)) ||
		utf8.RuneCountInString(password) < minPassword || len(password) > maxPassword {
		return "", ErrPassword
	}
	h := newDummyHash()
	h.key = h.derive(password)
	return h.String(), nil
}

// newDummyHash returns a hash that no password matches. It is compared with the passwords of unknown users, so that a
// refusal takes the usual time. Its key is random, and its parameters are those of new hashes.
func newDummyHash() passwordHash {
	h := passwordHash{
		memory: hashMemory, passes: hashPasses, threads: hashThreads,
		salt: make([]byte, hashSalt), key: make([]byte, hashKey),
	}
	rand.Read(h.salt) // rand.Read never fails; without randomness it ends the program
	rand.Read(h.key)
	return h
}

// derive computes the key of a password. It normalises the password (NFC), because systems encode accents
// differently.
func (h passwordHash) derive(password string) []byte {
	return argon2.IDKey([]byte(norm.NFC.String(password)), h.salt, h.passes, h.memory, h.threads, uint32(len(h.key))) //nolint:gosec // at most 64 bytes
}

// matches reports in constant time whether h is the hash of the password.
func (h passwordHash) matches(password string) bool {
	return subtle.ConstantTimeCompare(h.derive(password), h.key) == 1
}

// String formats the hash in PHC format: $argon2id$v=19$m=19456,t=2,p=1$SALT$KEY.
func (h passwordHash) String() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.memory, h.passes, h.threads,
		base64.RawStdEncoding.EncodeToString(h.salt), base64.RawStdEncoding.EncodeToString(h.key))
}

// parseHash parses a hash in PHC format with any parameters within the limits. Its errors name the invalid part
// without its value.
func parseHash(phc string) (passwordHash, error) {
	parts := strings.Split(phc, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return passwordHash{}, fmt.Errorf("%w: form", errHash)
	}
	if parts[2] != "v="+strconv.Itoa(argon2.Version) {
		return passwordHash{}, fmt.Errorf("%w: version", errHash)
	}
	var h passwordHash
	settings := strings.Split(parts[3], ",")
	if len(settings) != 3 {
		return passwordHash{}, fmt.Errorf("%w: parameters", errHash)
	}
	m, okM := parseParameter(settings[0], "m=", maxHashMemory)
	t, okT := parseParameter(settings[1], "t=", maxHashPasses)
	p, okP := parseParameter(settings[2], "p=", maxHashThreads)
	if !okM || !okT || !okP || m < 8*p {
		return passwordHash{}, fmt.Errorf("%w: parameters", errHash)
	}
	h.memory, h.passes, h.threads = uint32(m), uint32(t), uint8(p) //nolint:gosec // all within the bounds above
	var err error
	if h.salt, err = decodeBase64(parts[4], 8, 64); err != nil {
		return passwordHash{}, fmt.Errorf("%w: salt", errHash)
	}
	if h.key, err = decodeBase64(parts[5], 16, 64); err != nil {
		return passwordHash{}, fmt.Errorf("%w: key", errHash)
	}
	return h, nil
}

// parseParameter parses one parameter of a hash in PHC format, such as t=2. It returns false if the value is
// not from 1 to limit.
func parseParameter(text, name string, limit uint64) (uint64, bool) {
	digits, ok := strings.CutPrefix(text, name)
	if !ok || strings.HasPrefix(digits, "0") {
		return 0, false
	}
	v, err := strconv.ParseUint(digits, 10, 32)
	return v, err == nil && v <= limit
}

// decodeBase64 decodes canonical base64 without padding. The result must have from least to most bytes.
func decodeBase64(text string, least, most int) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") { // the decoder would ignore these characters
		return nil, errHash
	}
	b, err := base64.RawStdEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < least || len(b) > most {
		return nil, errHash
	}
	return b, nil
}
