package handlers_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
)

// picture returns a PNG file with the given width and height in pixels.
func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, width, height))
	img.SetGray(width/2, height/2, color.Gray{Y: 200})
	var b bytes.Buffer
	must.Succeed(t, png.Encode(&b, img))
	return b.Bytes()
}

// pictures starts a web server and returns its URL. The server has a usable picture, broken and too large ones,
// and redirects.
func pictures(t *testing.T) string {
	t.Helper()
	data := picture(t, 4, 4)
	mux := http.NewServeMux()
	mux.HandleFunc("/ok.png", func(w http.ResponseWriter, _ *http.Request) {
		if _, err := w.Write(data); err != nil {
			t.Log(err)
		}
	})
	mux.HandleFunc("/text.png", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		fmt.Fprint(w, "not a picture")
	})
	mux.Handle("/once", http.RedirectHandler("/ok.png", http.StatusFound))
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	mux.Handle("/elsewhere", http.RedirectHandler("http://10.0.0.1/ok.png", http.StatusFound))
	mux.HandleFunc("/large.png", func(w http.ResponseWriter, _ *http.Request) {
		large := append(bytes.Clone(data), make([]byte, 10<<20)...)
		if _, err := w.Write(large); err != nil {
			t.Log(err) // the reader hangs up
		}
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL
}

// upload returns a multipart request with a file.
func upload(as, name string, data []byte) apitest.Request {
	return uploadField(as, "file", name, data)
}

func uploadField(as, field, name string, data []byte) apitest.Request {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	// Neither fails when it writes to memory.
	part, err := w.CreateFormFile(field, name)
	if err == nil {
		_, err = part.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err)
	}
	return apitest.Request{
		Method: "POST", As: as, Path: "/images", JSON: b.String(),
		Header: map[string]string{"Content-Type": w.FormDataContentType()},
	}
}

func imagePath(id int64) string { return fmt.Sprintf("/images/%d", id) }

// addImage stores the row of an image without its files, and returns the id.
func addImage(t *testing.T, api *apitest.API, author *int64) int64 {
	t.Helper()
	db := api.Store.Ent
	row, err := db.Record.Create().SetKind(calendar.Image).Save(t.Context())
	must.Succeed(t, err)
	err = db.Image.Create().SetID(row.ID).SetNillableAuthorID(author).SetPath(fmt.Sprintf("2026/11/row-%d.png", row.ID)).
		SetExtension("png").SetMimeType("image/png").SetWidth(2).SetHeight(2).SetFilesize(70).SetCreatedAt(apitest.Now).
		Exec(t.Context())
	must.Succeed(t, err)
	return row.ID
}

// mediaPath returns the path of a picture's URL, for a request to this service.
func mediaPath(t *testing.T, address any) string {
	t.Helper()
	text, _ := address.(string)
	path, ok := strings.CutPrefix(text, apitest.BaseURL)
	if !ok {
		t.Fatalf("%v is no address of ours", address)
	}
	return path
}

// pictureRows returns the number of images in the database.
func pictureRows(t *testing.T, api *apitest.API) int {
	t.Helper()
	n, err := api.Store.Ent.Image.Query().Count(t.Context())
	must.Succeed(t, err)
	return n
}

// servedPicture requests a picture by its URL and returns its format and size.
func servedPicture(t *testing.T, api *apitest.API, address any) image.Config {
	t.Helper()
	r := api.Do(t, apitest.Request{Absolute: true, Path: mediaPath(t, address)})
	if r.Status != http.StatusOK {
		t.Fatalf("%v: %d %s", address, r.Status, r.Body)
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(r.Body))
	if err != nil {
		t.Fatalf("%v: %v", address, err)
	}
	return config
}

func TestUploadedImage(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		data := picture(t, 1200, 400)
		r := e.mustSucceed(t, upload("author", `C:\Pictures\Żółw 1.PNG`, data))
		id := int64(r.Get(t, "id").(float64))
		at := apitest.BaseURL + "/media/2026/11/zolw-1"
		size := func(name string, width, height int) object {
			at := fmt.Sprintf("%s-%dx%d.png", at, width, height)
			return object{
				"sizes." + name + ".width": width, "sizes." + name + ".height": height,
				"sizes." + name + ".mime-type": "image/png", "sizes." + name + ".url": at,
			}
		}
		hasValues(t, r, object{
			"url": at + ".png", "id": id, "extension": "png", "width": 1200, "height": 400, "filesize": len(data),
		})
		hasValues(t, r, size("thumbnail", 150, 150))
		hasValues(t, r, size("medium", 300, 100))
		hasValues(t, r, size("medium_large", 768, 256))
		hasValues(t, r, size("large", 1024, 341))
		header("Location", apitest.BaseURL+"/cal/events/v1"+imagePath(id))(t, r)
		if again := e.mustSucceed(t, get(imagePath(id))); string(again.Body) != string(r.Body) {
			t.Errorf("read as %s, written as %s", again.Body, r.Body)
		}

		file := e.mustSucceed(t, apitest.Request{Absolute: true, Path: mediaPath(t, r.Get(t, "url"))})
		if !bytes.Equal(file.Body, data) {
			t.Errorf("%d bytes of %d", len(file.Body), len(data))
		}
		for name, want := range map[string]string{
			"Content-Type": "image/png", "Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff",
		} {
			header(name, want)(t, file)
		}
		for name, want := range map[string][2]int{"thumbnail": {150, 150}, "medium": {300, 100}, "medium_large": {768, 256}, "large": {1024, 341}} {
			got := servedPicture(t, e.API, r.Get(t, "sizes", name, "url"))
			if got.Width != want[0] || got.Height != want[1] {
				t.Errorf("%s is %d×%d, want %v", name, got.Width, got.Height, want)
			}
			body := e.mustSucceed(t, apitest.Request{Absolute: true, Path: mediaPath(t, r.Get(t, "sizes", name, "url"))}).Body
			if filesize := r.Get(t, "sizes", name, "filesize"); filesize != float64(len(body)) {
				t.Errorf("%s has %d bytes, not %v", name, len(body), filesize)
			}
		}
		portrait := e.mustSucceed(t, upload("author", "portrait.png", picture(t, 900, 1200)))
		if large := servedPicture(t, e.API, portrait.Get(t, "sizes", "large", "url")); large.Width != 768 || large.Height != 1024 {
			t.Errorf("large is %dx%d", large.Width, large.Height)
		}
		hasValues(t, portrait, object{"sizes.medium_large.url": portrait.Get(t, "sizes", "large", "url")})

		small := e.mustSucceed(t, upload("author", "zolw 1.gif", picture(t, 150, 20)))
		hasValues(t, small, object{"url": at + "-2.png", "extension": "png", "sizes": object{}})
		hasValues(t, e.mustSucceed(t, upload("author", "?.png", picture(t, 1, 1))), object{"width": 1, "url": apitest.BaseURL + "/media/2026/11/image.png"})
	})
}

func TestImagesFromElsewhere(t *testing.T) {
	source := pictures(t)
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		hasValues(t, e.mustSucceed(t, post("author", "/images", object{"url": source + "/ok.png"})), object{
			"url": apitest.BaseURL + "/media/2026/11/ok.png", "width": 4, "height": 4, "extension": "png",
		})
		form := apitest.Request{Method: "POST", As: "author", Path: "/images", Form: "url=" + source + "/once"}
		hasValues(t, e.mustSucceed(t, form), object{"width": 4})

		rows := pictureRows(t, e.API)
		refused := func(name, url, fault string) apitest.Case {
			return apitest.Case{Name: name, Request: post("author", "/images", object{"url": url}), Status: 400, Code: "rest_invalid_param", Check: namesExactly(fault)}
		}
		e.Run(t, []apitest.Case{
			refused("not a picture", source+"/text.png", "url image-not-usable"),
			refused("not there", source+"/no.png", "url image-not-usable"),
			refused("too large", source+"/large.png", "url image-not-usable"),
			refused("redirects for ever", source+"/loop", "url image-not-usable"),
			refused("redirects to a private network", source+"/elsewhere", "url image-not-usable"),
			refused("nobody listens", "http://127.0.0.1:1/x.png", "url image-not-usable"),
			refused("private network", "http://10.0.0.1/x.png", "url image-not-usable"),
			refused("metadata of a cloud", "http://169.254.169.254/x.png", "url image-not-usable"),
			refused("loopback by IPv6", "http://[::1]/x.png", "url image-not-usable"),
			refused("other scheme", "file:///etc/passwd", "url"),
			refused("no address", "x.png", "url"),
			refused("empty", "", "url"),
			{Name: "of another type", Request: post("author", "/images", object{"url": 5}), Status: 400, Check: namesExactly("url rest_invalid_type")},
			{Name: "permission before the download", Request: post("contributor", "/images", object{"url": source + "/text.png"}), Status: 403, Code: "rest_forbidden"},
			{Name: "invalid before permission", Request: post("", "/images", object{"url": "x"}), Status: 400, Check: namesExactly("url")},
		})
		if got := pictureRows(t, e.API); got != rows {
			t.Errorf("%d images of what was refused", got-rows)
		}
	})
}

func TestUploadsThatAreRefused(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		large := append(picture(t, 2, 2), make([]byte, 10<<20)...)
		cut := picture(t, 64, 64)
		cut = cut[:len(cut)/2]
		e.Run(t, []apitest.Case{
			{Name: "nothing", Request: post("author", "/images", object{}), Status: 400, Code: "rest_missing_callback_param", Check: namesExactly("file")},
			{Name: "nothing, anonymous", Request: post("", "/images", object{}), Status: 400, Code: "rest_missing_callback_param", Check: namesExactly("file")},
			{Name: "file of another name", Request: uploadField("author", "image", "a.png", picture(t, 2, 2)), Status: 400, Code: "rest_missing_callback_param", Check: namesExactly("file")},
			{Name: "file that is text", Request: post("author", "/images", object{"file": "a.png"}), Status: 400, Code: "rest_invalid_param", Check: namesExactly("file")},
			{Name: "file that is not multipart", Request: apitest.Request{Method: "POST", As: "author", Path: "/images", Form: "file=x"}, Status: 400, Check: namesExactly("file")},
			{Name: "not a picture", Request: upload("author", "a.png", []byte("<svg xmlns='http://www.w3.org/2000/svg'/>")), Status: 400, Check: namesExactly("file image-not-usable")},
			{Name: "empty", Request: upload("author", "a.png", nil), Status: 400, Check: namesExactly("file image-not-usable")},
			{Name: "cut short", Request: upload("author", "a.png", cut), Status: 400, Check: namesExactly("file image-not-usable")},
			{Name: "above 10 MiB", Request: upload("author", "a.png", large), Status: 400, Check: namesExactly("file image-not-usable")},
			{Name: "anonymous", Request: upload("", "a.png", picture(t, 2, 2)), Status: 401, Code: "rest_forbidden"},
			{
				Name: "no boundary", Request: apitest.Request{Method: "POST", As: "author", Path: "/images", JSON: "x", Header: map[string]string{"Content-Type": "multipart/form-data"}},
				Status: 400, Code: "rest_invalid_json",
			},
			{Name: "no update", Request: patch("author", "/images/{poster}", object{}), Status: 404, Code: "rest_no_route", Check: header("Allow", "GET, DELETE, HEAD, OPTIONS")},
			{Name: "unknown", Request: get("/images/999999"), Status: 404, Code: "image-not-found"},
			{Name: "a venue is no image", Request: get("/images/10"), Status: 404, Code: "image-not-found"},
		})
		if got := pictureRows(t, e.API); got != 1 {
			t.Errorf("%d images, want that of the example", got)
		}
	})
}

func TestImagesOfLinkedRecords(t *testing.T) {
	source := pictures(t)
	eachLinkedTest(t, func(t *testing.T, e *linkedTest) {
		large := e.mustSucceed(t, upload("author", "own.png", picture(t, 400, 400)))
		own := int64(large.Get(t, "id").(float64))
		update := func(v any) apitest.Request { return patch("admin", e.path(e.example), object{"image": v}) }
		shows := func(id any) func(*testing.T, apitest.Response) {
			if id == nil {
				return e.keeps(object{"image": nil})
			}
			return e.keeps(object{"image.id": id})
		}
		draft := e.add(t, "contributor", "Draft", nil)
		var cases []apitest.Case
		for i, none := range []any{nil, "", false, 0, "0"} {
			cases = append(cases,
				apitest.Case{Name: fmt.Sprintf("id %d", i), Request: update(own), Status: 200, Check: shows(own)},
				apitest.Case{Name: "not sent", Request: patch("admin", e.path(e.example), object{}), Status: 200, Check: shows(own)},
				apitest.Case{Name: fmt.Sprintf("cleared by %v", none), Request: update(none), Status: 200, Check: shows(nil)},
				apitest.Case{Name: fmt.Sprintf("created with %v", none), Request: post("admin", e.collection, e.named(fmt.Sprint("None ", i), object{"image": none})), Status: 201, Check: shows(nil)},
			)
		}
		e.Run(t, append(cases, []apitest.Case{
			{Name: "digits", Request: update("14"), Status: 200, Check: shows(14)},
			{Name: "own address", Request: update(large.Get(t, "url")), Status: 200, Check: shows(own)},
			{Name: "own address of a size", Request: update(large.Get(t, "sizes", "medium", "url")), Status: 200, Check: shows(own)},
			{Name: "own address with a query", Request: update(apitest.BaseURL + "/media/2026/11/pic.png?v=1#x"), Status: 200, Check: shows(14)},
			{Name: "own address of nothing", Request: update(apitest.BaseURL + "/media/2026/11/pic-9x9.png"), Status: 400, Check: namesExactly("image image-not-usable")},
			{Name: "own address, by a contributor", Request: patch("contributor", e.path(draft), object{"image": large.Get(t, "url")}), Status: 200, Check: shows(own)},
			{Name: "other address, by a contributor", Request: patch("contributor", e.path(draft), object{"image": source + "/ok.png"}), Status: 400, Check: namesExactly("image upload-not-allowed")},
			{Name: "a refused address changes nothing", Request: apitest.Request{As: "contributor", Path: e.path(draft)}, Status: 200, Check: shows(own)},
			{
				Name: "other address", Request: post("author", e.collection, e.named("Seen", object{"image": source + "/ok.png"})), Status: 201,
				Check: e.keeps(object{"image.width": 4, "image.url": apitest.BaseURL + "/media/2026/11/ok.png"}),
			},
			{Name: "unknown id", Request: update(999999), Status: 400, Check: namesExactly("image unknown-ids")},
			{Name: "id of another kind", Request: update(e.example), Status: 400, Check: namesExactly("image unknown-ids")},
			{Name: "text", Request: update("pic.png"), Status: 400, Check: namesExactly("image")},
			{Name: "not a picture", Request: update(source + "/text.png"), Status: 400, Check: namesExactly("image image-not-usable")},
			{Name: "permission before the download", Request: patch("contributor", e.path(e.example), object{"image": source + "/ok.png"}), Status: 403, Code: "rest_forbidden"},
		}...))
	})
}

// TestRefusedWritesLeaveNoImage downloads an image for a write that is refused afterwards.
func TestRefusedWritesLeaveNoImage(t *testing.T) {
	source := pictures(t)
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		rows := pictureRows(t, e.API)
		image := source + "/ok.png"
		e.Run(t, []apitest.Case{
			{Name: "half a pair of coordinates", Request: post("author", "/venues", object{"venue": "X", "image": image, "geo_lat": 1}), Status: 400, Check: namesExactly("geo_lng")},
			{Name: "end before the stored start", Request: patch("admin", "/events/{jazzNight}", object{"image": image, "end_date": "2020-01-01"}), Status: 400, Check: namesExactly("end_date end-before-start")},
			{Name: "second image", Request: post("author", "/events", concert(object{"image": image, "venue": object{"venue": "X", "image": source + "/no.png"}})), Status: 400},
		})
		if got := pictureRows(t, e.API); got != rows {
			t.Errorf("%d images are left", got-rows)
		}
		if r := e.Do(t, apitest.Request{Absolute: true, Path: "/media/2026/11/ok.png"}); r.Status != 404 {
			t.Errorf("its file is left: %d", r.Status)
		}
	})
}

func TestListOfImages(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		var ids []int64
		for range 3 {
			ids = append(ids, addImage(t, e.API, nil))
		}
		list := func(query string) apitest.Request { return apitest.Request{As: "author", Path: "/images" + query} }
		e.Run(t, []apitest.Case{
			{Name: "newest first", Request: list(""), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{
					"total": 4, "total_pages": 1, "images.0.id": ids[2], "images.1.id": ids[1], "images.2.id": ids[0], "images.3.id": 14,
					"rest_url": apitest.BaseURL + "/cal/events/v1/images/", "next_rest_url": nil,
				})
				header("X-TEC-Total", "4")(t, r)
			}},
			{Name: "page", Request: list("?per_page=3&page=2"), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{
					"total": 4, "total_pages": 2, "images.0.id": 14, "images.1": nil,
					"rest_url":          apitest.BaseURL + "/cal/events/v1/images/?per_page=3&page=2",
					"previous_rest_url": apitest.BaseURL + "/cal/events/v1/images/?per_page=3",
				})
			}},
			{Name: "past the end", Request: list("?per_page=3&page=9"), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{"images": []any{}, "total": 4, "previous_rest_url": apitest.BaseURL + "/cal/events/v1/images/?per_page=3&page=8"})
			}},
			{Name: "wrong page", Request: list("?page=0"), Status: 400, Check: namesExactly("page rest_out_of_bounds")},
			{Name: "invalid before permission", Request: get("/images?page=x"), Status: 400, Check: namesExactly("page rest_invalid_type")},
			{Name: "anonymous", Request: get("/images"), Status: 401, Code: "rest_forbidden"},
		})
	})
}

func TestDeletedImage(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		r := e.mustSucceed(t, upload("author", "own.png", picture(t, 400, 400)))
		id := int64(r.Get(t, "id").(float64))
		event := e.mustCreate(t, "admin", object{"image": id})
		venue := e.mustPost(t, "admin", "/venues", object{"venue": "Seen", "image": id})
		organizer := e.mustPost(t, "admin", "/organizers", object{"organizer": "Seen", "image": id})
		files := []any{r.Get(t, "url"), r.Get(t, "sizes", "thumbnail", "url"), r.Get(t, "sizes", "medium", "url")}
		e.Run(t, []apitest.Case{
			{Name: "contributor", Request: remove("contributor", imagePath(id)), Status: 403, Code: "rest_forbidden"},
			{Name: "another's", Request: remove("author", "/images/{poster}"), Status: 403, Code: "rest_forbidden"},
			{Name: "own", Request: remove("author", imagePath(id)), Status: 200, Check: func(t *testing.T, got apitest.Response) {
				if string(got.Body) != string(r.Body) {
					t.Errorf("got %s, want %s", got.Body, r.Body)
				}
			}},
			{Name: "again", Request: remove("author", imagePath(id)), Status: 404, Code: "image-not-found"},
			{Name: "reading it", Request: get(imagePath(id)), Status: 404, Code: "image-not-found"},
			{Name: "using it", Request: patch("admin", "/events/{jazzNight}", object{"image": id}), Status: 400, Check: namesExactly("image unknown-ids")},
			{Name: "another's, by an editor", Request: remove("editor", "/images/{poster}"), Status: 200},
			{Name: "the event that showed it", Request: get("/events/{jazzNight}"), Status: 200, Check: func(t *testing.T, r apitest.Response) { hasValues(t, r, object{"image": false}) }},
		})
		e.isStored(t, event, object{"image": false, "modified": "2026-11-21 12:00:00"})
		hasValues(t, e.mustSucceed(t, get(fmt.Sprintf("/venues/%d", venue))), object{"image": nil})
		hasValues(t, e.mustSucceed(t, get(fmt.Sprintf("/organizers/%d", organizer))), object{"image": nil})
		for _, address := range files {
			if r := e.Do(t, apitest.Request{Absolute: true, Path: mediaPath(t, address)}); r.Status != 404 {
				t.Errorf("%v is still there: %d", address, r.Status)
			}
		}
	})
}

func TestFilesAreServed(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		r := e.mustSucceed(t, upload("author", "own.png", picture(t, 2, 2)))
		path := mediaPath(t, r.Get(t, "url"))
		file := func(method, path string, header map[string]string) apitest.Request {
			return apitest.Request{Absolute: true, Method: method, Path: path, Header: header}
		}
		etag := e.mustSucceed(t, file("GET", path, nil)).Header.Get("ETag")
		e.Run(t, []apitest.Case{
			{Name: "unchanged", Request: file("GET", path, map[string]string{"If-None-Match": etag}), Status: 304},
			{Name: "HEAD", Request: file("HEAD", path, nil), Status: 200, Check: header("Content-Type", "image/png")},
			{Name: "not to be written", Request: file("POST", path, nil), Status: 404, Code: "rest_no_route"},
			{Name: "not to be deleted", Request: file("DELETE", path, nil), Status: 404, Code: "rest_no_route"},
			{Name: "unknown", Request: file("GET", "/media/2026/11/no.png", nil), Status: 404, Code: "rest_no_route"},
			{Name: "folder", Request: file("GET", "/media/2026/11/", nil), Status: 404, Code: "rest_no_route"},
			{Name: "outside", Request: file("GET", "/media/../test.db", nil), Status: 404, Code: "rest_no_route"},
			{Name: "outside, encoded", Request: file("GET", "/media/%2e%2e/test.db", nil), Status: 404, Code: "rest_no_route"},
			{Name: "NUL", Request: file("GET", "/media/%00", nil), Status: 404, Code: "rest_no_route"},
		})
	})
}
