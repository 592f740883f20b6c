package feeds

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/feed"
)

// calendarCodec, atomCodec, rssCodec and jsonFeedCodec encode feeds, one for each format.
var (
	calendarCodec = endpoint.Codec{MediaType: "text/calendar", ContentType: "text/calendar; charset=utf-8", Encode: encodeCalendar}
	atomCodec     = newsCodec("application/atom+xml", (*feed.Feed).Atom)
	rssCodec      = newsCodec("application/rss+xml", (*feed.Feed).RSS)
	jsonFeedCodec = newsCodec("application/feed+json", (*feed.Feed).JSON)
)

// entryCodec encodes entries of Atom, RSS and JSON Feed for the record cache. No client gets this format.
var entryCodec = endpoint.Codec{MediaType: "entry of a feed", ContentType: "", Encode: encodeEntry}

// cachedEntry is the JSON form of a feed entry in the record cache. StartWall, EndWall and Zone store as text
// the fields of feed.Entry that JSON cannot represent.
type cachedEntry struct {
	*feed.Entry
	StartWall, EndWall, Zone string
}

func encodeEntry(value any, _ string) ([]byte, error) {
	e, ok := value.(*feed.Entry)
	if !ok {
		return nil, fmt.Errorf("%T: %w", value, errNoFeed)
	}
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	err := to.Encode(cachedEntry{e, e.StartWall.String(), e.EndWall.String(), e.Zone.String()})
	return b.Bytes(), err
}

// decodeEntry decodes what entryCodec returned.
func decodeEntry(body []byte) (e feed.Entry, err error) {
	cached := cachedEntry{Entry: &e}
	if err = json.Unmarshal(body, &cached); err != nil {
		return e, fmt.Errorf("entry in the cache: %w", err)
	}
	var faults [3]error
	e.StartWall, faults[0] = calendar.ParseWall(cached.StartWall)
	e.EndWall, faults[1] = calendar.ParseWall(cached.EndWall)
	e.Zone, faults[2] = calendar.ParseZone(cached.Zone)
	if err = errors.Join(faults[:]...); err != nil {
		return e, fmt.Errorf("entry in the cache: %w", err)
	}
	return e, nil
}

// calendarEntry is one event of a feed in iCalendar format.
type calendarEntry struct {
	about  *feed.Feed
	entry  *feed.Entry
	parent int64 // id of the parent event that the entry refers to; 0 means none
}

var errNoFeed = errors.New("not a feed")

func encodeCalendar(value any, _ string) ([]byte, error) {
	switch v := value.(type) {
	case *calendarEntry:
		return encodePart(v.about.Part(v.entry), v.parent), nil
	case *calendarFile:
		return v.about.ICalendarOf(v.parts), nil
	}
	return nil, fmt.Errorf("%T: %w", value, errNoFeed)
}

func newsCodec(mediaType string, write func(*feed.Feed, []feed.Entry) []byte) endpoint.Codec {
	return endpoint.Codec{MediaType: mediaType, ContentType: mediaType + "; charset=utf-8", Encode: func(value any, _ string) ([]byte, error) {
		n, ok := value.(*news)
		if !ok {
			return nil, fmt.Errorf("%T: %w", value, errNoFeed)
		}
		return write(n.about, n.entries), nil
	}}
}

// encodePart encodes a part of a feed for the record cache. The first line has its id, start, last change,
// parent and zone. The text follows. The argument parent is the id of the event's parent. 0 means none.
func encodePart(p feed.Part, parent int64) []byte {
	head := fmt.Appendf(make([]byte, 0, len(p.Text)+100), "%d %d %d %d %s\n", p.ID, p.Start.Unix(), p.Stamp.Unix(), parent, p.Zone)
	return append(head, p.Text...)
}

// decodePart decodes what encodePart returned. The returned text shares memory with data.
func decodePart(data []byte) (p feed.Part, parent int64, err error) {
	head, text, _ := bytes.Cut(data, []byte("\n"))
	var numbers [4]int64
	rest := string(head)
	for i := range numbers {
		var number string
		number, rest, _ = strings.Cut(rest, " ")
		if numbers[i], err = strconv.ParseInt(number, 10, 64); err != nil {
			return p, 0, fmt.Errorf("entry in the cache: %w", err)
		}
	}
	return feed.Part{
		ID: numbers[0], Start: time.Unix(numbers[1], 0).UTC(), Stamp: time.Unix(numbers[2], 0).UTC(), Zone: rest, Text: text,
	}, numbers[3], nil
}
