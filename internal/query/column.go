// Package query owns what lists of records may be asked, independent of HTTP.
//
// A filter is a Column. Database answers it with predicates of Ent, package index answers it in memory. An engine that
// does not know a column returns ErrUnsupported: a condition is never left out.
package query

import (
	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/predicate"
)

// Kind is the type of a column. Each engine handles a kind in one place.
type Kind int

// The kinds of columns.
const (
	FlagKind   Kind = iota // a stored boolean
	LinkKind               // links to venues or organizers, by id
	TermKind               // links to categories or tags, by id or slug
	RecordKind             // the id of another event
	WordKind               // a stored word
)

// Column is a filter of events: the name under which clients send it, and where its values are stored.
type Column struct {
	Name        string
	Description string // in English
	Kind        Kind
	Table       string        // that stores the values
	Field       string        // the column of Table; "" for links, which have a table of their own
	LinksTo     calendar.Kind // the kind of record that an id names; "" for a flag
	Words       []string      // that a word column can store; nil means any
	// Public columns are not guarded by the password of an event. A guarded column finds no event that the caller gets
	// redacted, whatever its value (contract, section 13).
	Public bool

	where func(Condition) predicate.Event
}

// Condition is a column with the value that a client sent.
type Condition struct {
	Column *Column
	Flag   bool     // of a FlagKind
	Words  []string // of a WordKind: one of them matches; of a TermKind: what IDs were looked up by
	IDs    []int64  // of the other kinds: one of them matches; of a TermKind those of Words, then those below them
}

// Predicate returns what selects the events that meet the condition.
func (c Condition) Predicate() predicate.Event { return c.Column.where(c) }

// Flag returns the column of a stored boolean. field is Ent's name of it, is the predicate that Ent generates for it.
func Flag(name, field string, is func(bool) predicate.Event, description string) Column {
	return Column{
		Name: name, Description: description, Kind: FlagKind, Table: event.Table, Field: field,
		where: func(c Condition) predicate.Event { return is(c.Flag) },
	}
}

// Link returns the column of links to venues or organizers. table is Ent's name of the table of links. has and in are the
// predicates that Ent generates for the edge and for the ids of what it leads to.
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

// maxPlaceholders is how many ids a statement has as placeholders. Engines allow 32,766 or more in all.
const maxPlaceholders = 10_000

// Terms returns the column of links to the terms of a taxonomy. The parameters are as those of Link.
func Terms[P predicateOf](
	name, table string, has func(...P) predicate.Event, in func(...int64) P, taxonomy calendar.Kind, description string,
) Column {
	c := Link(name, table, has, in, taxonomy, description)
	c.Kind = TermKind
	return c
}

// Record returns the column of the id of another event. field and in are as field and is of Flag.
func Record(name, field string, in func(...int64) predicate.Event, description string) Column {
	return Column{
		Name: name, Description: description, Kind: RecordKind, Table: event.Table, Field: field, LinksTo: calendar.Event,
		where: func(c Condition) predicate.Event { return in(c.IDs...) },
	}
}

// Word returns the column of a stored word without blanks at its end, which MySQL ignores in comparisons. field and in are
// as field and is of Flag.
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

// OneOf returns Word of a column that stores one of some words. Others are refused.
func OneOf[W ~string](name, field string, in func(...W) predicate.Event, words []W, description string) Column {
	c := Word(name, field, in, description)
	for _, w := range words {
		c.Words = append(c.Words, string(w))
	}
	return c
}

// OpenToAll returns the column as a public one.
func (c Column) OpenToAll() Column {
	c.Public = true
	return c
}
