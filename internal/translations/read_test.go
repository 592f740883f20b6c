package translations

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// unitLine returns a unit and its fault as one line of text.
func unitLine(u *Unit) string {
	target := "-"
	if u.Target != nil {
		target = fmt.Sprintf("%q", *u.Target)
	}
	out := fmt.Sprintf("%s %s>%s %q %s", u.Name(), u.From, u.To, u.Source, target)
	if u.fault != nil {
		out += " FAULT " + u.fault.Error()
	}
	return out
}

const headJS = `{"format":"almanac-translations/1","target_language":"pl","units":[`

func js(units string) string { return headJS + units + `]}` }

func TestRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file string
		want       []string
	}{
		{"units of another program", js(`{"id":"u1"},{"id":"event/0/title"},{"id":"event/1/name"},{"id":"image/1/title"},{"id":"event/01/title"}`), []string{
			`u1 >pl "" - FAULT id "u1": want KIND/ID/FIELD`,
			`event/0/title >pl "" - FAULT id "event/0/title": no record has the id "0"`,
			`event/1/name >pl "" - FAULT id "event/1/name": a translation of this kind has no "name"`,
			`image/1/title >pl "" - FAULT id "image/1/title": no kind of record is called "image"`,
			`event/01/title >pl "" - FAULT id "event/01/title": no record has the id "01"`,
		}},
		{"into the language of the source", js(`{"id":"event/1/title","source_language":"pl"}`), []string{`event/1/title pl>pl "" - FAULT from pl into pl is no translation`}},
		{"with a byte order mark, with regions", "\ufeff" + js(`{"id":"tag/7/name","source_language":"en_GB","source":"A"}`), []string{`tag/7/name en>pl "A" -`}},
		{"JSON", js(`{"id":"event/1/title","source_language":"es","source":"A","target":"B","note":"n","mine":[1]},{"id":"tag/2/name","source_language":"en","source":"\u0000"}`), []string{`event/1/title es>pl "A" "B"`, `tag/2/name en>pl "\x00" -`}},
		{"JSON with null and empty targets", js(`{"id":"event/1/title","source_language":"en","source":"A","target":null},{"id":"event/1/title","source_language":"en","source":"A","target":""}`), []string{`event/1/title en>pl "A" -`, `event/1/title en>pl "A" ""`}},
		{"JSON of another type", js(`{"id":"event/1/title","source_language":"en","source":"A","target":5},{"id":"event/2/title","source_language":"de","source":"A"}`), []string{`event/1/title en>pl "A" "" FAULT target is no text`, `event/2/title >pl "A" - FAULT source language "de": want en, pl or es`}},
		{"JSON with members of others", `{"z":{"a":[]},"format":"almanac-translations/1","target_language":"pl-PL","units":[],"y":1} `, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, u := range readFile(t, tt.file) {
				if u.From == "de" {
					u.From = ""
				}
				got = append(got, unitLine(&u))
			}
			checkEqual(t, "units", tt.want, got)
		})
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, want string }{
		{"nothing", " \n", "the file is empty"},
		{"text", "Gala", "the file is not JSON"},
		{"UTF-16", "\xff\xfe<\x00", "UTF-16"},
		{"XML", "<xliff/>", "the file is XML"},
		{"a huge JSON text", headJS + `{"id":"` + strings.Repeat("x", 2*maxUnit), "more than 16 MiB"},
		{"JSON of another program", `{"units":[]}`, `JSON without "format": "almanac-translations/1" before its units`},
		{"JSON without a language", `{"format":"almanac-translations/1","units":[]}`, `JSON without "target_language" before its units`},
		{"JSON into another language", `{"target_language":"de"}`, `target_language "de": want en, pl or es`},
		{"JSON without units", `{"format":"almanac-translations/1"}`, `JSON without "units"`},
		{"JSON with an object of units", `{"format":"almanac-translations/1","target_language":"pl","units":{}}`, `"units" is no array`},
		{"JSON cut off", headJS + `{"id":"event/1/title"},`, "unexpected EOF"},
		{"JSON with more after it", js("") + "{}", "more after its end"},
		{"deep JSON", `{"a":` + strings.Repeat("[", 20000), "JSON, byte"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Read(strings.NewReader(tt.file), func(*Unit) error { return nil })
			if err == nil || !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one that says %q", err, tt.want)
			}
		})
	}
}

// TestLongFiles checks that the limit of size applies to each unit, not to the whole file.
func TestLongFiles(t *testing.T) {
	t.Parallel()
	unit := `{"id":"event/1/description","source":"` + strings.Repeat("x", 1<<20) + `"}`
	if n := len(readFile(t, js(unit+strings.Repeat(","+unit, 19)))); n != 20 {
		t.Errorf("%d units", n)
	}
	stop := errors.New("stop")
	if err := Read(strings.NewReader(js(unit)), func(*Unit) error { return stop }); !errors.Is(err, stop) || errors.Is(err, ErrFile) {
		t.Errorf("the error of the caller became %v", err)
	}
}

func FuzzReadJSON(f *testing.F) {
	for _, seed := range []string{
		js(`{"id":"event/1/title","source_language":"en","source":"A","target":"B\u0001"}`), js(`{"id":5}`), js(`1,[]`), `{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 0 && data[0] != '{' {
			data = append([]byte("{"), data...)
		}
		checkReread(t, data)
	})
}

// checkReread reads a file, writes its usable units, and reads that again. The units must be equal.
func checkReread(t *testing.T, data []byte) {
	t.Helper()
	var units []Unit
	err := Read(strings.NewReader(string(data)), func(u *Unit) error {
		if u.fault != nil || len(units) > 0 && u.To != units[0].To {
			return nil
		}
		if id, err := parseID(u.ID.String()); err != nil || id != u.ID {
			t.Errorf("id %s: %v", u.ID, err)
		}
		if !u.From.Known() || !u.To.Known() || u.From == u.To || !utf8.ValidString(u.Source) {
			t.Errorf("unit %+v", u)
		}
		units = append(units, *u)
		return nil
	})
	if err != nil && !errors.Is(err, ErrFile) {
		t.Errorf("error %v is no refusal of the file", err)
	}
	again := readFile(t, writeUnits(t, units))
	if len(again) != len(units) {
		t.Fatalf("%d units of %d", len(again), len(units))
	}
	for i, u := range units {
		a := again[i]
		if a.ID != u.ID || a.From != u.From || a.To != u.To || !sameSource(a.Source, u.Source) {
			t.Errorf("%+v became %+v", u, a)
		}
		if (a.Target == nil) != (u.Target == nil) || a.Target != nil && !sameTarget(*a.Target, *u.Target) {
			t.Errorf("target of %+v became %+v", u, a)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	title, description := ID{"event", 1, Title}, ID{"event", 1, Description}
	tests := []struct {
		name           string
		id             ID
		source, target string
		want, err      string
	}{
		{"plain text", title, "Gala", " Gala wieczorna\n", "Gala wieczorna", ""},
		{"characters of markup", title, "Ben & Tom <3", "Ben i Tom & <3", "Ben i Tom & <3", ""},
		{"a tag in a title", title, "Gala", "<b>Gala</b><script>alert(1)</script>", "Gala", ""},
		{"an entity of a tool", title, "Ben & Tom", "Ben &amp; Tom", "Ben & Tom", ""},
		{"what looks like markup in the source, too", title, "How to use <b> and &amp;", "O <b> i &amp;", "O <b> i &amp;", ""},
		{"markup only", title, "Gala", "<script>x</script>", "", "nothing is left"},
		{"as long as can be", title, "Gala", strings.Repeat("ż", 500), strings.Repeat("ż", 500), ""},
		{"too long", title, "Gala", strings.Repeat("ż", 501), "", "501 characters, and 500 are allowed"},
		{"NUL", title, "Gala", "a\x00", "", "NUL"},
		{"HTML", description, "<p>x</p>", "<p onclick='x'>Ż &amp; <b>o", "<p>Ż &amp; <b>o</b></p>", ""},
		{"HTML that is not allowed", description, "<p>x</p>", "<script>x</script> ", "", "nothing is left"},
		{"HTML with NUL", description, "<p>x</p>", "\x00", "", "NUL"},
		{"too long HTML", description, "<p>x</p>", strings.Repeat("x", 1<<20+1), "", "longer than 1024 KiB"},
		{"description of a term", ID{"tag", 1, Description}, "x", "a\nb", "a\nb", ""},
		{"too long description of a term", ID{"tag", 1, Description}, "x", strings.Repeat("x", 256), "", "255 are allowed"},
		{"a slug", ID{"event", 1, Slug}, "fair", "Targi Łódź", "targi-lodz", ""},
		{"no slug", ID{"event", 1, Slug}, "fair", "!?", "", "no letters or digits"},
		{"too long slug", ID{"event", 1, Slug}, "fair", strings.Repeat("x", 201), "", "200 are allowed"},
	}
	for _, tt := range tests {
		got, err := cleanUnit(&Unit{ID: tt.id, Source: tt.source, Target: &tt.target})
		switch {
		case tt.err == "" && (err != nil || got != tt.want):
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.err)
		}
	}
}

// FuzzParseID checks that each id has only one text form.
func FuzzParseID(f *testing.F) {
	for _, seed := range []string{"event/1/title", "venue/10/description", "event.1.title", "category/2/name", "tag/007/slug", "event/+1/title", "event/0/title", "//", "event/1/title/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := parseID(s)
		if err != nil {
			if id != (ID{}) || len(err.Error()) > 1000 {
				t.Errorf("%q: %+v with %v", s, id, err)
			}
			return
		}
		if id.String() != s || id.Record <= 0 {
			t.Errorf("%q is %s", s, id)
		}
	})
}
