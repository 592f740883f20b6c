package importer

import (
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// inLanguage returns an option for imports: the language in which the source is read.
func inLanguage(l calendar.Language) func(*Importer) { return func(im *Importer) { im.Language = l } }

// meeting returns a calendar with one event that has the given texts, as a source sends it.
func meeting(title, slug, description string, changes ...func(*Event)) *Calendar {
	start := calendar.WallOf(noon)
	e := &Event{
		Origin: Origin{Key: "x?id=1", Where: "event 1"}, Title: title, Slug: slug, Description: &description,
		Span: calendar.Span{Start: start, End: start, Zone: calendar.UTC()},
	}
	for _, change := range changes {
		change(e)
	}
	return &Calendar{Events: []*Event{e}}
}

func speaks(title calendar.Language, all calendar.LanguageSet) func(*Event) {
	return func(e *Event) { e.Language, e.Languages = title, all }
}

// storedMeeting returns the stored event of meeting, and a line of text for each of its languages, the original first.
func storedMeeting(t *testing.T, st *store.Store) (row *ent.Event, lines []string) {
	t.Helper()
	row = st.Ent.Event.Query().Where(event.SourceID("x?id=1")).WithTranslations().OnlyX(t.Context())
	s := storedTextsOf(row)
	for _, l := range append([]calendar.Language{row.Language}, calendar.Languages...) {
		own := s.inLanguage(l)
		if len(lines) > 0 && (l == row.Language || own == calendar.Text{Language: l}) {
			continue
		}
		lines = append(lines, strings.Join([]string{string(l), own.Title, own.Description, own.Slug}, "/"))
	}
	return row, lines
}

// languageStep is a step of a test: an import of meeting in one language, and the texts that must be stored afterwards.
type languageStep struct {
	language calendar.Language
	cal      *Calendar
	action   Action
	want     string
}

// run imports the event of the step, and checks the stored texts, languages and slugs. number is the step's number,
// for messages.
func (s languageStep) run(t *testing.T, st *store.Store, number int) {
	report := importInto(t, st, s.cal, inLanguage(s.language))
	if got := report.Items[0].Action; got != s.action {
		t.Errorf("step %d: %s, want %s", number, got, s.action)
	}
	row, lines := storedMeeting(t, st)
	if diff := gocmp.Diff(s.want, strings.Join(lines, " ")); diff != "" {
		t.Errorf("step %d (-want +got):\n%s", number, diff)
	}
	var languages []calendar.Language
	for _, line := range lines {
		languages = append(languages, calendar.Language(line[:2]))
	}
	if want := calendar.LanguagesOf(languages...); row.Languages != want {
		t.Errorf("step %d: languages %s, want %s", number, row.Languages, want)
	}
	var slugs []string
	for _, line := range lines {
		if _, own, _ := strings.Cut(line[3:], "/"); !strings.HasSuffix(own, "/") {
			slugs = append(slugs, own[strings.LastIndex(own, "/")+1:])
		}
	}
	held := st.Ent.Slug.Query().Where(slug.OwnerID(row.ID), slug.KindEQ(calendar.Event)).
		Select(slug.FieldSlug).StringsX(t.Context())
	if !sameTexts(slugs, held) {
		t.Errorf("step %d: slugs %v, want %v", number, held, slugs)
	}
}

func TestTextsOfASourceFindTheirLanguage(t *testing.T) {
	tests := []struct {
		name  string
		steps []languageStep
	}{
		{"what comes first is the original", []languageStep{
			{"pl", meeting("Zebranie", "zebranie", "Opis"), Create, "pl/Zebranie/Opis/zebranie"},
			{"en", meeting("Meeting", "meeting", "Text"), Translate, "pl/Zebranie/Opis/zebranie en/Meeting/Text/meeting"},
			{"pl", meeting("Spotkanie", "zebranie", "Opis"), Update, "pl/Spotkanie/Opis/zebranie en/Meeting/Text/meeting"},
			{"en", meeting("Meeting II", "meeting", "Text"), Translate, "pl/Spotkanie/Opis/zebranie en/Meeting II/Text/meeting"},
			{"en", meeting("Meeting II", "meeting", "Text"), Unchanged, "pl/Spotkanie/Opis/zebranie en/Meeting II/Text/meeting"},
		}},
		{"a text that is read anyway is not stored", []languageStep{
			{"en", meeting("Meeting", "meeting", "Text"), Create, "en/Meeting/Text/meeting"},
			{"pl", meeting("Meeting", "meeting", "Text"), Unchanged, "en/Meeting/Text/meeting"},
			{"pl", meeting("Zebranie", "meeting", "Text"), Translate, "en/Meeting/Text/meeting pl/Zebranie//"},
			{"pl", meeting("Zebranie", "meeting", "Opis"), Translate, "en/Meeting/Text/meeting pl/Zebranie/Opis/"},
			{"pl", meeting("Zebranie", "meeting", "Text"), Translate, "en/Meeting/Text/meeting pl/Zebranie//"},
			{"pl", meeting("Meeting", "meeting", "Text"), Translate, "en/Meeting/Text/meeting"},
		}},
		{"unless the source says that it is in the language", []languageStep{
			{"en", meeting("Opera", "opera", "Text", speaks("en", "en,pl")), Create, "en/Opera/Text/opera"},
			{"pl", meeting("Opera", "opera", "Text", speaks("pl", "en,pl")), Translate, "en/Opera/Text/opera pl/Opera//"},
			{"pl", meeting("Opera", "opera", "Text", speaks("pl", "en,pl")), Unchanged, "en/Opera/Text/opera pl/Opera//"},
		}},
		{"translations into the language of the site are whole", []languageStep{
			{"pl", meeting("Zebranie", "meeting", "Text"), Create, "pl/Zebranie/Text/meeting"},
			{"en", meeting("Meeting", "meeting", "Text"), Translate, "pl/Zebranie/Text/meeting en/Meeting/Text/"},
			{"pl", meeting("Zebranie", "meeting", "Opis"), Update, "pl/Zebranie/Opis/meeting en/Meeting/Text/"},
		}},
		{"a text in the language of another", []languageStep{
			{"pl", meeting("Meeting", "meeting", "Text", speaks("en", "en")), Create, "en/Meeting/Text/meeting"},
			{"es", meeting("Meeting II", "meeting", "Text", speaks("en", "en")), Update, "en/Meeting II/Text/meeting"},
			{"pl", meeting("Meeting III", "meeting", "Text", speaks("en", "en,es")), Unchanged, "en/Meeting II/Text/meeting"},
		}},
		{"only the description is translated", []languageStep{
			{"pl", meeting("Meeting", "meeting", "Opis", speaks("en", "en,pl")), Create, "en/Meeting//meeting pl//Opis/"},
			{"en", meeting("Meeting", "meeting", "Text", speaks("en", "en,pl")), Update, "en/Meeting/Text/meeting pl//Opis/"},
			{"pl", meeting("Meeting", "meeting", "Opis", speaks("en", "en,pl")), Unchanged, "en/Meeting/Text/meeting pl//Opis/"},
		}},
		{"the source takes a translation back", []languageStep{
			{"en", meeting("Meeting", "meeting", "Text", speaks("en", "en,pl")), Create, "en/Meeting/Text/meeting"},
			{"pl", meeting("Zebranie", "zebranie", "Text", speaks("pl", "en,pl")), Translate, "en/Meeting/Text/meeting pl/Zebranie//zebranie"},
			{"pl", meeting("Meeting", "meeting", "Text", speaks("en", "en")), Translate, "en/Meeting/Text/meeting"},
			{"pl", meeting("Meeting", "meeting", "Text", speaks("en", "en")), Unchanged, "en/Meeting/Text/meeting"},
		}},
		{"the source takes a translated title back", []languageStep{
			{"en", meeting("Meeting", "meeting", "Text", speaks("en", "en,pl")), Create, "en/Meeting/Text/meeting"},
			{"pl", meeting("Zebranie", "meeting", "Opis", speaks("pl", "en,pl")), Translate, "en/Meeting/Text/meeting pl/Zebranie/Opis/"},
			{"pl", meeting("Meeting", "meeting", "Opis", speaks("en", "en,pl")), Translate, "en/Meeting/Text/meeting pl//Opis/"},
		}},
		{"a slug goes to the site's language", []languageStep{
			{"pl", meeting("Zebranie", "zebranie", ""), Create, "pl/Zebranie//zebranie"},
			{"es", meeting("Reunión", "meeting", ""), Translate, "pl/Zebranie//zebranie es/Reunión//meeting"},
			{"en", meeting("Meeting", "meeting", ""), Translate, "pl/Zebranie//zebranie en/Meeting//meeting es/Reunión//"},
			{"es", meeting("Reunión", "reunion", ""), Translate, "pl/Zebranie//zebranie en/Meeting//meeting es/Reunión//reunion"},
		}},
		{"an original has a text that another language has not", []languageStep{
			{"pl", meeting("Zebranie", "meeting", "Opis"), Create, "pl/Zebranie/Opis/meeting"},
			{"en", meeting("Meeting", "meeting", ""), Translate, "pl/Zebranie/Opis/meeting en/Meeting//"},
			{"en", meeting("Meeting", "meeting", ""), Unchanged, "pl/Zebranie/Opis/meeting en/Meeting//"},
		}},
	}
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				for i, s := range tt.steps {
					s.run(t, st, i+1)
				}
				row, _ := storedMeeting(t, st)
				st.Ent.Slug.Delete().Where(slug.OwnerID(row.ID), slug.KindEQ(calendar.Event)).ExecX(t.Context())
				st.Ent.Event.DeleteOne(row).ExecX(t.Context())
			})
		}
	})
}

func sameTexts(a, b []string) bool {
	count := map[string]int{}
	for _, s := range a {
		count[s]++
	}
	for _, s := range b {
		count[s]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

func TestTranslationsShareWhatIsNoText(t *testing.T) {
	at := func(hour int) *time.Time { return new(noon.Add(time.Duration(hour) * time.Hour)) }
	cost := func(modified *time.Time, prices []string, texts ...string) func(*Event) {
		return func(e *Event) {
			e.Cost, e.Modified = &calendar.Cost{Prices: prices, Texts: texts}, modified
		}
	}
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		for i, s := range []struct {
			language calendar.Language
			cal      *Calendar
			action   Action
			cost     string
			modified *time.Time
		}{
			{"en", meeting("Meeting", "", "", cost(at(1), nil, "Free")), Create, "Free", at(1)},
			// A word of the language is no other cost, and another time of change none here.
			{"pl", meeting("Zebranie", "", "", cost(at(2), nil, "Bezpłatnie")), Translate, "Free", at(2)},
			{"en", meeting("Meeting", "", "", cost(at(1), nil, "Free")), Unchanged, "Free", at(2)},
			{"pl", meeting("Zebranie", "", "", cost(at(2), nil, "Bezpłatnie")), Unchanged, "Free", at(2)},
			{"pl", meeting("Zebranie", "", "", cost(at(3), []string{"5"}, "Bezpłatnie")), Update, "Free – $5", at(3)},
			{"en", meeting("Meeting", "", "", cost(at(4), []string{"5"}, "Donation")), Update, "Donation – $5", at(4)},
			{"pl", meeting("Zebranie", "", "", cost(at(3), []string{"5"}, "Bezpłatnie"), func(e *Event) { e.Featured = new(true) }), Update, "Donation – $5", at(4)},
		} {
			report := importInto(t, st, s.cal, inLanguage(s.language))
			row, lines := storedMeeting(t, st)
			if got := report.Items[0].Action; got != s.action || row.Language != calendar.English {
				t.Errorf("step %d: %s, want %s; %v", i+1, got, s.action, lines)
			}
			if got := row.Cost.Display(testSite().Currency, "Free"); got != s.cost || !row.ModifiedAt.Equal(*s.modified) {
				t.Errorf("step %d: costs %s, want %s; changed %s, want %s", i+1, got, s.cost, row.ModifiedAt, s.modified)
			}
		}
	})
}

func TestTermsOfOthersAreKnownByTheirTranslations(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		e := &edit.Editor{Site: testSite(), Now: noon, By: auth.System()}
		err := edit.Write(t.Context(), st.Ent, e, func(tx *ent.Tx) error {
			row, err := e.CreateTerm(t.Context(), tx, &edit.TermInput{Taxonomy: calendar.Tag, Name: new("Outdoors")})
			if err != nil {
				return err
			}
			e.Write = calendar.Polish
			_, err = e.UpdateTerm(t.Context(), tx, row, &edit.TermInput{Name: new("Plener")})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		tagged := func(name string) *Calendar {
			return meeting("Picnic", "", "", func(e *Event) {
				e.HasTags = true
				e.Terms = []*Term{{Origin: Origin{Key: "x?term=1", Where: "tag 1"}, Kind: calendar.Tag, Name: name}}
			})
		}
		importInto(t, st, tagged("outdoors"), inLanguage("en"))
		importInto(t, st, tagged("PLENER"), inLanguage("pl"))
		row := st.Ent.Term.Query().WithTranslations().OnlyX(t.Context())
		if row.Name != "Outdoors" || row.Version != 2 || row.EventCount != 1 || row.Edges.Translations[0].Name != "Plener" {
			t.Errorf("tag %v, %v", row, row.Edges.Translations)
		}
	})
}

func TestLanguagesThatARecordSays(t *testing.T) {
	for _, tt := range []struct {
		body  string
		title calendar.Language
		all   calendar.LanguageSet
	}{
		{`{"language": "pl", "translations": ["en", "pl"]}`, "pl", "en,pl"},
		{`{"language": "PL"}`, "pl", ""},
		{`{"language": "de", "translations": ["de", "en"]}`, "", ""},
		{`{"language": {"code": "pl"}, "translations": {"pl": 12}}`, "", ""},
		{`{"language": null, "translations": []}`, "", ""},
		{`{}`, "", ""},
	} {
		o, ok := newObject([]byte(tt.body), "", &readLog{})
		if !ok {
			t.Fatal(tt.body)
		}
		title, all := o.languages()
		if title != tt.title || all != tt.all || len(o.log.faults) > 0 {
			t.Errorf("%s: %q and %q, faults %v", tt.body, title, all, o.log.faults)
		}
	}
}
