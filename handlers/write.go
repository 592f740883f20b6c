package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/user"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/when"
)

// Largest lengths of texts that clients write, in characters (contract, section 4).
const (
	maxTitle = 500
	maxText  = 255
	maxURL   = 2048
)

// change runs do in a transaction that writes one record. do must set id to that of the record. The record must
// have the version that the request expects.
func (r *writing) change(id *int64, do func(tx *entTx, e *edit.Editor) error) error {
	if err := r.sanitise(); err != nil {
		return err
	}
	err := r.commit(r.Ctx, r.Call.Expect, func(tx *entTx, e *edit.Editor) error {
		if err := do(tx, e); err != nil {
			return err
		}
		return r.recordWrite(tx, *id)
	})
	if err == nil {
		r.fetched = nil // the images now belong to the record
	}
	return err
}

// recordWrite passes the id of the written record to Call.Mark, in the transaction that wrote it.
func (r *writing) recordWrite(tx *entTx, id int64) error {
	if r.Call.Mark == nil {
		return nil
	}
	return r.Call.Mark(r.Ctx, tx, id)
}

// commit runs do in a transaction. If all retries conflict with other writes, it returns an error that the client
// may retry.
func (r *writing) commit(
	ctx context.Context, expect calendar.Precondition, do func(tx *entTx, e *edit.Editor) error,
) error {
	e := r.Editor()
	e.Expect = expect
	err := edit.Write(ctx, r.Primary, e, func(tx *entTx) error { return do(tx, e) })
	if !errors.Is(err, store.ErrConflict) {
		return err
	}
	// Credentials are cached for some seconds. A user who was deleted meanwhile cannot be an author.
	if id := r.Caller.UserID; id != 0 {
		known, lookup := r.DB.User.Query().Where(user.ID(id)).Exist(ctx)
		if lookup == nil && !known {
			return &calendar.Error{Code: "rest_invalid_token", Key: "rest_invalid_token", Err: err}
		}
	}
	// The request itself is valid, so the client may retry.
	return &calendar.Error{Code: "rest_unavailable", Key: "rest_unavailable", Err: err}
}

// fields declares the fields of a write. Creates and updates share most fields. They differ in the meaning of
// null and in defaults.
type fields struct {
	p      *param.Set
	r      *writing
	create bool
	// preview leaves out fields that have no effect when nothing is stored.
	preview bool
}

// nullClears allows null as a value on update. On create, null means that the field was not sent.
func (f fields) nullClears(p *param.Param) *param.Param {
	if f.create {
		return p
	}
	return p.Null()
}

// text declares a plain text field. Replies show it unescaped, so markup is removed.
func (f fields) text(dst **string, name, description string, maximum int) *param.Param {
	return f.nullClears(param.Opt(f.p, dst, name, description, "string", textOf(name, maximum, markup.Inert))).Longest(maximum)
}

// plain declares fields without rules of their own, those named or, without names, all that are not declared yet. Null
// sets a value to that of a new record without the field.
func (f fields) plain(all []ent.PlainField, names ...string) (declared []*param.Param) {
	for _, field := range all {
		if len(names) > 0 && !slices.Contains(names, field.Name) || f.p.Declares(field.Name) {
			continue
		}
		var p *param.Param
		switch value := field.Value.(type) {
		case **bool:
			p = f.p.OptBool(value, field.Name, field.Doc)
		case **int:
			p = f.number(value, field)
		case **string:
			if field.Address {
				p = f.nullClears(param.Opt(f.p, value, field.Name, field.Doc, "string", webAddress))
			} else {
				p = f.text(value, field.Name, field.Doc, field.Longest)
			}
		case **calendar.EventStatus:
			p = declareWord(f, value, field.Name, field.Doc, calendar.EventStatuses)
		case **calendar.Attendance:
			p = declareWord(f, value, field.Name, field.Doc, calendar.Attendances)
		default:
			panic(fmt.Sprintf("no form for %s, a %T", field.Name, value))
		}
		p.Sample = field.Sample
		declared = append(declared, p)
	}
	return declared
}

// number declares an integer between two bounds.
func (f fields) number(dst **int, field ent.PlainField) *param.Param {
	p := param.Opt(f.p, dst, field.Name, field.Doc, "integer", func(raw any) (int, *param.Fault) {
		if raw == nil {
			return field.Default, nil
		}
		n, fault := param.Integer(raw)
		if fault == nil && (n < int64(field.Min) || n > int64(field.Max)) {
			return 0, param.OutOfBounds(field.Name, field.Min, field.Max)
		}
		return int(n), fault
	})
	p.Minimum, p.Maximum = field.Min, field.Max // the parser above enforces these limits
	return f.nullClears(p)
}

// title declares the name of a record. It must not be empty after tags are removed.
func (f fields) title(dst **string, name, description string) *param.Param {
	parse := textOf(name, maxTitle, nil)
	p := param.Opt(f.p, dst, name, description, "string", func(raw any) (string, *param.Fault) {
		text, fault := parse(raw)
		if fault == nil && text == "" {
			return "", &param.Fault{Key: "empty-text"}
		}
		return text, fault
	}).Longest(maxTitle)
	if f.create {
		p.Required()
	}
	return p
}

// textOf returns a parser for a text. It removes tags, decodes entities once and trims. clean may clean the text
// further. Nil means that it does not. Null is parsed as "".
func textOf(name string, maximum int, clean func(string) string) func(raw any) (string, *param.Fault) {
	return func(raw any) (string, *param.Fault) {
		if raw == nil {
			return "", nil
		}
		sent, fault := param.String(raw)
		if fault != nil {
			return "", fault
		}
		text, ok, err := markup.TextLimited(sent, maximum)
		if err != nil {
			return "", param.Bad()
		}
		if !ok {
			return "", param.TooLong(name, maximum)
		}
		if clean != nil {
			text = clean(text)
		}
		return text, nil
	}
}

// html declares an HTML field, whose length is limited by that of the body. Parsing keeps the text as sent, and
// request.change sanitises it. A text with a NUL or invalid UTF-8 is refused. Every other text has a sanitised
// form.
func (f fields) html(dst **string, name, description string) *param.Param {
	f.r.unclean = append(f.r.unclean, dst)
	return f.nullClears(param.Opt(f.p, dst, name, description, "string", func(raw any) (string, *param.Fault) {
		if raw == nil {
			return "", nil
		}
		return param.String(raw)
	}))
}

// sanitise replaces the sent HTML texts by their sanitised form, which is stored. It is much more expensive than
// parsing, so it runs after the permission check (decision 024).
func (r *writing) sanitise() error {
	for _, text := range r.unclean {
		if *text == nil {
			continue
		}
		clean, err := sanitiseHTML(r.Ctx, **text)
		if err != nil {
			return err
		}
		*text = &clean
	}
	r.unclean = nil
	return nil
}

// sanitiseHTML returns the sanitised form of an HTML text. Text of white space only becomes "".
func sanitiseHTML(ctx context.Context, text string) (string, error) {
	clean, err := markup.HTMLContext(ctx, text)
	if strings.TrimSpace(clean) == "" {
		clean = ""
	}
	return clean, err
}

func (f fields) slug(dst **string) *param.Param {
	return param.Opt(f.p, dst, "slug", "Slug", "string", func(raw any) (string, *param.Fault) {
		text, fault := param.String(raw)
		if fault == nil && utf8.RuneCountInString(text) > calendar.MaxSlug {
			return "", param.TooLong("slug", calendar.MaxSlug)
		}
		return text, fault
	}).Longest(calendar.MaxSlug)
}

func (f fields) status(dst **calendar.Status) *param.Param {
	return param.Opt(f.p, dst, "status", "Status", "string", func(raw any) (calendar.Status, *param.Fault) {
		word, fault := param.String(raw)
		if fault == nil && !calendar.Status(word).Known() {
			fault = read.UnknownStatus()
		}
		return calendar.Status(word), fault
	})
}

// declareWord declares a field with one of several words. The first word is the default, which "" and null set.
func declareWord[W ~string](f fields, dst **W, name, description string, words []W) *param.Param {
	p := f.nullClears(param.Opt(f.p, dst, name, description, "string", func(raw any) (W, *param.Fault) {
		if last := param.LastValue(raw); last == nil || last == "" {
			return words[0], nil
		}
		text, fault := param.String(raw)
		if fault == nil && !slices.Contains(words, W(text)) {
			fault = read.WordFault(words)
		}
		return W(text), fault
	}))
	for _, w := range words {
		p.Enum = append(p.Enum, string(w))
	}
	if f.create {
		p.PublishDefault(words[0])
	}
	return p
}

// author declares the author. stored reports whether the stored record has that author already. In stored, the id
// 0 means no author. Nil means that there is no stored record.
func (f fields) author(dst **int64, stored func(id int64) (bool, error)) *param.Param {
	return f.p.OptInt(dst, "author", "ID of the author").Check(func(ctx context.Context) *param.Fault {
		if stored != nil {
			if same, err := stored(**dst); same || err != nil {
				return read.ReferenceFault(nil, err)
			}
		}
		return read.ReferenceFault(f.r.Editor().AuthorFault(ctx, f.r.DB, **dst))
	})
}

// published declares date and date_utc. If both are sent, date counts.
func (f fields) published(dst **time.Time) (date, dateUTC *param.Param) {
	var local *when.Date
	site := f.r.Zone()
	read := func(zone calendar.Zone, keep func(when.Date)) func(raw any) (when.Date, *param.Fault) {
		parse := read.ParseDate(f.p.Now, zone)
		return func(raw any) (when.Date, *param.Fault) {
			d, fault := parse(raw)
			if fault == nil {
				keep(d)
			}
			return d, fault
		}
	}
	set := func(d when.Date, zone calendar.Zone) {
		t := d.Instant(zone)
		*dst = &t
	}
	var utc *when.Date
	date = param.Opt(f.p, &local, "date", "Publication date, site time zone", "string",
		read(site, func(d when.Date) { set(d, site) }))
	dateUTC = param.Opt(f.p, &utc, "date_utc", "Publication date, UTC", "string",
		read(calendar.UTC(), func(d when.Date) {
			if local == nil {
				set(d, calendar.UTC())
			}
		}))
	return date, dateUTC
}

// webAddress parses an absolute http or https URL. "" and null mean no URL.
func webAddress(raw any) (string, *param.Fault) {
	if raw == nil {
		return "", nil
	}
	text, fault := param.String(raw)
	if fault != nil || text == "" {
		return "", fault
	}
	if !isWebAddress(text) {
		return "", &param.Fault{Key: "not-an-address"}
	}
	return text, nil
}

// isWebAddress reports whether a text is an absolute http or https URL. It refuses control characters, backticks
// and the delimiters of RFC 3986, appendix C. It allows letters of other scripts.
func isWebAddress(text string) bool {
	if utf8.RuneCountInString(text) > maxURL || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("\"<>`", r) }) {
		return false
	}
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// picture is an image as the client sent it: an id, or a URL to look up or download.
type picture struct {
	id  int64 // id of the image; 0 without url means no image
	url string
}

// image declares an image. empty allows "" for no image.
func (f fields) image(dst **picture, description string, empty bool) *param.Param {
	p := param.Opt(f.p, dst, "image", description, "string", func(raw any) (picture, *param.Fault) {
		switch v := param.LastValue(raw).(type) {
		case nil:
			return picture{}, nil
		case bool:
			if v {
				return picture{}, &param.Fault{Key: "not-an-image"}
			}
			return picture{}, nil
		case string:
			if v == "" && empty {
				return picture{}, nil
			}
			if isWebAddress(v) {
				return picture{url: v}, nil
			}
		}
		id, fault := param.Integer(imageRef(raw))
		if fault != nil || id < 0 {
			return picture{}, &param.Fault{Key: "not-an-image"}
		}
		return picture{id: id}, nil
	})
	return f.nullClears(p).Check(func(ctx context.Context) *param.Fault {
		return read.ReferenceFault(f.r.Editor().ImageFault(ctx, f.r.DB, (*dst).id))
	})
}

// imageRef returns the id or URL of a sent image. If the client sends a representation back, it returns the id in
// it.
func imageRef(raw any) any {
	if o, ok := param.LastValue(raw).(map[string]any); ok {
		return o["id"]
	}
	return raw
}

// costOf returns a parser for a cost: a string, a number, or a list of these. decimal is the site's decimal mark.
func costOf(decimal string) func(raw any) (calendar.Cost, *param.Fault) {
	return func(raw any) (calendar.Cost, *param.Fault) {
		items := []any{raw}
		switch v := raw.(type) {
		case nil:
			items = nil
		case []any:
			items = v
		case param.Repeated:
			items = v
		}
		if len(items) > param.MaxItems {
			return calendar.Cost{}, param.TooManyItems()
		}
		var elements []string
		length := 0
		for _, item := range items {
			text, fault := costElement(item, decimal)
			if fault != nil {
				return calendar.Cost{}, fault
			}
			if text != "" {
				elements = append(elements, text)
			}
			if length += utf8.RuneCountInString(text); length > maxText {
				return calendar.Cost{}, param.TooLong("cost", maxText)
			}
		}
		return calendar.ParseCost(elements, decimal), nil
	}
}

// costElement parses one price or text. It formats a number with the site's decimal mark, so that the number is
// parsed correctly later.
func costElement(item any, decimal string) (string, *param.Fault) {
	switch v := item.(type) {
	case nil:
		return "", nil
	case string:
		text, ok, err := markup.TextLimited(v, maxText)
		if err != nil {
			return "", param.Bad()
		}
		if !ok {
			return "", param.TooLong("cost", maxText)
		}
		return text, nil
	case json.Number:
		n, err := strconv.ParseFloat(string(v), 64)
		if err != nil || n < 0 {
			return "", &param.Fault{Key: "not-a-cost"}
		}
		return strings.Replace(strconv.FormatFloat(n, 'f', -1, 64), ".", decimal, 1), nil
	}
	return "", &param.Fault{Key: "not-a-cost"}
}

// termRefs returns a parser for the categories or tags of an event. They are a list or a comma-separated string
// of ids and names. An object counts as the id in it.
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

// terms declares the categories or tags of an event. Their ids must exist. Names are looked up when the event is
// written.
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

// references parses the venues or organizers of an event in all their forms (contract, section 10.4).
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
