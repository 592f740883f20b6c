package translations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
)

const (
	// batchRecords is the number of records in a transaction. It is small, so that other writers wait only
	// briefly.
	batchRecords = 50
	// batchBytes is the number of bytes of texts in a transaction that no further record may exceed. The texts of
	// one record may exceed it.
	batchBytes = 8 << 20
)

// Outcome says what an import did with a unit.
type Outcome string

// The outcomes. A dry run reports the outcomes of an import.
const (
	Updated       Outcome = "updated"
	Unchanged     Outcome = "unchanged"
	Untranslated  Outcome = "untranslated"   // the unit has no target
	SourceChanged Outcome = "source changed" // the source text changed or was removed since the export
	Unknown       Outcome = "unknown"        // the record does not exist
	InTrash       Outcome = "in the trash"
	Original      Outcome = "original" // the target language is the original language of the record
	Failed        Outcome = "failed"
)

// Outcomes lists all outcomes in the order of reports.
var Outcomes = []Outcome{Updated, Unchanged, Untranslated, SourceChanged, Unknown, InTrash, Original, Failed}

// Skipped reports whether the import ignored the unit because of the stored record, or because there is none.
func (o Outcome) Skipped() bool {
	return o == SourceChanged || o == Unknown || o == InTrash || o == Original
}

// Problem is a unit that was skipped or failed, with the reason.
type Problem struct {
	Unit    string // id of the unit in the file
	Place   string // place in the file, such as "item 3"
	Outcome Outcome
	Err     error // error of a failed unit; nil otherwise
}

func (p Problem) String() string {
	text := fmt.Sprintf("%s, unit %s: ", p.Place, p.Unit)
	switch p.Outcome {
	case SourceChanged:
		return text + "the source text has changed since the export"
	case Unknown:
		return text + "there is no such record"
	case InTrash:
		return text + "the record is in the trash"
	case Original:
		return text + "the record was written in this language"
	}
	return text + p.Err.Error()
}

// Report is the result of an import or a dry run.
type Report struct {
	Records int // number of updated records
	Units   map[Outcome]int
}

// Importer imports translations from files.
type Importer struct {
	DB   *ent.Client
	Site calendar.Site
	// DryRun only plans: the report then lists what an import would do.
	DryRun bool
	// Force imports translations even if their source text has changed since the export.
	Force bool
	// Clear removes the stored translation if the target is empty. Otherwise, and for slugs, which cannot be
	// removed, an empty target is ignored. A missing target never removes anything.
	Clear bool
	// Problem is called for each unit that was skipped or failed. Nil disables it.
	Problem func(Problem)
}

// Import imports a file. It reads the file twice: a malformed file must not change anything. An invalid unit does not
// affect other units. If the write of a record is refused, all its units fail. But if they include a slug, Import first
// tries again without the slug. A transaction stores up to batchRecords records. If it fails, Import repeats it record
// by record. With an error, the report covers what was done before.
func (im *Importer) Import(ctx context.Context, file io.ReadSeeker) (*Report, error) {
	r := &importRun{
		Importer: im, report: &Report{Units: make(map[Outcome]int)},
		editor: &edit.Editor{Site: im.Site, Now: im.Site.Now(), By: auth.System()},
	}
	if err := Read(file, func(*Unit) error { return ctx.Err() }); err != nil {
		return r.report, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return r.report, err
	}
	err := Read(file, func(u *Unit) error { return r.addUnit(ctx, u) })
	if err == nil {
		err = r.flush(ctx)
	}
	return r.report, err
}

// group has successive units of one record in one language, which are written together.
type group struct {
	kind  calendar.Kind
	id    int64
	to    calendar.Language
	units []*Unit
}

func (g *group) has(f Field) bool {
	return slices.ContainsFunc(g.units, func(u *Unit) bool { return u.ID.Field == f })
}

// importRun is the state of one import.
type importRun struct {
	*Importer
	report *Report
	editor *edit.Editor

	batch []*group
	bytes int
}

// addUnit adds a unit to the batch. If the batch is full, addUnit writes it first.
func (r *importRun) addUnit(ctx context.Context, u *Unit) error {
	if u.fault != nil {
		r.reportUnit(u, Failed, u.fault)
		return nil
	}
	size := len(u.Source)
	if u.Target != nil {
		size += len(*u.Target)
	}
	n := len(r.batch)
	if n > 0 {
		// A field that occurs again becomes a separate update, so that the later one wins.
		last := r.batch[n-1]
		if last.kind == u.ID.Kind && last.id == u.ID.Record && last.to == u.To && !last.has(u.ID.Field) {
			last.units = append(last.units, u)
			r.bytes += size
			return nil
		}
	}
	if n >= batchRecords || r.bytes+size > batchBytes {
		if err := r.flush(ctx); err != nil {
			return err
		}
	}
	r.batch = append(r.batch, &group{kind: u.ID.Kind, id: u.ID.Record, to: u.To, units: []*Unit{u}})
	r.bytes += size
	return nil
}

// flush compares the batch with the stored records, writes the changes, and empties the batch.
func (r *importRun) flush(ctx context.Context) error {
	batch := r.batch
	r.batch, r.bytes = nil, 0
	stored, err := r.loadStored(ctx, batch)
	if err != nil {
		return err
	}
	var due []*group
	for _, g := range batch {
		d := r.decide(stored[key{g.kind, g.id}], g)
		if d.sent != (texts{}) && !r.DryRun {
			due = append(due, g)
			continue
		}
		r.countOutcomes(d)
	}
	// All imports lock rows in one order, so that two imports wait for each other instead of deadlocking.
	slices.SortStableFunc(due, func(a, b *group) int {
		return cmp.Or(cmp.Compare(slices.Index(Kinds, a.kind), slices.Index(Kinds, b.kind)), cmp.Compare(a.id, b.id))
	})
	return r.write(ctx, due)
}

type key struct {
	kind calendar.Kind
	id   int64
}

// loadStored loads the records of a batch, including those in the trash.
func (r *importRun) loadStored(ctx context.Context, batch []*group) (map[key]*record, error) {
	ids := make(map[calendar.Kind][]int64)
	for _, g := range batch {
		ids[g.kind] = append(ids[g.kind], g.id)
	}
	out := make(map[key]*record)
	for kind, some := range ids {
		found, err := loadRecords(ctx, r.DB, kind, selection{ids: some}, len(some))
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			out[key{kind, f.id}] = f
		}
	}
	return out, nil
}

// write writes groups in one transaction. If that fails, it writes them one by one, so that one refused record
// does not affect others.
func (r *importRun) write(ctx context.Context, due []*group) error {
	if len(due) == 0 {
		return nil
	}
	var done []decision
	err := edit.Write(ctx, r.DB, r.editor, func(tx *ent.Tx) error {
		done = done[:0]
		if err := lockEvents(ctx, tx, due); err != nil {
			return err
		}
		for _, g := range due {
			r.editor.Write = g.to
			d, err := r.update(ctx, tx, g)
			if err != nil {
				return fmt.Errorf("%s %d: %w", g.kind, g.id, err)
			}
			done = append(done, d)
		}
		return nil
	})
	var refused *calendar.Error
	switch {
	case err == nil:
		for _, d := range done {
			r.countOutcomes(d)
		}
		return nil
	case ctx.Err() != nil:
		return err
	case len(due) > 1:
		for _, g := range due {
			if err := r.write(ctx, []*group{g}); err != nil {
				return err
			}
		}
		return nil
	case !errors.As(err, &refused):
		return err
	}
	return r.refused(ctx, due[0], err)
}

// lockEvents locks the events of the groups and their series, in the order that package edit requires. It does nothing
// for a single event, which update locks itself.
func lockEvents(ctx context.Context, tx *ent.Tx, due []*group) error {
	var ids []int64
	for _, g := range due {
		if g.kind == calendar.Event {
			ids = append(ids, g.id)
		}
	}
	if len(ids) < 2 {
		return nil
	}
	_, err := edit.LockEvents(ctx, tx, ids...)
	return err
}

// refused fails the units of a group whose write was refused. If the group has a slug, that is probably the reason.
// Then only the slug fails, and the other texts are written.
func (r *importRun) refused(ctx context.Context, g *group, err error) error {
	rest := &group{kind: g.kind, id: g.id, to: g.to}
	for _, u := range g.units {
		switch {
		case !g.has(Slug):
			r.reportUnit(u, Failed, err)
		case u.ID.Field == Slug:
			r.reportUnit(u, Failed, fmt.Errorf("%w: %w", errSameOwner, err))
		default:
			rest.units = append(rest.units, u)
		}
	}
	if len(rest.units) == 0 {
		return nil
	}
	return r.write(ctx, []*group{rest})
}

// decision has the texts to write for a group of units, and the outcome of each unit.
type decision struct {
	sent texts
	told []unitResult
}

// texts are the texts to write for a record. Nil means no change.
type texts struct{ title, description, excerpt, slug, reason *string }

func (t *texts) set(f Field, text string) {
	switch f {
	case Title, Name:
		t.title = &text
	case Description:
		t.description = &text
	case Excerpt:
		t.excerpt = &text
	case Slug:
		t.slug = &text
	case Reason:
		t.reason = &text
	}
}

// unitResult is a unit with its outcome, and the error if it failed.
type unitResult struct {
	unit    *Unit
	outcome Outcome
	err     error
}

// decide compares the units of a record with its stored texts. A nil stored record means that it does not exist.
func (r *importRun) decide(stored *record, g *group) decision {
	var d decision
	for _, u := range g.units {
		text, outcome, err := r.decideUnit(stored, u)
		if outcome == Updated {
			d.sent.set(u.ID.Field, text)
		}
		d.told = append(d.told, unitResult{u, outcome, err})
	}
	return d
}

// decideUnit decides the outcome of a unit. If the outcome is Updated, it also returns the text to store, where "" removes
// the translation.
func (r *importRun) decideUnit(stored *record, u *Unit) (string, Outcome, error) {
	switch {
	case stored == nil:
		return "", Unknown, nil
	case stored.trashed:
		return "", InTrash, nil
	case stored.original.Language == u.To:
		return "", Original, nil
	}
	f, now := u.ID.Field, stored.text(u.To, u.ID.Field)
	if u.Target == nil || strings.TrimSpace(*u.Target) == "" {
		switch {
		case u.Target == nil || !r.Clear || f == Slug:
			return "", Untranslated, nil
		case now == "":
			return "", Unchanged, nil
		case !r.Force && !sameSource(stored.text(u.From, f), u.Source):
			return "", SourceChanged, nil
		}
		return "", Updated, nil
	}
	if now != "" && sameTarget(now, *u.Target) {
		return "", Unchanged, nil
	}
	text, err := cleanUnit(u)
	switch {
	case err != nil:
		return "", Failed, err
	case text == now, f == Slug && stored.hasSlug(*u.Target):
		return "", Unchanged, nil
	case !r.Force && !sameSource(stored.text(u.From, f), u.Source):
		return "", SourceChanged, nil
	}
	return text, Updated, nil
}

// hasSlug reports whether the record has the sent slug in any language. Then the translation needs no slug of its own.
func (r *record) hasSlug(sent string) bool {
	is := func(t calendar.Text) bool { return calendar.IsSlugOf(t.Slug, sent) }
	return is(r.original) || slices.ContainsFunc(r.others, is)
}

// countOutcomes adds the outcomes of a group's units to the report.
func (r *importRun) countOutcomes(d decision) {
	if d.sent != (texts{}) {
		r.report.Records++
	}
	for _, v := range d.told {
		r.reportUnit(v.unit, v.outcome, v.err)
	}
}

func (r *importRun) reportUnit(u *Unit, o Outcome, err error) {
	r.report.Units[o]++
	if r.Problem != nil && (o == Failed || o.Skipped()) {
		r.Problem(Problem{Unit: u.Name(), Place: u.place, Outcome: o, Err: err})
	}
}
