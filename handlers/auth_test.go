package handlers_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

const passphrase = "correct horse battery"

// accounts is a service whose clock the test moves, for users who sign in with a password or token.
type accounts struct {
	*apitest.API
	passed atomic.Int64 // nanoseconds since apitest.Now
}

func newAccounts(t *testing.T, st *store.Store) *accounts {
	t.Helper()
	a := &accounts{}
	a.API = apitest.New(t, st, func(c *handlers.Config) { c.Site.Now = a.now })
	return a
}

func (a *accounts) now() time.Time { return apitest.Now.Add(time.Duration(a.passed.Load())) }

// wait moves the clock of the service forward. It does not sleep.
func (a *accounts) wait(d time.Duration) { a.passed.Add(int64(d)) }

func (a *accounts) add(t *testing.T, login string, role calendar.Role, password string) *ent.User {
	t.Helper()
	u, err := auth.AddUser(t.Context(), a.Store.Ent, a.now(), login, "", role, password)
	must.Succeed(t, err)
	return u
}

func (a *accounts) token(t *testing.T, u *ent.User, expires *time.Time) (string, *ent.Token) {
	t.Helper()
	secret, row, err := auth.IssueToken(t.Context(), a.Store.Ent, a.now(), u.ID, "test", expires)
	must.Succeed(t, err)
	return secret, row
}

func basic(login, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(login+":"+secret))
}

// withAuthorization returns the request with an Authorization header.
func withAuthorization(authorization string, r apitest.Request) apitest.Request {
	header := map[string]string{"Authorization": authorization}
	for name, value := range r.Header {
		header[name] = value
	}
	r.Header = header
	return r
}

// checkChallenge checks the WWW-Authenticate header that every 401 has.
func checkChallenge(t *testing.T, r apitest.Response) {
	t.Helper()
	want := []string{`Basic realm="almanac", charset="UTF-8"`, "Bearer"}
	if got := r.Header.Values("WWW-Authenticate"); !slices.Equal(got, want) {
		t.Errorf("WWW-Authenticate is %q", got)
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		a := newAccounts(t, st)
		ewa := a.add(t, "ewa", calendar.Author, passphrase)
		jan := a.add(t, "jan", calendar.Author, "")
		ewaToken, _ := a.token(t, ewa, nil)
		janToken, _ := a.token(t, jan, nil)
		soon := a.now().Add(time.Hour)
		passing, _ := a.token(t, ewa, &soon)
		revoked, row := a.token(t, ewa, nil)
		must.Succeed(t, auth.RevokeToken(t.Context(), st.Ent, a.now(), row.ID))
		old := a.add(t, "old", calendar.Administrator, passphrase)
		oldToken, _ := a.token(t, old, nil)
		must.Succeed(t, auth.SetDisabled(t.Context(), st.Ent, a.now(), old.ID, true))
		// Only authors and higher roles may list images.
		right := func(name, authorization string) apitest.Case {
			return apitest.Case{Name: name, Request: withAuthorization(authorization, get("/images")), Status: 200, Check: header("Cache-Control", "no-store, private")}
		}
		// Wrong credentials are refused where none are needed.
		wrong := func(name, authorization, code string) apitest.Case {
			return apitest.Case{Name: name, Request: withAuthorization(authorization, get("/events")), Status: 401, Code: code, Check: checkChallenge}
		}
		a.Run(t, []apitest.Case{
			{Name: "none", Request: get("/events"), Status: 200, Check: header("Cache-Control", "public, max-age=0")},
			{Name: "empty header", Request: withAuthorization("", get("/events")), Status: 200},
			{
				Name: "cookies and nonces", Request: apitest.Request{Path: "/images?_wpnonce=1", Header: map[string]string{"Cookie": "session=" + ewaToken, "X-WP-Nonce": ewaToken}},
				Status: 401, Code: "rest_forbidden", Check: checkChallenge,
			},
			{Name: "token in the query", Request: get("/images?access_token=" + ewaToken), Status: 401, Code: "rest_forbidden", Check: checkChallenge},

			right("password", basic("ewa", passphrase)),
			right("password again", basic("EWA", passphrase)),
			right("token as password", basic("ewa", ewaToken)),
			right("token with spaces", basic("ewa", ewaToken[:8]+" "+ewaToken[8:])),
			right("bearer", "Bearer "+ewaToken),
			right("bearer in lower case", "bearer "+ewaToken),
			right("token of who has no password", "Bearer "+janToken),
			right("token that will expire", "Bearer "+passing),

			wrong("wrong password", basic("ewa", "wrong"), "incorrect_password"),
			wrong("empty password", basic("ewa", ""), "incorrect_password"),
			wrong("password of who has none", basic("jan", passphrase), "incorrect_password"),
			wrong("unknown user", basic("eva", passphrase), "incorrect_password"),
			wrong("token of another", basic("ewa", janToken), "incorrect_password"),
			wrong("revoked token as password", basic("ewa", revoked), "incorrect_password"),
			wrong("revoked token", "Bearer "+revoked, "rest_invalid_token"),
			wrong("unknown token", "Bearer "+ewaToken[:40]+"AAAAAAA", "rest_invalid_token"),
			wrong("password as token", "Bearer "+passphrase, "rest_invalid_token"),
			wrong("disabled user", basic("old", passphrase), "incorrect_password"),
			wrong("token of a disabled user", "Bearer "+oldToken, "rest_invalid_token"),
			wrong("not base64", "Basic ewa:x", "incorrect_password"),
			wrong("nothing after the scheme", "Bearer", "rest_invalid_token"),
			wrong("other scheme", `Digest username="ewa"`, "rest_invalid_token"),
			wrong("no scheme", ewaToken, "rest_invalid_token"),
		})
		a.wait(time.Hour)
		a.Run(t, []apitest.Case{
			wrong("expired token", "Bearer "+passing, "rest_invalid_token"),
			wrong("expired token as password", basic("ewa", passing), "incorrect_password"),
			right("another token does not expire", "Bearer "+ewaToken),
		})
		if row := st.Ent.Token.GetX(t.Context(), row.ID); row.LastUsedAt != nil {
			t.Error("a revoked token was used")
		}
	})
}

// TestCredentialsComeAfterTheRoute checks that credentials are verified after the route is found, and before
// parameters are parsed (contract, section 3).
func TestCredentialsComeAfterTheRoute(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		const bad = "Bearer wrong"
		refused := func(name string, r apitest.Request) apitest.Case {
			return apitest.Case{Name: name, Request: withAuthorization(bad, r), Status: 401, Code: "rest_invalid_token", Check: checkChallenge}
		}
		e.Run(t, []apitest.Case{
			{Name: "route first", Request: withAuthorization(bad, get("/nothing")), Status: 404, Code: "rest_no_route"},
			{Name: "method first", Request: withAuthorization(bad, remove("", "/events")), Status: 404, Code: "rest_no_route"},
			{Name: "OPTIONS needs none", Request: withAuthorization(bad, apitest.Request{Method: "OPTIONS", Path: "/events"}), Status: 200},
			{Name: "files need none", Request: withAuthorization(bad, apitest.Request{Absolute: true, Path: "/media/2026/11/no.png"}), Status: 404},
			{Name: "HEAD", Request: withAuthorization(bad, apitest.Request{Method: "HEAD", Path: "/events"}), Status: 401},
			refused("index", get("")),
			refused("public read", get("/events/{jazzNight}")),
			refused("before the body is read", post("", "/events", "{")),
			refused("before missing parameters", post("", "/events", object{})),
			refused("before invalid parameters", get("/events?page=x")),
			refused("before the target", get("/events/999999")),
			refused("before a large body", post("", "/events", `"`+string(make([]byte, 2<<20)))),
			refused("before an upload", uploadAs(bad, picture(t, 2, 2))),
			refused("in the language of the path", apitest.Request{Absolute: true, Path: "/pl/cal/events/v1/events"}),
			{
				Name: "as a problem", Request: withAuthorization(bad, apitest.Request{Path: "/events", Header: map[string]string{"Accept": "application/problem+json"}}),
				Status: 401, Code: "rest_invalid_token", Check: func(t *testing.T, r apitest.Response) {
					checkChallenge(t, r)
					hasValues(t, r, object{"status": 401, "title": "Unauthorized", "type": "about:blank"})
				},
			},
		})
		// The message tells nothing of the reason.
		one := e.Do(t, withAuthorization(basic("admin", "wrong"), get("/events")))
		two := e.Do(t, withAuthorization(basic("nobody", "wrong"), get("/events")))
		if string(one.Body) != string(two.Body) {
			t.Errorf("a wrong password is told from an unknown user:\n%s\n%s", one.Body, two.Body)
		}
	})
}

func uploadAs(authorization string, data []byte) apitest.Request {
	return withAuthorization(authorization, upload("", "a.png", data))
}

func TestChangesOfAccountsAreNoticed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("verifies many passwords")
	}
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		a := newAccounts(t, st)
		db := st.Ent
		ewa := a.add(t, "ewa", calendar.Author, passphrase)
		secret, row := a.token(t, ewa, nil)
		bearer, password := "Bearer "+secret, basic("ewa", passphrase)
		status := func(authorization string, want int) {
			t.Helper()
			a.wait(6 * time.Second) // they may take five
			if r := a.Do(t, withAuthorization(authorization, get("/images"))); r.Status != want {
				t.Errorf("%d, want %d: %s", r.Status, want, r.Body)
			}
		}
		do := func(err error) {
			t.Helper()
			must.Succeed(t, err)
		}
		status(bearer, 200)
		status(password, 200)
		do(auth.SetRole(t.Context(), db, ewa.ID, calendar.Contributor))
		status(bearer, 403)
		status(password, 403)
		do(auth.SetRole(t.Context(), db, ewa.ID, calendar.Editor))
		status(bearer, 200)
		do(auth.SetPassword(t.Context(), db, ewa.ID, "another passphrase"))
		status(password, 401)
		status(basic("ewa", "another passphrase"), 200)
		status(bearer, 200)
		do(auth.SetDisabled(t.Context(), db, a.now(), ewa.ID, true))
		status(bearer, 401)
		status(basic("ewa", "another passphrase"), 401)
		do(auth.SetDisabled(t.Context(), db, a.now(), ewa.ID, false))
		status(bearer, 200)
		do(auth.RevokeToken(t.Context(), db, a.now(), row.ID))
		status(bearer, 401)
		if row := db.Token.GetX(t.Context(), row.ID); row.LastUsedAt == nil {
			t.Error("the use of the token is not written down")
		}

		// The records of a removed user stay, without an author.
		id := idOf(t, a.Do(t, withAuthorization(basic("ewa", "another passphrase"), post("", "/venues", object{"venue": "Hall"}))))
		do(auth.RemoveUser(t.Context(), db, ewa.ID))
		// Until the removal is noticed the credentials are accepted, but the user cannot become an author.
		unnoticed := func(r apitest.Request) apitest.Case {
			r = withAuthorization(basic("ewa", "another passphrase"), r)
			return apitest.Case{Name: r.Path, Request: r, Status: 401, Code: "rest_invalid_token", Check: checkChallenge}
		}
		a.Run(t, []apitest.Case{
			unnoticed(post("", "/organizers", object{"organizer": "Ewa"})), unnoticed(upload("", "a.png", picture(t, 2, 2))),
		})
		status(basic("ewa", "another passphrase"), 401)
		hasValues(t, a.Do(t, get(fmt.Sprintf("/venues/%d", id))), object{"venue": "Hall", "author": nil})
	})
}

// idOf returns the id of the record in the reply to a create.
func idOf(t *testing.T, r apitest.Response) int64 {
	t.Helper()
	if r.Status != 201 {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	return int64(r.Get(t, "id").(float64))
}
