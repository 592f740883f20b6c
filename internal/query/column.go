// Package query defines the queries for lists of records, independent of HTTP. It also runs them on the database.
//
// A filter is a Column. Database evaluates it with Ent predicates; package index evaluates it in memory. An
// engine that does not support a column returns ErrUnsupported, so no condition is silently ignored. A word is
// a text value such as the event status "canceled".
package query

import (
	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/predicate"
)

// Kind is the type of a column's values. It decides how the database and the index compare them with a condition.
type Kind int

// FlagKind, LinkKind, TermKind, RecordKind and WordKind are the values of Kind.
const (
	FlagKind   Kind = iota // a stored boolean
	LinkKind               // links to venues or organizers, by id
	TermKind               // links to categories or tags, by id or slug
	RecordKind             // the id of another event
	WordKind               // a stored word
)

// Column is a filter of events: the name that clients send, and the place where the values are stored.
type Column struct {
	Name        string
	Description string // one sentence in English
	Kind        Kind
	Table       string        // name of the table that stores the values
	Field       string        // name of the column in Table; "" for links, which have their own table
	LinksTo     calendar.Kind // kind of record that an id identifies; "" for a flag
	Words       []string      // words that a WordKind column can store; nil means any
	// Public is true if the value is shown although the event has a password. A filter by another column never finds
	// events whose protected values the client cannot see (contract, section 13).
	Public bool

	where func(Condition) predicate.Event
}

// Condition is a column with the value that a client sent.
type Condition struct {
	Column *Column
	Flag   bool     // value for a FlagKind
	Words  []string // for a WordKind, one of them must match; for a TermKind, slugs or ids as sent by the client
	IDs    []int64  // at least one must match; for a TermKind, an id for each of Words, then those of descendants
}

// Predicate returns the Ent predicate that selects the events that meet the condition.
func (c Condition) Predicate() predicate.Event { return c.Column.where(c) }

// Flag returns the Column that filters events by a stored boolean. field is Ent's name of the database column. The
// function is makes Ent's predicate that compares the column with a value.
func Flag(name, field string, is func(bool) predicate.Event, description string) Column {
	return Column{
		Name: name, Description: description, Kind: FlagKind, Table: event.Table, Field: field,
		where: func(c Condition) predicate.Event { return is(c.Flag) },
	}
}

// Link returns the Column that filters events by linked venues or organizers. table is Ent's name of the link table.
// The function has makes Ent's predicate for events with a linked record. The function in makes Ent's predicate for
// records with given ids.
func Link[P predicateOf](
	name, table string, has func(...P) predicate.Event, in func(...int64) P, to calendar.Kind, description string,
) Column {
	return Column{
		Name: name, Description: description, Kind: LinkKind, Table: table, LinksTo: to,
		where: func(c Condition) predicate.Event {
			if len(c.IDs) > maxPlaceholders {
				return has(P(func(s *sql.Selector) {
					s.Where(sql.P(func(b *sql.Builder) { b.Ident(s.C(event.FieldID)).WriteString(" IN " + IDList(c.IDs)) }))
				}))
			}
			return has(in(c.IDs...))
		},
	}
}

// maxPlaceholders is the largest number of ids that a statement passes as placeholders. Every engine allows at
// least 32,766 placeholders.
const maxPlaceholders = 10_000

// Terms returns the Column that filters events by linked categories or tags. The function has makes Ent's predicate
// for events with a linked term. The function in makes Ent's predicate for terms with given ids.
func Terms[P predicateOf](
	name, table string, has func(...P) predicate.Event, in func(...int64) P, taxonomy calendar.Kind, description string,
) Column {
	c := Link(name, table, has, in, taxonomy, description)
	c.Kind = TermKind
	return c
}

// Record returns the Column that filters events by the stored id of another event. field is Ent's name of the
// database column. The function in makes Ent's predicate for given ids.
func Record(name, field string, in func(...int64) predicate.Event, description string) Column {
	return Column{
		Name: name, Description: description, Kind: RecordKind, Table: event.Table, Field: field, LinksTo: calendar.Event,
		where: func(c Condition) predicate.Event { return in(c.IDs...) },
	}
}

// Word returns the Column that filters events by a stored word, such as the status "canceled". field is Ent's name
// of the database column. The function in makes Ent's predicate for given words. Stored words must not end in
// blanks, because MySQL ignores these in comparisons.
func Word[W ~string](name, field string, in func(...W) predicate.Event, description string) Column {
	return Column{
		Name: name, Description: description, Kind: WordKind, Table: event.Table, Field: field,
		where: func(c Condition) predicate.Event {
			words := make([]W, len(c.Words))
			for i, w := range c.Words {
				words[i] = W(w)
			}
			return in(words...)
		},
	}
}

// OneOf returns the Column that filters events by a stored word, which is one of the given words. The API rejects
// requests with other words.
func OneOf[W ~string](name, field string, in func(...W) predicate.Event, words []W, description string) Column {
	c := Word(name, field, in, description)
	for _, w := range words {
		c.Words = append(c.Words, string(w))
	}
	return c
}

// OpenToAll returns a copy of the column with Public set: the password of an event does not protect its value.
func (c Column) OpenToAll() Column {
	c.Public = true
	return c
}
