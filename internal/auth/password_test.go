package auth

import (
	"errors"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/proof/must"
)

func TestPasswordMatchesOnlyItself(t *testing.T) {
	phc, err := hashPassword("zażółć gęślą jaźń")
	must.Succeed(t, err)
	if want := "$argon2id$v=19$m=19456,t=2,p=1$"; !strings.HasPrefix(phc, want) {
		t.Errorf("got %s, want %s…", phc, want)
	}
	h, err := parseHash(phc)
	must.Succeed(t, err)
	if h.String() != phc {
		t.Errorf("read and written again: got %s, want %s", h, phc)
	}
	tests := []struct {
		name, password string
		want           bool
	}{
		{"the same", "zażółć gęślą jaźń", true},
		{"typed with combining accents", "zaz\u0307o\u0301łc\u0301 ge\u0328s\u0301la\u0328 jaz\u0301n\u0301", true},
		{"other case", "Zażółć gęślą jaźń", false},
		{"without accents", "zazolc gesla jazn", false},
		{"with a space more", "zażółć gęślą jaźń ", false},
		{"empty", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := h.matches(tt.password); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}

func TestEqualPasswordsHaveDifferentHashes(t *testing.T) {
	one, err := hashPassword("correct horse")
	must.Succeed(t, err)
	other, err := hashPassword("correct horse")
	must.Succeed(t, err)
	if one == other {
		t.Error("no salt")
	}
}

func TestPasswordsThatCannotBeSet(t *testing.T) {
	tests := []struct{ name, password string }{
		{"seven characters", "1234567"},
		{"seven characters of more bytes", "żżżżżżż"},
		{"longer than 1024 bytes", strings.Repeat("x", 1025)},
		{"control character", "correct\thorse"},
		{"not UTF-8", "correct horse \xff"},
		{"token", newSecret()},
		{"token with spaces", strings.Replace(newSecret(), "_", "_ ", 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := hashPassword(tt.password); !errors.Is(err, ErrPassword) {
				t.Errorf("got %v, want %v", err, ErrPassword)
			}
		})
	}
}

func TestParseHash(t *testing.T) {
	const salt, key = "c29tZXNhbHQ", "MDEyMzQ1Njc4OWFiY2RlZg" // 8 and 16 bytes
	tests := []struct {
		name, phc string
		ok        bool
	}{
		{"least", "$argon2id$v=19$m=8,t=1,p=1$" + salt + "$" + key, true},
		{"most", "$argon2id$v=19$m=131072,t=10,p=8$" + salt + "$" + key, true},
		{"empty", "", false},
		{"other algorithm", "$argon2i$v=19$m=8,t=1,p=1$" + salt + "$" + key, false},
		{"bcrypt", "$2y$10$abcdefghijklmnopqrstuuAbcdefghijklmnopqrstuvwxyzABCDEF", false},
		{"other version", "$argon2id$v=16$m=8,t=1,p=1$" + salt + "$" + key, false},
		{"no version", "$argon2id$m=8,t=1,p=1$" + salt + "$" + key, false},
		{"text before", "x$argon2id$v=19$m=8,t=1,p=1$" + salt + "$" + key, false},
		{"text behind", "$argon2id$v=19$m=8,t=1,p=1$" + salt + "$" + key + "$", false},
		{"too much memory", "$argon2id$v=19$m=131073,t=1,p=1$" + salt + "$" + key, false},
		{"memory beyond 64 bits", "$argon2id$v=19$m=99999999999999999999,t=1,p=1$" + salt + "$" + key, false},
		{"too little memory for the threads", "$argon2id$v=19$m=15,t=1,p=2$" + salt + "$" + key, false},
		{"too many passes", "$argon2id$v=19$m=8,t=11,p=1$" + salt + "$" + key, false},
		{"no passes", "$argon2id$v=19$m=8,t=0,p=1$" + salt + "$" + key, false},
		{"too many threads", "$argon2id$v=19$m=131072,t=1,p=9$" + salt + "$" + key, false},
		{"no threads", "$argon2id$v=19$m=8,t=1,p=0$" + salt + "$" + key, false},
		{"sign", "$argon2id$v=19$m=8,t=+1,p=1$" + salt + "$" + key, false},
		{"leading zero", "$argon2id$v=19$m=08,t=1,p=1$" + salt + "$" + key, false},
		{"other order", "$argon2id$v=19$t=1,m=8,p=1$" + salt + "$" + key, false},
		{"parameter missing", "$argon2id$v=19$m=8,t=1$" + salt + "$" + key, false},
		{"parameter more", "$argon2id$v=19$m=8,t=1,p=1,data=x$" + salt + "$" + key, false},
		{"short salt", "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbA$" + key, false},
		{"padded salt", "$argon2id$v=19$m=8,t=1,p=1$" + salt + "=$" + key, false},
		{"short key", "$argon2id$v=19$m=8,t=1,p=1$" + salt + "$MDEyMzQ1Njc4OWFiY2Rl", false},
		{"no key", "$argon2id$v=19$m=8,t=1,p=1$" + salt + "$", false},
		{"line break in the key", "$argon2id$v=19$m=8,t=1,p=1$" + salt + "$" + key[:4] + "\n" + key[4:], false},
		{"key not canonical", "$argon2id$v=19$m=8,t=1,p=1$" + salt + "$" + key[:21] + "h", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, err := parseHash(tt.phc)
			if (err == nil) != tt.ok {
				t.Fatalf("got %v, want ok %t", err, tt.ok)
			}
			if err != nil && !errors.Is(err, errHash) {
				t.Errorf("got %v, want %v", err, errHash)
			}
			if err == nil && h.String() != tt.phc {
				t.Errorf("got %s, want %s", h, tt.phc)
			}
		})
	}
}

func FuzzParseHash(f *testing.F) {
	f.Add("$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$MDEyMzQ1Njc4OWFiY2RlZg")
	f.Add("$argon2id$v=19$m=08,t=1,p=1$$")
	f.Add("$$$$$")
	f.Fuzz(func(t *testing.T, phc string) {
		h, err := parseHash(phc)
		if err != nil {
			return
		}
		if h.String() != phc {
			t.Errorf("%q is written as %q", phc, h)
		}
		if h.memory > maxHashMemory || h.passes > maxHashPasses || h.threads > maxHashThreads {
			t.Errorf("%q asks for too much", phc)
		}
	})
}
