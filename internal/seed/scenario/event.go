package scenario

import (
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// Event returns the event with index i, from 0 to Len()-1. It depends only on the options and the index.
func (c *Calendar) Event(i int) Event {
	e := Event{SourceID: c.sourceID("event", i), Parent: -1}
	var p eventOutline
	c.outlineEvent(&p, i)
	l := &c.layout
	switch {
	case i < l.firstPart():
	case i < l.firstLesson():
		e.Parent = len(l.pinned) + p.draft.fest
	case i < l.firstFree():
		e.Parent = len(l.pinned) + len(l.fests) + (i-l.firstLesson())/lessonsOfCourse
	}
	c.finish(&e, &p)
	return e
}

// finish sets all fields of an event from its outline, except for SourceID and Parent.
func (c *Calendar) finish(e *Event, p *eventOutline) {
	k, d, source, i := p.kind, p.draft, &p.source, p.index
	s := c.spots[i]
	c.locateEvent(p, s)
	if d.organizer < 0 {
		c.chooseOrganizer(p, p.organizerTypes, source)
	}
	zone := c.cities[d.city].zone
	if len(k.At) == 0 && i%3 == 0 && c.o.Zone == (calendar.Zone{}) {
		zone = calendar.UTC() // online events use UTC
	}
	e.Span = c.spanOf(&p.needs, s, zone)

	// Some events have no venue, but not those of the next weeks, which people look at first.
	if soon := int(s.day) - c.today(); d.venue >= 0 && (i%67 != 20 || soon >= 0 && soon < soonDays) {
		e.Venues = []int{d.venue}
	}
	e.Organizers = []int{d.organizer}
	if near := c.organizerIndex.near(p.organizerTypes[len(p.organizerTypes)-1], d.city); i%9 == 2 {
		if second := near[source.below(len(near))]; second != d.organizer {
			e.Organizers = append(e.Organizers, second)
		}
	}
	for _, key := range k.In {
		e.Categories = append(e.Categories, c.categoryIndex[key])
	}
	e.Tags = c.tagsOf(p, source)
	e.Picture = c.pictureOf(p, source)
	e.Cost = p.cost
	calm := c.o.Open || c.layout.isUndisturbed(i)
	e.Hide, e.Sticky = !calm && i%43 == 13, k.Sticky || i%71 == 17
	e.Featured, e.Ticketed = k.Featured || i%19 == 4, k.Ticketed
	if !calm && i%61 == 11 {
		e.Password = "curtain"
	}
	c.publish(e, i, source)
	c.write(e, p, source)
	first := c.o.Languages[0]
	page := siteURL(c.organizers[d.organizer].Name[first])
	if k.Ticketed {
		e.Website = page + calendar.Slug(e.Title[first])
	}
	c.attend(e, p)
	if e.Attendance != calendar.Offline {
		e.VirtualURL = page + "live/" + calendar.Slug(e.Title[first])
	}
	c.cancel(e, p)
}

// broadcastTypes are the types of venues whose events can often be attended online too.
var broadcastTypes = []string{"campus", "congress", "library", "seminar"}

// attend sets whether people attend an event at the venue, online, or both.
func (c *Calendar) attend(e *Event, p *eventOutline) {
	at := p.kind.At
	switch {
	case len(at) == 0:
		e.Attendance = calendar.Online
	case slices.Contains(broadcastTypes, at[0]) && p.index%5 == 1:
		e.Attendance = calendar.Mixed
	default:
		e.Attendance = calendar.Offline
	}
}

// cancel cancels or postpones about one event in twenty, and sets the reason. It skips events that must take place:
// festivals, courses, and the planned events of the next weeks.
func (c *Calendar) cancel(e *Event, p *eventOutline) {
	i := p.index
	e.EventStatus = calendar.Scheduled
	switch {
	case c.layout.isUndisturbed(i):
	case i%37 == 14:
		e.EventStatus = calendar.Canceled
	case i%41 == 22:
		e.EventStatus = calendar.Postponed
	}
	if e.EventStatus == calendar.Scheduled {
		return
	}
	source := chanceOf(c.o.Seed, chanceStates, uint64(i))
	reasons := c.remarkTexts[string(e.EventStatus)]
	reason := source.below(len(reasons[0].leads))
	e.EventStatusReason = Text{}
	for n, l := range c.o.Languages {
		if e.Title[l] != "" {
			e.EventStatusReason[l] = p.draft.text(reasons[n].leads[reason].template, n)
		}
	}
}

// publish chooses the status and the publication date of an event.
func (c *Calendar) publish(e *Event, i int, source *randomSource) {
	now, starts := c.o.Now, e.Span.StartsAt()
	published := starts.Add(-time.Duration(source.between(10*24*60, 50*24*60)) * time.Minute)
	latest := c.written.Add(-time.Duration(source.between(60, 20*24*60)) * time.Minute)
	if published.After(latest) {
		published = latest
	}
	e.Status = calendar.Publish
	ahead := starts.Sub(now)
	switch {
	case c.o.Open, c.layout.isUndisturbed(i): // events with children and those of the next weeks are always public
	case i%47 == 5:
		e.Status = calendar.Draft
	case i%53 == 7:
		e.Status = calendar.Pending
	case i%59 == 9:
		e.Status = calendar.Private
	case i%23 == 3 && ahead > 72*time.Hour:
		e.Status = calendar.Future
		published = now.Add(ahead / 100 * time.Duration(source.between(20, 80)))
	}
	e.Published = published.UTC().Truncate(time.Second)
}
