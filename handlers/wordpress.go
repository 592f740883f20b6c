package handlers

import (
	"cmp"
	"net/http"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/jsonwrite"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
)

// WordPressRoot is the path of the WordPress REST root. Clients look for the namespaces of a site there.
const WordPressRoot = "/wp-json"

// wordPressNamespace is the namespace of WordPress's own routes. The index of the root does not list it, because
// clients would then expect all of its routes.
const wordPressNamespace = "wp/v2"

// wordPressMedia is the path of images below WordPressRoot.
const wordPressMedia = wordPressNamespace + "/media"

// wordPressRoutes returns the routes of WordPress that clients of events use. Their paths are below WordPressRoot.
func wordPressRoutes(h *Handlers) []*endpoint.Pattern {
	ok := http.StatusOK
	return []*endpoint.Pattern{
		endpoint.NewPattern("/", readFor(h, "Index of the service", endpoint.MethodsRead, ok, (*request).declareRootIndex, (*request).getRootIndex)),
		endpoint.NewPattern("/"+wordPressNamespace+"/users/me",
			readFor(h, "Read the signed-in user", endpoint.MethodsRead, ok, (*request).declareRootIndex, (*request).getSignedIn)),
		endpoint.NewPattern("/"+wordPressMedia,
			writeFor(h, "Upload an image", endpoint.MethodsCreate, http.StatusCreated, (*writing).declareImageCreate, (*writing).createImage).TakingFiles().TakingRawFiles(),
		).Showing(calendar.Image),
		endpoint.NewPattern("/"+wordPressMedia+"/{id}",
			readFor(h, "Read an image", endpoint.MethodsRead, ok, byID("the image"), (*request).getImage),
			writeFor(h, "Update an image", endpoint.MethodsUpdate, ok, declareImageWrite, (*writing).updateAttachment),
			writeFor(h, "Delete an image", endpoint.MethodsDelete, ok, (*writing).declareAttachmentDelete, (*writing).deleteAttachment),
		).Showing(calendar.Image),
	}
}

// isWordPress reports whether WordPress itself has the routes below a root. A mount may have the same path.
func (h *Handlers) isWordPress(root read.Root) bool {
	return h.wordPress != nil && root.Mount == WordPressRoot
}

func (r *request) isWordPress() bool { return r.h.isWordPress(r.Root) }

// signedInUser is the JSON of a user in the REST API of WordPress.
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

// getSignedIn answers GET /wp/v2/users/me with the user of the credentials. Clients call it to test their
// credentials.
func (r *request) getSignedIn(*indexQuery) (*endpoint.Reply, error) {
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
	return &endpoint.Reply{Status: http.StatusOK, Body: &signedInUser{
		ID: row.ID, Name: cmp.Or(row.Name, row.Login), Link: r.Site.BaseURL + r.SegmentOf(r.Language) + "/",
		Slug: cmp.Or(calendar.Slug(row.Login), row.Login), Roles: []calendar.Role{row.Role},
		Capabilities: capabilities(r.Caller), Meta: []string{},
	}}, nil
}

// capabilities returns what the caller may do, under WordPress's names for capabilities.
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

// imageBody returns the representation of an image, in WordPress's form on routes of WordPress.
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

// updateAttachment answers an update of an image. Images have no texts, so nothing changes. It exists for clients
// that set the alternative text after an upload and would fail without a reply.
func (r *writing) updateAttachment(q *target) (*endpoint.Reply, error) {
	row, err := r.imageForWrite(q.ID)
	if err != nil {
		return nil, err
	}
	if !r.Call.Precondition.Met(calendar.Version{All: row.Version}) {
		return nil, edit.PreconditionFailed()
	}
	return &endpoint.Reply{Status: http.StatusOK, Body: r.imageBody(row), Version: calendar.ShownVersion{Number: row.Version}}, nil
}

// attachmentTarget is the input for deleting an image: its id, and force.
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

// deleteAttachment answers DELETE /wp/v2/media/{id} with the body of WordPress: deleted, and the previous image.
func (r *writing) deleteAttachment(q *attachmentTarget) (*endpoint.Reply, error) {
	rep, err := r.deleteImage(&q.target)
	if err != nil {
		return nil, err
	}
	rep.Body = jsonwrite.Object{{"deleted", true}, {"previous", rep.Body}}
	return rep, nil
}
