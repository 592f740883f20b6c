package handlers_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// onWordPress runs a test of an API mounted below /wp-json, with a user of each role.
func onWordPress(t *testing.T, test func(t *testing.T, api *apitest.API)) {
	t.Helper()
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		for _, role := range calendar.Roles {
			api.SignIn(t, string(role), role)
		}
		test(t, api)
	}, func(c *handlers.Config) { c.Mounts = []string{"/wp-json/tribe/events/v1"} })
}

const (
	signedIn = "/wp-json/wp/v2/users/me"
	mediaOf  = "/wp-json/wp/v2/media"
)

// wordPress returns a request below the REST root of WordPress. headers are names and values.
func wordPress(as, method, path string, body any, headers ...string) apitest.Request {
	r := apitest.Request{As: as, Method: method, Path: path, Absolute: true, JSON: body, Header: map[string]string{}}
	for i := 0; i < len(headers); i += 2 {
		r.Header[headers[i]] = headers[i+1]
	}
	return r
}

// rawPicture returns an upload whose body is the picture itself.
func rawPicture(as string, data []byte, headers ...string) apitest.Request {
	return wordPress(as, "POST", mediaOf, string(data), append([]string{"Content-Type", "image/png"}, headers...)...)
}

// formPicture returns an upload with the picture in a form.
func formPicture(as string, data []byte) apitest.Request {
	r := upload(as, "in a form.png", data)
	r.Path, r.Absolute = mediaOf, true
	return r
}

func TestTheSignedInUser(t *testing.T) {
	onWordPress(t, func(t *testing.T, api *apitest.API) {
		basic := func(user, secret string) []string {
			return []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+secret))}
		}
		is := func(role calendar.Role, capabilities string) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				t.Helper()
				hasValues(t, r, object{
					"name": string(role), "slug": string(role), "url": "", "description": "", "link": apitest.BaseURL + "/", "roles": []any{string(role)}, "meta": []any{},
				})
				var names []string
				for _, name := range strings.Fields("read edit_tribe_events publish_tribe_events upload_files edit_others_tribe_events manage_categories") {
					if r.Get(t, "capabilities", name) != nil {
						names = append(names, name)
					}
				}
				if got := strings.Join(names, " "); got != capabilities {
					t.Errorf("capabilities %s", got)
				}
				header("Cache-Control", "no-store, private")(t, r)
			}
		}
		const byAuthors = "read edit_tribe_events publish_tribe_events upload_files manage_categories"
		author := is(calendar.Author, byAuthors)
		api.Run(t, []apitest.Case{
			{Name: "nobody", Request: wordPress("", "GET", signedIn, nil), Status: 401, Code: "rest_not_logged_in", Check: header("Cache-Control", "no-store")},
			{Name: "subscriber", Request: wordPress("subscriber", "GET", signedIn, nil), Status: 200, Check: is(calendar.Subscriber, "read")},
			{Name: "contributor", Request: wordPress("contributor", "GET", signedIn, nil), Status: 200, Check: is(calendar.Contributor, "read edit_tribe_events")},
			{Name: "author", Request: wordPress("author", "GET", signedIn+"?context=edit", nil), Status: 200, Check: author},
			{Name: "editor", Request: wordPress("editor", "GET", signedIn+"/", nil), Status: 200, Check: is(calendar.Editor, "read edit_tribe_events publish_tribe_events upload_files edit_others_tribe_events manage_categories")},
			{Name: "by login and token", Request: wordPress("", "GET", signedIn, nil, basic("author", api.Token("author"))...), Status: 200, Check: author},
			{Name: "by query", Request: wordPress("author", "GET", "/?rest_route=/wp/v2/users/me&context=edit", nil), Status: 200, Check: author},
			{Name: "by index file", Request: wordPress("author", "GET", "/index.php"+signedIn, nil), Status: 200, Check: author},
			{Name: "without a body", Request: wordPress("author", "HEAD", signedIn, nil), Status: 200},
			{Name: "wrong secret", Request: wordPress("", "GET", signedIn, nil, basic("author", "x")...), Status: 401, Code: "incorrect_password"},
			{Name: "wrong token", Request: wordPress("", "GET", signedIn, nil, "Authorization", "Bearer x"), Status: 401, Code: "rest_invalid_token"},
			{Name: "another method", Request: wordPress("author", "POST", signedIn, object{}), Status: 404, Code: "rest_no_route", Check: header("Allow", "GET, HEAD, OPTIONS")},
			{Name: "another user", Request: wordPress("author", "GET", "/wp-json/wp/v2/users/1", nil), Status: 404, Code: "rest_no_route"},
			{Name: "posts", Request: wordPress("author", "GET", "/wp-json/wp/v2/posts", nil), Status: 404, Code: "rest_no_route"},
			{Name: "posts, for a browser", Request: wordPress("", "GET", "/wp-json/wp/v2/posts", nil, "Accept", "text/html"), Status: 404, Code: "rest_no_route"},
			{Name: "the namespace", Request: wordPress("author", "GET", "/wp-json/wp/v2", nil), Status: 404, Code: "rest_no_route"},
			{Name: "the root names it not", Request: wordPress("", "GET", "/wp-json/", nil), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{"namespaces": []any{"tribe/events/v1"}})
			}},
		})
		if r := onSQLite(t).Do(t, wordPress("", "GET", signedIn, nil)); r.Status != 404 || r.Get(t, "code") != "rest_no_route" {
			t.Errorf("without such a mount: %d %s", r.Status, r.Body)
		}
		root := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), func(c *handlers.Config) { c.Mounts = []string{"/wp-json"} })
		if r := root.Do(t, wordPress("", "GET", "/wp-json/events", nil)); r.Status != 200 {
			t.Errorf("a mount at the root: %d %s", r.Status, r.Body)
		}
	})
}

func TestPicturesOfWordPressClients(t *testing.T) {
	onWordPress(t, func(t *testing.T, api *apitest.API) {
		data := picture(t, 1200, 400)
		named := func(name string) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				t.Helper()
				hasValues(t, r, object{"source_url": apitest.BaseURL + "/media/2026/11/" + name, "slug": strings.TrimSuffix(name, ".png")})
				header("Location", fmt.Sprintf("%s%s/%v", apitest.BaseURL, mediaOf, r.Get(t, "id")))(t, r)
			}
		}
		api.Run(t, []apitest.Case{
			{Name: "the file itself", Request: rawPicture("author", data, "Content-Disposition", `attachment; filename="Żółw 1.png"`), Status: 201, Check: named("zolw-1.png")},
			{Name: "an encoded name", Request: rawPicture("author", data, "Content-Disposition", `attachment; filename="x.png"; filename*=UTF-8''%C5%82ania.png`), Status: 201, Check: named("lania.png")},
			{Name: "a name alone, with folders", Request: rawPicture("author", data, "Content-Disposition", `filename="C:\\a\\../b/c.png"`), Status: 201, Check: named("c.png")},
			{Name: "another type", Request: rawPicture("author", data, "Content-Type", "image/jpeg", "Content-Disposition", `attachment; filename=d.jpg`), Status: 201, Check: named("d.png")},
			{Name: "no type", Request: rawPicture("author", data, "Content-Type", "application/octet-stream", "Content-Disposition", `attachment; filename=e.png`), Status: 201, Check: named("e.png")},
			{Name: "no name", Request: rawPicture("author", data), Status: 201, Check: named("image.png")},
			{Name: "in a form", Request: formPicture("author", data), Status: 201, Check: named("in-a-form.png")},
			{Name: "by query", Request: func() apitest.Request {
				r := rawPicture("author", data, "Content-Disposition", `attachment; filename=f.png`)
				r.Path = "/?rest_route=%2Fwp%2Fv2%2Fmedia"
				return r
			}(), Status: 201, Check: named("f.png")},
			{Name: "no picture", Request: rawPicture("author", []byte("<svg/>")), Status: 400, Code: "rest_invalid_param"},
			{Name: "nothing", Request: rawPicture("author", nil), Status: 400, Code: "rest_missing_callback_param"},
			{Name: "text", Request: rawPicture("author", data, "Content-Type", "text/plain"), Status: 415, Code: "rest_unsupported_media_type"},
			{Name: "compressed", Request: rawPicture("author", data, "Content-Encoding", "gzip"), Status: 400, Code: "rest_invalid_json"},
			{Name: "anonymous", Request: rawPicture("", data), Status: 401, Code: "rest_forbidden"},
			{Name: "contributor", Request: rawPicture("contributor", data), Status: 403, Code: "rest_forbidden"},
			{Name: "too large", Request: rawPicture("author", make([]byte, 10<<20+1)), Status: 400, Code: "rest_invalid_param"},
			{Name: "large and anonymous", Request: rawPicture("", make([]byte, 3<<20)), Status: 401, Code: "rest_forbidden"},
			{Name: "large, elsewhere", Request: wordPress("author", "POST", "/wp-json/tribe/events/v1/events", string(make([]byte, 3<<20)), "Content-Type", "image/png"), Status: 413, Code: "rest_request_too_large"},
			{Name: "list", Request: wordPress("author", "GET", mediaOf, nil), Status: 404, Code: "rest_no_route", Check: header("Allow", "POST, OPTIONS")},
		})
	})
}

func TestAttachments(t *testing.T) {
	onWordPress(t, func(t *testing.T, api *apitest.API) {
		data := picture(t, 400, 200)
		first := api.Do(t, rawPicture("author", data, "Content-Disposition", `attachment; filename="a.png"`, "Idempotency-Key", `"k"`))
		id, author := first.Get(t, "id"), api.Do(t, wordPress("author", "GET", signedIn, nil)).Get(t, "id")
		path, base := fmt.Sprint(mediaOf, "/", id), apitest.BaseURL+"/media/2026/11/"
		size := func(file string, width, height int) object {
			return object{"file": file, "width": width, "height": height, "mime_type": "image/png", "source_url": base + file}
		}
		want := object{
			"date": "2026-11-21T12:00:00", "date_gmt": "2026-11-21T12:00:00", "slug": "a", "status": "inherit", "type": "attachment", "link": base + "a.png",
			"guid.rendered": base + "a.png", "title.rendered": "a", "author": author, "alt_text": "", "caption.rendered": "", "media_type": "image",
			"mime_type": "image/png", "source_url": base + "a.png", "media_details.width": 400, "media_details.height": 200, "media_details.file": "2026/11/a.png",
		}
		for name, values := range map[string]object{
			"full": size("a.png", 400, 200), "thumbnail": size("a-150x150.png", 150, 150), "medium": size("a-300x150.png", 300, 150),
		} {
			for key, value := range values {
				want["media_details.sizes."+name+"."+key] = value
			}
		}
		hasValues(t, first, want)
		same := func(t *testing.T, r apitest.Response) {
			t.Helper()
			if diff := cmp.Diff(string(first.Body), string(r.Body)); diff != "" {
				t.Error(diff)
			}
		}
		if n := pictureRows(t, api); n != 1 {
			t.Errorf("%d images", n)
		}
		altText := object{"alt_text": "A", "title": "B", "caption": "C"}
		api.Run(t, []apitest.Case{
			{Name: "the same upload again", Request: rawPicture("author", data, "Content-Disposition", `attachment; filename="a.png"`, "Idempotency-Key", `"k"`), Status: 201, Check: allChecks(same, header("Idempotency-Replayed", "true"))},
			{Name: "another upload by the same key", Request: rawPicture("author", picture(t, 3, 3), "Idempotency-Key", `"k"`), Status: 422, Code: "rest_idempotency_key_reused"},
			{Name: "read", Request: wordPress("", "GET", path, nil), Status: 200, Check: same},
			{Name: "read by query", Request: wordPress("", "GET", fmt.Sprint("/?rest_route=/wp/v2/media/", id), nil), Status: 200, Check: same},
			{Name: "of the API", Request: get(fmt.Sprint("/images/", id)), Status: 200, Check: func(t *testing.T, r apitest.Response) { hasValues(t, r, object{"url": base + "a.png"}) }},
			{Name: "unknown", Request: wordPress("", "GET", mediaOf+"/999999", nil), Status: 404, Code: "rest_post_invalid_id"},
			{Name: "no id", Request: wordPress("", "GET", mediaOf+"/a", nil), Status: 404, Code: "rest_no_route"},
			{Name: "alternative text", Request: wordPress("author", "POST", path, altText), Status: 200, Check: allChecks(same, header("X-Almanac-Ignored", "alt_text, caption, title"))},
			{Name: "alternative text by PUT", Request: wordPress("editor", "PUT", path, altText), Status: 200, Check: same},
			{Name: "alternative text by PATCH", Request: wordPress("author", "PATCH", path, altText), Status: 200, Check: same},
			{Name: "alternative text, anonymous", Request: wordPress("", "POST", path, altText), Status: 401, Code: "rest_forbidden"},
			{Name: "alternative text by a contributor", Request: wordPress("contributor", "POST", path, altText), Status: 403, Code: "rest_forbidden"},
			{Name: "alternative text of nothing", Request: wordPress("author", "POST", mediaOf+"/999999", altText), Status: 404, Code: "rest_post_invalid_id"},
			{Name: "alternative text of another version", Request: wordPress("author", "POST", path, altText, "If-Match", `"9-0"`), Status: 412, Code: "rest_precondition_failed"},
			{Name: "of an event", Request: post("author", "/events", concert(object{"image": id})), Status: 201, Check: func(t *testing.T, r apitest.Response) { hasValues(t, r, object{"image.id": id}) }},
			{Name: "delete without force", Request: wordPress("author", "DELETE", path, nil), Status: 400, Code: "rest_missing_callback_param"},
			{Name: "delete with little force", Request: wordPress("author", "DELETE", path+"?force=false", nil), Status: 400, Code: "rest_invalid_param"},
			{Name: "delete, anonymous", Request: wordPress("", "DELETE", path+"?force=true", nil), Status: 401, Code: "rest_forbidden"},
			{Name: "delete", Request: wordPress("author", "DELETE", path+"?force=true", nil), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{"deleted": true, "previous.id": id, "previous.source_url": base + "a.png"})
			}},
			{Name: "gone", Request: wordPress("", "GET", path, nil), Status: 404, Code: "rest_post_invalid_id"},
			{Name: "options", Request: wordPress("", "OPTIONS", "/pl"+path, nil), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{"namespace": "wp/v2"})
				header("Allow", "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS")(t, r)
			}},
		})
		if file := api.Do(t, apitest.Request{Absolute: true, Path: "/media/2026/11/a.png"}); file.Status != http.StatusNotFound || bytes.Equal(file.Body, data) {
			t.Errorf("the file is still there: %d", file.Status)
		}
	})
}
