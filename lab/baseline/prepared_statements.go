package baseline

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// statements contains the prepared statements of a server for one page size. In arrays, the first is for one event,
// the second for a page.
type statements struct {
	counted, revision      *sql.Stmt
	first, several, single *sql.Stmt // events of the first page, by the ids of a page, by one id
	venues, organizers     [2]*sql.Stmt
	terms                  [2]*sql.Stmt // of one event, of a page
	all                    []*sql.Stmt
	perPage                int
}

const (
	imageColumns = "i.id, i.path, i.source_url, i.extension, i.width, i.height, i.filesize, i.sizes"
	eventColumns = "e.id, e.author_id, e.status, e.published_at, e.modified_at, e.language, e.languages, e.title, " +
		"e.description, e.excerpt, e.slug, e.starts_at, e.ends_at, e.start_wall, e.end_wall, e.timezone, e.all_day, e.cost, " +
		"e.website, e.password_hash IS NOT NULL, e.show_map, e.show_map_link, e.hide_from_listings, e.sticky, e.featured, " +
		"e.ticketed, e.event_status, e.event_status_reason, e.attendance, e.virtual_url, e.parent_id, " + imageColumns
	venueColumns = "l.event_id, v.id, v.author_id, v.status, v.published_at, v.modified_at, v.language, v.languages, " +
		"v.name, v.description, v.slug, v.address, v.city, v.country, v.province, v.state, v.zip, v.phone, v.website, " +
		"v.stateprovince, v.latitude, v.longitude, v.show_map, v.show_map_link, " + imageColumns
	organizerColumns = "l.event_id, o.id, o.author_id, o.status, o.published_at, o.modified_at, o.language, o.languages, " +
		"o.name, o.description, o.slug, o.phone, o.website, o.email, " + imageColumns
	termColumns = "l.event_id, t.id, t.taxonomy, t.name, t.slug, t.description, t.parent_id, t.event_count, t.language"

	// published and due select listed events. Published ones come from an index in their order. Scheduled ones that are
	// due are few, since the service publishes them within a second. An index on the publication date finds them. The
	// sum keeps SQLite from reading all scheduled events in the order of their start.
	published = "status = 'publish' AND hide_from_listings = 0 AND starts_at >= ? AND ends_at <= ?"
	due       = "status = 'future' AND published_at <= ? AND hide_from_listings + 0 = 0 AND starts_at >= ? AND ends_at <= ?"
)

// prepare prepares the statements for pages with perPage events. On an error it closes those prepared before.
func (s *statements) prepare(ctx context.Context, db *sql.DB, perPage int) error {
	s.perPage = perPage
	joined := " FROM events e LEFT JOIN images i ON i.id = e.image_id WHERE e.id "
	for _, p := range []struct {
		into **sql.Stmt
		text string
	}{
		{&s.counted, "SELECT (SELECT COUNT(*) FROM events WHERE " + published + ") + " +
			"(SELECT COUNT(*) FROM events WHERE " + due + ")"},
		{&s.revision, "SELECT value FROM counters WHERE name = 'revision'"},
		{&s.first, "SELECT " + eventColumns + " FROM (SELECT id, starts_at FROM (" +
			"SELECT * FROM (SELECT id, starts_at FROM events WHERE " + published +
			" ORDER BY starts_at, id LIMIT ?) a UNION ALL " +
			"SELECT * FROM (SELECT id, starts_at FROM events WHERE " + due + " ORDER BY starts_at, id LIMIT ?) b) c " +
			"ORDER BY starts_at, id LIMIT ?) p JOIN events e ON e.id = p.id LEFT JOIN images i ON i.id = e.image_id " +
			"ORDER BY p.starts_at, p.id"},
		{&s.several, "SELECT " + eventColumns + joined + placeholders(perPage)},
		{&s.single, "SELECT " + eventColumns + joined + placeholders(1)},
	} {
		if err := s.one(ctx, db, p.into, p.text); err != nil {
			return err
		}
	}
	for k, n := range []int{1, perPage} {
		for _, p := range []struct {
			into **sql.Stmt
			text string
		}{
			{&s.terms[k], "SELECT " + termColumns + " FROM event_terms l JOIN terms t ON t.id = l.term_id " +
				"WHERE l.event_id " + placeholders(n)},
			{&s.venues[k], "SELECT " + venueColumns + " FROM event_venues l JOIN venues v ON v.id = l.venue_id " +
				"LEFT JOIN images i ON i.id = v.image_id WHERE l.event_id " + placeholders(n) + " ORDER BY l.event_id, l.position"},
			{&s.organizers[k], "SELECT " + organizerColumns + " FROM event_organizers l " +
				"JOIN organizers o ON o.id = l.organizer_id LEFT JOIN images i ON i.id = o.image_id " +
				"WHERE l.event_id " + placeholders(n) + " ORDER BY l.event_id, l.position"},
		} {
			if err := s.one(ctx, db, p.into, p.text); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *statements) one(ctx context.Context, db *sql.DB, into **sql.Stmt, text string) (err error) {
	*into, err = db.PrepareContext(ctx, text) //nolint:sqlclosecheck // close closes all of them
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", text, err), s.close())
	}
	s.all = append(s.all, *into)
	return nil
}

func (s *statements) close() error {
	var errs []error
	for _, statement := range s.all {
		errs = append(errs, statement.Close())
	}
	return errors.Join(errs...)
}

// placeholders returns an SQL IN list with n placeholders: IN (?,?).
func placeholders(n int) string { return "IN (?" + strings.Repeat(",?", n-1) + ")" }

// record contains the columns that events, venues and organizers have in common.
type record struct {
	id                  int64
	author              sql.NullInt64
	status              calendar.Status
	published, modified time.Time
	language            calendar.Language
	languages           calendar.LanguageSet
	title, description  string
	slug                string
	image               image
}

type event struct {
	record
	excerpt                      string
	starts, ends                 time.Time
	startWall, endWall           calendar.Wall
	zone                         string
	allDay, locked               bool
	cost                         calendar.Cost
	website                      sql.NullString
	showMap, showMapLink, hidden bool
	sticky, featured, ticketed   bool
	eventStatus, reason          string
	attendance, virtualURL       string
	parent                       sql.NullInt64
	terms                        []*term
	venues                       []*venue
	organizers                   []*organizer
}

type venue struct {
	record
	address, city, country, province, state, zip string
	phone, website, stateProvince                string
	latitude, longitude                          sql.NullFloat64
	showMap, showMapLink                         bool
}

type organizer struct {
	record
	phone, website, email string
}

type term struct {
	id                      int64
	taxonomy                calendar.Kind
	name, slug, description string
	parent                  sql.NullInt64
	count                   int64
	language                calendar.Language
}

type image struct {
	id                         sql.NullInt64
	path, sourceURL, extension sql.NullString
	width, height, size        sql.NullInt64
	sizes                      map[string]calendar.ImageSize
	packed                     sql.RawBytes
}

func (i *image) columns() []any {
	return []any{&i.id, &i.path, &i.sourceURL, &i.extension, &i.width, &i.height, &i.size, &i.packed}
}

// unpack decodes the JSON column of an image's sizes, which may be NULL. It must run before the next row is read.
func (i *image) unpack() error {
	defer func() { i.packed = nil }()
	if len(i.packed) == 0 {
		return nil
	}
	return json.Unmarshal(i.packed, &i.sizes)
}

// rows runs a prepared query and calls each after every row has been read. An error of each ends it.
func rows(ctx context.Context, statement *sql.Stmt, args []any, each func(*sql.Rows) error) (err error) {
	rows, err := statement.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// byIDs loads the events that a statement selects, sorted by start and id.
func (s *Server) byIDs(ctx context.Context, statement *sql.Stmt, args []any) ([]*event, error) {
	out := make([]*event, 0, s.perPage)
	err := rows(ctx, statement, args, func(r *sql.Rows) error {
		e := &event{}
		var cost sql.RawBytes
		if err := r.Scan(append([]any{
			&e.id, &e.author, &e.status, &e.published, &e.modified, &e.language, &e.languages, &e.title, &e.description,
			&e.excerpt, &e.slug, &e.starts, &e.ends, &e.startWall, &e.endWall, &e.zone, &e.allDay, &cost, &e.website,
			&e.locked, &e.showMap, &e.showMapLink, &e.hidden, &e.sticky, &e.featured, &e.ticketed, &e.eventStatus, &e.reason,
			&e.attendance, &e.virtualURL, &e.parent,
		}, e.image.columns()...)...); err != nil {
			return err
		}
		if len(cost) > 0 && string(cost) != "{}" {
			if err := json.Unmarshal(cost, &e.cost); err != nil {
				return err
			}
		}
		out = append(out, e)
		return errors.Join(e.image.unpack(), s.written(&e.record))
	})
	slices.SortFunc(out, func(a, b *event) int { return cmp.Or(a.starts.Compare(b.starts), cmp.Compare(a.id, b.id)) })
	return out, err
}

// written returns an error for a record in another language than the site's, because the server has no translations.
func (s *Server) written(r *record) error {
	if r.language != s.Site.Language {
		return fmt.Errorf("record %d is in the language %q", r.id, r.language)
	}
	return nil
}

// complete loads the venues, organizers and terms of one event, or of the events of a page.
func (s *Server) complete(ctx context.Context, events []*event) error {
	if len(events) == 0 {
		return nil
	}
	byID := make(map[int64]*event, len(events))
	for _, e := range events {
		byID[e.id] = e
	}
	kind, n := 0, 1
	if len(events) > 1 {
		kind, n = 1, s.perPage
	}
	// A page that is not full repeats the id of its last event.
	ids := make([]any, n)
	for i := range ids {
		ids[i] = events[min(i, len(events)-1)].id
	}
	err := rows(ctx, s.terms[kind], ids, func(r *sql.Rows) error {
		var of int64
		t := &term{}
		err := r.Scan(&of, &t.id, &t.taxonomy, &t.name, &t.slug, &t.description, &t.parent, &t.count, &t.language)
		if err != nil {
			return err
		}
		byID[of].terms = append(byID[of].terms, t)
		return s.written(&record{id: t.id, language: t.language})
	})
	if err != nil {
		return err
	}
	err = rows(ctx, s.venues[kind], ids, func(r *sql.Rows) error {
		var of int64
		v := &venue{}
		if err := r.Scan(append([]any{
			&of, &v.id, &v.author, &v.status, &v.published, &v.modified, &v.language, &v.languages, &v.title, &v.description,
			&v.slug, &v.address, &v.city, &v.country, &v.province, &v.state, &v.zip, &v.phone, &v.website, &v.stateProvince,
			&v.latitude, &v.longitude, &v.showMap, &v.showMapLink,
		}, v.image.columns()...)...); err != nil {
			return err
		}
		byID[of].venues = append(byID[of].venues, v)
		return errors.Join(v.image.unpack(), s.written(&v.record))
	})
	if err != nil {
		return err
	}
	return rows(ctx, s.organizers[kind], ids, func(r *sql.Rows) error {
		var of int64
		o := &organizer{}
		if err := r.Scan(append([]any{
			&of, &o.id, &o.author, &o.status, &o.published, &o.modified, &o.language, &o.languages, &o.title, &o.description,
			&o.slug, &o.phone, &o.website, &o.email,
		}, o.image.columns()...)...); err != nil {
			return err
		}
		byID[of].organizers = append(byID[of].organizers, o)
		return errors.Join(o.image.unpack(), s.written(&o.record))
	})
}
