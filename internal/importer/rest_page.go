package importer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/almanac-cal/almanac/calendar"
)

// decode reads one page of the source's events from its JSON. The parameter number is that of the page, for messages.
// An invalid event becomes a Problem, and decode continues with the next one. It ignores unknown members. Times without
// a zone and without a time in UTC are in the zone of the site. It returns an error if data is not a page of events.
func decode(data []byte, number int, site calendar.Site) (*Page, error) {
	return decodePage(bytes.NewReader(bytes.TrimPrefix(data, byteOrderMark)), number, site)
}

// decodePage reads a page of a list of events from a stream, with the JSON of one event in memory at a time. number
// is the page, for messages. An invalid event becomes a Problem. It returns an error if the JSON is not a page of
// events.
func decodePage(from io.Reader, number int, site calendar.Site) (*Page, error) {
	p := &Page{}
	index := 0
	top, err := readList(from, "events", func(raw json.RawMessage) {
		index++
		log := &readLog{}
		e := decodeEvent(raw, number, index, site, log)
		for _, n := range log.notices {
			p.Notices = append(p.Notices, e.Where+": "+n)
		}
		if len(log.faults) > 0 {
			p.Problems = append(p.Problems, Problem{Kind: calendar.Event, Where: e.Where, Reason: joinErrors(log.faults)})
			return
		}
		p.Events = append(p.Events, e)
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errEmptyPage, err)
	}
	log := &readLog{}
	o := object{top, "", log}
	if _, ok := top["events"]; !ok {
		if code := o.raw("code"); code != "" {
			return nil, fmt.Errorf("%w but the error %s: %s", errEmptyPage, code, o.raw("message"))
		}
		return nil, fmt.Errorf(`%w: it has no "events"`, errEmptyPage)
	}
	p.Next, p.Total = o.raw("next_rest_url"), int(o.count("total"))
	// A missing next page or total is not a reason to lose the events.
	var notices []string
	for _, fault := range log.faults {
		notices = append(notices, fmt.Sprintf("page %d: %v", number, fault))
	}
	p.Notices = append(notices, p.Notices...)
	return p, nil
}

// readList reads a JSON object and calls each for every item of the list in the member called name. It returns the
// other members, with null for the list.
func readList(from io.Reader, name string, each func(json.RawMessage)) (map[string]json.RawMessage, error) {
	top, err := readMembers(json.NewDecoder(from), name, each)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return top, err
}

// readMembers reads a JSON object from dec. It calls each for every item of the list in the member called name, and
// returns the other members. If the text ends too early, the error is io.EOF or io.ErrUnexpectedEOF.
func readMembers(dec *json.Decoder, name string, each func(json.RawMessage)) (map[string]json.RawMessage, error) {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, cmp.Or(err, errNotObject)
	}
	top := make(map[string]json.RawMessage)
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		text, _ := key.(string) // the keys of an object are texts
		if text != name {
			var value json.RawMessage
			if err := dec.Decode(&value); err != nil {
				return nil, err
			}
			top[text] = value
			continue
		}
		if t, err := dec.Token(); err != nil || t != json.Delim('[') {
			return nil, cmp.Or(err, fmt.Errorf("%q is not a list", name))
		}
		for dec.More() {
			var item json.RawMessage
			if err := dec.Decode(&item); err != nil {
				return nil, err
			}
			each(item)
		}
		if _, err := dec.Token(); err != nil {
			return nil, err
		}
		top[name] = json.RawMessage("null")
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, cmp.Or(err, errors.New("text after the end"))
	}
	return top, nil
}
