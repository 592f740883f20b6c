package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/translations"
)

type translationsCmds struct {
	Status translationsStatusCmd `cmd:"" help:"Count the translated texts in each language, or list what is missing."`
	Export translationsExportCmd `cmd:"" help:"Export the texts to a JSON file for a translator."`
	Import translationsImportCmd `cmd:"" help:"Import translations from a file, in the form of the export."`
}

// kindFlag has the flag that limits a command to some kinds of records.
type kindFlag struct {
	Kind []string `placeholder:"KIND" enum:"event,venue,organizer,category,tag" help:"Only event, venue, organizer, category or tag. Repeatable, or a comma list. Default all."`
}

// kinds returns the chosen kinds in the order of translations.Kinds.
func (f kindFlag) kinds() []calendar.Kind {
	var out []calendar.Kind
	for _, k := range translations.Kinds {
		if slices.Contains(f.Kind, string(k)) {
			out = append(out, k)
		}
	}
	return out
}

type translationsStatusCmd struct {
	database `group:"Database:"`
	kindFlag
	// The flag is named lang, because --language has the variable ALMANAC_LANGUAGE: the language of the site.
	Lang    []string `aliases:"language" placeholder:"LANG" enum:"en,pl,es" help:"Only en, pl or es; also --language. Repeatable, or a comma list. Default all."`
	Missing bool     `help:"List the records with missing translations, and the fields."`
	JSON    bool     `name:"json" help:"Print a JSON array."`
}

// Run prints the status of the translations.
func (c translationsStatusCmd) Run(ctx context.Context, s streams) error {
	filter := translations.Filter{Kinds: c.kinds()}
	for _, l := range calendar.Languages {
		if slices.Contains(c.Lang, string(l)) {
			filter.Languages = append(filter.Languages, l)
		}
	}
	return c.withCurrentReadOnly(ctx, func(st *store.Store) error {
		if c.Missing {
			return c.missing(ctx, s.Out, st, filter)
		}
		counts, err := translations.Status(ctx, st.Ent, filter)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(s.Out, counts)
		}
		t := newTable(s.Out, "KIND", "LANGUAGE", "RECORDS", "COMPLETE", "PARTIAL", "MISSING FIELDS")
		for _, n := range counts {
			t.row(n.Kind, n.Language, n.Records, n.Complete, n.Partial, n.MissingFields)
		}
		return t.Flush()
	})
}

// missing prints records that lack a translation. It prints them while it finds them, because there may be many. So
// the columns have fixed widths.
func (c translationsStatusCmd) missing(ctx context.Context, out io.Writer, st *store.Store, f translations.Filter) error {
	if !c.JSON {
		fmt.Fprintf(out, "%-9s  %8s  %-8s  %-25s  %s\n", "KIND", "ID", "LANGUAGE", "MISSING", "TITLE")
		return translations.ListMissing(ctx, st.Ent, f, func(m translations.Missing) error {
			_, err := fmt.Fprintf(out, "%-9s  %8d  %-8s  %-25s  %s\n",
				m.Kind, m.ID, m.Language, fieldList(m.Fields), cellText(m.Title))
			return err
		})
	}
	before := "[\n  "
	err := translations.ListMissing(ctx, st.Ent, f, func(m translations.Missing) error {
		line, err := json.Marshal(m)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s%s", before, line)
		before = ",\n  "
		return err
	})
	if err != nil {
		return err
	}
	end := "\n]\n"
	if strings.HasPrefix(before, "[") {
		end = "[]\n"
	}
	_, err = io.WriteString(out, end)
	return err
}

func fieldList(fields []translations.Field) string {
	words := make([]string, len(fields))
	for i, f := range fields {
		words[i] = string(f)
	}
	return strings.Join(words, ",")
}

type translationsExportCmd struct {
	database `group:"Database:"`
	kindFlag
	To          string `required:"" placeholder:"LANG" enum:"en,pl,es" help:"Language to translate into: en, pl or es."`
	From        string `placeholder:"LANG" enum:",en,pl,es" default:"" help:"Language to translate from: en, pl or es. Default that in which each record was written."`
	Format      string `default:"json" enum:"json" hidden:"" help:"json, for scripts from the time when there were several."`
	Out         string `short:"o" default:"-" placeholder:"FILE" help:"File to write, - for standard output. Default ${default}."`
	MissingOnly bool   `help:"Leave out texts that are already translated."`
	Slugs       bool   `help:"Also export the slugs."`
	After       int64  `placeholder:"ID" help:"Leave out the records up to this id. Requires a single --kind."`
	Since       *int64 `placeholder:"REVISION" help:"Leave out records unchanged since this revision of an earlier export."`
}

// Run exports texts for translation. A file replaces an earlier one only when it is complete.
func (c translationsExportCmd) Run(ctx context.Context, s streams) error {
	switch {
	case c.From == c.To:
		return usageError{fmt.Errorf("--from %s --to %s: nothing to translate", c.From, c.To)}
	case c.After < 0:
		return usageError{fmt.Errorf("--after %d: want an id", c.After)}
	case c.After > 0 && len(c.Kind) != 1:
		return usageError{errors.New("--after: needs a single --kind, because categories and tags have ids of their own")}
	case c.Since != nil && *c.Since < 0:
		return usageError{fmt.Errorf("--since %d: want a revision", *c.Since)}
	}
	return c.withCurrentReadOnly(ctx, func(st *store.Store) error {
		x := &translations.Exporter{
			DB: st.Ent, To: calendar.Language(c.To),
			From: calendar.Language(c.From), Kinds: c.kinds(), MissingOnly: c.MissingOnly, Slugs: c.Slugs,
			After: c.After, Since: c.Since,
		}
		var done translations.Exported
		err := writeOutput(s, c.Out, "--out", func(w io.Writer) (err error) {
			done, err = x.Write(ctx, w)
			return err
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(s.Err, "%d texts of %d records, at revision %d\n", done.Units, done.Records, done.Revision)
		if done.Sourceless > 0 {
			fmt.Fprintf(s.Err, "left out, without a text in %s: %d\n", c.From, done.Sourceless)
		}
		return nil
	})
}

type translationsImportCmd struct {
	File      string `arg:"" name:"file" type:"existingfile" placeholder:"FILE" help:"File that the translator returned."`
	database  `group:"Database:"`
	siteFlags `group:"Site:"`
	DryRun    bool `help:"Print what the command would do, and write nothing."`
	Force     bool `help:"Also import translations whose source text has changed since the export."`
	Clear     bool `help:"Remove translations whose text in the file is empty."`
}

// Run imports translations. A text that cannot be imported does not stop the others. The exit status is then 1.
func (c translationsImportCmd) Run(ctx context.Context, s streams) (err error) {
	source, err := c.source()
	if err != nil {
		return err
	}
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if c.DryRun {
		return c.withCurrentReadOnly(ctx, func(st *store.Store) error { return c.run(ctx, s, st, source, f) })
	}
	return c.withExisting(ctx, func(st *store.Store) error {
		if err := requireCurrent(ctx, st, false); err != nil {
			return err
		}
		return c.run(ctx, s, st, source, f)
	})
}

func (c translationsImportCmd) run(
	ctx context.Context, s streams, st *store.Store, source siteSource, f io.ReadSeeker,
) error {
	_, site, err := source.load(ctx, st.Ent)
	if err != nil {
		return err
	}
	im := &translations.Importer{
		DB: st.Ent, Site: site, DryRun: c.DryRun, Force: c.Force, Clear: c.Clear,
		// Problems quote texts of the file, so control characters are replaced.
		Problem: func(p translations.Problem) {
			what := "skipped:"
			if p.Outcome == translations.Failed {
				what = "failed:"
			}
			fmt.Fprintln(s.Err, what, cellText(p))
		},
	}
	report, err := im.Import(ctx, f)
	if err != nil {
		err = fmt.Errorf("%s: %w", c.File, err)
	}
	if errors.Is(err, translations.ErrFile) {
		return err
	}
	for _, o := range translations.Outcomes {
		fmt.Fprintf(s.Out, "%-15s %d\n", o, report.Units[o])
	}
	verb := "updated"
	if c.DryRun {
		verb = "would be updated"
	}
	fmt.Fprintf(s.Out, "%d records %s\n", report.Records, verb)
	if err != nil {
		return err
	}
	if report.Units[translations.Failed] > 0 {
		return errIncomplete
	}
	return nil
}
