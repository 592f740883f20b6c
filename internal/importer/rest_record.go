package importer

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// recordReader reads one event of a REST service, and the venues, organizers, terms and images in it.
type recordReader struct {
	prefix string // prefix of the source ids: the host and path of the service
	root   string // address of the API of the service; "" means unknown
	where  string
	site   calendar.Site
}

// prefixOf returns what all source ids of a service begin with: its host and path, or its host alone. "" means unknown.
func prefixOf(o object) string {
	if prefix, _, ok := strings.Cut(o.raw("global_id"), "?id="); ok && prefix != "" {
		return prefix
	}
	for _, name := range []string{"rest_url", "url"} {
		if u, err := url.Parse(o.raw(name)); err == nil && u.Hostname() != "" {
			return u.Hostname()
		}
	}
	return ""
}

// origin returns the Origin of a record with an id at the source. kind is "" for the event itself, otherwise the
// kind of a record in the event.
func (d recordReader) origin(o object, id, kind string) Origin {
	key := strings.TrimSpace(o.raw("global_id"))
	if key == "" && id != "" && d.prefix != "" {
		key = d.prefix + "?id=" + id
	}
	switch {
	case key == "":
		o.fault("global_id", "missing, and no id with an address to make it of")
	case len(key) > maxSource:
		o.fault("global_id", "longer than %d characters", maxSource)
	}
	where := d.where
	if kind != "" {
		where = fmt.Sprintf("%s %s, first in %s", kind, key, d.where)
	}
	title, all := o.languages()
	return Origin{Key: key, Number: numberOf(id), Where: where, Language: title, Languages: all}
}

// requiredText returns the text of a title or name, and records a fault if it is empty.
func (o object) requiredText(name string) string {
	before := len(o.log.faults)
	s := o.text(name, maxTitle)
	if s == "" && len(o.log.faults) == before {
		o.fault(name, "missing")
	}
	return s
}

// page returns the URL of the record's page, or "" if there is none.
func (o object) page() string {
	address := object{o.members, "", &readLog{}}.raw("url") // the import does without it
	if u, err := url.Parse(address); err != nil || u.Host == "" || len(address) > maxURL {
		return ""
	}
	return address
}

func (o object) sentHTML(name string) *string {
	if !o.has(name) {
		return nil
	}
	return new(o.html(name))
}

func (o object) status() *calendar.Status {
	s := calendar.Status(o.raw("status"))
	if s == "" {
		return nil
	}
	if !s.Known() {
		o.fault("status", "%q is unknown", s)
	}
	return &s
}
