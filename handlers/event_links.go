package handlers

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
)

// termRefs returns a parser for the categories or tags of an event. The client sends a list, or a comma-separated
// string, of ids and names. An object means the id in it. name is the parameter's name.
func termRefs(name string) func(raw any) ([]edit.TermRef, *param.Fault) {
	return func(raw any) ([]edit.TermRef, *param.Fault) {
		if raw == nil {
			return []edit.TermRef{}, nil
		}
		items, fault := param.List(raw)
		if fault != nil {
			return nil, fault
		}
		refs := make([]edit.TermRef, 0, len(items))
		for _, item := range items {
			if object, ok := item.(map[string]any); ok && object["id"] != nil {
				item = object["id"] // the client sends a representation back
			}
			if id, fault := param.Integer(item); fault == nil {
				refs = append(refs, edit.TermRef{ID: id})
				continue
			}
			text, fault := textOf(name, maxTitle, nil)(item)
			if fault != nil {
				return nil, fault
			}
			if text != "" {
				refs = append(refs, edit.TermRef{Name: text})
			}
		}
		return refs, nil
	}
}

// terms registers the request field for the categories or tags of an event. Their ids must exist. Names are
// looked up when the event is written.
func (f fields) terms(dst **[]edit.TermRef, taxonomy calendar.Kind, name, description string) *param.Param {
	p := param.Opt(f.p, dst, name, description, "array", termRefs(name)).ListOf("integer").PublishDefault(nil)
	return f.nullClears(p).Check(func(ctx context.Context) *param.Fault {
		var ids []int64
		for _, ref := range **dst {
			if ref.Name == "" {
				ids = append(ids, ref.ID)
			}
		}
		return read.ReferenceFault(f.r.Editor().TermsFault(ctx, f.r.DB, taxonomy, ids))
	})
}

// reference is a linked record as the client sent it: an id, or the fields of a new record.
type reference struct {
	id     int64
	object map[string]any
}

// references parses the venues or organizers of an event: ids, objects, or a list of these (contract, section
// 10.4).
func references(raw any) ([]reference, *param.Fault) {
	refs := []reference{}
	items := []any{raw}
	switch v := raw.(type) {
	case []any:
		items = v
	case param.Repeated:
		items = v
	}
	for _, item := range items {
		switch v := item.(type) {
		case nil:
		case map[string]any:
			ref, fault := objectReference(v)
			if fault != nil {
				return nil, fault
			}
			refs = append(refs, ref...)
		case []any:
			if !isBlankValue(v) {
				return nil, &param.Fault{Key: "not-linkable"} // a list inside the list
			}
		default:
			list, fault := param.List(v)
			if fault != nil && fault.Key == param.TooManyItems().Key {
				return nil, fault
			}
			if fault != nil {
				return nil, &param.Fault{Key: "not-linkable"}
			}
			for _, one := range list {
				id, fault := param.Integer(one)
				if fault != nil {
					return nil, &param.Fault{Key: "not-linkable"}
				}
				if id != 0 {
					refs = append(refs, reference{id: id})
				}
			}
		}
		if len(refs) > param.MaxItems {
			return nil, param.TooManyItems()
		}
	}
	return refs, nil
}

// objectReference parses an object such as {"id":12} or the fields of a new record. An object with only blank
// values means no record.
func objectReference(object map[string]any) ([]reference, *param.Fault) {
	if raw, ok := object["id"]; ok && !isBlankValue(raw) {
		id, fault := param.Integer(raw)
		if fault != nil {
			return nil, &param.Fault{Key: "not-linkable"}
		}
		if id != 0 {
			return []reference{{id: id}}, nil
		}
	}
	for name, v := range object {
		if name != "id" && !isBlankValue(v) {
			return []reference{{object: object}}, nil
		}
	}
	return nil, nil
}

// isBlankValue reports whether a value is blank: null, white space, or a list or object of blank values.
func isBlankValue(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return strings.TrimSpace(v) == ""
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !isBlankValue(e) })
	case map[string]any:
		for _, e := range v {
			if !isBlankValue(e) {
				return false
			}
		}
		return true
	}
	return false
}

// linkedFaults returns the first parameter error of the venues or organizers sent with an event, or nil. An id
// must belong to a readable record of the kind, outside the trash. An object must pass the rules for new records
// of the kind. The function inline registers the fields of such an object at an index of the list.
func (f fields) linkedFaults(ctx context.Context, kind calendar.Kind, refs []reference,
	inline func(place int, set *param.Set),
) *param.Fault {
	made := 0
	for _, ref := range refs {
		if ref.object != nil {
			made++
		}
	}
	if made > edit.MaxNew {
		return param.TooMany(string(kind), edit.MaxNew)
	}
	if err := f.r.loadInline(ctx, refs); err != nil {
		return &param.Fault{Err: err}
	}
	var ids []int64
	for i, ref := range refs {
		if ref.object == nil {
			ids = append(ids, ref.id)
			continue
		}
		set := param.NewSet(f.p.Now, param.InBody, nil, ref.object)
		inline(i, set)
		err := set.Parse(ctx)
		var missing param.Missing
		var invalid param.Invalid
		switch {
		case err == nil:
		case errors.As(err, &missing):
			faults := make([]param.Fault, len(missing.Names))
			for k, n := range missing.Names {
				faults[k] = param.Fault{Param: n, Key: "missing-param"}
			}
			return edit.InvalidLinked(string(kind), i, faults)
		case errors.As(err, &invalid):
			return edit.InvalidLinked(string(kind), i, invalid.Faults)
		default:
			return &param.Fault{Err: err}
		}
	}
	return read.ReferenceFault(f.r.Editor().LinkFault(ctx, f.r.DB, kind, ids))
}

func (f fields) venues(in *eventInput) {
	declareLinked(f, calendar.Venue, "Venue IDs or data", &in.Venues, newLinked(f, venues, &in.venues))
}

func (f fields) organizers(in *eventInput) {
	declareLinked(f, calendar.Organizer, "Organizer IDs or data", &in.Organizers, newLinked(f, organizers, &in.organizers))
}

// newLinked returns a function that registers the request fields of a new venue or organizer inside an event.
// That function returns the input that receives the parsed values, and also appends it to inputs.
func newLinked[R ent.Row, V, J any](
	f fields, n *namedResource[R, V, J], inputs *[]*namedInput[V],
) func(place int, set *param.Set) *edit.NamedInput[V] {
	return func(place int, set *param.Set) *edit.NamedInput[V] {
		in := &namedInput[V]{place: place}
		n.declare(f.r, fields{p: set, r: f.r, create: true}, in)
		*inputs = append(*inputs, in)
		return &in.NamedInput
	}
}

// declareLinked registers the request field for the venues or organizers of an event, with its checks. The
// function inline registers the fields of a new record at an index of the list. It returns the input that
// receives their parsed values.
func declareLinked[I any](
	f fields, kind calendar.Kind, description string, dst **[]edit.LinkRef[I], inline func(place int, set *param.Set) *I,
) {
	var refs []reference
	p := param.Var(f.p, &refs, string(kind), description, "array", references).ListOf("integer").PublishDefault(nil)
	f.nullClears(p).Check(func(ctx context.Context) *param.Fault {
		out := make([]edit.LinkRef[I], len(refs))
		for i, ref := range refs {
			out[i].ID = ref.id
		}
		*dst = &out
		return f.linkedFaults(ctx, kind, refs, func(place int, set *param.Set) { out[place].New = inline(place, set) })
	})
}

// loadInline loads the authors and images that the sent objects in refs name. It loads many with each statement.
func (r *writing) loadInline(ctx context.Context, refs []reference) error {
	var authors, images []int64
	for _, ref := range refs {
		if id, fault := param.Integer(ref.object["author"]); fault == nil {
			authors = append(authors, id)
		}
		if id, fault := param.Integer(imageRef(ref.object["image"])); fault == nil {
			images = append(images, id)
		}
	}
	return r.Editor().LoadReferences(ctx, r.DB, authors, images)
}
