package handlers

import (
	"context"
	"errors"
	"io"
	"mime/multipart"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/represent"
)

// notUsable returns the parameter error for an image that cannot be found, read, downloaded or decoded. The cause err
// is for the log.
func notUsable(name string, err error) error {
	return &pictureError{param.Fault{
		Param: name, Reason: "image-not-usable", Key: "image-not-usable", Data: map[string]any{},
	}, err}
}

// pictureError is a parameter error about a picture, with its cause for the log.
type pictureError struct {
	fault param.Fault
	cause error
}

func (e *pictureError) Error() string { return e.fault.Param + ": " + e.cause.Error() }

// Unwrap returns the parameter error for the client, and its cause.
func (e *pictureError) Unwrap() []error {
	return []error{param.Invalid{Faults: []param.Fault{e.fault}}, e.cause}
}

func mayNotUpload(name string) error {
	return param.Invalid{Faults: []param.Fault{{
		Param: name, Reason: "upload-not-allowed", Key: "upload-not-allowed", Data: map[string]any{},
	}}}
}

// resolvePictures turns the image URLs of an event, and of its inline venues and organizers, into image ids.
func (r *writing) resolvePictures(in *eventInput) error {
	if err := r.resolvePicture(in.Image, &in.ImageID); err != nil {
		return err
	}
	for _, v := range in.venues {
		if err := r.resolvePicture(v.Image, &v.ImageID); err != nil {
			return linkedPicture("venue", v.place, err)
		}
	}
	for _, o := range in.organizers {
		if err := r.resolvePicture(o.Image, &o.ImageID); err != nil {
			return linkedPicture("organizer", o.place, err)
		}
	}
	return nil
}

// linkedPicture turns the error about an inline venue's or organizer's image into an error about the event's
// parameter.
func linkedPicture(name string, place int, err error) error {
	var invalid param.Invalid
	if !errors.As(err, &invalid) {
		return err
	}
	return &pictureError{*edit.InvalidLinked(name, place, invalid.Faults), err}
}

// resolvePicture stores the id of a sent image in id. A URL below /media/ of this service names an existing
// image. An image at another URL is downloaded if the caller may upload.
func (r *writing) resolvePicture(p *picture, id **int64) error {
	if p == nil {
		return nil
	}
	if p.url == "" {
		*id = &p.id
		return nil
	}
	own, err := r.ownPicture(p.url)
	if err != nil {
		return err
	}
	if own == 0 {
		if !auth.May(r.Caller, auth.Upload, auth.Record{Kind: calendar.Image}) {
			return mayNotUpload("image")
		}
		// If the precondition of the write has failed already, there is no need to download.
		if r.changes.All != 0 && !r.Call.Precondition.Met(r.changes) {
			return edit.PreconditionFailed()
		}
		row, err := r.fetchPicture("image", p.url)
		if err != nil {
			return err
		}
		r.fetched = append(r.fetched, row)
		own = row.ID
	}
	*id = &own
	return nil
}

// dropPictures removes images that were downloaded for a write that failed.
func (r *writing) dropPictures() error {
	var errs []error
	// The images must be removed even if the deadline of the request has passed.
	ctx := context.WithoutCancel(r.Ctx)
	for _, row := range r.fetched {
		errs = append(errs, r.removePicture(ctx, row, calendar.Precondition{}))
	}
	return errors.Join(errs...)
}

// removePicture deletes an image, first its row and then its files, so that no record shows a missing file. The
// argument expect is the precondition on the row's version.
func (r *writing) removePicture(ctx context.Context, row *ent.Image, expect calendar.Precondition) error {
	err := r.commit(ctx, expect, func(tx *entTx, e *edit.Editor) error { return e.DeleteImage(ctx, tx, row) })
	if err != nil {
		return err
	}
	return media.Remove(ctx, r.h.Files, media.Image{Path: row.Path, Sizes: row.Sizes})
}

// ownPicture returns the id of the image whose file, or scaled size, has a URL of this service. It returns 0 for
// other URLs. It returns an error for a path below /media/ that no image has.
func (r *writing) ownPicture(address string) (int64, error) {
	path, ok := strings.CutPrefix(address, r.Site.BaseURL+represent.MediaPath)
	if !ok {
		return 0, nil
	}
	if at := strings.IndexAny(path, "?#"); at >= 0 {
		path = path[:at]
	}
	id, err := r.DB.Image.Query().Where(image.Path(path)).FirstID(r.Ctx)
	if !ent.IsNotFound(err) {
		return id, err
	}
	if stem, ok := sizeOf(path); ok {
		// A scaled size may have another file extension than the picture.
		rows, err := r.DB.Image.Query().Where(image.PathHasPrefix(stem + ".")).All(r.Ctx)
		if err != nil {
			return 0, err
		}
		for _, row := range rows {
			for _, size := range row.Sizes {
				if size.Path == path {
					return row.ID, nil
				}
			}
		}
	}
	return 0, notUsable("image", errors.New("no image of ours has the path"))
}

// sizeOf removes the size suffix from the path of a scaled picture: 2026/11/pic for 2026/11/pic-150x150.png. ok is
// false if the path has no such suffix.
func sizeOf(path string) (stem string, ok bool) {
	dash := strings.LastIndexByte(path, '-')
	if dash < 0 {
		return "", false
	}
	size, _, ok := strings.Cut(path[dash+1:], ".")
	if !ok || size == "" || strings.Trim(size, "0123456789x") != "" {
		return "", false
	}
	return path[:dash], true
}

// waitForMedia waits for a slot to decode or download pictures. Both take long and must not block other requests.
func (r *writing) waitForMedia() error {
	if r.Call.EnterMedia == nil {
		return nil
	}
	return r.Call.EnterMedia()
}

// fetchPicture downloads an image and stores it. Errors refer to the parameter name.
func (r *writing) fetchPicture(name, address string) (*ent.Image, error) {
	if err := r.waitForMedia(); err != nil {
		return nil, err
	}
	file, data, err := r.h.Fetcher.Fetch(r.Ctx, address)
	if err != nil {
		return nil, pictureFault(name, err)
	}
	return r.storePicture(name, file, data, address)
}

// pictureFault converts an error about an unusable picture into an error about the parameter name. It returns other
// errors unchanged.
func pictureFault(name string, err error) error {
	if errors.Is(err, media.ErrUnusable) {
		return notUsable(name, err)
	}
	return err
}

// storePicture stores the files of a picture, then its row, and returns the row. If the row cannot be stored, it
// removes the files. Errors refer to the parameter name.
func (r *writing) storePicture(name, file string, data []byte, source string) (*ent.Image, error) {
	release, err := r.h.pictures.acquire(r.Ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	img, err := media.Save(r.Ctx, r.h.Decoding, r.h.Files, file, data, r.Now.In(r.Site.Zone.Location()))
	if err != nil {
		return nil, pictureFault(name, err)
	}
	var row *ent.Image
	err = r.commit(r.Ctx, calendar.Precondition{}, func(tx *entTx, e *edit.Editor) error {
		row, err = e.CreateImage(r.Ctx, tx, func(c *ent.ImageCreate) {
			c.SetPath(img.Path).SetSourceURL(source).SetExtension(img.Extension).SetMimeType(img.MIMEType).
				SetWidth(img.Width).SetHeight(img.Height).SetFilesize(img.Filesize).SetSizes(img.Sizes)
		})
		if err == nil && r.Match.Upload() {
			err = r.recordWrite(tx, row.ID)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, media.Remove(context.WithoutCancel(r.Ctx), r.h.Files, img))
	}
	return row, nil
}

// decodeSlots limits how many pictures are decoded at once, because a large picture takes much memory.
type decodeSlots chan struct{}

func (t decodeSlots) acquire(ctx context.Context) (release func(), err error) {
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// imageInput is the input of POST /images: a file, or the URL of one.
type imageInput struct {
	file *endpoint.SentFile
	URL  *string
}

func (r *writing) declareImageCreate(p *param.Set, in *imageInput) {
	param.Var(p, &in.file, "file", "Image file, multipart", "string",
		func(raw any) (*endpoint.SentFile, *param.Fault) {
			switch f := raw.(type) {
			case *multipart.FileHeader:
				return &endpoint.SentFile{Name: f.Filename, Read: func() ([]byte, error) { return readUpload(f) }}, nil
			case *endpoint.SentFile:
				return f, nil
			}
			return nil, param.Bad()
		}).Format = "binary"
	param.Opt(p, &in.URL, "url", "Address of an image to fetch", "string", func(raw any) (string, *param.Fault) {
		text, fault := param.String(raw)
		if fault == nil && !isWebAddress(text) {
			return "", param.Bad()
		}
		return text, fault
	})
	read.DeclareLanguage(p)
}

// createImage answers POST /images.
func (r *writing) createImage(in *imageInput) (*endpoint.Reply, error) {
	if in.file == nil && in.URL == nil {
		return nil, param.Missing{Names: []string{"file"}}
	}
	if !auth.May(r.Caller, auth.Upload, auth.Record{Kind: calendar.Image}) {
		return nil, edit.Forbidden()
	}
	row, err := r.takePicture(in)
	if err != nil {
		return nil, err
	}
	return r.createdReply(calendar.Image, row.ID, calendar.ShownVersion{Number: row.Version}, r.imageBody(row)), nil
}

func (r *writing) takePicture(in *imageInput) (*ent.Image, error) {
	if in.file == nil {
		return r.fetchPicture("url", *in.URL)
	}
	if err := r.waitForMedia(); err != nil {
		return nil, err
	}
	data, err := in.file.Read()
	if err != nil {
		return nil, notUsable("file", err)
	}
	return r.storePicture("file", in.file.Name, data, "")
}

func readUpload(h *multipart.FileHeader) (data []byte, err error) {
	if h.Size > media.MaxBytes {
		return nil, media.ErrTooLarge
	}
	f, err := h.Open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(f)
}

// deleteImage answers DELETE /images/{id}. It deletes the files, and records that showed the image show none.
func (r *writing) deleteImage(q *target) (*endpoint.Reply, error) {
	row, err := r.imageForWrite(q.ID)
	if err != nil {
		return nil, err
	}
	body := r.imageBody(row)
	if err := r.removePicture(r.Ctx, row, r.Call.Precondition); err != nil {
		return nil, err
	}
	return &endpoint.Reply{Status: 200, Body: body}, nil
}

// imageForWrite finds an image and checks that the caller may delete it.
func (r *writing) imageForWrite(id int64) (*ent.Image, error) {
	row, err := r.DB.Image.Get(r.Ctx, id)
	if err != nil && !ent.IsNotFound(err) {
		return nil, err
	}
	unknown := err != nil
	rec := auth.Record{Kind: calendar.Image}
	if unknown {
		// A caller needs the general right to upload to learn that the image does not exist.
		if !auth.May(r.Caller, auth.Upload, rec) {
			return nil, edit.Forbidden()
		}
		return nil, r.noImage()
	}
	if row.AuthorID != nil {
		rec.AuthorID = *row.AuthorID
	}
	if !auth.May(r.Caller, auth.DeleteImage, rec) {
		return nil, edit.Forbidden()
	}
	return row, nil
}

// declareImageWrite registers the id of an image in the path of an update or delete.
func declareImageWrite(r *writing, p *param.Set, q *target) { byID("the image")(r.request, p, q) }

// picture is an image as the client sent it: an id, or a URL to look up or download.
type picture struct {
	id  int64 // id of the image; 0 without url means no image
	url string
}

// image registers the request field image, with its checks. If empty is true, "" is allowed and means no image.
func (f fields) image(dst **picture, description string, empty bool) *param.Param {
	p := param.Opt(f.p, dst, "image", description, "string", func(raw any) (picture, *param.Fault) {
		switch v := param.LastValue(raw).(type) {
		case nil:
			return picture{}, nil
		case bool:
			if v {
				return picture{}, &param.Fault{Key: "not-an-image"}
			}
			return picture{}, nil
		case string:
			if v == "" && empty {
				return picture{}, nil
			}
			if isWebAddress(v) {
				return picture{url: v}, nil
			}
		}
		id, fault := param.Integer(imageRef(raw))
		if fault != nil || id < 0 {
			return picture{}, &param.Fault{Key: "not-an-image"}
		}
		return picture{id: id}, nil
	})
	return f.nullClears(p).Check(func(ctx context.Context) *param.Fault {
		return read.ReferenceFault(f.r.Editor().ImageFault(ctx, f.r.DB, (*dst).id))
	})
}

// imageRef returns the id or URL of a sent image. If the client sends back a representation of an image, it returns
// the id in it.
func imageRef(raw any) any {
	if o, ok := param.LastValue(raw).(map[string]any); ok {
		return o["id"]
	}
	return raw
}
