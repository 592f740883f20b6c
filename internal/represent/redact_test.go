package represent

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/proof/must"
)

// TestRedactedMembersHideTheirChanges compares two lists: the members that a redacted event lacks, and the fields
// whose changes the change log hides from the public.
func TestRedactedMembersHideTheirChanges(t *testing.T) {
	t.Parallel()
	v, e := page(t)
	e.Description, e.Excerpt, e.VirtualURL, e.Website = "text", "text", "https://example.org/", new("https://example.org/")
	e.Cost = calendar.Cost{Prices: []string{"5"}}
	e.Edges.Image = &ent.Image{ID: 5}
	e.Edges.Organizers = []*ent.Organizer{{ID: 30, Name: "Band", Status: calendar.Publish}}
	e.Edges.Terms = []*ent.Term{{ID: 1, Taxonomy: calendar.Category, Name: "Music"}, {ID: 2, Taxonomy: calendar.Tag, Name: "Free"}}
	var plain ent.EventValues
	for _, f := range plain.Plain() {
		switch value := f.Value.(type) {
		case **string:
			*value = new("https://example.org/")
		case **int:
			*value = new(f.Max)
		case **bool:
			*value = new(true)
		}
	}
	plain.Apply(e)
	members := func(j Event) map[string]any {
		body, err := json.Marshal(j)
		must.Succeed(t, err)
		var out map[string]any
		must.Succeed(t, json.Unmarshal(body, &out))
		return out
	}
	whole := v.Event(e, false)
	redacted := whole
	v.Redact(&redacted, e)
	after := members(redacted)
	for name, was := range members(whole) {
		switch name {
		case "cost_details": // follows cost
		case "hide_from_listings": // its changes show in lists
			if calendar.HidesField(name) {
				t.Errorf("%s: its changes would be hidden", name)
			}
		default:
			if differs := !cmp.Equal(was, after[name]); differs && !calendar.HidesField(name) || !differs && calendar.HidesField(name) {
				t.Errorf("%s: redacted %v, changes are hidden %v", name, differs, calendar.HidesField(name))
			}
		}
	}
}
