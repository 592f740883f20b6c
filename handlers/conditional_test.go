package handlers_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// withHeader returns the request with one more header.
func withHeader(name, value string, r apitest.Request) apitest.Request {
	header := map[string]string{name: value}
	maps.Copy(header, r.Header)
	r.Header = header
	return r
}

func ifMatch(tags string, r apitest.Request) apitest.Request { return withHeader("If-Match", tags, r) }

func ifNoneMatch(tags string, r apitest.Request) apitest.Request {
	return withHeader("If-None-Match", tags, r)
}

// hasHeaders returns a check that a reply has the headers in want, which are names and values in turn.
func hasHeaders(want ...string) func(*testing.T, apitest.Response) {
	var checks []func(*testing.T, apitest.Response)
	for pair := range slices.Chunk(want, 2) {
		checks = append(checks, header(pair[0], pair[1]))
	}
	return allChecks(checks...)
}

const (
	failedCode = "rest_precondition_failed"
	zeros      = "-0000000000000000"
)

// getTag sends a request and returns the reply and its ETag. It fails without a success or without a tag.
func getTag(t *testing.T, api *apitest.API, r apitest.Request) (apitest.Response, string) {
	t.Helper()
	res := api.Do(t, r)
	tag := res.Header.Get("ETag")
	if res.Status >= 300 || tag == "" {
		t.Fatalf("%s %s: got %d, tag %q: %s", r.Method, r.Path, res.Status, tag, res.Body)
	}
	return res, tag
}

// versionIn returns the record version in an ETag. It removes the mark that tags have for readers who do not see
// hidden changes.
func versionIn(tag string) string { return strings.Trim(strings.Split(tag, "-")[0], `"p`) }

// describedReads returns the paths that the interface description has a GET operation for.
func describedReads(t *testing.T) (paths []string) {
	t.Helper()
	names, _ := describedOperations(t)
	for _, name := range names {
		if path, ok := strings.CutPrefix(name, "GET "); ok {
			paths = append(paths, path)
		}
	}
	return paths
}

// recordTag and listTag are the forms of tags of records and of lists.
var (
	recordTag = regexp.MustCompile(`^"[1-9]\d*p?-[0-9a-f]{16}"$`)
	listTag   = regexp.MustCompile(`^W/"[0-9a-f]{16}"$`)
)

// TestEveryReadMayDependOnWhatTheClientHas sends conditional requests for everything that can be read, with and
// without credentials.
func TestEveryReadMayDependOnWhatTheClientHas(t *testing.T) {
	paths := describedReads(t)
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		addPolishCourse(t, api)
		for _, path := range paths {
			for _, as := range []string{"", "admin"} {
				if path == "/images" && as == "" {
					continue
				}
				t.Run(path+" as "+as, func(t *testing.T) { readsDependOnTags(t, api, path, as) })
			}
		}
	})
}

// readsDependOnTags checks the ETag of a path in the description, and conditional requests for the path. The user
// as sends them.
func readsDependOnTags(t *testing.T, api *apitest.API, path, as string) {
	t.Helper()
	read := apitest.Request{Path: targets.Replace(path), As: as}
	first, tag := getTag(t, api, read)
	isRecord := strings.Contains(path, "{")
	form, other := listTag, tag
	if isRecord {
		form, other = recordTag, `"1`+zeros+`"`
	}
	if !form.MatchString(tag) {
		t.Errorf("the tag is %s", tag)
	}
	isPublic := as == "" && !strings.HasPrefix(path, "/images/")
	if recordTag.MatchString(tag) && strings.Contains(tag, "p") != isPublic {
		t.Errorf("as %q the tag is %s", as, tag)
	}
	header("Cache-Control", map[string]string{"": "public, max-age=0", "admin": "no-store, private"}[as])(t, first)
	if _, again := getTag(t, api, read); again != tag {
		t.Errorf("asked again, the tag is %s, not %s", again, tag)
	}
	head := read
	head.Method = "HEAD"
	same := sameHeadersWithoutBody(first)
	api.Run(t, []apitest.Case{
		{Name: "HEAD", Request: head, Status: 200, Check: same},
		{Name: "the client has it", Request: ifNoneMatch(tag, read), Status: 304, Check: same},
		{Name: "it has it, weakly, among others", Request: ifNoneMatch(`"a,b", W/`+strings.TrimPrefix(tag, "W/"), read), Status: 304, Check: same},
		{Name: "it has anything", Request: ifNoneMatch("*", read), Status: 304, Check: same},
		{Name: "HEAD, it has it", Request: ifNoneMatch(tag, head), Status: 304, Check: same},
		{Name: "it has something else", Request: ifNoneMatch(`"x"`, read), Status: 200},
		{Name: "it says nothing of use", Request: ifNoneMatch(strings.Trim(tag, `"`), read), Status: 200},
		{Name: "it wants anything", Request: ifMatch("*", read), Status: 200},
		{Name: "it wants what it does not have", Request: ifNoneMatch(tag, ifMatch("*", read)), Status: 304},
		{Name: "it wants something else", Request: ifMatch(other, read), Status: 412, Code: failedCode, Check: func(t *testing.T, r apitest.Response) {
			hasHeaders("ETag", "", "Link", "", "X-TEC-Total", "", "Vary", "Accept, Accept-Language, Authorization")(t, r)
		}},
		{Name: "it wants something else and has it", Request: ifNoneMatch(tag, ifMatch(other, read)), Status: 412, Code: failedCode},
		{Name: "wrong parameter", Request: ifMatch(other, ifNoneMatch(tag, apitest.Request{Path: read.Path + "?ml_language=xx", As: as})), Status: 400, Check: header("ETag", "")},
	})
	if isRecord {
		api.Run(t, []apitest.Case{{Name: "it wants this", Request: ifMatch(`"x", `+tag, read), Status: 200}})
	}
}

// sameHeadersWithoutBody checks that a reply has no body, and the headers of the first reply.
func sameHeadersWithoutBody(first apitest.Response) func(*testing.T, apitest.Response) {
	return func(t *testing.T, r apitest.Response) {
		t.Helper()
		want := maps.Clone(first.Header)
		if r.Status == http.StatusNotModified {
			want.Del("Content-Type")
			want.Del("Content-Length")
		}
		got := maps.Clone(r.Header)
		for _, h := range []http.Header{want, got} {
			h.Del("X-Request-Id")
			h.Del("Date")
		}
		equal(t, "headers", want, got)
		if len(r.Body) > 0 {
			t.Errorf("a body: %s", r.Body)
		}
	}
}

// taggedBodies records which bodies were read under which tags.
type taggedBodies struct {
	bodyOf map[string]string // by tag
	tagOf  map[string]string // by version and body, or by the body of a list
}

// read sends a request. It fails if the tag of the reply was seen with another body, or the body with another tag.
func (b taggedBodies) read(t *testing.T, api *apitest.API, r apitest.Request) {
	t.Helper()
	res := api.Do(t, r)
	tag := res.Header.Get("ETag")
	if res.Status != 200 {
		if tag != "" {
			t.Errorf("%s: status %d with the tag %s", r.Path, res.Status, tag)
		}
		return
	}
	body := string(res.Body)
	if other, ok := b.bodyOf[tag]; ok && other != body {
		t.Errorf("%s: the tag %s is also that of %s, not only of %s", r.Path, tag, other, body)
	}
	// The same words in a list, or in another version, are something else.
	key := strings.Split(tag, "-")[0] + " " + body
	if strings.HasPrefix(tag, "W/") {
		key = "list " + body
	}
	if other, ok := b.tagOf[key]; ok && other != tag {
		t.Errorf("%s: tagged %s and %s: %s", r.Path, tag, other, body)
	}
	b.bodyOf[tag], b.tagOf[key] = body, tag
}

// taggedPaths returns the paths of everything that can be read in the example calendar, each with several queries.
func taggedPaths(t *testing.T) (paths []string) {
	t.Helper()
	var records []string
	for _, path := range describedReads(t) {
		records = append(records, targets.Replace(path))
	}
	for id := range 24 {
		records = append(records, fmt.Sprintf("/events/%d", id+1))
	}
	records = append(records, "/events/by-slug/winter-jazz-blues", "/events/by-slug/zimowy-jazz", "/venues/10", "/organizers/12",
		"/categories/2", "/categories/3", "/events/22?password=sesame")
	for _, path := range records {
		queries := []string{"", "ml_language=pl", "ml_language=es", "_fields=id", "_fields=id,status,slug"}
		depth := strings.Count(path, "/")
		if depth == 1 {
			queries = append(queries, "ml_language=pl&_fields=total")
		}
		if depth == 2 && strings.HasPrefix(path, "/events/") {
			queries = append(queries, "password=sesame")
		}
		glue := "?"
		if strings.Contains(path, "?") {
			glue = "&"
		}
		for _, query := range queries {
			paths = append(paths, path+glue+query)
		}
	}
	return paths
}

// TestTagsAreEqualWhenBodiesAre reads everything in many ways, before and after a change of one record of each kind.
func TestTagsAreEqualWhenBodiesAre(t *testing.T) {
	paths := taggedPaths(t)
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		api.SignIn(t, "subscriber", calendar.Subscriber)
		callers := []string{"", "admin", "subscriber"}
		if storetest.IsBrief(api.Store) {
			callers = callers[:2]
		}
		bodies := taggedBodies{bodyOf: map[string]string{}, tagOf: map[string]string{}}
		readAll := func() {
			for _, path := range paths {
				for _, as := range callers {
					bodies.read(t, api, apitest.Request{Path: path, As: as})
				}
			}
		}
		readAll()
		if len(bodies.bodyOf) < 100 {
			t.Errorf("only %d tags", len(bodies.bodyOf))
		}
		for _, path := range []string{"/events/15", "/venues/10", "/organizers/12", "/categories/2", "/tags/4"} {
			if res := api.Do(t, patch("admin", path, object{"description": "<p>New</p>"})); res.Status != 200 {
				t.Fatalf("%s: %d %s", path, res.Status, res.Body)
			}
		}
		readAll()
	})
}

// writeCases are the records that the tests of writes change: a path, and where they are read.
var writeCases = []struct {
	path, id string
	body     object
}{
	{"/events/17", "/events/17", object{"featured": true}},
	{"/events/by-slug/walk-with-music", "/events/17", object{"featured": true}},
	{"/venues/11", "/venues/11", object{"city": "Łódź"}},
	{"/venues/by-slug/bare-venue", "/venues/11", object{"city": "Łódź"}},
	{"/organizers/13", "/organizers/13", object{"phone": "1"}},
	{"/organizers/by-slug/bob", "/organizers/13", object{"phone": "1"}},
	{"/categories/5", "/categories/5", object{"name": "Sports"}},
	{"/tags/4", "/tags/4", object{"name": "Free"}},
}

func TestEveryWriteMayDependOnTheVersion(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		methods := []string{"PUT", "POST", "PATCH", "DELETE"}
		if storetest.IsBrief(e.Store) {
			methods = methods[2:]
		}
		for _, c := range writeCases {
			for _, method := range methods {
				t.Run(method+" "+c.path, func(t *testing.T) {
					_, tag := getTag(t, e.API, apitest.Request{Path: c.id, As: "admin"})
					_, polish := getTag(t, e.API, apitest.Request{Path: c.id + "?ml_language=pl&_fields=id", As: "admin"})
					opaque := strings.Trim(tag, `"`)
					write := apitest.Request{Method: method, Path: c.path, As: "admin", JSON: c.body}
					if method == "DELETE" {
						write.JSON = nil
					}
					is := func(t *testing.T, _ apitest.Response) {
						t.Helper()
						if _, now := getTag(t, e.API, apitest.Request{Path: c.id, As: "admin"}); versionIn(now) != versionIn(tag) {
							t.Errorf("it was written: %s, then %s", tag, now)
						}
					}
					refused := func(name string, r apitest.Request) apitest.Case {
						return apitest.Case{Name: name, Request: r, Status: 412, Code: failedCode, Check: is}
					}
					e.Run(t, []apitest.Case{
						refused("another version", ifMatch(`"99-`+strings.Split(opaque, "-")[1]+`"`, write)),
						refused("weak", ifMatch("W/"+tag, write)),
						refused("no tag of ours", ifMatch(`"`+versionIn(tag)+`"`, write)),
						refused("no tag", ifMatch(opaque, write)),
						refused("nothing", ifMatch("", write)),
						refused("garbage behind the tag", ifMatch(tag+", x", write)),
						refused("none", ifNoneMatch("*", write)),
						refused("not this one", ifNoneMatch(`"x", `+polish, write)),
						refused("not this one, weakly", ifNoneMatch("W/"+tag, write)),
						refused("this and not this", ifNoneMatch(tag, ifMatch(tag, write))),
						{Name: "credentials come first", Request: ifMatch(`"x"`, apitest.Request{Method: method, Path: c.path, JSON: write.JSON}), Status: 401, Check: is},
						{Name: "rights come first", Request: ifMatch(`"x"`, apitest.Request{Method: method, Path: c.path, As: "subscriber", JSON: write.JSON}), Status: 403, Check: is},
						{Name: "parameters come first", Request: ifMatch(`"x"`, apitest.Request{Method: method, Path: c.path + "?ml_language=xx", As: "admin", JSON: write.JSON}), Status: 400, Check: is},
					})
					if method == "DELETE" {
						e.deletes(t, c.id, ifMatch(polish, write))
						return
					}
					// Each write leaves a tag for the next.
					for _, r := range []func(tag string) apitest.Request{
						func(string) apitest.Request { return ifMatch(polish, write) },
						func(tag string) apitest.Request { return ifMatch(`"a,b",,`+tag, write) },
						func(tag string) apitest.Request { return ifNoneMatch(`"x"`, ifMatch(tag, write)) },
						func(string) apitest.Request { return ifMatch("*", write) },
						func(string) apitest.Request { return ifNoneMatch(polish, write) }, // of a version long gone
						func(string) apitest.Request { return write },
					} {
						before := tag
						if _, tag = getTag(t, e.API, r(before)); tag == before {
							t.Errorf("after a write the tag is still %s", tag)
						}
					}
					if res := e.Do(t, ifMatch(polish, write)); res.Status != 412 {
						t.Errorf("with a tag of before: %d: %s", res.Status, res.Body)
					}
				})
			}
		}
	})
}

// deletes sends a delete that must succeed, and sends it again. A deleted term is gone, and its reply has no ETag.
// Any other record is in the trash: its reply has an ETag, with which it is restored.
func (e *eventTest) deletes(t *testing.T, id string, r apitest.Request) {
	t.Helper()
	tag := e.mustSucceed(t, r).Header.Get("ETag")
	again := 410
	isTerm := strings.HasPrefix(id, "/categories") || strings.HasPrefix(id, "/tags")
	if isTerm || strings.Contains(r.Path, "by-slug") {
		again = 400
	}
	if res := e.Do(t, r); res.Status != again {
		t.Errorf("deleted again: %d, want %d: %s", res.Status, again, res.Body)
	}
	if isTerm {
		equal(t, "tag", "", tag)
		return
	}
	e.mustSucceed(t, ifMatch(tag, patch("admin", id, object{"status": "publish"})))
}

func TestDeletingAnImageMayDependOnItsTag(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		path := imagePath(addImage(t, e.API, nil))
		_, tag := getTag(t, e.API, get(path))
		e.Run(t, []apitest.Case{
			{Name: "another", Request: ifMatch(`"2`+zeros+`"`, remove("admin", path)), Status: 412, Code: failedCode},
			{Name: "weak", Request: ifMatch("W/"+tag, remove("admin", path)), Status: 412, Code: failedCode},
			{Name: "none", Request: ifNoneMatch("*", remove("admin", path)), Status: 412, Code: failedCode},
			{Name: "rights come first", Request: ifMatch(`"x"`, remove("contributor", path)), Status: 403},
			{Name: "it is still there", Request: get(path), Status: 200, Check: header("ETag", tag)},
			{Name: "this one", Request: ifMatch(tag, remove("admin", path)), Status: 200, Check: header("ETag", "")},
			{Name: "gone", Request: ifMatch(tag, remove("admin", path)), Status: 404},
		})
	})
}

// TestWhatIsExpectedIsOfTheRecordAlone sends If-Match with writes that also write other records, or that name no
// record. Only the version of the named record counts.
func TestWhatIsExpectedIsOfTheRecordAlone(t *testing.T) {
	source := pictures(t)
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		rows := pictureRows(t, e.API)
		e.mustSucceed(t, patch("admin", "/venues/{grandHall}", object{"phone": "1"}))
		e.mustSucceed(t, patch("admin", "/events/{jazzNight}", object{"featured": false}))
		_, event := getTag(t, e.API, get("/events/{jazzNight}"))
		hall := object{"venue": "Grand Hall", "phone": "2"}
		e.Run(t, []apitest.Case{
			{Name: "a venue of the event was changed", Request: patch("admin", "/venues/{grandHall}", object{"phone": "3"}), Status: 200},
			{Name: "the event is another representation", Request: ifNoneMatch(event, get("/events/{jazzNight}")), Status: 200},
			{Name: "and the same version", Request: ifMatch(event, patch("admin", "/events/{jazzNight}", object{"venue": hall, "organizer": object{"organizer": "New"}})), Status: 200},
			{Name: "its venue was changed with it", Request: get("/venues/{grandHall}"), Status: 200, Check: showsMember(`"2"`, "phone")},
			{Name: "no record is named: event", Request: ifNoneMatch("*", ifMatch(`"x"`, post("admin", "/events", concert(nil)))), Status: 201},
			{Name: "no record is named: a venue that is there", Request: ifMatch(`"x"`, post("admin", "/venues", hall)), Status: 201},
			{Name: "no record is named: organizer", Request: ifMatch(`"x"`, post("admin", "/organizers", object{"organizer": "Alice & Co", "phone": "4"})), Status: 201},
			{Name: "no record is named: tag", Request: ifMatch(`"x"`, post("admin", "/tags", object{"name": "Outside"})), Status: 201},
			{Name: "no record is named: image", Request: ifMatch(`"x"`, upload("admin", "a.png", picture(t, 4, 3))), Status: 201, Check: func(t *testing.T, r apitest.Response) {
				header("ETag", r.Header.Get("ETag"))(t, e.Do(t, get(fmt.Sprintf("/images/%v", r.Get(t, "id")))))
			}},
			{Name: "refused before the download", Request: ifMatch(`"x"`, patch("admin", "/events/{jazzNight}", object{"image": source + "/nowhere.png"})), Status: 412, Code: failedCode},
			{
				Name:    "refused after the download",
				Request: ifMatch("*", patch("admin", "/events/{jazzNight}", object{"image": source + "/ok.png", "end_date": "2020-01-01"})), Status: 400,
			},
			{Name: "stale before an end before the start", Request: ifMatch(`"x"`, patch("admin", "/events/{jazzNight}", object{"end_date": "2020-01-01"})), Status: 412, Code: failedCode},
			{Name: "a method in a header", Request: withHeader("X-HTTP-Method-Override", "DELETE", ifMatch(`"x"`, post("admin", "/events/{jazzNight}", nil))), Status: 412, Code: failedCode},
			{Name: "to the trash by an update", Request: ifMatch(`"x"`, patch("admin", "/events/{jazzNight}", object{"status": "trash"})), Status: 412, Code: failedCode},
			{Name: "unknown", Request: ifMatch("*", patch("admin", "/events/999999", object{})), Status: 404},
			{Name: "in the trash", Request: ifMatch(`"x"`, remove("admin", "/events/{trashedEvent}")), Status: 410},
		})
		if got := pictureRows(t, e.API); got != rows+1 {
			t.Errorf("%d images are left", got-rows-1)
		}
	})
}

func TestRefusedPreconditionsAreErrorsLikeOthers(t *testing.T) {
	t.Parallel()
	api := newSweepAPI(t)
	write := func(path string) apitest.Request { return ifMatch(`"x"`, patch("admin", path, object{"cost": "1"})) }
	api.Run(t, []apitest.Case{
		{Name: "JSON", Request: write("/events/17"), Status: 412, Code: failedCode, Check: allChecks(
			hasKeys("code message data"), hasHeaders("Cache-Control", "no-store, private", "Content-Language", "en", "ETag", ""))},
		{Name: "Polish", Request: write("/events/17?ml_language=pl"), Status: 412, Code: failedCode, Check: allChecks(
			header("Content-Language", "pl"),
			showsMember(`"Rekord nie spełnia warunku If-Match lub If-None-Match. Należy odczytać go ponownie i powtórzyć żądanie."`, "message"))},
		{Name: "Spanish", Request: withHeader("Accept-Language", "es", write("/events/17")), Status: 412, Code: failedCode, Check: allChecks(
			header("Content-Language", "es"),
			showsMember(`"El registro no cumple la condición de If-Match o If-None-Match. Vuelva a leerlo y repita la solicitud."`, "message"))},
		{Name: "problem", Request: withHeader("Accept", "application/problem+json", write("/events/17")), Status: 412, Code: failedCode, Check: allChecks(
			header("Content-Type", "application/problem+json"), showsMember(`"Precondition Failed"`, "title"), showsMember("412", "status"))},
		{Name: "problem of a read", Request: withHeader("Accept", "application/problem+json", ifMatch(`"x"`, get("/events"))), Status: 412, Code: failedCode, Check: allChecks(
			hasHeaders("Content-Type", "application/problem+json", "Link", "", "Cache-Control", "no-store"), hasKeys("type title status detail instance code"))},
	})
}

// TestEventThatLosesALinkHasAnotherVersion trashes or deletes a record that an event is linked to. A write with
// the event's old ETag must fail.
func TestEventThatLosesALinkHasAnotherVersion(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		created := e.mustSucceed(t, post("admin", "/events", concert(object{
			"venue": object{"venue": "Barn"}, "organizer": object{"organizer": "Band"}, "categories": "Folk", "tags": "Outside",
		})))
		event := fmt.Sprint("/events/", created.Get(t, "id"))
		for _, lost := range []apitest.Request{
			remove("admin", fmt.Sprint("/venues/", created.Get(t, "venue", "id"))),
			patch("admin", fmt.Sprint("/organizers/", created.Get(t, "organizer", 0, "id")), object{"status": "trash"}),
			remove("admin", fmt.Sprint("/categories/", created.Get(t, "categories", 0, "id"))),
			remove("admin", fmt.Sprint("/tags/", created.Get(t, "tags", 0, "id"))),
		} {
			_, tag := getTag(t, e.API, get(event))
			e.mustSucceed(t, lost)
			e.Run(t, []apitest.Case{
				{Name: "write after " + lost.Path, Request: ifMatch(tag, patch("admin", event, object{"title": "Other"})), Status: 412, Code: failedCode},
				{Name: "read after " + lost.Path, Request: ifNoneMatch(tag, get(event)), Status: 200},
			})
		}
	})
}

// TestOneOfTheRacersHasTheRightTag sends concurrent writes that all expect the same version. Only one may succeed.
func TestOneOfTheRacersHasTheRightTag(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		want := map[string]int{"200": 1, "412 " + failedCode: racers - 1}
		for _, c := range writeCases {
			if strings.Contains(c.path, "by-slug") {
				continue
			}
			_, tag := getTag(t, e.API, get(c.path))
			for round := range 3 {
				version := versionIn(tag)
				replies := sendTogether(t, e.API, func(i int) apitest.Request {
					method := []string{"PUT", "POST", "PATCH"}[i%3]
					return ifMatch(tag, apitest.Request{Method: method, Path: c.path, As: "admin", JSON: object{"description": fmt.Sprint("<p>", round, i, "</p>")}})
				})
				equal(t, fmt.Sprint(c.path, " round ", round), want, statuses(t, replies))
				winner := slices.IndexFunc(replies, func(r apitest.Response) bool { return r.Status == 200 })
				res, now := getTag(t, e.API, get(c.path))
				equal(t, "description", replies[max(winner, 0)].Get(t, "description"), res.Get(t, "description"))
				if next := fmt.Sprint(round + 2); version != fmt.Sprint(round+1) || versionIn(now) != next {
					t.Errorf("%s: version %s, then %s", c.path, version, versionIn(now))
				}
				tag = now
			}
			// Updates and deletes, of which one wins as well.
			replies := statuses(t, sendTogether(t, e.API, func(i int) apitest.Request {
				if i%2 == 0 {
					return ifMatch(tag, remove("admin", c.path))
				}
				return ifMatch(tag, patch("admin", c.path, c.body))
			}))
			if replies["200"] != 1 {
				t.Errorf("%s: %v", c.path, replies)
			}
			for word := range replies {
				if !slices.Contains([]string{"200", "412 " + failedCode, "410 event-is-in-trash", "410 venue-is-in-trash", "410 organizer-is-in-trash", "400 rest_invalid_param"}, word) {
					t.Errorf("%s: %v", c.path, replies)
				}
			}
		}
		_, tag := getTag(t, e.API, get("/images/{poster}"))
		replies := statuses(t, sendTogether(t, e.API, func(int) apitest.Request { return ifMatch(tag, remove("admin", "/images/{poster}")) }))
		if replies["200"] != 1 || replies["200"]+replies["412 "+failedCode]+replies["404 image-not-found"] != racers {
			t.Errorf("image: %v", replies)
		}
	})
}

// TestRacersWithTagsLoseNoUpdate has each racer read, append to the text and write until the write succeeds.
func TestRacersWithTagsLoseNoUpdate(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		sendTogether(t, e.API, func(int) apitest.Request { return get("/events/{musicWalk}") })
		done := make(chan error, racers)
		for i := range racers {
			go func() { done <- e.addLetter(t, string(rune('a'+i))) }()
		}
		for range racers {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		letters := []byte(strings.TrimPrefix(fmt.Sprint(e.mustSucceed(t, get("/events/{musicWalk}")).Get(t, "title")), "Walk with music"))
		slices.Sort(letters)
		equal(t, "letters", "abcdefgh", string(letters))
	})
}

// addLetter appends a letter to the title of an event. No concurrent write may remove it.
func (e *eventTest) addLetter(t *testing.T, letter string) error {
	for t.Context().Err() == nil {
		res := e.Do(t, get("/events/{musicWalk}"))
		title := fmt.Sprint(res.Get(t, "title"))
		next := e.Do(t, ifMatch(res.Header.Get("ETag"), patch("admin", "/events/{musicWalk}", object{"title": title + letter})))
		switch next.Status {
		case 200:
			return nil
		case 412:
		default:
			return fmt.Errorf("%d: %s", next.Status, next.Body)
		}
	}
	return t.Context().Err()
}
