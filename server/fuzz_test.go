package server_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
)

// FuzzRequest sends whole requests through the router to a small calendar with users of every role. The input is a
// request in plain text (see parseRequest). The bytes of edits change it by the vocabulary of the service, so that the
// fuzzer finds routes, parameters and dates quickly.
//
// The test checks that no reply is a 5xx and that the interface description has each reply. It checks the form of
// errors, the headers, and that HEAD is GET without a body. Reads, and refused writes, must change nothing. No user may
// write without the right to it. No secret may appear in a reply or in the log.
func FuzzRequest(f *testing.F) {
	w := newFuzzWorld(f)
	for i, text := range w.seeds() {
		f.Add(text, []byte(nil))
		edits := sha256.Sum256([]byte(text))
		f.Add(text, edits[:4+i%5*4])
	}
	f.Fuzz(func(t *testing.T, text string, edits []byte) {
		r, ok := parseRequest(text)
		if !ok {
			t.Skip("no request")
		}
		w.edit(&r, edits)
		if len(r.target) > 4096 || len(r.body) > 64<<10 || !r.sendable() {
			t.Skip("no HTTP")
		}
		if w.try(t, r); t.Failed() {
			t.Logf("the request was\n%s", r)
		}
	})
}

// fuzzRequest is a request in plain text. The first line is METHOD TARGET, with a login if the request has credentials.
// Lines of headers, an empty line and the body follow.
//
//	PATCH /cal/events/v1/events/15 author
//	Content-Type: application/json
//
//	{"title":"A"}
type fuzzRequest struct {
	method, target, as string
	headers            []string // Name: value
	body               string
}

func parseRequest(text string) (r fuzzRequest, ok bool) {
	head, body, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	first := strings.Fields(lines[0])
	if len(first) < 2 || len(first) > 3 {
		return r, false
	}
	r = fuzzRequest{method: first[0], target: first[1], headers: lines[1:], body: body}
	if len(first) == 3 {
		r.as = first[2]
	}
	return r, true
}

// String returns the request in the form that parseRequest reads.
func (r fuzzRequest) String() string {
	lines := append([]string{strings.TrimSpace(r.method + " " + r.target + " " + r.as)}, r.headers...)
	text := strings.Join(lines, "\n")
	if r.body != "" {
		text += "\n\n" + r.body
	}
	return text
}

// sendable reports whether the request is valid enough to be sent through the test's HTTP client.
func (r fuzzRequest) sendable() bool {
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"}
	if !slices.Contains(methods, r.method) || !strings.HasPrefix(r.target, "/") || strings.HasPrefix(r.target, "//") {
		return false
	}
	if strings.ContainsFunc(r.target, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
		return false
	}
	if _, err := http.NewRequest(r.method, apitest.BaseURL+r.target, nil); err != nil {
		return false
	}
	for _, line := range r.headers {
		name, value, ok := strings.Cut(line, ":")
		letter := func(c rune) bool {
			return !strings.ContainsRune("-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", c)
		}
		if !ok || name == "" || strings.ContainsFunc(name, letter) || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			return false
		}
		// These are about the connection, and about how the body is sent.
		for _, other := range []string{"Host", "Connection", "Content-Length", "Transfer-Encoding", "Expect", "Trailer", "Upgrade", "TE"} {
			if strings.EqualFold(name, other) {
				return false
			}
		}
	}
	// A form that cannot be read ends a request before it reaches the router, and the test's way in with it.
	kind, _ := r.header("Content-Type")
	if kind, params, err := mime.ParseMediaType(kind); err == nil && kind == "multipart/form-data" {
		_, err := multipart.NewReader(strings.NewReader(r.body), params["boundary"]).ReadForm(1 << 20)
		_, encoded := r.header("Content-Encoding")
		return err == nil && !encoded
	}
	return true
}

// header returns the value of a header. sent is false if the request does not have the header.
func (r fuzzRequest) header(name string) (value string, sent bool) {
	for _, line := range r.headers {
		if n, v, _ := strings.Cut(line, ":"); strings.EqualFold(n, name) {
			value, sent = strings.TrimSpace(v), true
		}
	}
	return value, sent
}

// caller returns the login that the service sees in a request. It is "" for anonymous requests and refused credentials.
func (w *fuzzWorld) caller(r fuzzRequest) string {
	credentials, sent := r.header("Authorization")
	switch {
	case credentials == editorsPassword:
		return "editor"
	case sent || w.user[r.as] == 0:
		return ""
	}
	return r.as
}

// request converts the request into the form that package apitest sends.
func (r fuzzRequest) request(w *fuzzWorld) apitest.Request {
	out := apitest.Request{Method: r.method, Path: r.target, Absolute: true, Header: map[string]string{}}
	if _, ok := w.user[r.as]; ok {
		out.As = r.as
	}
	if r.body != "" {
		out.JSON = r.body
		out.Header["Content-Type"] = ""
	}
	for _, line := range r.headers {
		name, value, _ := strings.Cut(line, ":")
		out.Header[http.CanonicalHeaderKey(name)] = strings.TrimSpace(value)
	}
	return out
}

// reads reports whether the request must not change anything. Its method alone decides, since other methods replace
// POST only.
func (r fuzzRequest) reads() bool {
	return r.method != "POST" && r.method != "PUT" && r.method != "PATCH" && r.method != "DELETE"
}

// try sends a request, and checks the reply, the changes in the database and the log. It then restores the
// database, and returns the reply.
func (w *fuzzWorld) try(t *testing.T, r fuzzRequest) apitest.Response {
	t.Helper()
	if w.mayFetch(r) {
		r.as = "contributor" // who may not
		r.headers = slices.DeleteFunc(r.headers, func(line string) bool {
			return strings.HasPrefix(strings.ToLower(line), "authorization")
		})
	}
	request := r.request(w)
	as := w.caller(r)
	w.api.Log.Reset()
	before := w.version(t)
	reply := w.api.Do(t, request)
	if w.version(t) != before {
		changes := w.changes(t)
		w.mayChange(t, r, as, reply, changes)
		w.restore(t, changes)
	}
	w.wellFormed(t, r, as, reply)
	if r.method == "GET" {
		request.Method = "HEAD"
		w.sameHead(t, reply, w.api.Do(t, request))
	}
	for _, secret := range w.secrets {
		if strings.Contains(string(reply.Body), secret) || strings.Contains(w.api.Log.String(), secret) {
			t.Errorf("%s is told", secret)
		}
	}
	return reply
}

// wellFormed checks the status and the headers of a reply, and its body by wellFormedBody. The argument as is the
// login that the service saw.
func (w *fuzzWorld) wellFormed(t *testing.T, r fuzzRequest, as string, reply apitest.Response) {
	t.Helper()
	if reply.Status < 200 || reply.Status >= 500 {
		t.Errorf("status %d", reply.Status)
	}
	want := map[string]string{"X-Content-Type-Options": "nosniff", "Access-Control-Allow-Origin": "*"}
	always := []string{"X-Request-Id", "Access-Control-Expose-Headers"}
	page := strings.Contains(reply.Header.Get("Content-Security-Policy"), "form-action 'self'")
	if page {
		want["Access-Control-Allow-Origin"], always = "", always[:1]
	}
	if as != "" && reply.Status < 300 && r.method != "OPTIONS" && w.isAPI(r.target) {
		want["Cache-Control"] = "no-store, private"
	}
	if control := reply.Header.Get("Cache-Control"); reply.Status >= 400 && !strings.Contains(control, "no-store") {
		t.Errorf("Cache-Control of an error is %q", control)
	}
	for name, value := range want {
		if got := reply.Header.Get(name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
	for _, name := range always {
		if reply.Header.Get(name) == "" {
			t.Errorf("no %s", name)
		}
	}
	if w.isAPI(r.target) || reply.Status >= 400 {
		if !calendar.Language(reply.Header.Get("Content-Language")).Known() {
			t.Errorf("Content-Language is %q", reply.Header.Get("Content-Language"))
		}
		if vary := reply.Header.Get("Vary"); vary == "" || w.isAPI(r.target) && !slices.Contains(strings.Split(vary, ", "), "Accept") {
			t.Errorf("Vary is %q", vary)
		}
	}
	if reply.Status == http.StatusUnauthorized && len(reply.Header.Values("WWW-Authenticate")) != 2 {
		t.Error("401 without its challenges")
	}
	if r.method == "HEAD" || reply.Status == http.StatusNotModified {
		if len(reply.Body) > 0 {
			t.Errorf("%s, %d with a body: %q", r.method, reply.Status, reply.Body)
		}
		return
	}
	switch {
	case page && reply.Status >= 400:
		if !bytes.HasPrefix(reply.Body, []byte("<!doctype html>")) {
			t.Errorf("%d with %q", reply.Status, reply.Body)
		}
	case reply.Status >= 400 || w.isAPI(r.target):
		w.wellFormedBody(t, reply)
	}
}

// wellFormedBody checks that an error has one of the two documented forms, and that a success in JSON is valid.
func (w *fuzzWorld) wellFormedBody(t *testing.T, reply apitest.Response) {
	t.Helper()
	var body struct {
		Code, Message string
		Data          struct{ Status int }
		Title, Detail string
		Status        any
	}
	kind := reply.Header.Get("Content-Type")
	switch {
	case reply.Status < 400:
		if kind != "application/json; charset=UTF-8" || !json.Valid(reply.Body) {
			t.Errorf("%d of type %q: %q", reply.Status, kind, reply.Body)
		}
		return
	case json.Unmarshal(reply.Body, &body) != nil || body.Code == "":
		t.Errorf("%d with %q", reply.Status, reply.Body)
	case kind == "application/json; charset=UTF-8":
		if body.Data.Status != reply.Status || body.Message == "" {
			t.Errorf("%d with %s", reply.Status, reply.Body)
		}
	case kind == "application/problem+json":
		if body.Status != float64(reply.Status) || body.Detail == "" || body.Title == "" {
			t.Errorf("%d with %s", reply.Status, reply.Body)
		}
	default:
		t.Errorf("%d of type %q", reply.Status, kind)
	}
	for _, word := range []string{"goroutine ", "runtime error", "SQLITE", "constraint failed", ".go:"} {
		if strings.Contains(body.Message+body.Detail, word) {
			t.Errorf("the message says how we work: %s", body.Message+body.Detail)
		}
	}
}

// sameHead checks that the reply to HEAD has the status and headers of that to GET, and no body.
func (w *fuzzWorld) sameHead(t *testing.T, get, head apitest.Response) {
	t.Helper()
	if head.Status != get.Status || len(head.Body) > 0 {
		t.Errorf("GET is answered by %d, HEAD by %d and %d bytes", get.Status, head.Status, len(head.Body))
	}
	one, other := get.Header.Clone(), head.Header.Clone()
	for _, own := range []string{"X-Request-Id", "Date"} {
		one.Del(own)
		other.Del(own)
	}
	if diff := cmp.Diff(one, other); diff != "" {
		t.Errorf("headers (-GET +HEAD):\n%s", diff)
	}
}

var requests = flag.Int("requests", 400, "how many requests TestRequestsAtRandom makes; short: three quarters")

// TestRequestsAtRandom sends random requests, each made by several edits at once. Unlike the fuzzer, it sends the
// same requests in each run. The flag -requests sets their number.
func TestRequestsAtRandom(t *testing.T) {
	w := newFuzzWorld(t)
	statuses := map[int]int{}
	n := uint64(*requests)
	if testing.Short() {
		n = n * 3 / 4
	}
	for i := range n {
		r, ok := w.atRandom(i)
		if !ok {
			continue
		}
		t.Run(strconv.FormatUint(i, 10), func(t *testing.T) {
			statuses[w.try(t, r).Status]++
			if t.Failed() {
				t.Logf("the request was\n%s", r)
			}
		})
	}
	t.Logf("replies by status: %v", statuses)
	for _, status := range []int{200, 201, 400, 401, 403, 404} {
		if statuses[status] == 0 {
			t.Errorf("none is answered by %d", status)
		}
	}
}

// atRandom returns the random request with a number. ok is false if it cannot be sent.
func (w *fuzzWorld) atRandom(number uint64) (r fuzzRequest, ok bool) {
	chance := rand.New(rand.NewPCG(number, 1))
	seeds := w.seeds()
	r, ok = parseRequest(seeds[chance.IntN(len(seeds))])
	if number%8 == 0 { // the seeds themselves, in turn
		r, ok = parseRequest(seeds[int(number/8)%len(seeds)])
		return r, ok
	}
	edits := make([]byte, 4*(1+chance.IntN(6)))
	for i := range edits {
		edits[i] = byte(chance.Uint32())
	}
	w.edit(&r, edits)
	return r, ok && r.sendable()
}

var keep = flag.String("keep", "", "a folder of found inputs: keep the shortest of each behaviour in testdata/fuzz")

// TestKeepFoundRequests rewrites testdata/fuzz/FuzzRequest. It reads the existing files, the inputs that the fuzzer
// found in $(go env GOCACHE)/fuzz, and random requests. It keeps the shortest request for each behaviour, in plain
// text.
func TestKeepFoundRequests(t *testing.T) {
	if *keep == "" {
		t.Skip("without -keep there is nothing to do")
	}
	const kept = "testdata/fuzz/FuzzRequest"
	w := newFuzzWorld(t)
	shortest := map[string]string{}
	known := map[string]bool{}
	for _, text := range w.seeds() {
		if r, ok := parseRequest(text); ok {
			known[behaviour(w, r, w.try(t, r))] = true
		}
	}
	note := func(r fuzzRequest) {
		key := behaviour(w, r, w.try(t, r))
		if old, ok := shortest[key]; !known[key] && (!ok || len(r.String()) < len(old)) {
			shortest[key] = r.String()
		}
	}
	for i := range uint64(*requests) {
		if r, ok := w.atRandom(i); ok {
			note(r)
		}
	}
	for _, folder := range []string{kept, *keep} {
		files, err := filepath.Glob(filepath.Join(folder, "*"))
		must.Succeed(t, err)
		for _, file := range files {
			if r, ok := w.readInput(t, file); ok {
				note(r)
			}
		}
	}
	must.Succeed(t, os.RemoveAll(kept))
	must.Succeed(t, os.MkdirAll(kept, 0o755))
	for key, text := range shortest {
		data := fmt.Sprintf("go test fuzz v1\nstring(%q)\n[]byte(\"\")\n", text)
		must.Succeed(t, os.WriteFile(filepath.Join(kept, fileName(key)), []byte(data), 0o644))
	}
	t.Logf("%d behaviours are kept", len(shortest))
}

// readInput reads an input file of the fuzzer. ok is false if the file is no request.
func (w *fuzzWorld) readInput(t *testing.T, file string) (r fuzzRequest, ok bool) {
	t.Helper()
	data, err := os.ReadFile(file)
	must.Succeed(t, err)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) != 3 {
		return r, false
	}
	unquote := func(line, kind string) (string, error) {
		return strconv.Unquote(strings.TrimSuffix(strings.TrimPrefix(line, kind+"("), ")"))
	}
	text, err := unquote(lines[1], "string")
	if err != nil {
		return r, false
	}
	edits, err := unquote(lines[2], "[]byte")
	if err != nil {
		return r, false
	}
	if r, ok = parseRequest(text); !ok {
		return r, false
	}
	w.edit(&r, []byte(edits))
	return r, len(r.target) <= 4096 && len(r.body) <= 4096 && r.sendable()
}

// behaviour describes how a request was answered: its route, status, error code and reasons. Requests with equal
// descriptions test the same.
func behaviour(w *fuzzWorld, r fuzzRequest, reply apitest.Response) string {
	var body struct {
		Code string
		Data struct {
			Details map[string]struct{ Code string }
		}
	}
	_ = json.Unmarshal(reply.Body, &body)
	words := []string{r.method, w.route(r.target), strconv.Itoa(reply.Status), body.Code}
	reasons := map[string]bool{}
	for _, detail := range body.Data.Details {
		reasons[detail.Code] = true
	}
	return strings.Join(append(words, slices.Sorted(maps.Keys(reasons))...), " ")
}

// fileName returns a short file name for a behaviour.
func fileName(key string) string {
	sum := sha256.Sum256([]byte(key))
	name := calendar.Slug(key)
	return name[:min(len(name), 80)] + "-" + hex.EncodeToString(sum[:2])
}
