// Package rightsmodel predicts what users of each role may do with records (contract, section 12).
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

// Calendar is a model of the records and tags that should exist after some requests. Terms maps ids of tags to names,
// "" for deleted tags. TermIDs lists the ids in the order of creation.
type Calendar struct {
	Records []*Record
	Terms   map[int64]string
	TermIDs []int64
}

// Record is an event, a venue or an organizer. Owner is the role of its author, since each role has exactly one user.
type Record struct {
	ID            int64
	Kind, Owner   string
	Status        calendar.Status
	before        calendar.Status // status before the trash
	Slug          string
	hadSlug       bool    // the record must have a slug from now on
	Links, Tagged []int64 // venues and tags of an event
}

// IsEditor reports whether a role may edit the records of all users.
func IsEditor(role string) bool { return role == "editor" || role == "administrator" }

// IsPublisher reports whether a role may publish records, and write categories and tags.
func IsPublisher(role string) bool { return role == "author" || IsEditor(role) }

// MayEdit reports whether the user of a role may edit a record. Editors and administrators may edit all records,
// authors their own. Contributors may edit their own drafts and pending records. For a record in the trash, its
// status before that decides.
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

// MayRead reports whether a role may read a record. All roles may read published ones. Others are for editors,
// administrators, and their own author or contributor. The trash is for roles that may edit the record, and never
// shows events.
func (r *Record) MayRead(role string) bool {
	switch r.Status {
	case calendar.Publish:
		return true
	case calendar.Trash:
		return r.Kind != "event" && r.MayEdit(role)
	}
	return IsEditor(role) || (r.Owner == role && (role == "author" || role == "contributor"))
}

// IsLinkable reports whether a role may link events to a venue. It must be able to read it, and the venue must not be
// in the trash.
func (r *Record) IsLinkable(role string) bool { return r.Status != calendar.Trash && r.MayRead(role) }

// refusal returns the HTTP status for a caller who lacks a right: 401 for an anonymous one, else 403.
func refusal(role string) int {
	if role == "" {
		return http.StatusUnauthorized
	}
	return http.StatusForbidden
}

// setStatus sets the status of a record to the requested one. If the role may not publish, pending replaces publish
// and private. The status before the trash is remembered.
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

// CreateReply returns the expected HTTP status of a create. Links to records that are not linkable are refused with
// 400 before rights are checked. Creating a tag along with the record needs the right to write terms, else 400.
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

// Create adds a record. If no status is requested, it is published, or a draft if the role may not publish.
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

// UpdateReply returns the expected HTTP status of an update. Links to records that are not linkable are refused with
// 400 before rights are checked.
func (r *Record) UpdateReply(role string, hasBadLinks bool) int {
	switch {
	case hasBadLinks:
		return http.StatusBadRequest
	case !r.MayEdit(role):
		return refusal(role)
	}
	return http.StatusOK
}

// Update writes the sent fields to a record. An empty status and nil links or tags mean that the request did not
// contain them. A record that goes to the trash loses the links of events to it.
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

// DeleteReply returns the expected HTTP status of a DELETE of a record: 410 if it is in the trash already.
func (r *Record) DeleteReply(role string) int {
	switch {
	case !r.MayEdit(role):
		return refusal(role)
	case r.Status == calendar.Trash:
		return http.StatusGone
	}
	return http.StatusOK
}

// Delete moves a record to the trash and removes the links of events to it.
func (c *Calendar) Delete(r *Record) {
	r.setStatus("", calendar.Trash)
	c.unlink(r)
}

// ReadReply returns the expected HTTP status of a GET of a record: 200, or 403 even for an anonymous caller.
func (r *Record) ReadReply(role string) int {
	if !r.MayRead(role) {
		return http.StatusForbidden
	}
	return http.StatusOK
}

// unlink removes a record that went to the trash from all events that link to it.
func (c *Calendar) unlink(gone *Record) {
	for _, r := range c.Records {
		r.Links = slices.DeleteFunc(r.Links, func(id int64) bool { return id == gone.ID })
	}
}

// ShownVenues returns the ids of the venues that a role sees in an event.
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

// TakesSlug stores the slug from a reply and reports whether the model allows it. An event has no slug until it is
// first published, scheduled or private, and keeps one from then on. Other records always have one. A slug ends in
// __trashed if and only if the record is in the trash.
func (r *Record) TakesSlug(slug string) bool {
	r.Slug = slug
	r.hadSlug = r.hadSlug || r.Kind != "event" || needsSlug(r.Status) || needsSlug(r.before)
	if !r.hadSlug {
		return slug == ""
	}
	return slug != "" && strings.HasSuffix(slug, "__trashed") == (r.Status == calendar.Trash)
}

// needsSlug reports whether a status requires events to have a slug.
func needsSlug(s calendar.Status) bool {
	return slices.Contains([]calendar.Status{calendar.Publish, calendar.Future, calendar.Private}, s)
}

// SharedSlug returns two records of the same kind that have the same slug outside the trash. It returns nil if there
// are none.
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

// CountListed returns the number of records of a kind in the lists of a role. Records in the trash do not count.
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

// CreateTermReply returns the expected HTTP status of creating a tag. isTaken means that its name exists, which is
// 400.
func CreateTermReply(role string, isTaken bool) int {
	switch {
	case !IsPublisher(role):
		return refusal(role)
	case isTaken:
		return http.StatusBadRequest
	}
	return http.StatusCreated
}

// WriteTermReply returns the expected HTTP status of an update or DELETE of a tag. A deleted or unknown tag is 400.
func (c *Calendar) WriteTermReply(role string, id int64) int {
	switch {
	case c.Terms[id] == "":
		return http.StatusBadRequest
	case !IsPublisher(role):
		return refusal(role)
	}
	return http.StatusOK
}

// DeleteTerm deletes a tag and removes it from all records.
func (c *Calendar) DeleteTerm(id int64) {
	c.Terms[id] = ""
	for _, r := range c.Records {
		r.Tagged = slices.DeleteFunc(r.Tagged, func(tag int64) bool { return tag == id })
	}
}

// TermCounts returns the number of published events by tag id. Deleted tags are missing.
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
