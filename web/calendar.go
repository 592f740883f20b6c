package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"path"
	"reflect"
	"strings"
	"sync"
)

// Calendar renders the calendar pages (contract, section 21). It is immutable and safe for concurrent use.
type Calendar struct {
	templates *template.Template
	words     map[string]*CalendarWords
	names     map[string]string // hashed names of assets by plain name: site.css is site.0123456789ab.css
}

// NewCalendar parses the embedded templates and the texts in the given languages. own has the site's own files by
// name, such as a logo. An error means that the program was built with invalid templates or texts.
func NewCalendar(languages []string, own map[string][]byte) (*Calendar, error) {
	common, err := embedded()
	if err != nil {
		return nil, err
	}
	c := &Calendar{words: make(map[string]*CalendarWords, len(languages)), names: maps.Clone(common.names)}
	for _, lang := range languages {
		w := &CalendarWords{}
		if err := readCalendarWords(lang, w); err != nil {
			return nil, err
		}
		c.words[lang] = w
	}
	for name, data := range own {
		c.names[name] = assetName(name, data)
	}
	c.templates, err = calendarTemplates()
	return c, err
}

var calendarTemplates = sync.OnceValues(func() (*template.Template, error) {
	return template.New("calendar").Funcs(template.FuncMap{"field": newField}).ParseFS(files, "calendar/*.html")
})

// assetName returns the name of an asset with the hash of its content.
func assetName(name string, data []byte) string {
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + "." + contentTag(data) + ext
}

// contentTag returns a hash of data in hexadecimal digits.
func contentTag(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}

// Words returns the texts of pages in a language, or nil if the language is unknown.
func (c *Calendar) Words(language string) *CalendarWords { return c.words[language] }

// Asset returns the path of an asset below the base URL. "" means that there is no asset of that name.
func (c *Calendar) Asset(name string) string {
	full, ok := c.names[name]
	if !ok {
		return ""
	}
	return AssetsPath + full
}

// Write renders a page or a part of one to w. name is the name of a template.
func (c *Calendar) Write(w io.Writer, name string, model any) error {
	if err := c.templates.ExecuteTemplate(w, name, model); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

// Plural has the plural forms of a sentence, by CLDR category such as "one". {n} stands for the number.
type Plural map[string]string

// CalendarWords has the texts of calendar pages in a language, from words/calendar.{language}.json. Names in
// braces are placeholders.
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
	DescOrganizer, PasswordMany                                                                    string
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

// Frame has the data that every page shows around its content. URLs in links begin with the path of the base URL. All
// other URLs are absolute.
type Frame struct {
	Language, Dir string
	Locale        string // locale in Open Graph, such as pl_PL
	W             *CalendarWords
	Kind          string // class attribute of the body element
	Site, Tagline string
	Home          string
	Title         string // title of the HTML document
	Description   string
	Canonical     string // canonical URL; "" for errors
	Alternates    []Alternate
	Languages     []Choice
	NoIndex       bool
	Prev, Next    string
	OpenGraph     OpenGraph
	LinkedData    any               // JSON-LD of the page
	LinkedEvents  []json.RawMessage // JSON-LD of the events in a list
	APIRoot       string
	RESTRoot      string // REST root of WordPress; "" if the site has none
	SearchAction  string
	SearchWords   string
	Views         []Link
	Footer        []Link
	Feeds         []Link
	Assets        Assets
}

// Assets has the URLs of the files that every page loads.
type Assets struct {
	Styles []string
	Script string
	Icon   string
	Logo   string
}

// Alternate is a link to the page in another language or format.
type Alternate struct{ Hreflang, Type, Title, Href string }

// Choice is a link to the same page in another language.
type Choice struct {
	Code, Name, Href string
	Current          bool
}

// OpenGraph is the preview that social networks show for a link.
type OpenGraph struct {
	Type, Title string
	Image       *Picture
}

// Picture is an image in one size, in pixels.
type Picture struct {
	URL           string
	Set           string // value of the srcset attribute
	Width, Height int
	Alt           string
}

// Link is a link with its text. Lang is the language of the text, or "" for that of the page. Before and After
// are texts around the link, in the language of the page.
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
	Colour       int    // number of the colour of its category; 0 means no category
	Start        string // start for machines, as a time with UTC offset or the day of an all-day event
	Day          string // first day that the event is shown on, such as 2026-11-22
	Last         string // last day for readers, in the same format
	Date         string // short form of the date
	Time         string
	Zone         string // name of the event's zone if its clock differs from that of the site, else ""
	Until        string
	DayNumber    string
	MonthShort   string
	WeekdayShort string
	Category     string
	CategoryLang string // language of Category; "" means that of the page
	Place        string
	PlaceLang    string
	Cost         string
	Teaser       string
	Marks        []Mark
	Picture      *Picture
}

// Mark is a word that a page highlights in an event, such as "Canceled".
type Mark struct{ Kind, Text string }

// Group has the events of one day in a list, with a heading. Another group has the events that have begun and not
// ended.
type Group struct {
	Title, Href               string
	Day, Weekday, Month, Date string
	Relative                  string // "today" or "tomorrow" in the language of the page, else ""
	Today                     bool
	Bare                      bool // the heading is not shown, because it repeats that of the page
	Items                     []template.HTML
}

// Filter is the form for searching and filtering events.
type Filter struct {
	Action           string
	Search, From, To string
	Month            string
	Dates            bool // the form has fields for dates
	Featured         bool
	Open             bool
	Categories       []Option
	Hidden           []Field
	Faults           map[string]string // messages about invalid fields, by field name
	Chips            []Link
	Clear            string
}

// Option is an option of a select element.
type Option struct {
	Value, Text, Lang string
	Depth             string
	Selected          bool
}

// labelledField is a form field with its label, and the message if its value is invalid.
type labelledField struct{ Label, Name, Type, Value, Fault string }

func newField(label, name, kind, value, fault string) labelledField {
	return labelledField{label, name, kind, value, fault}
}

// Field is a query parameter of a link, or a hidden field of a form.
type Field struct{ Name, Value string }

// ListPage is the page of a list of events.
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
	Position       string // position in the list, such as "page 2 of 7"
	Subscribe      *Subscribe
	Terms          []Link
	Colour         int
}

// Empty is the message that a page has no events, with links to pages that have some.
type Empty struct {
	Title, Text string
	Links       []Link
}

// Subscribe has the URLs for subscribing to the events of a page. App, Google, Outlook and File are for
// calendar programs. Atom, RSS and JSON are for feed readers.
type Subscribe struct {
	Title                                  string
	App                                    template.URL // webcal: URL
	Google, Outlook, File, Atom, RSS, JSON string
}

// HomePage is the home page of the calendar.
type HomePage struct {
	Frame
	Heading, Date string
	Lead          template.HTML // event at the top of the page; "" means none
	Today         []template.HTML
	Upcoming      []template.HTML
	UpcomingHref  string
	TodayHref     string
	Categories    []Link
	Empty         *Empty
	Developers    string
	Subscribe     *Subscribe
}

// MonthPage is the page with the calendar of one month.
type MonthPage struct {
	Frame
	Term, TermLang string // term of the page and its language; "" for all events
	Heading        string
	Crumbs         []Link
	Filter         *Filter
	Earlier, Later *Link
	Months, Years  []Option
	GoTo           string // action attribute of the form that chooses a month
	Kept           []Field
	Weekdays       []Weekday
	Weeks          [][]Cell
	Count          string
	Empty          *Empty
	Subscribe      *Subscribe
}

// Weekday is the heading of a column in the calendar of a month.
type Weekday struct{ Short, Long string }

// Cell is a day in the calendar of a month.
type Cell struct {
	Number         int
	Date           string // date such as 2026-11-22; "" outside the years that pages support
	Day            string // date in words
	Label          string
	Href           string // link to the page of the day; "" for a day without events or without a page
	Outside, Today bool
	Past           bool
	Entries        []Entry
	More           *Link
}

// Entry is an event on a day in the calendar of a month.
type Entry struct {
	Body      template.HTML
	Continues bool // the event began on an earlier day
}

// EventPage is the page of an event.
type EventPage struct {
	Frame
	Crumbs                              []Link
	Heading, Lang                       string
	Colour                              int
	Marks                               []Mark
	Notice, NoticeLang                  string
	When                                string
	Start, End                          string // start and end for machines, as times with UTC offset or the days of an all-day event
	AllDay                              bool
	Clock12                             bool // times are those of 12 hours
	Zone                                string
	DayNumber, MonthShort, WeekdayShort string
	Past                                bool
	Picture                             *Picture
	Prose                               template.HTML // sanitised description
	ProseLang                           string
	Venues                              []Place
	Organizers                          []Place
	Categories, Tags                    []Link
	Price                               string
	Website                             string
	WebsiteText                         string
	Ticketed                            bool
	Online                              string // how to attend online
	Join                                string
	Series                              *SeriesNote
	File, Google, Outlook               string
	Near                                []template.HTML
	NearTitle                           string
	Password                            *Password
}

// SeriesNote describes the series of the event on the event's page.
type SeriesNote struct {
	Title, Lang, Href, Text string
	Next                    *Link
}

// Password is the password form of a protected event.
type Password struct {
	Action string
	Fault  string // message at the field; "" means none
}

// Place is a venue or organizer on a page.
type Place struct {
	Name, Lang, Href string
	Lines            []string
	Phone, Call      string
	Email            template.HTML // link in character references; "" means none
	Website, Host    string
	Map              string
}

// PlacePage is the page of a venue, organizer or series, with its events.
type PlacePage struct {
	ListPage
	Label       string
	Lang        string
	Place       *Place
	Picture     *Picture
	Prose       template.HTML // sanitised description
	ProseLang   string
	Schedule    string
	NextDate    *Link
	Password    *Password
	ListHeading string
}

// ErrorPage is the page that is sent for an error such as 404.
type ErrorPage struct {
	Frame
	Status        int
	Heading, Text string
	Links         []Link
}
