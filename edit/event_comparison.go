package edit

import (
	"context"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
)

// EventComparison is the result of EventWrite.Compare: the event after a write, and the names of its changed
// fields.
type EventComparison struct {
	// Template is the event after the write. Its edges have its translations and the ids of the linked records.
	Template ent.Event
	// Changed has the names of the changed fields, with their languages.
	Changed []string
	// Slug is the sent slug; nil means that none was sent, or that the event has it in some language.
	Slug *string
}

// LoadTexts loads the translations of a stored event. Compare requires this.
func (w *EventWrite) LoadTexts(ctx context.Context) error { return w.before.load(ctx, w.tx) }

// SetTexts sets the translations of the event to others, instead of LoadTexts. It is for an event that represents a
// series and is not stored.
func (w *EventWrite) SetTexts(others []calendar.Text) {
	r := w.before
	r.addTexts(others)
	for i := range r.others {
		for _, t := range others {
			if t.Language == r.others[i].language {
				r.others[i].slug = t.Slug
			}
		}
	}
	r.loaded = true
}

// Compare returns what the write would change in the event, and stores nothing. The parameter links has the links
// before the write. The caller must have called LoadTexts or SetTexts, and CarryOut.
func (w *EventWrite) Compare(links EventLinks) (*EventComparison, error) {
	e, d, old := w.editor, &w.diff, w.before
	r := new(*old)
	r.others = slices.Clone(old.others)
	texts := w.sent.sentText
	texts.slug = nil
	if _, _, _, err := e.rewriteTexts(&r.textOwner, texts, d); err != nil {
		return nil, err
	}
	if w.sent.author != nil {
		r.author = applyID(nil, w.sent.author)
	}
	r.image = applyID(old.image, w.sent.image)
	r.PublicationState = NextPublicationState(
		old.PublicationState, w.sent.status, w.sent.published, e.Now, e.isAllowed(auth.Publish, w.owner))
	changed, err := e.fillEvent(w.tx.Event.Update().Mutation(), r, old, w.sent, w.row, w.in, w.Span, d)
	if err != nil {
		return nil, err
	}
	links = w.replacedLinks(links)
	out := &EventComparison{Template: TemplateOf(changed, r.otherTexts(), links), Changed: d.namesInLanguages}
	if sent := w.sent.slug; sent != nil && *sent != "" && !r.hasSlug(*sent) {
		out.Slug = sent
	}
	return out, nil
}

// replacedLinks returns the links of the event after the write. It notes in w.diff which of them change.
func (w *EventWrite) replacedLinks(links EventLinks) EventLinks {
	if w.in.Categories != nil {
		w.diff.noteIDs("categories", links.Categories, w.plan.terms.categories)
		links.Categories = w.plan.terms.categories
	}
	if w.in.Tags != nil {
		w.diff.noteIDs("tags", links.Tags, w.plan.terms.tags)
		links.Tags = w.plan.terms.tags
	}
	if w.in.Venues != nil {
		if !slices.Equal(links.Venues, w.plan.venues) {
			w.diff.note("venue")
		}
		links.Venues = w.plan.venues
	}
	if w.in.Organizers != nil {
		if !slices.Equal(links.Organizers, w.plan.organizers) {
			w.diff.note("organizer")
		}
		links.Organizers = w.plan.organizers
	}
	return links
}
