package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"path"
	"reflect"
	"strings"
)

// Calendar writes the pages of the calendar (contract, section 21). It never changes, and may be used by any number of
// goroutines.
type Calendar struct {
	templates *template.Template
	words     map[string]*CalendarWords
	names     map[string]string // site.css: site.0123456789ab.css
}

// NewCalendar reads the templates, and the words of the languages given. own are the files of the site by their names. An
// error means that the templates or words were built wrong.
func NewCalendar(languages []string, own map[string][]byte) (*Calendar, error) {
	c := &Calendar{words: make(map[string]*CalendarWords, len(languages)), names: map[string]string{}}
	for _, lang := range languages {
		w := &CalendarWords{}
		if err := readCalendarWords(lang, w); err != nil {
			return nil, err
		}
		c.words[lang] = w
	}
	err := eachFile("assets", func(name string, data []byte) error {
		c.names[name] = assetName(name, data)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for name, data := range own {
		c.names[name] = assetName(name, data)
	}
	c.templates, err = template.New("calendar").Funcs(template.FuncMap{"field": newField}).ParseFS(files, "calendar/*.html")
	return c, err
}

// assetName is the name of an asset with the hash of its content.
func assetName(name string, data []byte) string {
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + "." + contentTag(data) + ext
}

// contentTag is another one for another content.
func contentTag(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}

// Words returns what the pages say in a language, nil for an unknown one.
func (c *Calendar) Words(language string) *CalendarWords { return c.words[language] }

// Asset returns the path of an asset below the base URL, "" if there is none of the name.
func (c *Calendar) Asset(name string) string {
	full, ok := c.names[name]
	if !ok {
		return ""
	}
	return AssetsPath + full
}

// Write writes a page or a part of one: name is that of a template.
func (c *Calendar) Write(w io.Writer, name string, model any) error {
	if err := c.templates.ExecuteTemplate(w, name, model); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

// Plural is a sentence in the plural forms of a language: by CLDR category, with {n} for the number.
type Plural map[string]string

// CalendarWords are the texts of pages in a language, from words/calendar.{language}.json. Names in braces are
// replaced.
type CalendarWords struct {
	Skip, Home, Calendar, Language, Views, List, Month, Today, TodayHeading, NextOnes, OnNow       string
	AllEvents, Browse, Lead, Search, SearchLabel, From, To, Category, Categories, Tags, All        string
	FeaturedOnly, Show, Clear, FilterEvents, BadDate, BadCategory, Filters, RemoveFilter, Events   string
	UpcomingEvents, PastEvents, Earlier, Later, Pages, Pager, PageNumber, ChooseMonth, Go          string
	AllDay, Since, Until, Featured, Canceled, Postponed, Protected, Ended, OnlineEvent, MixedEvent string
	Join, When, Where, Price, Organizer, Organizers, Website, Tickets, Details, Map, Venue         string
	AddToCalendar, AddFile, AddGoogle, AddOutlook, Subscribe, SubscribeTo, SubscribeText           string
	SubscribeApp, SubscribeGoogle, SubscribeOutlook, SubscribeFile, CopyAddress, Copied, Share     string
	YourTime, NearTitle, SeriesLabel, SeriesTitle, SeriesAll, NextDate, NothingTitle               string
	NothingText, NothingNext, NothingHere, NothingOnDay, NothingInMonth, PasswordText, Password    string
	PasswordShow, PasswordWrong, NotFoundTitle, NotFoundText, GoneTitle, GoneText, InvalidTitle    string
	InvalidText, BusyTitle, BusyText, ManyTitle, ManyText, FaultTitle, FaultText, Back             string
	Developers, DevelopersText, DescList, DescPast, DescMonth, DescDay, DescTerm, DescVenue        string
	DescOrganizer                                                                                  string
	EventsCount, MoreOnDay                                                                         Plural
}

func readCalendarWords(language string, w *CalendarWords) error {
	data, err := files.ReadFile("words/calendar." + language + ".json")
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(w); err != nil {
		return fmt.Errorf("words of the calendar in %s: %w", language, err)
	}
	for field, value := range reflect.ValueOf(*w).Fields() {
		if value.IsZero() {
			return fmt.Errorf("words of the calendar in %s: no %s", language, field.Name)
		}
	}
	return nil
}

// Frame has the data that every page shows around its content. Addresses for links begin with the path of the base URL.
// All others are absolute.
type Frame struct {
	Language, Dir string
	Locale        string // as Open Graph names it: pl_PL
	W             *CalendarWords
	Kind          string // of the page: class of its body
	Site, Tagline string
	Home          string
	Title         string // of the document
	Description   string
	Canonical     string // "" for errors
	Alternates    []Alternate
	Languages     []Choice
	NoIndex       bool
	Prev, Next    string
	OpenGraph     OpenGraph
	LinkedData    any
	APIRoot       string
	SearchAction  string
	SearchWords   string
	Views         []Link
	Footer        []Link
	Feeds         []Link
	Assets        Assets
}

// Assets are the addresses of what pages load.
type Assets struct {
	Styles []string
	Script string
	Icon   string
	Logo   string
}

// Alternate is another form of the page.
type Alternate struct{ Hreflang, Type, Title, Href string }

// Choice is the page in a language.
type Choice struct {
	Code, Name, Href string
	Current          bool
}

// OpenGraph is the preview that social networks show for a link.
type OpenGraph struct {
	Type, Title string
	Image       *Picture
}

// Picture is an image in a size.
type Picture struct {
	URL           string
	Set           string // srcset
	Width, Height int
	Alt           string
}

// Link is a link with its text. Lang is that of the text if it is not the page's. Before and After stand around the text, in
// the language of the page.
type Link struct {
	Before, Text, After   string
	Href, Lang, Rel, Note string
	Colour                int
	Current               bool
}

// Item is an event in a list.
type Item struct {
	ID           int64
	Language     string
	W            *CalendarWords
	Href         string
	Title, Lang  string
	Colour       int    // number of the colour of its category
	Start        string // with offset
	Day          string // the first that it stands on: 2026-11-22
	Last         string // its last day for people
	Date         string // in few words
	Time         string
	Zone         string // named where its clock is not the site's
	Until        string
	DayNumber    string
	MonthShort   string
	WeekdayShort string
	Category     string
	CategoryLang string // as Lang
	Place        string
	PlaceLang    string
	Cost         string
	Teaser       string
	Marks        []Mark
	Picture      *Picture
}

// Mark is a word that stands out.
type Mark struct{ Kind, Text string }

// Group is the events of a day.
type Group struct {
	Title, Href               string
	Day, Weekday, Month, Date string
	Relative                  string // today, tomorrow
	Today                     bool
	Bare                      bool // the title repeats that of the page, and is not shown
	Items                     []template.HTML
}

// Filter is the form that searches and filters.
type Filter struct {
	Action           string
	Search, From, To string
	Month            string
	Dates            bool // the form asks for dates
	Featured         bool
	Open             bool
	Categories       []Option
	Hidden           []Field
	Faults           map[string]string // by the name of the field
	Chips            []Link
	Clear            string
}

// Option is an option of a select.
type Option struct {
	Value, Text, Lang string
	Depth             string
	Selected          bool
}

// labelledField is a field of a form with its label and what is wrong with it.
type labelledField struct{ Label, Name, Type, Value, Fault string }

func newField(label, name, kind, value, fault string) labelledField {
	return labelledField{label, name, kind, value, fault}
}

// Field is a hidden field of a form.
type Field struct{ Name, Value string }

// ListPage is a list of events: of all, of a term, of a day.
type ListPage struct {
	Frame
	Heading, Lead  string
	HeadingLang    string
	LeadLang       string
	Crumbs         []Link
	About          template.HTML
	Filter         *Filter
	Count          string
	Groups         []Group
	Empty          *Empty
	Earlier, Later *Link
	Position       string // page 2 of 7
	Subscribe      *Subscribe
	Terms          []Link
	Colour         int
}

// Empty says that there is nothing, and what to do.
type Empty struct {
	Title, Text string
	Links       []Link
}

// Subscribe is the addresses of a feed.
type Subscribe struct {
	Title                                  string
	App                                    template.URL // webcal
	Google, Outlook, File, Atom, RSS, JSON string
}

// HomePage is the first page.
type HomePage struct {
	Frame
	Heading, Date string
	Lead          template.HTML // the event that opens the page, or ""
	Today         []template.HTML
	Upcoming      []template.HTML
	UpcomingHref  string
	TodayHref     string
	Categories    []Link
	Empty         *Empty
	Developers    string
	Subscribe     *Subscribe
}

// MonthPage is a month.
type MonthPage struct {
	Frame
	Term, TermLang string // "" for all events
	Heading        string
	Crumbs         []Link
	Filter         *Filter
	Earlier, Later *Link
	Months, Years  []Option
	GoTo           string // action of the form
	Kept           []Field
	Weekdays       []Weekday
	Weeks          [][]Cell
	Count          string
	Empty          *Empty
	Subscribe      *Subscribe
}

// Weekday is the head of a column.
type Weekday struct{ Short, Long string }

// Cell is a day of a month.
type Cell struct {
	Number         int
	Date           string // 2026-11-22, "" beyond the years of pages
	Day            string // in words
	Label          string
	Href           string // "" for a day without events
	Outside, Today bool
	Past           bool
	Entries        []Entry
	More           *Link
}

// Entry is an event on a day of a month.
type Entry struct {
	Body      template.HTML
	Continues bool // it began on an earlier day
}

// EventPage is an event.
type EventPage struct {
	Frame
	Crumbs                              []Link
	Heading, Lang                       string
	Colour                              int
	Marks                               []Mark
	Notice, NoticeLang                  string
	When                                string
	Start, End                          string // with offset
	AllDay                              bool
	Zone                                string
	DayNumber, MonthShort, WeekdayShort string
	Past                                bool
	Picture                             *Picture
	Prose                               template.HTML // the description
	ProseLang                           string
	Venues                              []Place
	Organizers                          []Place
	Categories, Tags                    []Link
	Price                               string
	Website                             string
	WebsiteText                         string
	Ticketed                            bool
	Online                              string // how to attend
	Join                                string
	Series                              *SeriesNote
	File, Google, Outlook               string
	Near                                []template.HTML
	NearTitle                           string
	Password                            *Password
}

// SeriesNote describes the series on the page of an occurrence.
type SeriesNote struct {
	Title, Lang, Href, Text string
	Next                    *Link
}

// Password is the form of a protected event.
type Password struct {
	Action string
	Wrong  bool
}

// Place is a venue or an organizer.
type Place struct {
	Name, Lang, Href string
	Lines            []string
	Phone, Call      string
	Email            string
	Website, Host    string
	Map              string
}

// PlacePage is a venue, an organizer or a series, with its events.
type PlacePage struct {
	ListPage
	Label       string
	Lang        string
	Place       *Place
	Picture     *Picture
	Prose       template.HTML // the description
	ProseLang   string
	Schedule    string
	NextDate    *Link
	Password    *Password
	ListHeading string
}

// ErrorPage is an error.
type ErrorPage struct {
	Frame
	Status        int
	Heading, Text string
	Links         []Link
}
