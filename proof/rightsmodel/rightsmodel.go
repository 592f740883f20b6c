// Package rightsmodel says what users of each role may do with records (contract, section 12).
//
// It is a second, simple implementation of rights. It shares no rule with the service. It predicts the status of each reply, the
// status and the links of each record, and the counts of terms. Tests draw requests, send them, and compare.
package rightsmodel

import (
	"net/http"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// Calendar is the records and tags that requests left. Terms has the names of tags by id, "" for deleted ones. TermIDs has
// their ids in the order of creation.
type Calendar struct {
	Records []*Record
	Terms   map[int64]string
	TermIDs []int64
}

// Record is an event, a venue or an organizer. Owner is the role of its author: each role has one user.
type Record struct {
	ID            int64
	Kind, Owner   string
	Status        calendar.Status
	before        calendar.Status // of a record in the trash
	Slug          string
	hadSlug       bool
	Links, Tagged []int64 // venues and tags of an event
}

// IsEditor reports whether a role may edit the records of all users.
func IsEditor(role string) bool { return role == "editor" || role == "administrator" }

// IsPublisher reports whether a role may publish, and write terms.
func IsPublisher(role string) bool { return role == "author" || IsEditor(role) }

// MayEdit reports whether a role may edit a record. Contributors edit their drafts and pending records. A record in the trash
// counts by its status before.
func (r *Record) MayEdit(role string) bool {
	status := r.Status
	if status == calendar.Trash {
		status = r.before
	}
	switch {
	case IsEditor(role):
		return true
	case role == "" || r.Owner != role:
		return false
	case role == "contributor":
		return status == calendar.Draft || status == calendar.Pending
	}
	return role == "author"
}

// MayRead reports whether a role may read a record. Events in the trash have no readers.
func (r *Record) MayRead(role string) bool {
	switch r.Status {
	case calendar.Publish:
		return true
	case calendar.Trash:
		return r.Kind != "event" && r.MayEdit(role)
	}
	return IsEditor(role) || (r.Owner == role && (role == "author" || role == "contributor"))
}

// IsLinkable reports whether a role may link events to a venue.
func (r *Record) IsLinkable(role string) bool { return r.Status != calendar.Trash && r.MayRead(role) }

// refusal returns the status for a caller without a right.
func refusal(role string) int {
	if role == "" {
		return http.StatusUnauthorized
	}
	return http.StatusForbidden
}

// setStatus sets the status that a caller sent. A caller who may not publish gets pending instead.
func (r *Record) setStatus(role string, sent calendar.Status) {
	switch {
	case sent == calendar.Trash:
		if r.Status != calendar.Trash {
			r.before, r.Status = r.Status, calendar.Trash
		}
		return
	case (sent == calendar.Publish || sent == calendar.Private) && !IsPublisher(role):
		sent = calendar.Pending
	}
	r.Status, r.before = sent, ""
}

// CreateReply returns the status of the reply to a create. Links that are not to be had are refused before rights are
// checked. A new tag needs its own right.
func CreateReply(role string, hasBadLinks, hasNewTag bool) int {
	switch {
	case hasBadLinks:
		return http.StatusBadRequest
	case role == "" || role == "subscriber":
		return refusal(role)
	case hasNewTag && !IsPublisher(role):
		return http.StatusBadRequest
	}
	return http.StatusCreated
}

// Create adds a record. Without a status it is published, or a draft of a caller who may not publish.
func (c *Calendar) Create(role string, r *Record, sent calendar.Status) {
	switch {
	case sent != "":
	case IsPublisher(role):
		sent = calendar.Publish
	default:
		sent = calendar.Draft
	}
	r.setStatus(role, sent)
	c.Records = append(c.Records, r)
}

// UpdateReply returns the status of the reply to an update.
func (r *Record) UpdateReply(role string, hasBadLinks bool) int {
	switch {
	case hasBadLinks:
		return http.StatusBadRequest
	case !r.MayEdit(role):
		return refusal(role)
	}
	return http.StatusOK
}

// Update changes a record. Links that are nil were not sent.
func (c *Calendar) Update(role string, r *Record, sent calendar.Status, links, tagged []int64) {
	before := r.Status
	if sent != "" {
		r.setStatus(role, sent)
	}
	if links != nil {
		r.Links = links
	}
	if tagged != nil {
		r.Tagged = tagged
	}
	if r.Status == calendar.Trash && before != calendar.Trash {
		c.unlink(r)
	}
}

// DeleteReply returns the status of the reply to a DELETE.
func (r *Record) DeleteReply(role string) int {
	switch {
	case !r.MayEdit(role):
		return refusal(role)
	case r.Status == calendar.Trash:
		return http.StatusGone
	}
	return http.StatusOK
}

// Delete moves a record to the trash.
func (c *Calendar) Delete(r *Record) {
	r.setStatus("", calendar.Trash)
	c.unlink(r)
}

// ReadReply returns the status of the reply to a GET.
func (r *Record) ReadReply(role string) int {
	if !r.MayRead(role) {
		return http.StatusForbidden
	}
	return http.StatusOK
}

// unlink removes a venue in the trash from all events.
func (c *Calendar) unlink(gone *Record) {
	for _, r := range c.Records {
		r.Links = slices.DeleteFunc(r.Links, func(id int64) bool { return id == gone.ID })
	}
}

// ShownVenues returns the venues that a role sees in an event.
func (c *Calendar) ShownVenues(r *Record, role string) (venues []int64) {
	for _, id := range r.Links {
		if venue := c.find(id); venue.MayRead(role) {
			venues = append(venues, id)
		}
	}
	return venues
}

func (c *Calendar) find(id int64) *Record {
	return c.Records[slices.IndexFunc(c.Records, func(r *Record) bool { return r.ID == id })]
}

// TakesSlug notes the slug of a reply, and reports whether it may be that of the record. An event has a slug once it had a status
// with one. All slugs in the trash, and no others, have the suffix __trashed.
func (r *Record) TakesSlug(slug string) bool {
	r.Slug = slug
	r.hadSlug = r.hadSlug || r.Kind != "event" || needsSlug(r.Status) || needsSlug(r.before)
	if !r.hadSlug {
		return slug == ""
	}
	return slug != "" && strings.HasSuffix(slug, "__trashed") == (r.Status == calendar.Trash)
}

// needsSlug reports whether every event with a status has a slug.
func needsSlug(s calendar.Status) bool {
	return slices.Contains([]calendar.Status{calendar.Publish, calendar.Future, calendar.Private}, s)
}

// SharedSlug returns two records of a kind that have the same slug outside the trash. It returns nil if there are none.
func (c *Calendar) SharedSlug() (a, b *Record) {
	taken := map[string]*Record{}
	for _, r := range c.Records {
		if r.Slug == "" || r.Status == calendar.Trash {
			continue
		}
		key := r.Kind + " " + r.Slug
		if taken[key] != nil {
			return taken[key], r
		}
		taken[key] = r
	}
	return nil, nil
}

// CountListed returns how many records of a kind a role has in lists.
func (c *Calendar) CountListed(kind, role string) (n int) {
	for _, r := range c.Records {
		if r.Kind == kind && r.Status != calendar.Trash && r.MayRead(role) {
			n++
		}
	}
	return n
}

// AddTerm adds a tag.
func (c *Calendar) AddTerm(id int64, name string) {
	c.Terms[id], c.TermIDs = name, append(c.TermIDs, id)
}

// CreateTermReply returns the status of the reply to a create of a tag, whose name may be taken.
func CreateTermReply(role string, isTaken bool) int {
	switch {
	case !IsPublisher(role):
		return refusal(role)
	case isTaken:
		return http.StatusBadRequest
	}
	return http.StatusCreated
}

// WriteTermReply returns the status of the reply to an update or DELETE of a tag.
func (c *Calendar) WriteTermReply(role string, id int64) int {
	switch {
	case c.Terms[id] == "":
		return http.StatusBadRequest
	case !IsPublisher(role):
		return refusal(role)
	}
	return http.StatusOK
}

// DeleteTerm deletes a tag, and its links.
func (c *Calendar) DeleteTerm(id int64) {
	c.Terms[id] = ""
	for _, r := range c.Records {
		r.Tagged = slices.DeleteFunc(r.Tagged, func(tag int64) bool { return tag == id })
	}
}

// TermCounts returns the number of published events of each tag that exists.
func (c *Calendar) TermCounts() map[int64]int {
	counts := map[int64]int{}
	for id, name := range c.Terms {
		if name != "" {
			counts[id] = 0
		}
	}
	for _, r := range c.Records {
		if r.Kind == "event" && r.Status == calendar.Publish {
			for _, id := range r.Tagged {
				counts[id]++
			}
		}
	}
	return counts
}
