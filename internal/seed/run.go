package seed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/bulk"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/seed/picture"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
	"github.com/almanac-cal/almanac/internal/when"
)

// seedRun is the state of one call of Writer.Write.
type seedRun struct {
	Writer
	cal      Calendar
	language calendar.Language // original language of the records
	editor   edit.Editor
	loader   *bulk.Loader
	now      time.Time
	summary  Summary

	// categories and the other lists have the ids of stored records, by the index of the record in the calendar.
	categories, tags, images, venueIDs, organizerIDs, eventIDs []int64
}

// textIn returns the text in a language, for a field of an input. It returns nil, which leaves the field unset, if
// the text is not in that language.
func textIn(t scenario.Text, l calendar.Language) *string {
	if s, ok := t[l]; ok {
		return &s
	}
	return nil
}

// translations returns the texts of a record in all languages except the original. It leaves out languages without
// any text.
func (r *seedRun) translations(title, excerpt, description, reason scenario.Text) []calendar.Text {
	var out []calendar.Text
	for _, l := range calendar.Languages {
		t := calendar.Text{
			Language: l, Title: title[l], Excerpt: excerpt[l], Description: description[l], EventStatusReason: reason[l],
		}
		if l != r.language && t != (calendar.Text{Language: l}) {
			out = append(out, t)
		}
	}
	return out
}

// translatedNames returns the names and descriptions in all languages except the original. It leaves out names that
// equal the original, and languages without other texts.
func (r *seedRun) translatedNames(name, description scenario.Text) []calendar.Text {
	out := r.translations(name, nil, description, nil)
	for i := range out {
		if out[i].Title == name[r.language] {
			out[i].Title = ""
		}
	}
	return slices.DeleteFunc(out, func(t calendar.Text) bool { return t.Title == "" && t.Description == "" })
}

func (r *seedRun) author() *int64 {
	if r.AuthorID == 0 {
		return nil
	}
	return new(r.AuthorID)
}

// idAt returns the id at an index, or nil if the index is outside the list.
func idAt(ids []int64, at int) *int64 {
	if at < 0 || at >= len(ids) {
		return nil
	}
	return new(ids[at])
}

func (r *seedRun) terms(ctx context.Context) (err error) {
	if r.categories, err = r.taxonomy(ctx, calendar.Category, r.cal.Categories()); err != nil {
		return err
	}
	r.tags, err = r.taxonomy(ctx, calendar.Tag, r.cal.Tags())
	return err
}

func (r *seedRun) taxonomy(ctx context.Context, kind calendar.Kind, terms []scenario.Term) ([]int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found, err := r.findIDs(ctx, kind, sources(r, terms, func(t scenario.Term) string { return t.SourceID }))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	ids := make([]int64, len(terms))
	var missing []bulk.Term
	var places, texts []int // indexes of the missing terms; numbers of their translations
	at := make(map[int]int) // index in missing, by index of the term
	for i, t := range terms {
		source := r.Number.sourceID(t.SourceID)
		if id, ok := found[source]; ok {
			ids[i] = id
			continue
		}
		n := bulk.Term{Texts: r.translatedNames(t.Name, t.Description)}
		n.Name, n.Description, n.SourceID = textIn(t.Name, r.language), textIn(t.Description, r.language), &source
		if t.Parent >= 0 {
			n.Parent = func(batch []int64) int64 {
				if k, ok := at[t.Parent]; ok {
					return batch[k]
				}
				return ids[t.Parent]
			}
		}
		at[i] = len(missing)
		missing, places, texts = append(missing, n), append(places, i), append(texts, len(n.Texts))
	}
	loaded, err := r.loader.Terms(context.WithoutCancel(ctx), kind, missing)
	if err != nil {
		return nil, err
	}
	r.summary.Found[kind] += len(found)
	for i, t := range loaded {
		ids[places[i]] = t.ID
		if t.Created {
			r.summary.Created[kind]++
			r.summary.Translations += texts[i]
		} else {
			r.summary.Found[kind]++
		}
	}
	return ids, nil
}

// pictures draws and stores the pictures that are not stored yet. It does nothing if Writer.Files is nil.
func (r *seedRun) pictures(ctx context.Context) error {
	all := r.cal.Pictures()
	if r.Files == nil || len(all) == 0 {
		return nil
	}
	names := sources(r, all, func(p scenario.Picture) string { return p.SourceID })
	found, err := r.findIDs(ctx, calendar.Image, names)
	if err != nil {
		return fmt.Errorf("images: %w", err)
	}
	r.images = make([]int64, len(all))
	var missing []int
	for i, source := range names {
		if id, ok := found[source]; ok {
			r.images[i] = id
		} else {
			missing = append(missing, i)
		}
	}
	saved := make([]media.Image, len(missing))
	undo := func(cause error) error {
		for _, img := range saved {
			if img.Path != "" {
				cause = errors.Join(cause, media.Remove(context.WithoutCancel(ctx), r.Files, img))
			}
		}
		return cause
	}
	files := fileNames(all)
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(r.Workers + 1)
	for k, i := range missing {
		group.Go(func() error {
			if err := inner.Err(); err != nil {
				return err
			}
			img, file, err := picture.Draw(all[i].Poster)
			if err != nil {
				return err
			}
			saved[k], err = media.SaveDrawn(inner, r.Files, files[i], img, file, r.now)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return undo(fmt.Errorf("pictures: %w", err))
	}
	fill := make([]func(*ent.ImageCreate), len(missing))
	for k, i := range missing {
		img := saved[k]
		fill[k] = func(c *ent.ImageCreate) {
			c.SetPath(img.Path).SetSourceID(names[i]).SetExtension(img.Extension).SetMimeType(img.MIMEType).
				SetWidth(img.Width).SetHeight(img.Height).SetFilesize(img.Filesize).SetSizes(img.Sizes).
				SetNillableAuthorID(r.author())
		}
	}
	ids, err := r.loader.Images(context.WithoutCancel(ctx), fill)
	if err != nil {
		return undo(err)
	}
	for k, i := range missing {
		r.images[i] = ids[k]
	}
	r.summary.Created[calendar.Image] += len(missing)
	r.summary.Found[calendar.Image] += len(found)
	return nil
}

// fileNames returns the file names of pictures. Equal titles get numbers in the order of the calendar, so the
// names do not depend on the order in which the files are saved.
func fileNames(all []scenario.Picture) []string {
	names, seen := make([]string, len(all)), make(map[string]int)
	for i, p := range all {
		slug := calendar.Slug(p.Title)
		if seen[slug]++; seen[slug] > 1 {
			slug += "-" + strconv.Itoa(seen[slug])
		}
		names[i] = slug + ".jpg"
	}
	return names
}

// writeMissing writes the records of a kind that are not stored yet, in transactions of up to batchSize records. It
// returns the ids of all records. The function source returns the source id that a record has in calendar 1. The
// function one converts a record to its input, and returns the number of its translations. The function prepare makes
// the inputs ready for a transaction.
func writeMissing[T, N any](
	ctx context.Context, r *seedRun, kind calendar.Kind, records []T, source func(T) string,
	one func(T, *string) (N, int), prepare func([]N) (*bulk.Batch, error),
) ([]int64, error) {
	ids := make([]int64, 0, len(records))
	for part := range slices.Chunk(records, batchSize) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		names := sources(r, part, source)
		found, err := r.findIDs(ctx, kind, names)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
		var missing []N
		translations := 0
		for i, record := range part {
			if _, ok := found[names[i]]; !ok {
				n, texts := one(record, &names[i])
				missing = append(missing, n)
				translations += texts
			}
		}
		p, err := prepare(missing)
		if err != nil {
			return nil, err
		}
		created, err := r.loader.Write(context.WithoutCancel(ctx), p)
		if err != nil {
			return nil, err
		}
		r.summary.Created[kind] += len(created)
		r.summary.Found[kind] += len(found)
		r.summary.Translations += translations
		for _, name := range names {
			if id, ok := found[name]; ok {
				ids = append(ids, id)
				continue
			}
			ids = append(ids, created[0])
			created = created[1:]
		}
	}
	return ids, nil
}

func (r *seedRun) venues(ctx context.Context) (err error) {
	r.venueIDs, err = writeMissing(ctx, r, calendar.Venue, r.cal.Venues(),
		func(v scenario.Venue) string { return v.SourceID },
		func(v scenario.Venue, source *string) (bulk.Venue, int) {
			n := bulk.Venue{Texts: r.translatedNames(v.Name, v.Description)}
			n.NamedInput = edit.VenueInput{
				AuthorID: r.author(), Name: textIn(v.Name, r.language), Description: textIn(v.Description, r.language),
				Values: edit.VenueValues{VenueValues: ent.VenueValues{
					Address: &v.Address, City: &v.City, Zip: &v.Zip, Province: &v.Province, Country: &v.Country, Phone: &v.Phone, Website: &v.Website,
				}},
				ImageID: idAt(r.images, v.Picture), SourceID: source,
			}
			if v.Located {
				n.Values.Latitude = &edit.Coordinate{Set: true, Degrees: v.Latitude}
				n.Values.Longitude = &edit.Coordinate{Set: true, Degrees: v.Longitude}
			}
			return n, len(n.Texts)
		}, r.loader.Venues)
	return err
}

func (r *seedRun) organizers(ctx context.Context) (err error) {
	r.organizerIDs, err = writeMissing(ctx, r, calendar.Organizer, r.cal.Organizers(),
		func(o scenario.Organizer) string { return o.SourceID },
		func(o scenario.Organizer, source *string) (bulk.Organizer, int) {
			n := bulk.Organizer{Texts: r.translatedNames(o.Name, o.Description)}
			n.NamedInput = edit.OrganizerInput{
				AuthorID: r.author(), Name: textIn(o.Name, r.language), Description: textIn(o.Description, r.language),
				Values:  ent.OrganizerValues{Phone: &o.Phone, Email: &o.Email, Website: &o.Website},
				ImageID: idAt(r.images, o.Picture), SourceID: source,
			}
			return n, len(n.Texts)
		}, r.loader.Organizers)
	return err
}

// eventInput converts a generated event to the input that stores it, with the ids of its linked records.
func (r *seedRun) eventInput(v *scenario.Event) bulk.Event {
	start, end := when.FromWall(v.Span.Start), when.FromWall(v.Span.End)
	source := r.Number.sourceID(v.SourceID)
	n := bulk.Event{Texts: r.translations(v.Title, v.Excerpt, v.Description, v.EventStatusReason)}
	n.EventInput = edit.EventInput{
		AuthorID: r.author(), Published: &v.Published, Status: &v.Status, SourceID: &source,
		Title: textIn(v.Title, r.language), Excerpt: textIn(v.Excerpt, r.language), Description: textIn(v.Description, r.language),
		Zone: &v.Span.Zone, AllDay: &v.Span.AllDay, Start: &start, End: &end, Cost: &v.Cost,
		EventValues: ent.EventValues{HideFromListings: &v.Hide, Sticky: &v.Sticky, Featured: &v.Featured, Ticketed: &v.Ticketed, ShowMap: new(len(v.Venues) > 0), ShowMapLink: new(len(v.Venues) > 0), VirtualURL: &v.VirtualURL}, ImageID: idAt(r.images, v.Picture),
		Categories: termRefs(r.categories, v.Categories), Tags: termRefs(r.tags, v.Tags),
		EventStatusReason: textIn(v.EventStatusReason, r.language),
	}
	if v.EventStatus != "" {
		n.EventStatus = &v.EventStatus
	}
	if v.Attendance != "" {
		n.Attendance = &v.Attendance
	}
	venues, organizers := make([]edit.VenueRef, len(v.Venues)), make([]edit.OrganizerRef, len(v.Organizers))
	for i, at := range v.Venues {
		venues[i].ID = r.venueIDs[at]
	}
	for i, at := range v.Organizers {
		organizers[i].ID = r.organizerIDs[at]
	}
	n.Venues, n.Organizers = &venues, &organizers
	if v.Website != "" {
		n.Website = &edit.Website{Set: true, URL: v.Website}
	}
	if v.Password != "" {
		n.Password = &v.Password
	}
	return n
}

func termRefs(ids []int64, at []int) *[]edit.TermRef {
	refs := make([]edit.TermRef, len(at))
	for i, k := range at {
		refs[i].ID = ids[k]
	}
	return &refs
}
