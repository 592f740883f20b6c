package handlers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/idempotencykey"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// withKey returns the request with an Idempotency-Key.
func withKey(r apitest.Request, key string, header ...string) apitest.Request {
	out := map[string]string{"Idempotency-Key": key}
	for name, value := range r.Header {
		out[name] = value
	}
	for i := 0; i < len(header); i += 2 {
		out[header[i]] = header[i+1]
	}
	r.Header = out
	return r
}

// isReplay checks that a second reply repeats the first, except for headers that differ in every reply.
func isReplay(t *testing.T, first, again apitest.Response) {
	t.Helper()
	if again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("%d %v is no replay: %s", again.Status, again.Header, again.Body)
	}
	if first.Status != again.Status || !bytes.Equal(first.Body, again.Body) {
		t.Errorf("got %d %s, want %d %s", again.Status, again.Body, first.Status, first.Body)
	}
	for _, r := range []apitest.Response{first, again} {
		for _, name := range []string{"X-Request-Id", "Idempotency-Replayed", "Access-Control-Expose-Headers", "Date"} {
			delete(r.Header, name)
		}
	}
	if diff := cmp.Diff(first.Header, again.Header); diff != "" {
		t.Errorf("headers (-first +replay):\n%s", diff)
	}
}

// keyTest is a service whose clock can be set, for tests of idempotency keys.
type keyTest struct {
	*apitest.API
	mu  sync.Mutex
	now time.Time
}

func (k *keyTest) after(d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now = apitest.Now.Add(d)
}

func newKeyTest(t *testing.T, st *store.Store) *keyTest {
	t.Helper()
	k := &keyTest{now: apitest.Now}
	k.API = apitest.New(t, st, apitest.Unindexed, func(c *handlers.Config) {
		c.Site.Now = func() time.Time {
			k.mu.Lock()
			defer k.mu.Unlock()
			return k.now
		}
	})
	return k
}

func eachKeyTest(t *testing.T, test func(t *testing.T, k *keyTest)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		k := newKeyTest(t, st)
		k.SignIn(t, "author", calendar.Author)
		k.SignIn(t, "other", calendar.Author)
		k.SignIn(t, "admin", calendar.Administrator)
		k.SignIn(t, "reader", calendar.Subscriber)
		test(t, k)
	})
}

func (k *keyTest) keys() *ent.IdempotencyKeyClient { return k.Store.Ent.IdempotencyKey }

func TestARequestWithAKeyIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	eachKeyTest(t, func(t *testing.T, k *keyTest) {
		first := k.Do(t, withKey(post("author", "/events?ml_language=pl&_fields=id,title", concert(nil)), `"one"`))
		if first.Status != 201 || first.Header.Get("Idempotency-Replayed") != "" || first.Header.Get("Content-Language") != "pl" {
			t.Fatalf("got %d %v: %s", first.Status, first.Header, first.Body)
		}
		// Neither what has become of the record nor how the client asks now makes a difference.
		update := k.Do(t, withKey(post("author", fmt.Sprint("/events/", first.Get(t, "id")), object{"title": "Other"}), "update"))
		for _, sent := range []string{`"one"`, "one", `  "one"; a=1`} {
			again := k.Do(t, withKey(post("author", "/events?ml_language=pl&_fields=id,title", concert(nil)), sent, "Accept-Language", "es"))
			isReplay(t, first, again)
			first = k.Do(t, withKey(post("author", "/events?ml_language=pl&_fields=id,title", concert(nil)), sent))
		}
		isReplay(t, update, k.Do(t, withKey(post("author", fmt.Sprint("/events/", first.Get(t, "id")), object{"title": "Other"}), "update")))
		equal(t, "events", 1, countOf(t, k.Store.Ent.Event.Query()))
		equal(t, "changes", 2, countOf(t, k.Store.Ent.Change.Query()))
	})
}

func TestKeys(t *testing.T) {
	t.Parallel()
	eachKeyTest(t, func(t *testing.T, k *keyTest) {
		const malformed = "rest_invalid_param"
		tag := func(as, name string) apitest.Request { return post(as, "/tags", object{"name": name}) }
		replayed := func(want string) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				if got := r.Header.Get("Idempotency-Replayed"); got != want {
					t.Errorf("Idempotency-Replayed is %q, want %q", got, want)
				}
			}
		}
		is := func(r apitest.Request, method string) apitest.Request {
			r.Method = method
			return r
		}
		k.Run(t, []apitest.Case{
			{Name: "no key", Request: tag("admin", "a"), Status: 201, Check: replayed("")},
			{Name: "a key", Request: withKey(tag("admin", "b"), `"k1"`), Status: 201, Check: replayed("")},
			{Name: "again", Request: withKey(tag("admin", "b"), `"k1"`), Status: 201, Check: replayed("true")},
			{Name: "another payload", Request: withKey(tag("admin", "c"), `"k1"`), Status: 422, Code: "rest_idempotency_key_reused", Check: replayed("")},
			{Name: "another path", Request: withKey(post("admin", "/categories", object{"name": "b"}), `"k1"`), Status: 422, Code: "rest_idempotency_key_reused"},
			{Name: "another query", Request: withKey(post("admin", "/tags?_fields=id", object{"name": "b"}), `"k1"`), Status: 422, Code: "rest_idempotency_key_reused"},
			{Name: "another content type", Request: withKey(tag("admin", "b"), `"k1"`, "Content-Type", "application/x+json"), Status: 422, Code: "rest_idempotency_key_reused"},
			{Name: "in Polish", Request: withKey(tag("admin", "c"), `"k1"`, "Accept-Language", "pl"), Status: 422, Check: showsMember(`"Tego Idempotency-Key użyto już w innym żądaniu. Dla każdego żądania należy wybrać nowy klucz."`, "message")},
			{Name: "as a problem", Request: withKey(tag("admin", "c"), `"k1"`, "Accept", "application/problem+json"), Status: 422, Check: showsMember(`"rest_idempotency_key_reused"`, "code")},
			{Name: "keys have case", Request: withKey(tag("admin", "d"), `"K1"`), Status: 201, Check: replayed("")},
			{Name: "of another user", Request: withKey(post("other", "/events", concert(nil)), `"k1"`), Status: 201, Check: replayed("")},
			{Name: "a refusal", Request: withKey(tag("reader", "e"), `"k2"`), Status: 403, Code: "rest_forbidden"},
			{Name: "is looked at again", Request: withKey(tag("reader", "e"), `"k2"`), Status: 403, Check: replayed("")},
			{Name: "what is invalid", Request: withKey(tag("admin", ""), `"k3"`), Status: 400},
			{Name: "is corrected under the same key", Request: withKey(tag("admin", "f"), `"k3"`), Status: 201, Check: replayed("")},
			{Name: "and that is remembered", Request: withKey(tag("admin", ""), `"k3"`), Status: 422},
			{Name: "a term that is there", Request: withKey(tag("admin", "b"), `"k4"`), Status: 400, Code: "term_exists"},
			{Name: "nobody's key is ignored", Request: withKey(tag("", "g"), `""`), Status: 401, Code: "rest_forbidden"},
			{Name: "wrong credentials", Request: withKey(tag("", "g"), `"k1"`, "Authorization", "Bearer x"), Status: 401},
			{Name: "empty", Request: withKey(tag("admin", "h"), `""`), Status: 400, Code: malformed, Check: showsMember(`"Idempotency-Key must be 1 to 255 printable ASCII characters, in double quotes."`, "data", "params", "Idempotency-Key")},
			{Name: "as long as can be", Request: withKey(tag("admin", "h"), `"`+strings.Repeat("x", 255)+`"`), Status: 201},
			{Name: "too long", Request: withKey(tag("admin", "i"), `"`+strings.Repeat("x", 256)+`"`), Status: 400, Code: malformed},
			{Name: "other letters", Request: withKey(tag("admin", "i"), `"ł"`), Status: 400, Code: malformed},
			{Name: "two words", Request: withKey(tag("admin", "i"), "a b"), Status: 400, Code: malformed},
			{Name: "two words in quotes", Request: withKey(tag("admin", "i"), `"a b"`), Status: 201},
			{Name: "no end", Request: withKey(tag("admin", "j"), `"a`), Status: 400, Code: malformed},
			{Name: "other methods have no keys", Request: is(withKey(get("/tags"), `"`), "GET"), Status: 200},
			{Name: "a POST that means another method has none", Request: withKey(tag("admin", "k"), `"`, "X-HTTP-Method-Override", "PUT"), Status: 404},
			{Name: "too large a body is not looked at", Request: withKey(tag("admin", strings.Repeat("x", 1<<20)), `"k5"`), Status: 413},
		})
		equal(t, "keys", 6, countOf(t, k.keys().Query()))
	})
}

// TestEveryPostTakesAKey sends every POST with a key. A repetition gets the first reply, even if that was not
// stored. Another request with the key and one whose key is in use get errors.
func TestEveryPostTakesAKey(t *testing.T) {
	t.Parallel()
	api := newSweepAPI(t)
	names, _ := describedOperations(t)
	for i, name := range names {
		path, ok := strings.CutPrefix(name, "POST ")
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			key := fmt.Sprintf("%q", fmt.Sprint("key ", i))
			request := func(more string) apitest.Request {
				if path == "/images" {
					return withKey(upload("admin", "a"+more+".png", picture(t, 40, 30)), key)
				}
				r := post("admin", targets.Replace(path), minimalBody("POST", path))
				if r.JSON == nil {
					r.JSON = object{}
				}
				r.Path += "?ml_language=en" + more
				return withKey(r, key)
			}
			first := api.Do(t, request(""))
			if first.Status >= 300 {
				t.Fatalf("got %d: %s", first.Status, first.Body)
			}
			isReplay(t, first, api.Do(t, request("")))
			api.Run(t, []apitest.Case{{
				Name: "another request", Request: request("&_fields=id"), Status: 422, Code: "rest_idempotency_key_reused",
				Golden: "error_key_reused_422.json",
			}})
			row := api.Store.Ent.IdempotencyKey.Query().Order(ent.Desc(idempotencykey.FieldID)).FirstX(t.Context())
			if !strings.HasSuffix(path, "/preview") { // which makes no record
				// The process ended before it stored the answer: it is made from the record.
				row.Update().SetStatus(0).ClearHeader().ClearBody().ExecX(t.Context())
				isReplay(t, api.Do(t, request("")), api.Do(t, request("")))
				row.Update().SetStatus(0).ClearHeader().ClearBody().ExecX(t.Context())
				isReplay(t, first, api.Do(t, request("")))
			}
			// It is still at work.
			row.Update().SetStatus(0).SetRecordID(0).ExecX(t.Context())
			api.Run(t, []apitest.Case{{
				Name: "in use", Request: request(""), Status: 409, Code: "rest_idempotency_key_in_use",
				Golden: "error_key_in_use_409.json", Check: func(t *testing.T, r apitest.Response) {
					if r.Header.Get("Retry-After") != "1" {
						t.Errorf("Retry-After is %q", r.Header.Get("Retry-After"))
					}
				},
			}})
		})
	}
}

// crash makes each mutation fail for which when returns true. It simulates a process that ends at that moment. A
// nil when fails none.
type crash struct{ when func(ent.Mutation) bool }

func (c *crash) hook(next ent.Mutator) ent.Mutator {
	return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
		if c.when != nil && c.when(m) {
			return nil, errors.New("the process has ended")
		}
		return next.Mutate(ctx, m)
	})
}

// storesReply reports whether a statement stores the reply for an idempotency key.
func storesReply(m ent.Mutation) bool {
	k, ok := m.(*ent.IdempotencyKeyMutation)
	if !ok {
		return false
	}
	status, ok := k.Status()
	return ok && status != 0
}

func releasesKey(m ent.Mutation) bool {
	_, ok := m.(*ent.IdempotencyKeyMutation)
	return ok && m.Op().Is(ent.OpDelete)
}

func TestProcessesThatEnd(t *testing.T) {
	t.Parallel()
	eachKeyTest(t, func(t *testing.T, k *keyTest) {
		c := &crash{}
		k.Store.Ent.Use(c.hook)
		request := withKey(post("author", "/events?_fields=id,title", concert(nil)), `"one"`)
		broken := request
		broken.Fails = true
		created := func(want int) {
			t.Helper()
			equal(t, "events", want, countOf(t, k.Store.Ent.Event.Query()))
		}

		// Before the work is committed, and before the key is freed.
		c.when = func(m ent.Mutation) bool { _, ok := m.(*ent.SearchTextMutation); return ok || releasesKey(m) }
		equal(t, "status", 500, k.Do(t, broken).Status)
		c.when = nil
		created(0)
		k.Run(t, []apitest.Case{{Name: "after a heartbeat", Request: request, Status: 409, Code: "rest_idempotency_key_in_use"}})
		k.after(apitest.Timeout + 10*time.Second) // the clock of the process says nothing about it
		k.Run(t, []apitest.Case{{Name: "after its lease", Request: request, Status: 409, Code: "rest_idempotency_key_in_use"}})
		k.keys().Update().AddBeat(-4000).ExecX(t.Context()) // the last heartbeat was four seconds ago

		// After the work is committed, before the answer is stored. The client still gets the answer.
		c.when = storesReply
		first := k.Do(t, request)
		equal(t, "status", 201, first.Status)
		c.when = nil
		created(1)
		if row := k.keys().Query().OnlyX(t.Context()); row.Status != 0 || row.RecordID == 0 || row.Attempt != 2 {
			t.Errorf("the row is %v", row)
		}
		isReplay(t, first, k.Do(t, request))
		isReplay(t, k.Do(t, request), k.Do(t, request))
		created(1)

		// After a day.
		k.after(24*time.Hour - time.Second)
		equal(t, "replayed", "true", k.Do(t, request).Header.Get("Idempotency-Replayed"))
		k.after(24 * time.Hour)
		equal(t, "replayed", "", k.Do(t, withKey(post("author", "/events", concert(nil)), `"one"`)).Header.Get("Idempotency-Replayed"))
		created(2)
		equal(t, "keys", 1, countOf(t, k.keys().Query()))
	})
}

// TestTheWorkThatLostItsKeyIsUndone has a first request that takes longer than its lease. A second one takes the
// key over meanwhile, so the first must write nothing.
func TestTheWorkThatLostItsKeyIsUndone(t *testing.T) {
	t.Parallel()
	eachKeyTest(t, func(t *testing.T, k *keyTest) {
		request := withKey(post("author", "/tags", object{"name": "One"}), `"one"`)
		request.As = "admin"
		k.Store.Ent.Term.Use(func(next ent.Mutator) ent.Mutator {
			return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
				// This runs in the same transaction, because SQLite allows no other writer now.
				tx, err := m.(*ent.TermMutation).Tx()
				if err != nil {
					return nil, err
				}
				if err := tx.IdempotencyKey.Update().AddAttempt(1).Exec(ctx); err != nil {
					return nil, err
				}
				return next.Mutate(ctx, m)
			})
		})
		k.Run(t, []apitest.Case{{Name: "the first", Request: request, Status: 409, Code: "rest_idempotency_key_in_use"}})
		equal(t, "tags", 0, countOf(t, k.Store.Ent.Term.Query()))
		equal(t, "changes", 0, countOf(t, k.Store.Ent.Change.Query()))
	})
}

// TestAnswersAreMadeFromTheRecord repeats requests whose replies were not stored, or whose records were deleted
// since. The reply is made from the record, or is the error that there is no such record.
func TestAnswersAreMadeFromTheRecord(t *testing.T) {
	t.Parallel()
	eachKeyTest(t, func(t *testing.T, k *keyTest) {
		large := withKey(post("author", "/events", concert(object{"description": strings.Repeat("many words ", 30_000)})), `"large"`)
		first := k.Do(t, large)
		equal(t, "status", 201, first.Status)
		isReplay(t, first, k.Do(t, large))
		if row := k.keys().Query().OnlyX(t.Context()); row.Status != 0 || row.Body != nil {
			t.Errorf("%d bytes are kept", len(row.Body))
		}
		tag := withKey(post("admin", "/tags", object{"name": "Gone"}), `"gone"`)
		id := k.Do(t, tag).Get(t, "id")
		equal(t, "deleted", 200, k.Do(t, apitest.Request{Method: "DELETE", Path: fmt.Sprint("/tags/", id), As: "admin"}).Status)
		k.Run(t, []apitest.Case{{Name: "a record that is gone", Request: tag, Status: 400, Code: "rest_invalid_param"}})
		k.keys().Update().SetStatus(0).ClearBody().ExecX(t.Context())
		k.Run(t, []apitest.Case{{Name: "and was not kept", Request: tag, Status: 400, Code: "rest_invalid_param"}})
	})
}

func TestRacersWithOneKey(t *testing.T) {
	t.Parallel()
	eachKeyTest(t, func(t *testing.T, k *keyTest) {
		// Two processes on one database.
		processes := []*apitest.API{k.API, newKeyTest(t, k.Store).API}
		const each = 25
		replies := make([]apitest.Response, each*len(processes))
		start := make(chan struct{})
		var all sync.WaitGroup
		for i := range replies {
			r := withKey(post("", "/events", concert(nil)), `"one"`, "Authorization", "Bearer "+k.Token("author"))
			all.Go(func() {
				<-start
				replies[i] = processes[i%len(processes)].Do(t, r)
			})
		}
		close(start)
		all.Wait()
		firsts := 0
		var body []byte
		for _, r := range replies {
			switch {
			case r.Status == 201:
				if body == nil {
					body = r.Body
				}
				if !bytes.Equal(body, r.Body) {
					t.Errorf("two answers: %s and %s", body, r.Body)
				}
				if r.Header.Get("Idempotency-Replayed") == "" {
					firsts++
				}
			case r.Status != 409 || r.Get(t, "code") != "rest_idempotency_key_in_use":
				t.Errorf("got %d: %s", r.Status, r.Body)
			}
		}
		equal(t, "first answers", 1, firsts)
		equal(t, "events", 1, countOf(t, k.Store.Ent.Event.Query()))
		equal(t, "keys", 1, countOf(t, k.keys().Query()))
		t.Log(statuses(t, replies))
	})
}

// TestRacersWithARefusedRequest sends the same invalid request with the same key many times at once. Each is
// refused as invalid or as a key in use, and no key stays stored.
func TestRacersWithARefusedRequest(t *testing.T) {
	t.Parallel()
	eachKeyTest(t, func(t *testing.T, k *keyTest) {
		for range 5 {
			replies := sendTogether(t, k.API, func(int) apitest.Request {
				return withKey(post("author", "/events", object{"title": "No dates"}), `"one"`)
			})
			for _, r := range replies {
				if r.Status != 400 && r.Status != 409 {
					t.Errorf("got %d: %s", r.Status, r.Body)
				}
			}
		}
		equal(t, "keys", 0, countOf(t, k.keys().Query()))
	})
}
