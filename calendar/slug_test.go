package calendar

import (
	"strings"
	"testing"
)

func TestSlug(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"words", "Jazz in the Park", "jazz-in-the-park"},
		{"polish letters", "Zażółć gęślą jaźń w Łodzi", "zazolc-gesla-jazn-w-lodzi"},
		{"spanish letters", "Año Nuevo: ¡Feliz!", "ano-nuevo-feliz"},
		{"decomposed accents", "Man\u0303ana Łódz\u0301", "manana-lodz"},
		{"german letters", "Straße Ärger", "strasse-arger"},
		{"cyrillic with a soft sign", "Большой театр", "bolshoi-teatr"},
		{"syllables are words", "北京 2026", "bei-jing-2026"},
		{"vowel signs belong to letters", "हिन्दी", "hindii"},
		{"digits of other scripts", "٢٠٢٦", "2026"},
		{"symbols are not letters", "10 € ½ ™", "10"},
		{"emoji in a keycap", "Top 1️⃣0️⃣", "top-10"},
		{"punctuation collapses", "Rock ’n’ Roll -- & more!!", "rock-n-roll-more"},
		{"slashes and dots", "a/b.c", "a-b-c"},
		{"apostrophes", "Queen's King’s ‘Rock’ Hawaiʼi", "queens-kings-rock-hawaii"},
		{"quotation marks", `"a" “b” „c‟ «d» ‹e›`, "a-b-c-d-e"},
		{"only quotation marks", `"'"`, ""},
		{"underscores stay", "snake_case __ x", "snake_case-__-x"},
		{"only an underscore", " _ ", "_"},
		{"ends are trimmed", "--- a ---", "a"},
		{"trashed stays", "gig__trashed", "gig__trashed"},
		{"a percent sign is not decoded", "100%25", "100-25"},
		{"html is not understood", "<b>x</b>", "b-x-b"},
		{"control characters", "a\x00b\x7fc\td", "a-b-c-d"},
		{"invalid UTF-8", "a\xff\xfeb", "a-b"},
		{"emoji only", "🎉🎉", ""},
		{"punctuation only", "?!", ""},
		{"nothing", "", ""},
		{"cut", strings.Repeat("a", 300), strings.Repeat("a", 200)},
		{"cut between words", strings.Repeat("a", 199) + " b", strings.Repeat("a", 199)},
		{"cut after transliteration", strings.Repeat("щ", 100), strings.Repeat("shch", 50)},
		{"long nonsense", strings.Repeat("!", 1<<20) + "a", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Slug(test.text); got != test.want {
				t.Errorf("Slug(%.50q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

func TestKindSlug(t *testing.T) {
	if got := Event.Slug(15); got != "event-15" {
		t.Errorf("got %q", got)
	}
	if got := Category.Slug(3); got != "category-3" {
		t.Errorf("got %q", got)
	}
}

func TestNumberedSlug(t *testing.T) {
	long := strings.Repeat("a", MaxSlug)
	tests := []struct {
		name, base string
		n          int
		want       string
	}{
		{"short", "gig", 2, "gig-2"},
		{"a number already", "gig-2", 3, "gig-2-3"},
		{"cut", long, 10, long[:197] + "-10"},
		{"cut at a dash", long[:197] + "-bc", 2, long[:197] + "-2"},
		{"trashed", "gig__trashed", 2, "gig__trashed-2"},
		{"trashed and cut", long + "__trashed", 2, long[:189] + "__trashed-2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := NumberedSlug(test.base, test.n)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if Slug(got) != got {
				t.Errorf("%q is no slug", got)
			}
		})
	}
}

func TestTrashedSlug(t *testing.T) {
	long := strings.Repeat("a", MaxSlug)
	for _, s := range []string{"", "gig", "gig-2", "gig__trashed", "gig__trashed-2", long} {
		if got := UntrashedSlug(TrashedSlug(s)); got != s {
			t.Errorf("%q came back as %q", s, got)
		}
	}
	tests := []struct{ in, trashed, untrashed string }{
		{"", "", ""},
		{"gig", "gig__trashed", "gig"},
		{"gig-2", "gig-2__trashed", "gig-2"},
		{"gig__trashed", "gig__trashed__trashed", "gig"},
		{"gig__trashed-2", "gig__trashed-2__trashed", "gig"},
		{"gig__trashed-two", "gig__trashed-two__trashed", "gig__trashed-two"},
		{"gig__trashed-", "gig__trashed-__trashed", "gig__trashed-"},
	}
	for _, test := range tests {
		if got := TrashedSlug(test.in); got != test.trashed {
			t.Errorf("TrashedSlug(%q) = %q, want %q", test.in, got, test.trashed)
		}
		if got := UntrashedSlug(test.in); got != test.untrashed {
			t.Errorf("UntrashedSlug(%q) = %q, want %q", test.in, got, test.untrashed)
		}
	}
}

func TestEarlierSlugKey(t *testing.T) {
	for text, want := range map[string]string{
		"Queen's Hall": "queen-s-hall", "Queen\u2019s Hall": "queen-s-hall", "queens-hall": "", "queen-s-hall": "", "'Hall'": "",
	} {
		if got := EarlierSlugKey(text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestSlugKey(t *testing.T) {
	long := strings.Repeat("a", MaxSlug)
	tests := []struct{ name, text, want string }{
		{"short", "Jazz & Łódź", "jazz-lodz"},
		{"trashed", "gig__trashed", "gig__trashed"},
		{"longest in the trash", long + "__trashed", long + "__trashed"},
		{"too long", long + "bcdefghij", long},
		{"too long for the trash", long + "b__trashed", long},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := SlugKey(test.text); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func FuzzSlug(f *testing.F) {
	for _, seed := range []string{
		"", "Jazz in the Park", "Łódź", "a\u0301", "北京", "x__trashed", "-_-", "\xff", "🎉 party", "K",
		strings.Repeat("щ", 60), strings.Repeat("a-", 150),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := Slug(text)
		if len(s) > MaxSlug {
			t.Errorf("%d bytes", len(s))
		}
		if strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" || strings.Contains(s, "--") ||
			strings.HasPrefix(s, "-") || strings.HasSuffix(s, "-") {
			t.Errorf("%q is no slug", s)
		}
		if again := Slug(s); again != s {
			t.Errorf("the slug of %q is %q", s, again)
		}
		if key := SlugKey(s); key != s {
			t.Errorf("the key of %q is %q", s, key)
		}
		if key := SlugKey(TrashedSlug(s)); key != TrashedSlug(s) {
			t.Errorf("the key of trashed %q is %q", s, key)
		}
		if back := UntrashedSlug(TrashedSlug(s)); back != s {
			t.Errorf("%q came back from the trash as %q", s, back)
		}
		if n := NumberedSlug(s, 2); s != "" && (len(n) > MaxSlug || Slug(n) != n) {
			t.Errorf("numbered %q is %q", s, n)
		}
	})
}
