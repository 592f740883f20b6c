package importer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// Action says what an import did with one record.
type Action string

// Create, Update, Translate, Unchanged and Fail are the values of Action, in the order of the columns of a printed
// report.
const (
	Create    Action = "create"
	Update    Action = "update"
	Translate Action = "translate" // update of texts in a language other than the original
	Unchanged Action = "unchanged"
	Fail      Action = "fail"
)

// Actions lists all actions, in the order of the columns of a printed report.
var Actions = []Action{Create, Update, Translate, Unchanged, Fail}

// Kinds lists the kinds of records in the order in which they are imported.
var Kinds = []calendar.Kind{
	calendar.Category, calendar.Tag, calendar.Image, calendar.Venue, calendar.Organizer, calendar.Series, calendar.Event,
}

// Item is one imported record in a report.
type Item struct {
	Kind   calendar.Kind
	Action Action
	Title  string
	Source string // source id
	ID     int64  // id of the stored record; 0 means that there is none
	// Altered is true if a part of the record was left out or changed. A notice says which.
	Altered bool
}

// Problem is a record, change, page or image that could not be imported or read. It can also be the missing end of a
// file.
type Problem struct {
	Kind   calendar.Kind // kind of the record; "" for a page, a picture or the end of a file
	Title  string        // title of the record; "" means unknown
	Where  string        // position in the source, such as: page 2, event 14 (id 61638)
	Reason string
}

func (p Problem) String() string { return p.Where + ": " + p.Reason }

// Report lists what an import did. For a dry run it lists what an import would do.
type Report struct {
	DryRun   bool
	Items    []Item
	Problems []Problem
	// Notices are texts about what the import left out, assumed or left alone.
	Notices []string

	// Kept lists the records with fields that stay, because persons changed them here.
	Kept []KeptRecord

	// unread are the problems with reading the source, such as a page that failed.
	unread []Problem
	counts map[calendar.Kind]map[Action]int
}

// Count returns the number of records of a kind with an action. An event that could not be read counts as Fail
// but is no Item.
func (r *Report) Count(kind calendar.Kind, a Action) int { return r.counts[kind][a] }

// Complete reports whether there are no problems.
func (r *Report) Complete() bool { return len(r.Problems) == 0 }

// Summary returns what was imported and what was not, as English sentences for a person. It counts a series as one
// event.
func (r *Report) Summary() string {
	var whole int
	var altered, missing []string
	incomplete := false // a part of the source could not be read
	for _, i := range r.Items {
		switch {
		case i.Kind != calendar.Event && i.Kind != calendar.Series:
		case i.Action == Fail:
			missing = append(missing, i.Title)
		case i.Altered:
			altered = append(altered, i.Title)
		default:
			whole++
		}
	}
	for _, p := range r.unread {
		if p.Kind == "" {
			incomplete = true
		} else {
			missing = append(missing, cmp.Or(p.Title, p.Where))
		}
	}
	came := "came"
	if r.DryRun {
		came = "would come"
	}
	total := whole + len(altered) + len(missing)
	var text string
	switch {
	case total == 0:
		text = "The source has no events."
	case total == 1 && whole == 1:
		text = fmt.Sprintf("The event %s as it is in the source.", came)
	case total == whole:
		text = fmt.Sprintf("All %d events %s as they are in the source.", total, came)
	default:
		text = fmt.Sprintf("Of %d events, %d %s as they are in the source", total, whole, came)
		switch {
		case whole == 1:
			text = fmt.Sprintf("Of %d events, 1 %s as it is in the source", total, came)
		case total == 1:
			text = "Of 1 event, none " + came + " as it is in the source"
		case whole == 0:
			text = fmt.Sprintf("Of %d events, none %s as they are in the source", total, came)
		}
		if len(altered) > 0 {
			text += fmt.Sprintf("; %d %s with changes: %s", len(altered), came, someNames(altered))
		}
		if len(missing) > 0 {
			came = map[bool]string{false: "did not come", true: "would not come"}[r.DryRun]
			text += fmt.Sprintf("; %d %s: %s", len(missing), came, someNames(missing))
		}
		text += "."
	}
	if incomplete {
		text += " A part of the source could not be read."
	}
	return text
}

// someNames returns the first five different names, quoted, and says how many other records there are.
func someNames(names []string) string {
	const most = 5
	var shown []string
	others := 0
	for _, name := range names {
		name = strconv.Quote(abbreviate(name))
		switch {
		case slices.Contains(shown, name):
		case len(shown) < most:
			shown = append(shown, name)
		default:
			others++
		}
	}
	text := strings.Join(shown, ", ")
	if others > 0 {
		text += fmt.Sprintf(" and %d more", others)
	}
	return text
}

func (r *Report) count(kind calendar.Kind, a Action) {
	if r.counts == nil {
		r.counts = make(map[calendar.Kind]map[Action]int)
	}
	if r.counts[kind] == nil {
		r.counts[kind] = make(map[Action]int)
	}
	r.counts[kind][a]++
}

func (r *Report) add(i Item) {
	r.count(i.Kind, i.Action)
	r.Items = append(r.Items, i)
}

func (r *Report) fail(kind calendar.Kind, from *Origin, title, reason string) {
	r.add(Item{Kind: kind, Action: Fail, Title: title, Source: from.Key})
	r.Problems = append(r.Problems, Problem{Kind: kind, Where: from.Where, Reason: reason})
}

func (r *Report) notice(from *Origin, text string) {
	r.Notices = append(r.Notices, from.Where+": "+text)
}

// joinErrors joins the texts of errors to one line of text.
func joinErrors(errs []error) string {
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

var errEmptyPage = errors.New("not a page of events")

// hiddenPage is the page number in messages about events that no list of the source shows.
const hiddenPage = 0

// recordPosition describes where an event is in the source, such as "page 2, event 5", for messages. The id is added
// unless it is "".
func recordPosition(page, index int, id string) string {
	at := fmt.Sprintf("page %d, event %d", page, index)
	if page == hiddenPage {
		at = fmt.Sprintf("hidden event %d", index)
	}
	if id == "" {
		return at
	}
	return at + " (id " + id + ")"
}
