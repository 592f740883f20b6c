package edit

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/param"
)

// termLookup is the result of looking up the categories or tags in the input of an event.
type termLookup struct {
	taxonomy calendar.Kind
	name     string // name of the parameter
	ids      []int64
	unnamed  []int // indexes in ids of the terms that do not exist yet
	texts    []string
}

// lookUpTerms finds the terms that an event refers to. It looks for ids, then names in any language, then slugs. It
// returns a parameter error for an id of another taxonomy. Names that it does not find are in the result, for
// createTerms. The parameter name is the request parameter for the error.
func (e *Editor) lookUpTerms(ctx context.Context, tx *ent.Tx, taxonomy calendar.Kind, name string, refs []TermRef) (
	*termLookup, *param.Fault, error,
) {
	l := &termLookup{taxonomy: taxonomy, name: name, ids: make([]int64, len(refs))}
	var ids []int64
	keys := make(map[string]string) // folded name -> name
	for i, r := range refs {
		if r.Name == "" {
			ids = append(ids, r.ID)
			l.ids[i] = r.ID
			continue
		}
		keys[calendar.FoldName(r.Name)] = r.Name
	}
	fault, err := e.TermsFault(ctx, tx.Client(), taxonomy, ids)
	if err != nil || fault != nil || len(keys) == 0 {
		return l, faultOf(name, fault), err
	}
	named, err := termsNamed(ctx, tx, taxonomy, slices.Sorted(maps.Keys(keys)))
	if err != nil {
		return nil, nil, err
	}
	var rest []string
	for key, text := range keys {
		if named[key] == nil {
			rest = append(rest, text)
		}
	}
	slugged, err := termsSlugged(ctx, tx, taxonomy, rest)
	if err != nil {
		return nil, nil, err
	}
	for i, r := range refs {
		if r.Name == "" {
			continue
		}
		if found := named[calendar.FoldName(r.Name)]; found != nil {
			l.ids[i] = found[0].ID
			continue
		}
		if id, ok := slugged[strings.ToLower(r.Name)]; ok {
			l.ids[i] = id
			continue
		}
		l.unnamed = append(l.unnamed, i)
		l.texts = append(l.texts, r.Name)
	}
	return l, nil, nil
}

// createTerms creates the terms that lookUpTerms did not find, without a parent. It returns the ids of all
// terms without repeats, in the order of the request. If the caller may not create terms, the error names the
// parameter.
func (e *Editor) createTerms(ctx context.Context, tx *ent.Tx, l *termLookup) ([]int64, error) {
	if len(l.texts) == 0 {
		return uniqueIDs(l.ids), nil
	}
	names := make(map[string]string) // folded name -> name as first sent
	var unknown []string
	for _, text := range l.texts {
		key := calendar.FoldName(text)
		if _, repeated := names[key]; !repeated {
			names[key] = text
			unknown = append(unknown, text)
		}
	}
	if !e.mayManageTerms(l.taxonomy) {
		return nil, InvalidInput(unknownTerms(l.name, unknown))
	}
	if len(unknown) > MaxNew {
		return nil, InvalidInput(faultOf(l.name, param.TooMany(l.name, MaxNew)))
	}
	keys := slices.Sorted(maps.Keys(names))
	for _, key := range keys {
		if err := lockName(ctx, tx, l.taxonomy, nameBelow(0, key)); err != nil {
			return nil, err
		}
	}
	// Another transaction may have created a term while this one waited for the locks.
	there, err := termsNamed(ctx, tx, l.taxonomy, keys)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if there[key] != nil {
			continue
		}
		row, err := e.insertTerm(ctx, tx, &TermInput{Taxonomy: l.taxonomy, Name: new(names[key])}, nil, nil)
		if err != nil {
			return nil, err
		}
		there[key] = []*ent.Term{row}
	}
	for i, at := range l.unnamed {
		l.ids[at] = there[calendar.FoldName(l.texts[i])][0].ID
	}
	return uniqueIDs(l.ids), nil
}

// nameBelow returns the name that lockName locks for a term below the parent with this id. The key is the folded
// term name. The parent 0 means the top level.
func nameBelow(parent int64, key string) string { return strconv.FormatInt(parent, 10) + ":" + key }
