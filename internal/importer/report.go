package importer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// Action is what the import did with a record of the source.
type Action string

// The actions, in the order of the columns of a report.
const (
	Create    Action = "create"
	Update    Action = "update"
	Translate Action = "translate" // an update of texts that are not the record's original
	Unchanged Action = "unchanged"
	Fail      Action = "fail"
)

// Actions lists them all.
var Actions = []Action{Create, Update, Translate, Unchanged, Fail}

// Kinds lists the kinds of records in the order in which they are imported.
var Kinds = []calendar.Kind{
	calendar.Category, calendar.Tag, calendar.Image, calendar.Venue, calendar.Organizer, calendar.Series, calendar.Event,
}

// Item is one record of a report.
type Item struct {
	Kind   calendar.Kind
	Action Action
	Title  string
	Source string // source id
	ID     int64  // here; 0 if it is not there
}

// Problem is a record, or a change of one, that was not imported, or a page that was not read.
type Problem struct {
	Kind   calendar.Kind // kind of the record; "" for a page
	Where  string        // such as: page 2, event 14 (id 61638)
	Reason string
}

func (p Problem) String() string { return p.Where + ": " + p.Reason }

// Report lists what an import did or, in a dry run, would do.
type Report struct {
	DryRun   bool
	Items    []Item
	Problems []Problem
	// Notices list, for people, what the import left out of the records that it wrote.
	Notices []string

	counts map[calendar.Kind]map[Action]int
}

// Count returns how many records of a kind met with an action. Events that could not be read are among those that
// failed; they are no Items.
func (r *Report) Count(kind calendar.Kind, a Action) int { return r.counts[kind][a] }

// Complete reports whether nothing was lost.
func (r *Report) Complete() bool { return len(r.Problems) == 0 }

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

// plural returns a kind in a sentence about several.
func plural(kind calendar.Kind) string {
	switch kind {
	case calendar.Category:
		return "categories"
	case calendar.Series:
		return "series"
	}
	return string(kind) + "s"
}

// joinErrors puts several errors into one line.
func joinErrors(errs []error) string {
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

var errEmptyPage = errors.New("not a page of events")

// recordPosition returns where a record stands, for people.
func recordPosition(page, index int, id string) string {
	at := fmt.Sprintf("page %d, event %d", page, index)
	if id == "" {
		return at
	}
	return at + " (id " + id + ")"
}
