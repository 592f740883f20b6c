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

const (
	head2  = `<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="pl"><file id="f">`
	headJS = `{"format":"almanac-translations/1","target_language":"pl","units":[`
)

func v2(unit string) string  { return head2 + unit + `</file></xliff>` }
func js(units string) string { return headJS + units + `]}` }

func TestRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file string
		want       []string
	}{
		{"2.0 by name", v2(`<unit id="u1" name="event/1/title"><segment><source>A</source><target>B</target></segment></unit>`), []string{`event/1/title en>pl "A" "B"`}},
		{"2.0 by id", v2(`<unit id="tag.7.name"><segment><source>A</source></segment></unit>`), []string{`tag.7.name en>pl "A" -`}},
		{"an empty target", v2(`<unit id="tag.7.name"><segment><source>A</source><target/></segment></unit>`), []string{`tag.7.name en>pl "A" ""`}},
		{"divided by the tool", v2(`<unit id="event.1.description"><segment><source>A.</source><target>B.</target></segment><ignorable><source> </source></ignorable><segment><source>C.</source><target>D.</target></segment></unit>`), []string{`event.1.description en>pl "A. C." "B. D."`}},
		{"divided and half done", v2(`<unit id="event.1.description"><segment><source>A.</source><target>B.</target></segment><segment><source>C.</source></segment></unit>`), []string{`event.1.description en>pl "A.C." -`}},
		{"a copy of the source that nobody touched", v2(`<unit id="event.1.title"><segment state="initial"><source>A</source><target>A</target></segment></unit>`), []string{`event.1.title en>pl "A" -`}},
		{"the same word in both languages", v2(`<unit id="event.1.title"><segment state="translated"><source>Jazz</source><target>Jazz</target></segment></unit>`), []string{`event.1.title en>pl "Jazz" "Jazz"`}},
		{"matches, notes and modules around", v2(`<unit id="event.1.title"><mtc:matches xmlns:mtc="urn:oasis:names:tc:xliff:matches:2.0"><mtc:match ref="#1"><source>X</source><target>Y</target></mtc:match></mtc:matches><notes><note>n</note></notes><originalData><data id="d1">x</data></originalData><segment><source>A</source><target>B</target></segment></unit>`), []string{`event.1.title en>pl "A" "B"`}},
		{"marks and code points", v2(`<unit id="event.1.title"><segment><source><mrk id="m" type="term">A</mrk><cp hex="001A"/></source><target><sm id="m"/>B<em startRef="m"/></target></segment></unit>`), []string{`event.1.title en>pl "A\x1a" "B"`}},
		{"nested groups", v2(`<group id="g"><group id="h"><unit id="event.1.title"><segment><source>A</source></segment></unit></group></group>`), []string{`event.1.title en>pl "A" -`}},
		{"CDATA and comments", v2(`<unit id="event.1.title"><segment><source><![CDATA[<b>]]><!-- c -->&amp;</source></segment></unit>`), []string{`event.1.title en>pl "<b>&" -`}},
		{"codes that were not exported", v2(`<unit id="event.1.title"><segment><source>A</source><target><pc id="1">B</pc></target></segment></unit><unit id="event.2.title"><segment><source>C</source></segment></unit>`), []string{`event.1.title en>pl "A" "B" FAULT target: <pc> in it, which was not exported`, `event.2.title en>pl "C" -`}},
		{"segments turned round", v2(`<unit id="event.1.title"><segment><source>A</source><target order="2">B</target></segment></unit>`), []string{`event.1.title en>pl "A" "B" FAULT segments in another order than in the source are not supported`}},
		{"units of somebody else", v2(`<unit id="u1"><segment><source>A</source></segment></unit><unit id="event.0.title"/><unit id="event.1.name"/><unit id="image.1.title"/><unit id="event.01.title"/>`), []string{
			`u1 en>pl "A" - FAULT id "u1": want KIND/ID/FIELD`,
			`event.0.title en>pl "" - FAULT id "event.0.title": no record has the id "0"`,
			`event.1.name en>pl "" - FAULT id "event.1.name": a translation of this kind has no "name"`,
			`image.1.title en>pl "" - FAULT id "image.1.title": no kind of record is called "image"`,
			`event.01.title en>pl "" - FAULT id "event.01.title": no record has the id "01"`,
		}},
		{"2.0 without a target language", `<xliff version="2.0" srcLang="en"><file id="f"><unit id="event.1.title"><segment><source>A</source></segment></unit></file></xliff>`, []string{`event.1.title en> "A" - FAULT target language "": want en, pl or es`}},
		{"into its own language", strings.Replace(v2(`<unit id="event.1.title"/>`), `"pl"`, `"en"`, 1), []string{`event.1.title en>en "" - FAULT from en into en is no translation`}},
		{"without units", v2(""), nil},

		{"without a namespace, with a byte order mark", "\ufeff<?xml version='1.0'?>\n" + strings.Replace(v2(`<unit id="venue.5.slug"><segment><source>A</source></segment></unit>`), ` xmlns="urn:oasis:names:tc:xliff:document:2.0"`, "", 1), []string{`venue.5.slug en>pl "A" -`}},
		{"with regions", strings.Replace(v2(`<unit id="tag.7.name"><segment><source>A</source></segment></unit>`), `srcLang="en" trgLang="pl"`, `srcLang="en-GB" trgLang="pl_PL"`, 1), []string{`tag.7.name en>pl "A" -`}},

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
		{"text", "Gala", "the file is neither JSON nor XLIFF"},
		{"UTF-16", "\xff\xfe<\x00", "UTF-16"},
		{"other XML", "<html/>", "line 1: the file is XML, but no XLIFF: it starts with <html>"},
		{"no element", "<!-- c -->", "XML without an element"},
		{"version 1.2", `<xliff version="1.2"/>`, `XLIFF version 1.2: save it as XLIFF 2.0 or export it again`},
		{"version 3", `<xliff version="3.0"/>`, `XLIFF version "3.0": want 2.0 or 2.1`},
		{"an entity from outside", `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>` + v2(`<unit id="event.1.title"><segment><source>&e;</source></segment></unit>`), "a document type declaration"},
		{"entities that grow", `<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>` + v2(""), "a document type declaration"},
		{"an unknown entity", v2(`<unit id="event.1.title"><segment><source>&nbsp;</source></segment></unit>`), "line 1: "},
		{"cut off", head2 + "\n<unit id=\"event.1.title\">\n<segment>", "line 3: "},
		{"cut off in a text", head2 + "<unit id=\"event.1.title\"><segment><source>A", "unexpected EOF"},
		{"crossed tags", head2 + `<unit id="event.1.title"><segment><source>A</segment></source>`, "line 1: "},
		{"too deep", head2 + strings.Repeat("<group>", maxDepth), "more than 100 elements"},
		{"too deep in a text", head2 + "<unit><segment><source>" + strings.Repeat("<mrk>", maxDepth), "more than 100 elements"},
		{"a huge text", head2 + "<unit><segment><source>" + strings.Repeat("x", maxUnit), "more than 16 MiB"},
		{"a huge comment", head2 + "<!--" + strings.Repeat("x", maxUnit), "more than 16 MiB"},
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
	unit := `<unit id="event.1.description"><segment><source>` + strings.Repeat("x", 1<<20) + `</source></segment></unit>`
	if n := len(readFile(t, v2(strings.Repeat(unit, 20)))); n != 20 {
		t.Errorf("%d units", n)
	}
	stop := errors.New("stop")
	if err := Read(strings.NewReader(v2(unit)), func(*Unit) error { return stop }); !errors.Is(err, stop) || errors.Is(err, ErrFile) {
		t.Errorf("the error of the caller became %v", err)
	}
}

// seeds adds files to the initial inputs of a fuzz test.
func seeds(f *testing.F, files ...string) {
	for _, s := range files {
		f.Add([]byte(s))
	}
}

func FuzzReadXLIFF(f *testing.F) {
	seeds(f, v2(`<unit id="event.1.title"><segment state="initial"><source>A<mrk/></source><target>B<cp hex="1"/></target></segment><ignorable><source> </source></ignorable></unit>`),
		`<xliff`, v2(`<unit id="event.1.description"><notes/><segment><source>&lt;p&gt;&#13;</source></segment></unit>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 0 && data[0] != '<' {
			data = append([]byte("<"), data...)
		}
		checkReread(t, data, XLIFF)
	})
}

func FuzzReadJSON(f *testing.F) {
	seeds(f, js(`{"id":"event/1/title","source_language":"en","source":"A","target":"B\u0001"}`), js(`{"id":5}`), js(`1,[]`), `{`)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 0 && data[0] != '{' {
			data = append([]byte("{"), data...)
		}
		checkReread(t, data, JSON)
	})
}

// checkReread reads a file, writes its usable units in a format, and reads that again. The units must be equal.
func checkReread(t *testing.T, data []byte, format Format) {
	t.Helper()
	var units []Unit
	err := Read(strings.NewReader(string(data)), func(u *Unit) error {
		if u.fault != nil || len(units) > 0 && u.To != units[0].To {
			return nil
		}
		if format == XLIFF && len(units) > 0 && u.From != units[0].From {
			return nil
		}
		if id, err := ParseID(u.ID.String()); err != nil || id != u.ID {
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
	again := readFile(t, writeUnits(t, format, units))
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

// FuzzParseID checks that each id has only one text form, apart from dots instead of slashes.
func FuzzParseID(f *testing.F) {
	for _, seed := range []string{"event/1/title", "venue.10.description", "category/2/name", "tag/007/slug", "event/+1/title", "event/0/title", "//", "event/1/title/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseID(s)
		if err != nil {
			if id != (ID{}) || len(err.Error()) > 1000 {
				t.Errorf("%q: %+v with %v", s, id, err)
			}
			return
		}
		if id.String() != strings.ReplaceAll(s, ".", "/") || id.Record <= 0 {
			t.Errorf("%q is %s", s, id)
		}
		if again, err := ParseID(id.joined(".")); err != nil || again != id {
			t.Errorf("%s is %s with dots (%v)", id, again, err)
		}
	})
}
