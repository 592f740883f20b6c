package edit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventorganizer"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	entslug "github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/store"
)

// caseBatch is the number of rows in a statement that has a different value for each row. It is small, because
// the database searches the list of values again for each row.
const caseBatch = 100

// occurrenceRow is an occurrence of which some fields change.
type occurrenceRow struct {
	*occurrenceChange
	phase         int
	before, after ent.Event // fields before and after the write, only those that may change
	changed       []string  // names of the changed template fields, with languages
	fields        []string  // names of the changed fields for the change log
	action        calendar.Action
	slug          string
	languages     calendar.LanguageSet
	sequence      int64
	impact        impact
}

// store writes the planned changes of the series and its occurrences.
func (w *seriesWrite) store(ctx context.Context) error {
	if err := w.storeSeriesSlugs(ctx); err != nil {
		return err
	}
	rows, err := w.compareRows(ctx)
	if err != nil {
		return err
	}
	if err := w.limitStored(ctx, rows); err != nil {
		return err
	}
	if err := w.findImpacts(ctx, rows); err != nil {
		return err
	}
	if err := w.storePublicity(ctx, rows); err != nil {
		return err
	}
	if err := w.storeSlugs(ctx, rows); err != nil {
		return err
	}
	if err := w.storeColumns(ctx, rows); err != nil {
		return err
	}
	if err := w.storeTranslations(ctx, rows); err != nil {
		return err
	}
	for _, r := range rows {
		w.log(calendar.Event, r.row.ID, r.action, r.fields, r.impact)
	}
	if err := w.storeSeriesRow(ctx); err != nil { // storeSeriesRow takes slugs, which come before terms in the order of locks
		return err
	}
	if err := w.countTerms(ctx, rows); err != nil {
		return err
	}
	return w.storeLinks(ctx, rows)
}

// storePublicity records occurrences that the public can no longer see as withdrawn, and removes that record
// from occurrences that are public again.
func (w *seriesWrite) storePublicity(ctx context.Context, rows []*occurrenceRow) error {
	events := make([]*ent.Event, len(rows))
	for i, r := range rows {
		events[i] = r.row
		r.sequence = nextSequence(r.row, w.Now, r.standing.status, r.standing.published, r.span, r.after.EventStatus, r.protected())
	}
	return w.publicity(ctx, w.tx, events, func(i int) (calendar.Status, time.Time) {
		return rows[i].standing.status, rows[i].standing.published
	})
}

// storeSeriesSlugs moves the slugs of the series to the trash or back. It takes a slug if the new status needs
// one.
func (w *seriesWrite) storeSeriesSlugs(ctx context.Context) error {
	if err := w.dropSlugs(ctx); err != nil {
		return err
	}
	slugs := w.slugs()
	trashed := w.standing.status == calendar.Trash
	changed := false
	if trashed != w.wasTrashed() {
		for i, s := range slugs {
			moved, err := s.move(ctx, w.tx, trashed)
			if err != nil {
				return err
			}
			slugs[i].slug, slugs[i].trashed = moved, trashed
		}
		changed = true
	}
	if slugs[0].slug == "" && (w.standing.status.HasSlug() || w.standing.before.HasSlug()) {
		title := w.phases[len(w.phases)-1].template.Title
		taken, err := slugs[0].take(ctx, w.tx, calendar.Slug(title))
		if err != nil {
			return err
		}
		slugs[0].slug, changed = taken, true
	}
	if changed {
		w.setSlugs(slugs)
	}
	return nil
}

// dropSlugs frees the slug of each language in which the series no longer has any text.
func (w *seriesWrite) dropSlugs(ctx context.Context) error {
	was, is := &w.was[len(w.was)-1].template, &w.phases[len(w.phases)-1].template
	for _, old := range was.Translated() {
		if old.Slug == "" || is.Languages.Has(old.Language) {
			continue
		}
		slug := old.Slug
		if w.wasTrashed() {
			slug = calendar.TrashedSlug(slug)
		}
		if err := w.slugIn(old.Language, slug, w.wasTrashed()).drop(ctx, w.tx); err != nil {
			return fmt.Errorf("slug %s: %w", slug, err)
		}
		w.phases = slices.Clone(w.phases)
		for i := range w.phases {
			setSlug(&w.phases[i].template, old.Language, "")
		}
	}
	return nil
}

// compareRows returns the occurrences with changes, and loads the links and translations that the comparison
// needs.
func (w *seriesWrite) compareRows(ctx context.Context) ([]*occurrenceRow, error) {
	rows := make([]*occurrenceRow, len(w.rows))
	var translated, linked []int64
	for i, c := range w.rows {
		rows[i] = &occurrenceRow{
			occurrenceChange: c, phase: phaseOf(w.phases, c.nominal), slug: c.row.Slug, languages: c.row.Languages,
		}
		counts := countsForTerms(c.row.Status) != countsForTerms(c.standing.status)
		for _, name := range c.names {
			switch name {
			case "categories", "tags", "venue", "organizer":
				counts = true
			}
		}
		if counts {
			linked = append(linked, c.row.ID)
		}
		if slices.ContainsFunc(c.names, func(name string) bool { return strings.Contains(name, ":") }) {
			translated = append(translated, c.row.ID)
		}
	}
	links, err := loadEventLinks(ctx, w.tx, linked)
	if err != nil {
		return nil, err
	}
	others := make(map[int64][]calendar.Text)
	for part := range slices.Chunk(translated, batch) {
		found, err := w.tx.EventTranslation.Query().Where(eventtranslation.EventIDIn(part...)).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("translations of occurrences: %w", err)
		}
		for _, t := range found {
			others[t.EventID] = append(others[t.EventID], t.Text())
		}
	}
	return slices.DeleteFunc(rows, func(r *occurrenceRow) bool {
		l := links[r.row.ID]
		if l == nil {
			l = &eventLinks{}
		}
		r.before = templateOf(r.row, others[r.row.ID], *l)
		r.after = r.before
		copyFields(&r.after, &w.phases[r.phase].template, r.names)
		if w.sent != nil {
			copyFields(&r.after, w.sent, r.sent)
		}
		r.changed = changedFields(&r.before, &r.after, r.names)
		return !r.compare()
	}), nil
}

// compare finds the changes of an occurrence, and reports whether there are any.
func (r *occurrenceRow) compare() bool {
	add := func(changed bool, name string) {
		if changed && !slices.Contains(r.fields, name) {
			r.fields = append(r.fields, name)
		}
	}
	for _, name := range r.changed {
		field, l := calendar.CutField(name)
		add(true, field)
		if l != "" {
			r.languages = r.languages.Without(l)
			if hasText(textIn(&r.after, l).Text()) {
				r.languages = r.languages.With(l)
			}
		}
	}
	row := r.row
	add(row.Status != r.standing.status || row.StatusBeforeTrash != r.standing.before, "status")
	add(!row.PublishedAt.Equal(r.standing.published) || row.Dated != r.standing.dated, "date")
	add(valueOr(0, row.AuthorID) != valueOr(0, r.author), "author")
	add(row.Timezone != r.span.Zone.String(), "timezone")
	add(row.AllDay != r.span.AllDay, "all_day")
	add(!row.StartWall.Equal(r.span.Start) || !row.StartsAt.Equal(r.span.StartsAt()), "start_date")
	add(!row.EndWall.Equal(r.span.End) || !row.EndsAt.Equal(r.span.EndsAt()), "end_date")
	add(!row.OriginalStart.Equal(r.nominal) || row.OffSchedule != r.off || len(row.OwnFields) != len(r.own), "series")
	r.action = calendar.Updated
	switch trashed := r.standing.status == calendar.Trash; {
	case trashed && !r.wasTrashed():
		r.action = calendar.Trashed
	case !trashed && r.wasTrashed():
		r.action = calendar.Restored
	}
	if r.action != calendar.Updated && row.Slug != "" || row.Slug == "" && r.needsSlug() {
		add(true, "slug")
	}
	return len(r.fields) > 0
}

// needsSlug reports whether the new status of the occurrence needs a slug even if the client sent none.
func (r *occurrenceRow) needsSlug() bool {
	return r.standing.status.HasSlug() || r.standing.before.HasSlug()
}

// loadEventLinks returns the links of the events with the ids, by event id.
func loadEventLinks(ctx context.Context, tx *ent.Tx, ids []int64) (map[int64]*eventLinks, error) {
	links := make(map[int64]*eventLinks, len(ids))
	for _, id := range ids {
		links[id] = &eventLinks{}
	}
	taxonomies := make(map[int64]calendar.Kind)
	for part := range slices.Chunk(ids, batch) {
		venues, err := tx.EventVenue.Query().Where(eventvenue.EventIDIn(part...)).Order(eventvenue.ByPosition()).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("venues of occurrences: %w", err)
		}
		for _, v := range venues {
			links[v.EventID].venues = append(links[v.EventID].venues, v.VenueID)
		}
		organizers, err := tx.EventOrganizer.Query().Where(eventorganizer.EventIDIn(part...)).
			Order(eventorganizer.ByPosition()).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("organizers of occurrences: %w", err)
		}
		for _, o := range organizers {
			links[o.EventID].organizers = append(links[o.EventID].organizers, o.OrganizerID)
		}
		terms, err := tx.EventTerm.Query().Where(eventterm.EventIDIn(part...)).Order(eventterm.ByTermID()).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("terms of occurrences: %w", err)
		}
		var unknown []int64
		for _, t := range terms {
			if _, ok := taxonomies[t.TermID]; !ok {
				unknown, taxonomies[t.TermID] = append(unknown, t.TermID), ""
			}
		}
		for some := range slices.Chunk(unknown, batch) {
			found, err := tx.Term.Query().Where(term.IDIn(some...)).Select(term.FieldID, term.FieldTaxonomy).All(ctx)
			if err != nil {
				return nil, fmt.Errorf("terms of occurrences: %w", err)
			}
			for _, t := range found {
				taxonomies[t.ID] = t.Taxonomy
			}
		}
		for _, t := range terms {
			l := &links[t.EventID].terms
			if taxonomies[t.TermID] == calendar.Category {
				l.categories = append(l.categories, t.TermID)
			} else {
				l.tags = append(l.tags, t.TermID)
			}
		}
	}
	return links, nil
}

// idsOfRows returns the event ids of the rows for which holds returns true.
func idsOfRows(rows []*occurrenceRow, holds func(*occurrenceRow) bool) (ids []int64) {
	for _, r := range rows {
		if holds(r) {
			ids = append(ids, r.row.ID)
		}
	}
	return ids
}

// storeSlugs moves the slugs of occurrences to the trash or back. It takes slugs for occurrences whose new
// status needs one.
func (w *seriesWrite) storeSlugs(ctx context.Context, rows []*occurrenceRow) error {
	owners := make(map[int64]*occurrenceRow, len(rows))
	for _, r := range rows {
		owners[r.row.ID] = r
	}
	moved := idsOfRows(rows, func(r *occurrenceRow) bool { return r.action != calendar.Updated })
	var slugs []*ent.Slug
	for part := range slices.Chunk(moved, batch) {
		found, err := w.tx.Slug.Query().Where(entslug.KindEQ(calendar.Event), entslug.OwnerIDIn(part...)).
			Order(entslug.ByID()).All(ctx)
		if err != nil {
			return fmt.Errorf("slugs of occurrences: %w", err)
		}
		slugs = append(slugs, found...)
	}
	var toTrash, out []*ent.Slug
	var texts, bases []string
	for _, s := range slugs {
		if owners[s.OwnerID].action == calendar.Trashed {
			toTrash, texts = append(toTrash, s), append(texts, calendar.TrashedSlug(s.Slug))
		} else {
			out, bases = append(out, s), append(bases, calendar.UntrashedSlug(s.Slug))
		}
	}
	var fresh []*occurrenceRow
	for _, r := range rows {
		if r.row.Slug == "" && r.needsSlug() {
			slug := w.phases[r.phase].template.Slug
			fresh, bases = append(fresh, r), append(bases, calendar.OccurrenceSlug(slug, r.nominal))
		}
	}
	free, _, err := ChooseSlugs(ctx, w.tx, calendar.Event, bases, func(string) (int, bool) { return 0, false })
	if err != nil {
		return err
	}
	if err := w.writeSlugs(ctx, owners, append(toTrash, out...), append(texts, free[:len(out)]...)); err != nil {
		return err
	}
	insert := slugRows()
	var ids []int64
	for i, r := range fresh {
		r.slug = free[len(out)+i]
		trashed := r.standing.status == calendar.Trash
		if trashed {
			r.slug = calendar.TrashedSlug(r.slug)
		}
		ids = append(ids, r.row.ID)
		insert.Add(i, string(calendar.Event), r.slug, nil, string(r.row.Language), SlugScope(r.row.ID, trashed))
	}
	if err := insert.Insert(ctx, w.tx, ids); err != nil {
		return fmt.Errorf("slugs of occurrences: %w", store.AsConflict(err))
	}
	return nil
}

// writeSlugs replaces the stored slugs by texts, which has one text for each slug.
func (w *seriesWrite) writeSlugs(ctx context.Context, rows map[int64]*occurrenceRow, slugs []*ent.Slug, texts []string) error {
	translated := make(map[calendar.Language][]int64)
	bySlug, byOwner := make(map[int64]int), make(map[string]int)
	key := func(l calendar.Language, id int64) string { return fmt.Sprint(l, id) }
	var ids []int64
	for i, s := range slugs {
		ids = append(ids, s.ID)
		bySlug[s.ID], byOwner[key(s.Language, s.OwnerID)] = i, i
		if r := rows[s.OwnerID]; s.Language == r.row.Language {
			r.slug = texts[i]
		} else {
			translated[s.Language] = append(translated[s.Language], s.OwnerID)
		}
	}
	for part := range slices.Chunk(ids, caseBatch) {
		err := w.tx.Slug.Update().Where(entslug.IDIn(part...)).Modify(func(u *sql.UpdateBuilder) {
			u.Set(entslug.FieldSlug, byID(part, func(id int64) string { return texts[bySlug[id]] }))
			u.Set(entslug.FieldTrashedID, byID(part, func(id int64) int64 {
				s := slugs[bySlug[id]]
				return SlugScope(s.OwnerID, rows[s.OwnerID].action == calendar.Trashed)
			}))
		}).Exec(ctx)
		if err != nil {
			return fmt.Errorf("slugs of occurrences: %w", store.AsConflict(err))
		}
	}
	for _, l := range calendar.Languages {
		for part := range slices.Chunk(translated[l], caseBatch) {
			err := w.tx.EventTranslation.Update().
				Where(eventtranslation.EventIDIn(part...), eventtranslation.LanguageEQ(l)).
				Modify(func(u *sql.UpdateBuilder) {
					u.Set(eventtranslation.FieldSlug, byColumn(eventtranslation.FieldEventID, part, func(id int64) string {
						return texts[byOwner[key(l, id)]]
					}))
				}).Exec(ctx)
			if err != nil {
				return fmt.Errorf("slugs of translations: %w", err)
			}
		}
	}
	return nil
}

// countTerms updates the event counts of the terms of all changed occurrences.
func (w *seriesWrite) countTerms(ctx context.Context, rows []*occurrenceRow) error {
	by := make(map[int64]int)
	for _, r := range rows {
		if countsForTerms(r.row.Status) {
			for _, id := range linksOf(&r.before).terms.all() {
				by[id]--
			}
		}
		if countsForTerms(r.standing.status) {
			for _, id := range linksOf(&r.after).terms.all() {
				by[id]++
			}
		}
	}
	return CountEvents(ctx, w.tx, by)
}

// groupRows groups rows by a key, in the order of the first row of each group. It leaves out rows with the key
// "".
func groupRows(rows []*occurrenceRow, key func(*occurrenceRow) string) [][]*occurrenceRow {
	var groups [][]*occurrenceRow
	place := make(map[string]int)
	for _, r := range rows {
		k := key(r)
		if k == "" {
			continue
		}
		if _, ok := place[k]; !ok {
			place[k], groups = len(groups), append(groups, nil)
		}
		groups[place[k]] = append(groups[place[k]], r)
	}
	return groups
}

// storeColumns writes the changed columns of occurrences. Occurrences with equal values share a statement.
func (w *seriesWrite) storeColumns(ctx context.Context, rows []*occurrenceRow) error {
	if err := w.freeStarts(ctx, rows); err != nil {
		return err
	}
	for _, group := range groupRows(rows, (*occurrenceRow).columnKey) {
		first := group[0]
		for part := range slices.Chunk(group, caseBatch) {
			ids := idsOfRows(part, func(*occurrenceRow) bool { return true })
			at := make(map[int64]*occurrenceRow, len(part))
			for _, r := range part {
				at[r.row.ID] = r
			}
			u := w.tx.Event.Update().Where(event.IDIn(ids...)).AddVersion(1)
			first.setColumns(u.Mutation())
			err := u.Modify(func(b *sql.UpdateBuilder) {
				setOwnValues(b, ids, at)
				w.stampRows(b, first.impact)
			}).Exec(ctx)
			if err != nil {
				return fmt.Errorf("occurrences of series %d: %w", w.series.ID, store.AsConflict(err))
			}
		}
	}
	return nil
}

// freeStarts clears the nominal starts of all moving occurrences if one takes the start of another: the
// database checks the unique index row by row.
func (w *seriesWrite) freeStarts(ctx context.Context, rows []*occurrenceRow) error {
	held := make(map[calendar.Wall]bool)
	moves := func(r *occurrenceRow) bool { return !r.row.OriginalStart.Equal(r.nominal) }
	for _, r := range rows {
		if moves(r) {
			held[*r.row.OriginalStart] = true
		}
	}
	if !slices.ContainsFunc(rows, func(r *occurrenceRow) bool { return moves(r) && held[r.nominal] }) {
		return nil
	}
	for part := range slices.Chunk(idsOfRows(rows, moves), batch) {
		if err := w.tx.Event.Update().Where(event.IDIn(part...)).ClearOriginalStart().Exec(ctx); err != nil {
			return fmt.Errorf("nominal starts of series %d: %w", w.series.ID, err)
		}
	}
	return nil
}

// moves reports whether the occurrence gets new dates or a new nominal start.
func (r *occurrenceRow) moves() bool {
	return slices.Contains(r.fields, "start_date") || slices.Contains(r.fields, "end_date") ||
		!r.row.OriginalStart.Equal(r.nominal)
}

// columnKey returns the same text for rows to which setColumns gives equal values.
func (r *occurrenceRow) columnKey() string {
	return fmt.Sprint(r.phase, r.changed, r.sent, r.standing, valueOr(0, r.author), r.span.Zone, r.span.AllDay, r.languages, r.own,
		r.off, r.moves(), r.slug != r.row.Slug, r.sequence != r.row.Sequence, r.impact.hidden)
}

// setColumns sets the values that all rows with the same columnKey share.
func (r *occurrenceRow) setColumns(m *ent.EventMutation) {
	for _, name := range r.changed {
		if f, l := carriedFieldOf(name); l == "" && f.Set != nil {
			f.Set(m, &r.after)
		}
	}
	m.SetStatus(r.standing.status)
	m.SetStatusBeforeTrash(r.standing.before)
	m.SetPublishedAt(r.standing.published)
	m.SetDated(r.standing.dated)
	if r.author == nil {
		m.ClearAuthorID()
	} else {
		m.SetAuthorID(*r.author)
	}
	m.SetTimezone(r.span.Zone.String())
	m.SetAllDay(r.span.AllDay)
	m.SetLanguages(r.languages)
	m.SetOffSchedule(r.off)
	if len(r.own) == 0 {
		m.ClearOwnFields()
	} else {
		m.SetOwnFields(r.own)
	}
}

// setOwnValues sets the dates, the nominal start, the sequence and the slug of each row, if the rows of the
// group change them.
func setOwnValues(u *sql.UpdateBuilder, ids []int64, rows map[int64]*occurrenceRow) {
	first := rows[ids[0]]
	wall := func(column string, value func(*occurrenceRow) calendar.Wall) {
		u.Set(column, byID(ids, func(id int64) calendar.Wall { return value(rows[id]) }))
	}
	if first.moves() {
		wall(event.FieldOriginalStart, func(r *occurrenceRow) calendar.Wall { return r.nominal })
		wall(event.FieldStartWall, func(r *occurrenceRow) calendar.Wall { return r.span.Start })
		wall(event.FieldEndWall, func(r *occurrenceRow) calendar.Wall { return r.span.End })
		u.Set(event.FieldStartsAt, byID(ids, func(id int64) time.Time { return rows[id].span.StartsAt() }))
		u.Set(event.FieldEndsAt, byID(ids, func(id int64) time.Time { return rows[id].span.EndsAt() }))
	}
	if first.sequence != first.row.Sequence {
		u.Set(event.FieldSequence, byID(ids, func(id int64) int64 { return rows[id].sequence }))
	}
	if first.slug != first.row.Slug {
		u.Set(event.FieldSlug, byID(ids, func(id int64) string { return rows[id].slug }))
	}
}

// storeTranslations stores the changed texts in languages other than the original.
func (w *seriesWrite) storeTranslations(ctx context.Context, rows []*occurrenceRow) error {
	for _, l := range calendar.Languages {
		suffix := ":" + string(l)
		var gone []int64
		insert := eventTranslationRows()
		var ids []int64
		for _, r := range rows {
			switch {
			case !slices.ContainsFunc(r.changed, func(name string) bool { return strings.HasSuffix(name, suffix) }):
			case !r.before.Languages.Has(l):
				t := textIn(&r.after, l)
				insert.Add(len(ids), nil, string(l), t.Title, t.Description, t.Excerpt, "", t.EventStatusReason)
				ids = append(ids, r.row.ID)
			case !hasText(textIn(&r.after, l).Text()):
				gone = append(gone, r.row.ID)
			}
		}
		for part := range slices.Chunk(gone, batch) {
			_, err := w.tx.Slug.Delete().Where(
				entslug.KindEQ(calendar.Event), entslug.OwnerIDIn(part...), entslug.LanguageEQ(l)).Exec(ctx)
			if err == nil {
				_, err = w.tx.EventTranslation.Delete().
					Where(eventtranslation.EventIDIn(part...), eventtranslation.LanguageEQ(l)).Exec(ctx)
			}
			if err != nil {
				return fmt.Errorf("translations of occurrences: %w", err)
			}
		}
		if err := insert.Insert(ctx, w.tx, ids); err != nil {
			return fmt.Errorf("translations of occurrences: %w", store.AsConflict(err))
		}
		groups := groupRows(rows, func(r *occurrenceRow) string {
			names := slices.DeleteFunc(slices.Clone(r.changed), func(name string) bool { return !strings.HasSuffix(name, suffix) })
			if len(names) == 0 || !r.before.Languages.Has(l) || !hasText(textIn(&r.after, l).Text()) {
				return ""
			}
			return fmt.Sprint(r.phase, names, r.sent)
		})
		for _, group := range groups {
			for part := range slices.Chunk(group, batch) {
				u := w.tx.EventTranslation.Update().Where(
					eventtranslation.LanguageEQ(l),
					eventtranslation.EventIDIn(idsOfRows(part, func(*occurrenceRow) bool { return true })...))
				t := textIn(&group[0].after, l)
				for _, name := range group[0].changed {
					if f, in := carriedFieldOf(name); in == l {
						if err := u.Mutation().SetField(f.Name, *f.Text(t)); err != nil {
							return fmt.Errorf("translations of occurrences: %w", err)
						}
					}
				}
				if err := u.Exec(ctx); err != nil {
					return fmt.Errorf("translations of occurrences: %w", err)
				}
			}
		}
	}
	return nil
}

// storeLinks replaces the changed links of occurrences.
func (w *seriesWrite) storeLinks(ctx context.Context, rows []*occurrenceRow) error {
	changes := func(names ...string) []*occurrenceRow {
		return slices.DeleteFunc(slices.Clone(rows), func(r *occurrenceRow) bool {
			return !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(r.changed, name) })
		})
	}
	all := func(*occurrenceRow) bool { return true }
	for _, l := range []struct {
		kind   calendar.Kind // "" means terms
		rows   []*occurrenceRow
		insert store.Rows
		links  func(*ent.Event) []int64
	}{
		{
			calendar.Venue, changes("venue"), eventLinkRows(calendar.Venue),
			(*ent.Event).VenueIDs,
		},
		{
			calendar.Organizer, changes("organizer"), eventLinkRows(calendar.Organizer),
			(*ent.Event).OrganizerIDs,
		},
		{
			calendar.Category, changes("categories", "tags"), eventTermRows(), // tags are in the same table
			func(t *ent.Event) []int64 { return linksOf(t).terms.all() },
		},
	} {
		ids := idsOfRows(l.rows, all)
		for part := range slices.Chunk(ids, batch) {
			if err := removeLinks(ctx, w.tx, l.kind, part); err != nil {
				return err
			}
		}
		for i, r := range l.rows {
			for position, id := range l.links(&r.after) {
				if l.kind.IsLinked() {
					l.insert.Add(i, nil, id, int64(position))
				} else {
					l.insert.Add(i, nil, id)
				}
			}
		}
		if err := l.insert.Insert(ctx, w.tx, ids); err != nil {
			return fmt.Errorf("%s: %w", l.insert.Table, store.AsConflict(err))
		}
	}
	return nil
}

// storeSeriesRow stores changed phases, a new version of the series if it has changed, and its new occurrences.
func (w *seriesWrite) storeSeriesRow(ctx context.Context) error {
	changed, err := w.storePhases(ctx)
	if err != nil {
		return err
	}
	s := *w.series
	s.AuthorID, s.Status, s.StatusBeforeTrash = w.author, w.standing.status, w.standing.before
	s.PublishedAt, s.Dated, s.Slug = w.standing.published, w.standing.dated, valueOr(w.series.Slug, w.slug)
	last := &w.phases[len(w.phases)-1]
	s.Languages = last.template.Languages
	fields := w.changedSeriesFields(&s)
	if !changed && len(fields) == 0 {
		return nil
	}
	i, err := w.seriesImpact(ctx, fields)
	if err != nil {
		return err
	}
	u := w.tx.Series.Update().Where(series.ID(s.ID)).AddVersion(1).
		Modify(func(b *sql.UpdateBuilder) { w.stampRows(b, i) }).
		SetStatus(s.Status).SetStatusBeforeTrash(s.StatusBeforeTrash).SetPublishedAt(s.PublishedAt).SetDated(s.Dated).
		SetSlug(s.Slug).SetLanguages(s.Languages).
		SetHideFromListings(last.template.HideFromListings).SetProtected(HasPassword(&last.template))
	if s.AuthorID == nil {
		u.ClearAuthorID()
	} else {
		u.SetAuthorID(*s.AuthorID)
	}
	if w.until == nil {
		u.ClearGeneratedUntil().ClearExtendAt()
	} else {
		u.SetGeneratedUntil(*w.until).SetExtendAt(extendAt(s.ID, last.Zone, *w.until))
	}
	w.setSeriesSortKeys(u.Mutation(), &last.template)
	if err := u.Exec(ctx); err != nil {
		return fmt.Errorf("series %d: %w", s.ID, store.AsConflict(err))
	}
	action := calendar.Updated
	switch {
	case s.Status == calendar.Trash && !w.wasTrashed():
		action = calendar.Trashed
	case s.Status != calendar.Trash && w.wasTrashed():
		action = calendar.Restored
	}
	w.log(calendar.Series, s.ID, action, fields, i)
	for i := range w.phases {
		var list []recur.Occurrence
		for _, n := range w.fresh {
			if n.phase == i {
				list = append(list, n.Occurrence)
			}
		}
		if len(list) == 0 {
			continue
		}
		t, err := w.withoutGone(ctx, w.tx, &w.phases[i].template)
		if err != nil {
			return err
		}
		if err := w.storeOccurrences(ctx, w.tx, &s, t, list); err != nil {
			return err
		}
	}
	return nil
}

// changedSeriesFields returns the names in the API of the series fields that change.
func (w *seriesWrite) changedSeriesFields(s *ent.Series) []string {
	fields := []string{}
	add := func(changed bool, name string) {
		if changed && !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
	}
	old := w.series
	add(valueOr(0, old.AuthorID) != valueOr(0, s.AuthorID), "author")
	add(!old.PublishedAt.Equal(s.PublishedAt) || old.Dated != s.Dated, "date")
	add(old.Status != s.Status || old.StatusBeforeTrash != s.StatusBeforeTrash, "status")
	add(old.Slug != s.Slug, "slug")
	was, is := &w.was[len(w.was)-1], &w.phases[len(w.phases)-1]
	for _, name := range differentFields(&was.template, &is.template) {
		field, _ := calendar.CutField(name)
		add(true, field)
	}
	add(was.Zone.String() != is.Zone.String(), "timezone")
	add(was.AllDay != is.AllDay, "all_day")
	add(!was.Start.Equal(is.Start), "start_date")
	add(!was.End.Equal(is.End), "end_date")
	add(was.Rule.String() != is.Rule.String(), "rrule")
	add(!slices.Equal(was.RDate, is.RDate), "rdate")
	add(!slices.Equal(was.ExDate, is.ExDate), "exdate")
	return fields
}

// storePhases replaces the first changed phase and those after it. It reports whether any phase changes.
func (w *seriesWrite) storePhases(ctx context.Context) (bool, error) {
	rows := make([]*ent.SeriesPhaseCreate, len(w.phases))
	same := len(w.was)
	for i := range w.phases {
		p := &w.phases[i]
		template, err := ent.EncodeTemplate(&p.template)
		if err != nil {
			return false, fmt.Errorf("template of series %d: %w", w.series.ID, err)
		}
		rows[i] = w.tx.SeriesPhase.Create().SetSeriesID(w.series.ID).SetPosition(i).
			SetStartWall(p.Start).SetEndWall(p.End).SetTimezone(p.Zone.String()).SetAllDay(p.AllDay).
			SetRrule(p.Rule.String()).SetRdate(p.RDate).SetExdate(p.ExDate).SetTemplate(template)
	}
	for i := range min(len(w.was), len(w.phases)) {
		was, err := w.was[i].fingerprint()
		if err != nil {
			return false, err
		}
		is, err := w.phases[i].fingerprint()
		if err != nil {
			return false, err
		}
		if was != is {
			same = i
			break
		}
	}
	same = min(same, len(w.phases))
	if same == len(w.was) && same == len(w.phases) {
		return false, nil
	}
	_, err := w.tx.SeriesPhase.Delete().
		Where(seriesphase.SeriesID(w.series.ID), seriesphase.PositionGTE(same)).Exec(ctx)
	if err == nil && same < len(rows) {
		err = w.tx.SeriesPhase.CreateBulk(rows[same:]...).Exec(ctx)
	}
	if err != nil {
		return false, fmt.Errorf("phases of series %d: %w", w.series.ID, store.AsConflict(err))
	}
	return true, nil
}

// fingerprint returns a text for comparison: equal phases have the same text.
func (p *seriesPhase) fingerprint() (string, error) {
	template, err := ent.EncodeTemplate(&p.template)
	if err != nil {
		return "", fmt.Errorf("template of a phase: %w", err)
	}
	return p.scheduleText() + string(template), nil
}
