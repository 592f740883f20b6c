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
	"github.com/almanac-cal/almanac/internal/apitest"
)

// picture is a PNG file of a size in pixels.
func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, width, height))
	img.SetGray(width/2, height/2, color.Gray{Y: 200})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pictures is the address of a web server that has pictures, and what goes wrong with pictures.
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

// upload is a multipart request with a file.
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

// addImage writes the row of an image without files.
func addImage(t *testing.T, api *apitest.API, author *int64) int64 {
	t.Helper()
	db := api.Store.Ent
	row, err := db.Record.Create().SetKind(calendar.Image).Save(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = db.Image.Create().SetID(row.ID).SetNillableAuthorID(author).SetPath(fmt.Sprintf("2026/11/row-%d.png", row.ID)).
		SetExtension("png").SetMimeType("image/png").SetWidth(2).SetHeight(2).SetFilesize(70).SetCreatedAt(apitest.Now).
		Exec(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return row.ID
}

// mediaPath is the path of one of our addresses, for a request.
func mediaPath(t *testing.T, address any) string {
	t.Helper()
	text, _ := address.(string)
	path, ok := strings.CutPrefix(text, apitest.BaseURL)
	if !ok {
		t.Fatalf("%v is no address of ours", address)
	}
	return path
}
