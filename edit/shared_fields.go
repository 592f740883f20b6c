package edit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/store"
)

// record has the fields of an event, a series, a venue or an organizer that all of these share.
type record struct {
	textOwner
	PublicationState
	author, image *int64
	source        *string
	modified      time.Time // UTC
	version       calendar.Version
	nominal       *calendar.Wall // nominal start of an occurrence; nil means none
}

// recordInput has the sent values of the fields that events, venues and organizers share. Nil means not sent.
type recordInput struct {
	author *int64
	// linked is true if the record was sent inside an event. Then author is the author of that event.
	linked    bool
	inline    bool // true if the record exists, and a request for an event changes it
	published *time.Time
	status    *calendar.Status
	sentText
	image    *int64
	source   *string
	modified *time.Time
}

// trackedMutation is the mutation of a record or a term.
type trackedMutation interface {
	SetLanguage(calendar.Language)
	SetLanguages(calendar.LanguageSet)
	SetCreatedAt(time.Time)
	SetModifiedAt(time.Time)
	SetHiddenAt(time.Time)
	ClearHiddenAt()
	SetVersion(int64)
	SetHiddenChanges(int64)
	AddHiddenChanges(int64)
	SetSourceID(string)
	ClearSourceID()
	SetDescription(string)
	SetSlug(string)
}

// recordMutation is the mutation of an event, a venue, an organizer or a series.
type recordMutation interface {
	trackedMutation
	SetID(int64)
	SetAuthorID(int64)
	ClearAuthorID()
	SetStatus(calendar.Status)
	SetStatusBeforeTrash(calendar.Status)
	SetPublishedAt(time.Time)
	SetDated(bool)
}

// fillTracked sets the changed fields in m that records and terms share. Its callers note changes of texts and slug
// in d. For a stored record they must also call stamp, when all changes are known.
func (e *Editor) fillTracked(m trackedMutation, w, old *textOwner, modified *time.Time, d *diff) {
	if d.isNew {
		m.SetCreatedAt(e.Now)
		m.SetModifiedAt(ValueOr(e.Now, modified).UTC().Truncate(time.Second))
		m.SetVersion(1)
		m.SetHiddenChanges(0)
	}
	putValue(d, "", old.language, w.language, m.SetLanguage)
	putValue(d, "", old.languages, w.languages, m.SetLanguages)
	putValue(d, "", old.description, w.description, m.SetDescription)
	putValue(d, "", old.slug, w.slug, m.SetSlug)
}

// fill sets the changed fields in m that all records share, except the image. The record before the write is old,
// and r is the record after it.
func (e *Editor) fill(m recordMutation, r, old *record, s *recordInput, d *diff) {
	if d.isNew {
		m.SetID(r.id)
	}
	e.fillTracked(m, &r.textOwner, &old.textOwner, s.modified, d)
	putOptional(d, "author", old.author, r.author, m.SetAuthorID, m.ClearAuthorID)
	putValue(d, "status", old.Status, r.Status, m.SetStatus)
	putValue(d, "", old.BeforeTrash, r.BeforeTrash, m.SetStatusBeforeTrash)
	putTime(d, "date", old.Published, r.Published, m.SetPublishedAt)
	putValue(d, "", old.Dated, r.Dated, m.SetDated)
	putOptional(d, "", old.source, r.source, m.SetSourceID, m.ClearSourceID)
}

// referenceFaults returns the parameter errors of the author and the image in a request. Nil means none. Values that
// equal the stored ones are not checked.
func (e *Editor) referenceFaults(ctx context.Context, tx *ent.Tx, old *record, s *recordInput) (
	author, picture *param.Fault, err error,
) {
	if e.setsAuthor(old, s) {
		if author, err = e.AuthorFault(ctx, tx.Client(), *s.author); err != nil {
			return nil, nil, err
		}
	}
	if s.image != nil && !equalsID(old.image, *s.image) {
		if picture, err = e.ImageFault(ctx, tx.Client(), *s.image); err != nil {
			return nil, nil, err
		}
	}
	return faultOf("author", author), faultOf("image", picture), nil
}

// setsAuthor reports whether the request changes the author to another user than the caller, or removes it. That
// requires a permission.
func (e *Editor) setsAuthor(old *record, s *recordInput) bool {
	return s.author != nil && !s.linked && !equalsID(old.author, *s.author) &&
		(*s.author == 0 || *s.author != e.By.UserID)
}

func equalsID(stored *int64, id int64) bool { return stored != nil && *stored == id }

// permit returns Forbidden if the caller lacks a permission for the write s. For a new record, old is a
// record with only its kind.
func (e *Editor) permit(old *record, s *recordInput) error {
	fresh := old.Status == ""
	switch {
	case fresh && !e.isAllowed(auth.Create, old), !fresh && !e.isAllowed(auth.Edit, old):
		return Forbidden()
	case e.setsAuthor(old, s) && !e.isAllowed(auth.SetAuthor, old):
		return Forbidden()
	case fresh || s.status == nil:
		return nil
	case *s.status == calendar.Trash && !old.trashed && !e.isAllowed(auth.Delete, old):
		return Forbidden()
	case *s.status != calendar.Trash && old.trashed && !e.isAllowed(auth.Restore, old):
		return Forbidden()
	}
	return nil
}

// createRecord returns a new record with an id, which is reserved or newly allocated. It takes a slug if the
// status needs one or the client sent one.
func (e *Editor) createRecord(ctx context.Context, tx *ent.Tx, kind calendar.Kind, s *recordInput) (*record, error) {
	r := e.newRecord(kind, s)
	if err := r.register(ctx, tx, s.slug, e.Reserved.BySource[ValueOr("", s.source)]); err != nil {
		return nil, err
	}
	return r, nil
}

// register sets the id of a new record: the reserved one, or a new one if reserved is 0. It takes a slug if the
// status needs one or the client sent one.
func (r *record) register(ctx context.Context, tx *ent.Tx, slug *string, reserved int64) (err error) {
	if r.id = reserved; r.id == 0 {
		if r.id, err = drawID(ctx, tx, r.kind); err != nil {
			return err
		}
	}
	if wanted, ok := r.wantedSlug(slug); ok {
		r.slug, err = r.slugIn(r.language, "").Take(ctx, tx, wanted)
	}
	return err
}

// drawID allocates an unused id for a new record.
func drawID(ctx context.Context, tx *ent.Tx, kind calendar.Kind) (int64, error) {
	drawn, err := tx.Record.Create().SetKind(kind).Save(ctx)
	if store.IsDuplicate(err) {
		if err = store.RaiseRecordIDs(ctx, tx, kind); err == nil {
			drawn, err = tx.Record.Create().SetKind(kind).Save(ctx)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("draw the id of a new %s: %w", kind, err)
	}
	return drawn.ID, nil
}

// newRecord returns a new record without an id and a slug.
func (e *Editor) newRecord(kind calendar.Kind, s *recordInput) *record {
	r := &record{author: e.author(), source: s.source, version: calendar.Version{All: 1}}
	if s.author != nil || s.linked {
		r.author = s.author
	}
	r.kind, r.language, r.languages = kind, e.originalLanguage(), calendar.LanguagesOf(e.originalLanguage())
	r.image = applyID(nil, s.image)
	r.recordText = recordText{
		title: *s.title, description: ValueOr("", s.description), excerpt: ValueOr("", s.excerpt), reason: ValueOr("", s.reason),
	}
	r.PublicationState = NextPublicationState(PublicationState{}, s.status, s.published, e.Now, e.isAllowed(auth.Publish, r))
	r.trashed = r.Status == calendar.Trash
	return r
}

// wantedSlug returns the slug that a new record should get, before numbers are added to a taken one. "" means a
// slug made of kind and id. It returns false if the record gets no slug.
func (r *record) wantedSlug(sent *string) (base string, ok bool) {
	if ValueOr("", sent) != "" {
		return calendar.KeptSlug(*sent), true
	}
	if !r.needsSlug() {
		return "", false
	}
	return calendar.Slug(r.title), true
}

// needsSlug reports whether a record of this kind and status must have a slug, even if no client sent one.
func (r *record) needsSlug() bool {
	return !r.kind.IsDated() || r.Status.HasSlug() || r.BeforeTrash.HasSlug()
}

// revise returns a copy of old with the publication state, texts and slugs that the input sends. It stores slugs
// and translations, but not the row. It also returns the action for the change log. It notes changed fields in d.
func (e *Editor) revise(ctx context.Context, tx *ent.Tx, old *record, s *recordInput, d *diff) (
	*record, calendar.Action, error,
) {
	r := new(*old)
	r.others = slices.Clone(old.others)
	r.version.All++
	if s.author != nil {
		r.author = new(*s.author)
	}
	r.image = applyID(old.image, s.image)
	if s.source != nil {
		r.source = s.source
	}
	r.PublicationState = NextPublicationState(old.PublicationState, s.status, s.published, e.Now, e.isAllowed(auth.Publish, old))
	action := calendar.Updated
	texts := s.sentText
	if toTrash := r.Status == calendar.Trash; toTrash != old.trashed {
		action = calendar.Restored
		if toTrash {
			action = calendar.Trashed
		} else if texts.slug != nil && calendar.IsSlugOf(old.slug, *texts.slug) {
			texts.slug = nil // sent back with the representation
		}
		if err := r.moveSlugs(ctx, tx, toTrash); err != nil {
			return nil, "", err
		}
	}
	if err := e.rewrite(ctx, tx, &r.textOwner, texts, d); err != nil {
		return nil, "", err
	}
	if r.slug == "" && r.needsSlug() {
		wanted := calendar.Slug(r.title)
		if r.nominal != nil && wanted != "" { // its series has none either
			wanted = calendar.OccurrenceSlug(wanted, *r.nominal)
		}
		var err error
		if r.slug, err = r.slugIn(r.language, "").Take(ctx, tx, wanted); err != nil {
			return nil, "", err
		}
	}
	if r.slug != old.slug && !slices.Contains(d.fields, "slug") {
		d.fields = append(d.fields, "slug") // it follows from the status and is not logged
	}
	return r, action, nil
}

// InTrash returns the error for a request that is refused because a record is in the trash.
func InTrash(kind calendar.Kind) error {
	code := string(kind) + "-is-in-trash"
	return &calendar.Error{Code: code, Key: code}
}

// permitTrash returns Forbidden if the caller may not move a record to the trash. If the record is already there, it
// returns *calendar.Error, such as event-is-in-trash.
func (e *Editor) permitTrash(old *record) error {
	switch {
	case !e.isAllowed(auth.Delete, old):
		return Forbidden()
	case old.trashed:
		return InTrash(old.kind)
	}
	return nil
}
