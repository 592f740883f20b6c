package edit_test

import (
	"bytes"
	"testing"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/proof/edittest"
)

func TestPasswordKeyIsShared(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		keys := make([][]byte, edittest.Racers)
		edittest.RunConcurrently(t, func(i int) (err error) {
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
		row      ent.Event
		password string
		want     bool
	}{
		{"the same", "key", ent.Event{ID: 1, PasswordHash: &hash}, "secret", true},
		{"another event", "key", ent.Event{ID: 2, PasswordHash: &hash}, "secret", false},
		{"that of the first occurrence", "key", ent.Event{ID: 2, PasswordID: new(int64(1)), PasswordHash: &hash}, "secret", true},
		{"another key", "yek", ent.Event{ID: 1, PasswordHash: &hash}, "secret", false},
		{"another case", "key", ent.Event{ID: 1, PasswordHash: &hash}, "Secret", false},
		{"no hash", "key", ent.Event{ID: 1}, "secret", false},
		{"empty hash", "key", ent.Event{ID: 1, PasswordHash: new([]byte)}, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := edit.PasswordMatches([]byte(tt.key), &tt.row, tt.password); got != tt.want {
				t.Errorf("%t", got)
			}
		})
	}
}
