package main

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/lab/baseline"
	"github.com/almanac-cal/almanac/lab/drive"
	"github.com/almanac-cal/almanac/lab/fill"
	"github.com/almanac-cal/almanac/lab/process"
)

// kind is the kind of a target: the service with or without caches, or a server to compare it with.
type kind int

const (
	cachedTarget kind = iota
	uncachedTarget
	byHand
	constantReply
)

// target is a server to measure.
type target struct {
	name   string
	kind   kind
	engine string // database engine, "" for none
	way    baseline.Way
	every  bool // the constant server sends all headers of the service and has its buffers
	flags  []string

	*process.Process
	requests map[string][][]byte // bytes of requests, by path
}

// list and single are the paths that are measured.
const (
	list   = "/events"
	single = "/events/{id}"
)

var paths = []string{list, single}

// coldIDs and hotIDs are the numbers of events that requests by id select in turn, at most. hotIDs is for the target
// with a cache.
const (
	coldIDs = 2000
	hotIDs  = 20
)

// engine is a database engine with the URL of its calendar.
type engine struct {
	name string
	url  string
	ids  []int64 // ids of public events, in random order
}

// learn reads the ids of all published events without a password into ids. The seed determines their random order.
func (e *engine) learn(ctx context.Context, seed uint64) (err error) {
	st, err := fill.Open(ctx, e.url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return e.learnFrom(ctx, st.DB, seed)
}

func (e *engine) learnFrom(ctx context.Context, db *sql.DB, seed uint64) error {
	rows, err := db.QueryContext(ctx, "SELECT id FROM events WHERE status = 'publish' AND password_hash IS NULL ORDER BY id")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		e.ids = append(e.ids, id)
	}
	if len(e.ids) < hotIDs {
		return fmt.Errorf("%d published events are too few", len(e.ids))
	}
	rand.New(rand.NewPCG(seed, 2)).Shuffle(len(e.ids), func(i, j int) { e.ids[i], e.ids[j] = e.ids[j], e.ids[i] })
	return rows.Err()
}

// features are the optional flags that the program has: --cache-size and --cache-delay.
type features struct{ cache, delay bool }

// probe returns the optional flags that a program's help lists.
func probe(ctx context.Context, program string) (features, error) {
	help, err := exec.CommandContext(ctx, program, "serve", "--help").CombinedOutput()
	if err != nil {
		return features{}, fmt.Errorf("%s serve --help: %w: %s", program, err, help)
	}
	has := func(flag string) bool { return bytes.Contains(help, []byte(flag)) }
	return features{cache: has("--cache-size"), delay: has("--cache-delay")}, nil
}

// targets returns the targets to measure, by database engine. It leaves out those whose flags the program lacks.
// quick leaves out further ones.
func targets(engines []engine, f features, quick bool) []*target {
	var out []*target
	for _, e := range engines {
		add := func(name string, t target) {
			t.name, t.engine = name, e.name
			out = append(out, &t)
		}
		if f.cache {
			add("hot", target{kind: cachedTarget})
			if f.delay {
				add("hot, 100 ms", target{kind: cachedTarget, flags: []string{"--cache-delay", "100ms"}})
			}
			add("cold", target{kind: uncachedTarget, flags: []string{"--cache-size", "0"}})
		} else {
			add("cold", target{kind: uncachedTarget})
		}
		for _, way := range []baseline.Way{baseline.Count, baseline.Keep, baseline.Index} {
			if !quick || way != baseline.Keep {
				add("by hand, "+way.String(), target{kind: byHand, way: way})
			}
		}
	}
	out = append(out, &target{name: "constant", kind: constantReply})
	if !quick {
		out = append(out, &target{name: "constant, as the service", kind: constantReply, every: true})
	}
	return out
}

// testStand contains programs, folder and databases for starting targets.
type testStand struct {
	program string   // path of the service
	self    string   // path of this program
	dir     string   // folder for files
	flags   []string // further flags of the service
	engines []engine
	seed    uint64
	sample  *target // first started target, whose replies others must give
}

func (s *testStand) engine(name string) engine {
	for _, e := range s.engines {
		if e.name == name {
			return e
		}
	}
	return s.engines[0]
}

// serve starts the service on a database, with flags and those of the command line.
func (s *testStand) serve(ctx context.Context, db string, flags []string) (*process.Process, error) {
	return process.Serve(ctx, s.program, db, filepath.Join(s.dir, "media"), slices.Concat(flags, s.flags)...)
}

// start starts a target and makes its requests. The first target becomes the sample. Others must give the same
// replies.
func (s *testStand) start(ctx context.Context, t *target) (err error) {
	e := s.engine(t.engine)
	ids := e.ids[:min(coldIDs, len(e.ids))]
	switch t.kind {
	case cachedTarget, uncachedTarget:
		t.Process, err = s.serve(ctx, e.url, t.flags)
		if t.kind == cachedTarget {
			ids = ids[:hotIDs]
		}
	case byHand:
		awaited := []string{readyLine}
		if t.way == baseline.Index {
			awaited = append(awaited, process.Indexed)
		}
		t.Process, err = process.Start(ctx, awaited, s.self, "by-hand", "--db", e.url, "--way", strconv.Itoa(int(t.way)))
	case constantReply:
		var file string
		var id int64
		if file, id, err = s.replies(t.every); err == nil {
			ids = []int64{id}
			args := []string{"constant", "--replies", file}
			if t.every {
				args = append(args, "--as-service")
			}
			t.Process, err = process.Start(ctx, []string{readyLine}, s.self, args...)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t, err)
	}
	t.requests = map[string][][]byte{list: {t.request(list)}}
	if t.kind == byHand && t.way == baseline.Keep {
		return s.agree(t, list) // what it keeps is about lists; one event is as with each of the others
	}
	for _, id := range ids {
		t.requests[single] = append(t.requests[single], t.request(fmt.Sprintf("/events/%d", id)))
	}
	switch {
	case t.kind == constantReply:
		return nil
	case s.sample == nil:
		s.sample = t
		return nil
	}
	return s.agree(t, list, fmt.Sprintf("/events/%d", ids[0]))
}

func (t *target) String() string {
	if t.engine == "" {
		return t.name
	}
	return t.name + ", " + t.engine
}

func (t *target) request(path string) []byte {
	return drive.Get(&url.URL{Scheme: "http", Host: t.Address, Path: api + path})
}

// ask sends one GET request to a target and returns the reply. Another status than 200 is an error.
func (t *target) ask(path string) (*fasthttp.Response, error) {
	var req fasthttp.Request
	res := &fasthttp.Response{}
	res.Header.DisableNormalizing()
	req.SetRequestURI("http://" + t.Address + api + path)
	if err := fasthttp.DoTimeout(&req, res, process.Patience); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if res.StatusCode() != fasthttp.StatusOK {
		return nil, fmt.Errorf("%s: status %d: %s", path, res.StatusCode(), res.Body())
	}
	return res, nil
}

// agree returns an error unless a target's replies for some paths have the same bodies as those of the sample.
// Otherwise the comparison would be unfair.
func (s *testStand) agree(t *target, paths ...string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", t, err)
		}
	}()
	for _, path := range paths {
		want, err := s.sample.ask(path)
		if err != nil {
			return fmt.Errorf("%s: %w", s.sample, err)
		}
		got, err := t.ask(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(want.Body(), got.Body()) {
			return fmt.Errorf("%s is answered with %d bytes that are not the %d of %s", path, len(got.Body()), len(want.Body()), s.sample)
		}
	}
	return nil
}

// replies writes a file with replies of the sample for a constant server: the list and an event. It returns the
// file's name and the event's id, whose reply has a medium length. every includes all headers.
func (s *testStand) replies(every bool) (name string, id int64, err error) {
	if s.sample == nil {
		return "", 0, errors.New("there is no other server whose replies it could give")
	}
	page, err := s.sample.ask(list)
	if err != nil {
		return "", 0, err
	}
	type answer struct {
		id int64
		*fasthttp.Response
	}
	var all []answer
	for _, id := range s.engine(s.sample.engine).ids[:hotIDs] {
		res, err := s.sample.ask(fmt.Sprintf("/events/%d", id))
		if err != nil {
			return "", 0, err
		}
		all = append(all, answer{id, res})
	}
	slices.SortStableFunc(all, func(a, b answer) int { return cmp.Compare(len(a.Body()), len(b.Body())) })
	one := all[len(all)/2]
	data, err := json.Marshal([]reply{
		recordReply(api+list, page, every), recordReply(fmt.Sprintf("%s/events/%d", api, one.id), one.Response, every),
	})
	if err != nil {
		return "", 0, err
	}
	name = filepath.Join(s.dir, "constant.json")
	if every {
		name = filepath.Join(s.dir, "constant-headers.json")
	}
	return name, one.id, os.WriteFile(name, data, 0o600)
}
