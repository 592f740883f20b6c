package calendar

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
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

func TestKeptSlug(t *testing.T) {
	japanese := strings.Repeat("%e6%97%a5", 22)
	tests := []struct{ name, text, kept, encoded string }{
		{"words", "Jazz in the Park", "jazz-in-the-park", "jazz-in-the-park"},
		{"encoded", "%e6%97%a5%e6%9c%ac", "%e6%97%a5%e6%9c%ac", "%e6%97%a5%e6%9c%ac"},
		{"encoded in upper case", "%E6%97%A5-Jazz", "%e6%97%a5-jazz", "%e6%97%a5-jazz"},
		{"native", "日本 żółw", "ri-ben-zolw", "%e6%97%a5%e6%9c%ac-%c5%bc%c3%b3%c5%82w"},
		{"both", "%e6%97%a5本", "%e6%97%a5ben", "%e6%97%a5%e6%9c%ac"},
		{"greek", "Συναυλία", "sunaulia", "%cf%83%cf%85%ce%bd%ce%b1%cf%85%ce%bb%ce%af%ce%b1"},
		{"capital letters", "%d0%9f%D0%A0", "%d0%bf%d1%80", "%d0%bf%d1%80"},
		{"capitals that become ASCII", "%e2%84%aa%C4%B0", "ki", "ki"},
		{"emoji", "🎉", "", "%f0%9f%8e%89"},
		{"encoded signs", "7%e2%80%b2-a%cc%81", "7%e2%80%b2-a%cc%81", "7%e2%80%b2-a%cc%81"},
		{"encoded quotation marks", "queen%e2%80%99s", "queen%e2%80%99s", "queen%e2%80%99s"},
		{"a replacement character", "%ef%bf%bd", "%ef%bf%bd", "%ef%bf%bd"},
		{"only ASCII is encoded", "100%25%20%2f%41", "100-25-20-2f-41", "100-25-20-2f-41"},
		{"percent signs", "50% off %zz %", "50-off-zz", "50-off-zz"},
		{"incomplete", "%e6%97", "e6-97", "e6-97"},
		{"overlong and surrogates", "%c0%af%ed%a0%80", "c0-af-ed-a0-80", "c0-af-ed-a0-80"},
		{"encoded twice", "%25e6%2597%25a5", "25e6-2597-25a5", "25e6-2597-25a5"},
		{"invalid UTF-8", "a\xe6\x97b", "a-b", "a-b"},
		{"an invalid byte after half a character", "%e6%97\xa5", "e6-97", "e6-97"},
		{"cut before a character", japanese + "%e6%97%a5", japanese, japanese},
		{"cut before a dash", japanese[:189] + "-%e6%97%a5x", japanese[:189] + "-%e6%97%a5x", japanese[:189] + "-%e6%97%a5x"},
		{"cut after the dash", japanese + "-%e6%97%a5", japanese, japanese},
		{"long native text", strings.Repeat("日", 1<<20), strings.Repeat("ri-", 66) + "ri", japanese},
		{"nothing", "", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := KeptSlug(test.text); got != test.kept {
				t.Errorf("kept: got %q, want %q", got, test.kept)
			}
			if got := EncodedSlug(test.text); got != test.encoded {
				t.Errorf("encoded: got %q, want %q", got, test.encoded)
			}
		})
	}
}

func TestEncodedSlugsAreCutBetweenCharacters(t *testing.T) {
	long := strings.Repeat("%e6%97%a5", 22)
	for _, test := range []struct{ name, got, want string }{
		{"number", NumberedSlug(long+"xx", 10), long[:189] + "-10"},
		{"number and trash", NumberedSlug(TrashedSlug(long), 2), long[:189] + "__trashed-2"},
		{"occurrence", OccurrenceSlug(long, WallAt(2026, 12, 5, 18, 0, 0)), long[:180] + "-2026-12-05"},
		{"occurrence after a letter", OccurrenceSlug("x"+long, WallAt(2026, 12, 5, 18, 0, 0)), "x" + long[:171] + "-2026-12-05"},
		{"four bytes", NumberedSlug(strings.Repeat("%f0%9f%8e%89", 16)+"abcdefgh", 2), strings.Repeat("%f0%9f%8e%89", 16) + "abcdef-2"},
		{"within four bytes", cutSlug(strings.Repeat("%f0%9f%8e%89", 2), 23), "%f0%9f%8e%89"},
		{"out of the trash", UntrashedSlug(TrashedSlug(long)), long},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, test.got, test.want)
		}
	}
}

func TestDecodedSlug(t *testing.T) {
	for slug, want := range map[string]string{
		"jazz": "jazz", "%e6%97%a5%E6%9C%AC-2": "日本-2", "100%25": "100%25", "%e6%97": "%e6%97", "%": "%", "": "", "%f0%9f%8e%89": "🎉",
	} {
		if got := DecodedSlug(slug); got != want {
			t.Errorf("%s: got %q, want %q", slug, got, want)
		}
	}
}

func TestSlugKeys(t *testing.T) {
	long := strings.Repeat("a", MaxSlug)
	japanese := strings.Repeat("%e6%97%a5", 22)
	tests := []struct {
		name, text string
		want       []string
	}{
		{"short", "Jazz & Lodz", []string{"jazz-lodz"}},
		{"native", "Łódź", []string{"%c5%82%c3%b3d%c5%ba", "lodz"}},
		{"encoded", "%e6%97%A5", []string{"%e6%97%a5", "ri"}},
		{"capitals", "ПРИВЕТ", []string{"%d0%bf%d1%80%d0%b8%d0%b2%d0%b5%d1%82", "privet"}},
		{"emoji", "🎉", []string{"%f0%9f%8e%89"}},
		{"straight apostrophe", "Queen's Hall", []string{"queens-hall", "queen-s-hall"}},
		{"curly apostrophe", "Queen’s Hall", []string{"queen%e2%80%99s-hall", "queens-hall", "queen-s-hall"}},
		{"quoted", "'Hall'", []string{"hall"}},
		{"former rule", "queen-s-hall", []string{"queen-s-hall"}},
		{"trashed", "gig__trashed", []string{"gig__trashed"}},
		{"longest in the trash", long + "__trashed", []string{long + "__trashed"}},
		{"longest encoded one in the trash", japanese + "__trashed", []string{japanese + "__trashed", strings.Repeat("ri-", 22) + "__trashed"}},
		{"too long", long + "bcdefghij", []string{long}},
		{"too long for the trash", long + "b__trashed", []string{long}},
		{"nothing", "?!", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := SlugKeys(test.text); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestIsSlugOf(t *testing.T) {
	for _, test := range []struct {
		slug, text string
		want       bool
	}{
		{"%e6%97%a5", "%e6%97%a5", true},
		{"%e6%97%a5", "%E6%97%A5", true},
		{"%e6%97%a5", "日", true},
		{"ri", "日", true},
		{"ri", "%e6%97%a5", false},
		{"%e6%97%a5", "ri", false},
		{"jazz-lodz", "Jazz & Łódź", true},
		{"jazz", "jazz-2", false},
		{strings.Repeat("a", MaxSlug) + "__trashed", strings.Repeat("a", MaxSlug) + "__trashed", true},
	} {
		if got := IsSlugOf(test.slug, test.text); got != test.want {
			t.Errorf("%.20s, %.20s: got %v", test.slug, test.text, got)
		}
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
		if keys := SlugKeys(s); s != "" && (len(keys) != 1 || keys[0] != s) {
			t.Errorf("the keys of %q are %q", s, keys)
		}
		if keys := SlugKeys(TrashedSlug(s)); s != "" && (len(keys) != 1 || keys[0] != TrashedSlug(s)) {
			t.Errorf("the keys of trashed %q are %q", s, keys)
		}
		if back := UntrashedSlug(TrashedSlug(s)); back != s {
			t.Errorf("%q came back from the trash as %q", s, back)
		}
		if n := NumberedSlug(s, 2); s != "" && (len(n) > MaxSlug || Slug(n) != n) {
			t.Errorf("numbered %q is %q", s, n)
		}
	})
}

func FuzzEncodedSlug(f *testing.F) {
	for _, seed := range []string{
		"", "%e6%97%a5", "日本語 żółw", "🎉", "%E2%80%B2", "%e6%97", "%25e6", "100%", "%c4%b0", "%ef%bf%bd", "\xe6\x97", "x__trashed",
		strings.Repeat("日", 30), "a" + strings.Repeat("%f0%9f%8e%89", 20), strings.Repeat("!", maxSlugText-2) + "日",
	} {
		f.Add(seed)
	}
	part := regexp.MustCompile(`^([a-z0-9_]|%[c-f][0-9a-f](%[89ab][0-9a-f])+)+(-([a-z0-9_]|%[c-f][0-9a-f](%[89ab][0-9a-f])+)+)*$`)
	day := WallAt(2026, 12, 5, 0, 0, 0)
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range []string{KeptSlug(text), EncodedSlug(text)} {
			if s == "" {
				continue
			}
			if len(s) > MaxSlug || !part.MatchString(s) || !utf8.ValidString(DecodedSlug(s)) {
				t.Errorf("%q is no slug", s)
			}
			for _, one := range []string{s, NumberedSlug(s, 2), NumberedSlug(s, 12345), OccurrenceSlug(s, day), UntrashedSlug(s)} {
				if KeptSlug(one) != one || EncodedSlug(one) != one || len(one) > MaxSlug || strings.Contains(DecodedSlug(one), "%") {
					t.Errorf("%q is no slug", one)
				}
				if again := EncodedSlug(DecodedSlug(one)); again != one {
					t.Errorf("%q is %q when decoded and encoded", one, again)
				}
			}
			for _, one := range []string{s, TrashedSlug(s), NumberedSlug(TrashedSlug(s), 2)} {
				for _, spelling := range []string{one, DecodedSlug(one), strings.ToUpper(one)} {
					if keys := SlugKeys(spelling); len(keys) == 0 || keys[0] != one || !IsSlugOf(one, spelling) {
						t.Errorf("the keys of %q are %q", spelling, keys)
					}
				}
			}
			if back := UntrashedSlug(TrashedSlug(s)); back != s {
				t.Errorf("%q came back from the trash as %q", s, back)
			}
		}
	})
}
