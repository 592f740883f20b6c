package edit

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/setting"
	"github.com/almanac-cal/almanac/internal/store"
)

// passwordSetting is the id of the setting that stores the result of PasswordKey.
const passwordSetting = "event_password_key"

// PasswordKey returns the secret key for hashes of event passwords: 32 random bytes that all processes of one
// database share. The first call creates and stores it.
func PasswordKey(ctx context.Context, db *ent.Client) ([]byte, error) {
	return sharedKey(ctx, db, passwordSetting, sha256.Size)
}

// CheckSameCalendar returns nil if the database has the given PasswordKey, so that it is a replica or another
// server of the same cluster. For a database of another calendar it returns store.ErrUnfit.
func CheckSameCalendar(ctx context.Context, db *ent.Client, key []byte) error {
	s, err := db.Setting.Get(ctx, passwordSetting)
	if err != nil {
		return fmt.Errorf("setting %s: %w", passwordSetting, err)
	}
	if !bytes.Equal(s.Value, key) {
		return fmt.Errorf("%w: it has another calendar", store.ErrUnfit)
	}
	return nil
}

// sharedKey returns a random key of size bytes that is stored as a setting with the given name. The first call on
// a database creates it.
func sharedKey(ctx context.Context, db *ent.Client, name string, size int) ([]byte, error) {
	s, err := db.Setting.Get(ctx, name)
	if err == nil {
		return s.Value, nil
	}
	if !ent.IsNotFound(err) {
		return nil, fmt.Errorf("setting %s: %w", name, err)
	}
	key := make([]byte, size)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("setting %s: %w", name, err)
	}
	// If two processes create the key at the same time, the first insert wins. The second process reads that
	// key.
	err = db.Setting.Create().SetID(name).SetValue(key).
		OnConflict(sql.ConflictColumns(setting.FieldID)).Ignore().Exec(ctx)
	if err != nil {
		return nil, fmt.Errorf("setting %s: %w", name, err)
	}
	if s, err = db.Setting.Get(ctx, name); err != nil {
		return nil, fmt.Errorf("setting %s: %w", name, err)
	}
	return s.Value, nil
}

// HashPassword returns the stored hash of an event password: HMAC-SHA256 over the id (8 bytes, big endian) and
// the password. A slow hash would cost much: a list compares the password of a request with that of each event.
// It would protect little, because all readers of the event know the password.
func HashPassword(key []byte, eventID int64, password string) []byte {
	var id [8]byte
	binary.BigEndian.PutUint64(id[:], uint64(eventID)) //nolint:gosec // ids are positive
	mac := hmac.New(sha256.New, key)
	mac.Write(id[:])
	mac.Write([]byte(password))
	return mac.Sum(nil)
}

// PasswordMatches reports in constant time whether the password is that of the event. It reports false for an
// event without a password. The hash is keyed with row.PasswordID, the id of the event or series for which the
// password was sent. Nil means the id of the event itself.
func PasswordMatches(key []byte, row *ent.Event, password string) bool {
	return row.PasswordHash != nil &&
		hmac.Equal(HashPassword(key, ValueOr(row.ID, row.PasswordID), password), *row.PasswordHash)
}

// HasPassword reports whether an event has a password. A hash that is NULL may be read as a pointer to an empty
// slice.
func HasPassword(row *ent.Event) bool { return row.PasswordHash != nil && len(*row.PasswordHash) > 0 }
