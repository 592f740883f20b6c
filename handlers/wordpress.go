package handlers

import (
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
)

// WordPressRoot is the path of the WordPress REST root. Clients look for the namespaces of a site there.
const WordPressRoot = "/wp-json"

// wordPressNamespace is the namespace of the routes of WordPress itself. The root does not list it, because clients would
// look for all of its routes.
const wordPressNamespace = "wp/v2"

// wordPressMedia is the path of images below WordPressRoot.
const wordPressMedia = wordPressNamespace + "/media"

// wordPressRoutes returns the routes of WordPress that clients of events use. Their paths are below WordPressRoot.
func wordPressRoutes(h *Handlers) []*pattern {
	ok := http.StatusOK
	return []*pattern{
		newPattern("/", readFor(h, "Index of the service", methodsGet, ok, (*request).declareRootIndex, (*request).getRootIndex)),
		newPattern("/"+wordPressNamespace+"/users/me",
			readFor(h, "Read the signed-in user", methodsGet, ok, (*request).declareRootIndex, (*request).getSignedIn)),
		newPattern("/"+wordPressMedia,
			writeFor(h, "Upload an image", methodsCreate, http.StatusCreated, (*writing).declareImageCreate, (*writing).createImage).takingFiles().takingRawFiles(),
		).showing(calendar.Image),
		newPattern("/"+wordPressMedia+"/{id}",
			readFor(h, "Read an image", methodsGet, ok, byID("the image"), (*request).getImage),
			writeFor(h, "Update an image", methodsUpdate, ok, declareImageWrite, (*writing).updateAttachment),
			writeFor(h, "Delete an image", methodsDelete, ok, (*writing).declareAttachmentDelete, (*writing).deleteAttachment),
		).showing(calendar.Image),
	}
}

// isWordPress reports whether a root is that of routes of WordPress itself. A mount may have the same path.
func (h *Handlers) isWordPress(root read.Root) bool {
	return h.wordPress != nil && root.Mount == WordPressRoot
}

func (r *request) isWordPress() bool { return r.h.isWordPress(r.Root) }

// signedInUser is the user of a request in the shape of WordPress.
type signedInUser struct {
	ID           int64           `json:"id"`
	Name         string          `json:"name"`
	URL          string          `json:"url"`
	Description  string          `json:"description"`
	Link         string          `json:"link"`
	Slug         string          `json:"slug"`
	Roles        []calendar.Role `json:"roles"`
	Capabilities map[string]bool `json:"capabilities"`
	Meta         []string        `json:"meta"`
}

// getSignedIn answers with the user of the credentials. Clients test with it whether their credentials work.
func (r *request) getSignedIn(*indexQuery) (*Reply, error) {
	if r.Caller.UserID == 0 {
		return nil, &calendar.Error{Code: "rest_not_logged_in", Key: "rest_not_logged_in"}
	}
	row, err := r.Primary.User.Get(r.Ctx, r.Caller.UserID)
	if ent.IsNotFound(err) { // credentials are cached for some seconds
		return nil, &calendar.Error{Code: "rest_invalid_token", Key: "rest_invalid_token", Err: err}
	}
	if err != nil {
		return nil, err
	}
	return &Reply{status: http.StatusOK, body: &signedInUser{
		ID: row.ID, Name: firstText(row.Name, row.Login), Link: r.Site.BaseURL + r.SegmentOf(r.Language) + "/",
		Slug: firstText(calendar.Slug(row.Login), row.Login), Roles: []calendar.Role{row.Role},
		Capabilities: capabilities(r.Caller), Meta: []string{},
	}}, nil
}

// capabilities returns what the caller may do, in the words of WordPress.
func capabilities(caller auth.Principal) map[string]bool {
	own := auth.Record{Kind: calendar.Event, AuthorID: caller.UserID, Status: calendar.Draft}
	published := auth.Record{Kind: calendar.Event, AuthorID: caller.UserID, Status: calendar.Publish}
	others := auth.Record{Kind: calendar.Event, Status: calendar.Publish}
	out := map[string]bool{"read": true}
	for _, one := range []struct {
		operation auth.Operation
		record    auth.Record
		names     []string
	}{
		{auth.Create, own, []string{"edit_posts", "edit_tribe_events"}},
		{auth.Publish, published, []string{"publish_posts", "publish_tribe_events"}},
		{auth.Delete, own, []string{"delete_posts", "delete_tribe_events"}},
		{auth.Edit, others, []string{"edit_others_posts", "edit_others_tribe_events"}},
		{auth.Upload, auth.Record{Kind: calendar.Image}, []string{"upload_files"}},
		{auth.ManageTerms, auth.Record{Kind: calendar.Category}, []string{"manage_categories"}},
	} {
		for _, name := range one.names {
			if auth.May(caller, one.operation, one.record) {
				out[name] = true
			}
		}
	}
	return out
}

// imageBody returns the representation of an image that the routes of the request have.
func (r *request) imageBody(row *ent.Image) any {
	if r.isWordPress() {
		return r.View().Attachment(row)
	}
	return r.View().Image(row)
}

// noImage returns the error for an id that no image has.
func (r *request) noImage() error {
	if r.isWordPress() {
		return &calendar.Error{Code: "rest_post_invalid_id", Key: "image-not-found"}
	}
	return &calendar.Error{Code: "image-not-found", Key: "image-not-found"}
}

// updateAttachment answers an update of an image. Images have no texts, so nothing changes. Clients that set the alternative
// text after an upload go on.
func (r *writing) updateAttachment(q *target) (*Reply, error) {
	row, err := r.imageForWrite(q.ID)
	if err != nil {
		return nil, err
	}
	if !r.Call.Expect.Met(calendar.Version{All: row.Version}) {
		return nil, edit.PreconditionFailed()
	}
	return &Reply{status: http.StatusOK, body: r.imageBody(row), version: calendar.ShownVersion{Number: row.Version}}, nil
}

// attachmentTarget names an image to delete.
type attachmentTarget struct {
	target
	Force bool
}

func (r *writing) declareAttachmentDelete(p *param.Set, q *attachmentTarget) {
	declareImageWrite(r, p, &q.target)
	param.Var(p, &q.Force, "force", "Delete for good, as images have no trash", "boolean", func(raw any) (bool, *param.Fault) {
		force, fault := param.Boolean(raw)
		if fault == nil && !force {
			return false, param.Bad()
		}
		return force, fault
	}).Required()
}

// deleteAttachment answers a deletion as WordPress does.
func (r *writing) deleteAttachment(q *attachmentTarget) (*Reply, error) {
	rep, err := r.deleteImage(&q.target)
	if err != nil {
		return nil, err
	}
	rep.body = ordered{{"deleted", true}, {"previous", rep.body}}
	return rep, nil
}

// rawFile returns the body of a request as a file, if its content type is that of a file. Clients of WordPress name the file in
// Content-Disposition.
func rawFile(c *fiber.Ctx) *sentFile {
	kind, _, _ := mime.ParseMediaType(strings.Clone(c.Get(fiber.HeaderContentType)))
	if !strings.HasPrefix(kind, "image/") && kind != fiber.MIMEOctetStream || len(c.BodyRaw()) == 0 {
		return nil
	}
	body := c.BodyRaw()
	return &sentFile{dispositionName(strings.Clone(c.Get(fiber.HeaderContentDisposition))), func() ([]byte, error) { return body, nil }}
}

// dispositionName returns the file name of a Content-Disposition header, without folders. It is "image" if there is none.
func dispositionName(header string) string {
	_, params, err := mime.ParseMediaType(header)
	if err != nil {
		// Some clients leave out the word before the name.
		_, params, _ = mime.ParseMediaType("attachment; " + header)
	}
	name := path.Base(strings.ReplaceAll(params["filename"], `\`, "/"))
	if name == "." || name == "/" {
		return "image"
	}
	return name
}
