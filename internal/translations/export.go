package translations

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/change"
)

// Unit is a translation unit: one text of a record, with its translation.
type Unit struct {
	ID       ID
	From, To calendar.Language
	Source   string
	Target   *string // nil means that there is no translation yet
	Note     string  // hint for the translator

	name  string // id of the unit in the file
	place string // place in the file, such as "item 3"
	fault error  // reason why the unit is unusable; nil means that it is usable
}

// Exporter writes the texts of records to a file for translators.
type Exporter struct {
	DB *ent.Client
	// To is the target language. Records with this original language are left out.
	To calendar.Language
	// From is the source language; "" means the original of each record.
	From calendar.Language
	// Kinds are the kinds to export. Empty means all.
	Kinds []calendar.Kind
	// MissingOnly leaves out texts that have a translation.
	MissingOnly bool
	// Slugs also exports slugs.
	Slugs bool
	// After leaves out records with this id or a smaller one.
	After int64
	// Since leaves out records that did not change after this revision. Nil means no limit.
	Since *int64
}

// Exported says how much an export wrote.
type Exported struct {
	Records, Units int
	// Sourceless is the number of texts that were left out because they lack the source language.
	Sourceless int
	// Revision is the revision of the calendar at the start of the export. The next export can take it as
	// Since.
	Revision int64
}

// Write writes the file. It loads one page of records at a time.
func (x *Exporter) Write(ctx context.Context, w io.Writer) (Exported, error) {
	var done Exported
	if x.From == x.To {
		return done, fmt.Errorf("from %s into %s: nothing to translate", x.From, x.To)
	}
	newest, err := x.DB.Change.Query().Order(ent.Desc(change.FieldID)).Select(change.FieldID).First(ctx)
	switch {
	case err == nil:
		done.Revision = newest.ID
	case !ent.IsNotFound(err):
		return done, fmt.Errorf("revision: %w", err)
	}
	if x.Since != nil {
		first, err := edit.FirstChange(ctx, x.DB)
		if err != nil {
			return done, fmt.Errorf("revision: %w", err)
		}
		if *x.Since+1 < first {
			return done, fmt.Errorf("changes since revision %d: the change log begins at %d; export all records, or those since %d or later",
				*x.Since, first, first-1)
		}
	}
	buffered := bufio.NewWriterSize(w, 64<<10)
	out := &jsonWriter{Writer: buffered, to: x.To}
	out.open()
	for _, kind := range (Filter{Kinds: x.Kinds}).kinds() {
		err := forEachRecord(ctx, x.DB, kind, selection{after: x.After, since: x.Since}, func(r *record) error {
			units := x.units(r, &done)
			for i := range units {
				if err := out.unit(&units[i]); err != nil {
					return fmt.Errorf("%s: %w", units[i].ID, err)
				}
			}
			if len(units) > 0 {
				done.Records++
				done.Units += len(units)
			}
			return nil
		})
		if err != nil {
			return done, err
		}
	}
	out.close()
	return done, buffered.Flush() // returns all earlier write errors, too
}

// units returns the texts of a record to export. It adds the texts that lack the source language to done.Sourceless.
func (x *Exporter) units(r *record, done *Exported) []Unit {
	if r.original.Language == x.To {
		return nil
	}
	from := x.From
	if from == "" {
		from = r.original.Language
	}
	var out []Unit
	for _, f := range Fields(r.kind) {
		source, target := r.text(from, f), r.text(x.To, f)
		switch {
		case f == Slug && !x.Slugs, field(&r.original, f) == "" && source == "", x.MissingOnly && target != "":
			continue
		case source == "":
			if f != Slug {
				done.Sourceless++
			}
			continue
		}
		u := Unit{ID: ID{r.kind, r.id, f}, From: from, To: x.To, Source: source, Note: note(r, f)}
		if target != "" {
			u.Target = &target
		}
		out = append(out, u)
	}
	return out
}

// note returns a hint for translators: where readers see a text, and what to consider.
func note(r *record, f Field) string {
	id := strconv.FormatInt(r.id, 10)
	name := strings.ReplaceAll(string(f), "_", " ")
	what := strings.ToUpper(name[:1]) + name[1:] + " of " + string(r.kind) + " " + id
	if f != Title && f != Name {
		what += " (" + shorten(r.original.Title) + ")"
	}
	switch f {
	case Excerpt:
		what += ", the short text in lists"
	case Slug:
		what += ", its name in addresses"
	case Reason:
		what += ", why it does not take place as planned"
	}
	what += ", seen at /cal/events/v1/" + r.kind.Plural() + "/" + id + "."
	switch {
	case f == Slug:
		what += " Only a-z, 0-9, - and _. May be left without a translation."
	case isHTML(r.kind, f):
		what += " HTML: keep the tags."
	case f == Description, f == Reason:
		what += fmt.Sprintf(" Plain text, at most %d characters.", maxText)
	default:
		what += fmt.Sprintf(" Plain text, at most %d characters.", maxTitle)
	}
	return what
}
