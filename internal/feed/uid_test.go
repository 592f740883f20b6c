package feed

import (
	"testing"

	"github.com/google/uuid"
)

// TestUID compares the UIDs of a fixed key with constants. A change of UIDs would show every event twice to every
// subscriber.
func TestUID(t *testing.T) {
	key := uuid.MustParse("5a6f1122-3344-5566-7788-99aabbccddee")
	tests := []struct{ name, got, want string }{
		{"an event", UID(key, 15), "abd5d90b-1c49-55fe-8333-45265f828753"},
		{"a series", SeriesUID(key, 15), "4beeed5d-cc31-54a5-bfd3-3c18a5c97db1"},
		{"of another database", UID(uuid.Max, 15), "80437cd8-a2b8-5a46-9fc9-b6840bc20860"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, tt.got, tt.want)
		}
	}
}
