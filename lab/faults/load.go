package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// load is a number of clients that send writes and reads until stop is called.
type load struct {
	w       *world
	bases   func() []string // returns the base URLs of processes that get requests
	writer  *client
	reader  *client
	writers int
	readers int
	images  bool
	// everywhere makes writers check that all processes show an acknowledged write at once.
	everywhere bool

	cancel context.CancelFunc
	end    chan struct{} // closed when no more requests may begin
	group  sync.WaitGroup
}

// load starts a load on the processes whose base URLs bases returns. change adapts its settings first, and nil keeps
// them. token is for writes.
func (w *world) load(ctx context.Context, token string, bases func() []string, change func(*load)) *load {
	l := &load{
		w: w, bases: bases, writer: w.client(token), reader: w.client(""), writers: 6, readers: 2, end: make(chan struct{}),
	}
	if change != nil {
		change(l)
	}
	w.rounds++
	ctx, l.cancel = context.WithCancel(ctx)
	for i := range l.writers {
		h := &loadWriter{load: l, name: fmt.Sprintf("%d-%d", w.rounds, i), chance: rand.New(rand.NewPCG(w.chance.Uint64(), 1))}
		l.group.Go(func() { l.repeat(ctx, h.write) })
	}
	for range l.readers {
		chance := rand.New(rand.NewPCG(w.chance.Uint64(), 2))
		l.group.Go(func() { l.repeat(ctx, func(ctx context.Context) error { return l.read(ctx, chance) }) })
	}
	return l
}

// repeat calls do until the load stops. It pauses between calls, longer after an error. Errors other than refusals
// are broken promises.
func (l *load) repeat(ctx context.Context, do func(context.Context) error) {
	for {
		select {
		case <-l.end:
			return
		default:
		}
		err := do(ctx)
		rest := 2 * time.Millisecond
		switch {
		case errors.Is(err, errRefused) || errors.Is(err, errVanished):
			rest = 40 * time.Millisecond
		case err != nil:
			l.w.fail("%w", err)
			rest = 40 * time.Millisecond
		}
		if pause(ctx, rest) != nil {
			return
		}
	}
}

// stop ends the load after its pending requests are finished.
func (l *load) stop() {
	close(l.end)
	l.group.Wait()
	l.cancel()
	l.writer.http.CloseIdleConnections()
	l.reader.http.CloseIdleConnections()
}

// loadWriter is a client of the load that writes. No other client changes its events, so it knows their state.
type loadWriter struct {
	*load
	name   string
	made   int
	titles []string
	chance *rand.Rand
}

// write sends one random write and records its outcome in the journal.
func (h *loadWriter) write(ctx context.Context) error {
	bases := h.bases()
	base := bases[h.chance.IntN(len(bases))]
	switch dice := h.chance.IntN(20); {
	case dice < 11:
		return h.create(ctx, base)
	case dice < 16:
		return h.update(ctx, base)
	case dice < 18:
		return h.remove(ctx, base)
	case h.images:
		return h.upload(ctx, base)
	}
	return h.create(ctx, base)
}

// tag returns a random one of a few tag names that all writers create concurrently.
func (h *loadWriter) tag() string { return "tag " + strconv.Itoa(h.chance.IntN(12)) }

// make returns a new random event. Tags and categories have names that other events use too, and venue and organizers
// may.
func (h *loadWriter) make() *event {
	h.made++
	title := fmt.Sprintf("Event %s-%d", h.name, h.made)
	e := &event{
		Title: title, Description: fmt.Sprintf("Version 1 of %s.", title), Venue: "Hall of " + title,
		Organizers: []string{"Club " + strconv.Itoa(h.chance.IntN(7)), "Host of " + title},
		Tags:       sortedUnique(h.tag(), h.tag()), Categories: sortedUnique("kind " + strconv.Itoa(h.chance.IntN(4))),
	}
	if h.chance.IntN(3) == 0 {
		e.Venue = "Hall " + strconv.Itoa(h.chance.IntN(7))
	}
	return e
}

func sortedUnique(names ...string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// object is a JSON object to send.
type object map[string]any

// body returns the JSON that creates an event, along with its venue, organizer and tags.
func (e *event) body() object {
	organizers := make([]object, len(e.Organizers))
	for i, name := range e.Organizers {
		organizers[i] = object{"organizer": name}
	}
	return object{
		"title": e.Title, "description": e.Description, "featured": e.Featured,
		"venue": object{"venue": e.Venue, "city": "Łódź"}, "organizer": organizers,
		"tags": e.Tags, "categories": e.Categories,
	}
}

func (h *loadWriter) create(ctx context.Context, base string) error {
	e := h.make()
	body := e.body()
	day := time.Now().AddDate(0, 0, 1+h.chance.IntN(300))
	body["start_date"], body["end_date"] = day.Format("2006-01-02 15:04:05"), day.Add(time.Hour).Format("2006-01-02 15:04:05")
	body["timezone"] = []string{"UTC", "Europe/Warsaw", "America/New_York", "UTC+5:30"}[h.chance.IntN(4)]
	if h.chance.IntN(4) == 0 {
		body["slug"] = "shared " + strconv.Itoa(h.chance.IntN(3))
	}
	a, err := h.writer.json(ctx, base, http.MethodPost, "/events", body, http.StatusCreated)
	if err != nil {
		h.w.journal.created(e, 0, false)
		return err
	}
	var made struct {
		ID int64 `json:"id"`
	}
	if err := a.into(&made); err != nil {
		return err
	}
	h.w.journal.created(e, made.ID, true)
	h.titles = append(h.titles, e.Title)
	if h.everywhere {
		return h.seen(ctx, made.ID, e)
	}
	return nil
}

// shows returns an error unless a reply shows the event with an id as e.
func (a answer) shows(id int64, e *event) error {
	var row eventRow
	err := a.into(&row)
	if is := row.event(); err == nil && !is.equal(e) {
		err = fmt.Errorf("event %d was written as %+v and is shown as %+v", id, *e, *is)
	}
	return err
}

// seen returns an error unless every process shows an event as e by id, and has it in a list.
func (h *loadWriter) seen(ctx context.Context, id int64, e *event) error {
	for _, base := range h.bases() {
		a, err := h.reader.get(ctx, base, "/events/"+strconv.FormatInt(id, 10), http.StatusOK)
		if err != nil {
			return err
		}
		if err := a.shows(id, e); err != nil {
			return err
		}
		a, err = h.reader.get(ctx, base, "/events?include="+strconv.FormatInt(id, 10), http.StatusOK)
		if err != nil {
			return err
		}
		var list struct{ Total int }
		if err := a.into(&list); err != nil {
			return err
		}
		if list.Total != 1 {
			return fmt.Errorf("event %d was acknowledged and is in no list of %s", id, base)
		}
	}
	return nil
}

// own returns one of this writer's events whose state is known, so that it can be written again. It returns nil if
// there is none.
func (h *loadWriter) own() (id int64, e *event) {
	n := len(h.titles)
	if n == 0 {
		return 0, nil
	}
	at := h.chance.IntN(n)
	return h.w.journal.pick(h.titles[at:min(at+5, n)])
}

func (h *loadWriter) update(ctx context.Context, base string) error {
	id, e := h.own()
	if e == nil {
		return h.create(ctx, base)
	}
	h.made++
	e.Description = fmt.Sprintf("Version %d of %s.", h.made, e.Title)
	e.Featured = !e.Featured
	e.Venue = fmt.Sprintf("Hall %d of %s", h.made, e.Title)
	e.Organizers = []string{"Club " + strconv.Itoa(h.chance.IntN(7))}
	e.Tags = sortedUnique(h.tag(), h.tag(), h.tag())
	a, err := h.writer.json(ctx, base, http.MethodPut, "/events/"+strconv.FormatInt(id, 10), e.body(), http.StatusOK)
	h.w.journal.changed(e, err == nil)
	if err != nil {
		return err
	}
	if err := a.shows(id, e); err != nil {
		return err
	}
	if h.everywhere {
		return h.seen(ctx, id, e)
	}
	return nil
}

func (h *loadWriter) remove(ctx context.Context, base string) error {
	id, e := h.own()
	if e == nil {
		return h.create(ctx, base)
	}
	e.Trashed = true
	_, err := h.writer.json(ctx, base, http.MethodDelete, "/events/"+strconv.FormatInt(id, 10), nil, http.StatusOK)
	h.w.journal.changed(e, err == nil)
	return err
}

func (h *loadWriter) upload(ctx context.Context, base string) error {
	data, err := drawing(h.chance)
	if err != nil {
		return err
	}
	h.made++
	var form bytes.Buffer
	m := multipart.NewWriter(&form)
	part, err := m.CreateFormFile("file", fmt.Sprintf("drawing-%s-%d.png", h.name, h.made%5))
	if err == nil {
		_, err = part.Write(data)
	}
	if err := errors.Join(err, m.Close()); err != nil {
		return err
	}
	a, err := h.writer.send(ctx, base, http.MethodPost, namespace+"/images", m.FormDataContentType(), form.Bytes(), http.StatusCreated)
	if err != nil {
		h.w.journal.lost()
		return err
	}
	var made struct {
		ID  int64 `json:"id"`
		URL string
	}
	if err := a.into(&made); err != nil {
		return err
	}
	h.w.journal.pictured(made.ID, stateAt{made.URL, data})
	return nil
}

// drawing returns the bytes of a random PNG image.
func drawing(chance *rand.Rand) ([]byte, error) {
	m := image.NewRGBA(image.Rect(0, 0, 24, 24))
	for x := range 24 {
		for y := range 24 {
			n := chance.Uint32()
			m.Set(x, y, color.RGBA{uint8(n), uint8(n >> 8), uint8(n >> 16), 255})
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, m)
	return b.Bytes(), err
}

// read sends one random read and checks that the reply is a list.
func (l *load) read(ctx context.Context, chance *rand.Rand) error {
	bases := l.bases()
	base := bases[chance.IntN(len(bases))]
	path := []string{
		"/events", "/events?search=version&per_page=5", "/venues?per_page=5", "/tags", "/organizers", "/events?tags=tag-1",
	}[chance.IntN(6)]
	// No tag of the name yet, and no page yet.
	a, err := l.reader.get(ctx, base, path, http.StatusOK, http.StatusBadRequest)
	if err != nil || a.status != http.StatusOK {
		return err
	}
	var list struct{ Total *int }
	if err := a.into(&list); err != nil {
		return err
	}
	if list.Total == nil {
		return fmt.Errorf("%s: a list without a total: %.200s", path, a.body)
	}
	return nil
}
