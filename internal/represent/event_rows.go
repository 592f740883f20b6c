package represent

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/ent"
)

// Events and what they are linked to are most of what this API is asked for, so they are read with statements of our own
// into Ent's rows: two of them, whatever the number of events, with only the columns that answers are made of.

// MaxPerPage is the largest number of events that are read at once: that of the largest page.
const MaxPerPage = 50

// pageSizes are for how many events the statements are written: connections keep the statements they know, so there are
// few. A page between two sizes asks for its last event more than once.
var pageSizes = []int{1, 5, 10, 20, MaxPerPage}

// sized is a statement about some events, for each of pageSizes.
type sized struct {
	texts map[int]string
	lists int // how often the ids are in it
}

// sizedQuery makes one of a statement with a ? for each list of the events.
func sizedQuery(text string) sized {
	out := sized{texts: make(map[int]string, len(pageSizes)), lists: strings.Count(text, "?")}
	for _, n := range pageSizes {
		out.texts[n] = strings.ReplaceAll(text, "?", marks(n))
	}
	return out
}

// imageColumns are those that imageRow takes.
var imageColumns = [...]string{
	"i.id", "i.path", "i.source_url", "i.extension", "i.width", "i.height", "i.filesize", "i.sizes",
}

var eventRowsQuery = sizedQuery("SELECT e.id, e.author_id, e.status, e.status_before_trash, e.published_at, e.modified_at, " +
	"e.version, e.language, e.languages, e.title, e.description, e.excerpt, e.slug, e.starts_at, e.ends_at, e.start_wall, " +
	"e.end_wall, e.timezone, e.all_day, e.cost, e.website, e.password_hash, e.show_map, e.show_map_link, " +
	"e.hide_from_listings, e.sticky, e.featured, e.ticketed, e.parent_id, " + strings.Join(imageColumns[:], ", ") +
	" FROM events e LEFT JOIN images i ON i.id = e.image_id WHERE e.id IN ?")

// queryByIDs runs a statement for events and calls each after it scanned a row into dst.
func (r *Reader) queryByIDs(ctx context.Context, query sized, ids []int64, dst []any, each func() error) (err error) {
	at, _ := slices.BinarySearch(pageSizes, len(ids))
	if at == len(pageSizes) {
		return errors.New("more events than on a page: " + strconv.Itoa(len(ids)))
	}
	n := pageSizes[at]
	args := make([]any, 0, query.lists*n)
	for range query.lists {
		for i := range n {
			args = append(args, ids[min(i, len(ids)-1)])
		}
	}
	rows, err := r.DB.QueryContext(ctx, query.texts[n], args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := rows.Scan(dst...); err != nil {
			return err
		}
		if err := each(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// imageRow is what is scanned of an image, which a row may not have.
type imageRow struct {
	id, width, height, filesize sql.NullInt64
	path, sourceURL, extension  sql.NullString
	sizes                       sql.RawBytes // until the next row
}

func (p *imageRow) columns() []any {
	return []any{&p.id, &p.path, &p.sourceURL, &p.extension, &p.width, &p.height, &p.filesize, &p.sizes}
}

// row is the image; nil if there is none.
func (p *imageRow) row() (*ent.Image, error) {
	if !p.id.Valid {
		return nil, nil
	}
	row := &ent.Image{
		ID: p.id.Int64, Path: p.path.String, SourceURL: p.sourceURL.String, Extension: p.extension.String,
		Width: int(p.width.Int64), Height: int(p.height.Int64), Filesize: p.filesize.Int64,
	}
	if len(p.sizes) > 0 {
		if err := json.Unmarshal(p.sizes, &row.Sizes); err != nil {
			return nil, err
		}
	}
	return row, nil
}

// Events reads the rows of events with their images, in no order. One that is gone is left out.
func (r *Reader) Events(ctx context.Context, ids []int64) ([]*ent.Event, error) {
	var e ent.Event
	var p imageRow
	var cost sql.RawBytes
	dst := append([]any{
		&e.ID, &e.AuthorID, &e.Status, &e.StatusBeforeTrash, &e.PublishedAt, &e.ModifiedAt, &e.Version, &e.Language,
		&e.Languages, &e.Title, &e.Description, &e.Excerpt, &e.Slug, &e.StartsAt, &e.EndsAt, &e.StartWall, &e.EndWall,
		&e.Timezone, &e.AllDay, &cost, &e.Website, &e.PasswordHash, &e.ShowMap, &e.ShowMapLink, &e.HideFromListings,
		&e.Sticky, &e.Featured, &e.Ticketed, &e.ParentID,
	}, p.columns()...)
	out := make([]*ent.Event, 0, len(ids))
	err := r.queryByIDs(ctx, eventRowsQuery, ids, dst, func() (err error) {
		row := e
		if len(cost) > 0 {
			if err := json.Unmarshal(cost, &row.Cost); err != nil {
				return err
			}
		}
		out = append(out, &row)
		row.Edges.Image, err = p.row()
		return err
	})
	return out, err
}

// Event reads the row of an event, nil if there is none.
func (r *Reader) Event(ctx context.Context, id int64) (*ent.Event, error) {
	rows, err := r.Events(ctx, []int64{id})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// Complete gives events what their representations need besides their rows.
func (r *Reader) Complete(ctx context.Context, events []*ent.Event) error {
	if len(events) == 0 {
		return nil
	}
	to, err := r.link(ctx, events)
	if err != nil {
		return err
	}
	return r.translate(ctx, events, to.venues, to.organizers, to.terms)
}
