package edit_test

import (
	"bytes"
	"testing"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/internal/edittest"
)

func TestPasswordKeyIsShared(t *testing.T) {
	t.Parallel()
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		keys := make([][]byte, racers)
		race(t, func(i int) (err error) {
			keys[i], err = edit.PasswordKey(t.Context(), w.DB)
			return err
		})
		for _, k := range keys {
			if len(k) != 32 || !bytes.Equal(k, keys[0]) {
				t.Fatalf("keys of %d and %d bytes, equal: %t", len(k), len(keys[0]), bytes.Equal(k, keys[0]))
			}
		}
	})
}

func TestPasswordMatches(t *testing.T) {
	t.Parallel()
	key := []byte("key")
	hash := edit.HashPassword(key, 1, "secret")
	if len(hash) != 32 {
		t.Fatalf("%d bytes", len(hash))
	}
	tests := []struct {
		name     string
		key      string
		id       int64
		password string
		hash     *[]byte
		want     bool
	}{
		{"the same", "key", 1, "secret", &hash, true},
		{"another event", "key", 2, "secret", &hash, false},
		{"another key", "yek", 1, "secret", &hash, false},
		{"another case", "key", 1, "Secret", &hash, false},
		{"no hash", "key", 1, "secret", nil, false},
		{"empty hash", "key", 1, "", new([]byte), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := edit.PasswordMatches([]byte(tt.key), tt.id, tt.password, tt.hash); got != tt.want {
				t.Errorf("%t", got)
			}
		})
	}
}
