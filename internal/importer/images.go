package importer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/store"
)

// Pictures downloads images and stores their files.
type Pictures struct {
	Fetcher *media.Fetcher
	Files   media.Store
	// Decoding limits the memory for images that are decoded at the same time. Nil means no limit.
	Decoding *media.Budget
}

// images imports the images. It downloads them outside of transactions, which must not wait for other services.
func (r *importRun) images(ctx context.Context, items []*Image) error {
	for batch := range slices.Chunk(items, batchSize) {
		files, err := r.download(ctx, batch)
		if err == nil {
			err = syncRecords(ctx, r, calendar.Image, batch,
				func(ctx context.Context, db *ent.Client, items []*Image) ([]recordWrite, error) {
					return r.prepareImages(ctx, db, items, files)
				})
		}
		if err := errors.Join(err, r.discard(ctx, files)); err != nil {
			return err
		}
	}
	return nil
}

// imageFile is a downloaded image file. It may replace the file of a stored image.
type imageFile struct {
	media.Image
	before media.Image
}

// download fetches images that have no stored file or a changed URL, and returns their files by source id. In a dry run
// or without r.Pictures it fetches none. An unusable image becomes a Problem. A new image is then stored as a link, and
// a stored image keeps its file. Other failures are errors.
func (r *importRun) download(ctx context.Context, items []*Image) (map[string]*imageFile, error) {
	files := make(map[string]*imageFile)
	if r.Pictures == nil || r.DryRun {
		return files, nil
	}
	known, err := r.knownImages(ctx, r.DB, items)
	if err != nil {
		return nil, err
	}
	for _, i := range items {
		row := known[i.Key]
		if row != nil && row.Path != "" && row.SourceURL == i.URL {
			continue
		}
		name, data, err := r.Pictures.Fetcher.Fetch(ctx, i.URL)
		if err == nil {
			var saved media.Image
			if saved, err = media.Save(ctx, r.Pictures.Decoding, r.Pictures.Files, name, data, r.editor.Now); err == nil {
				files[i.Key] = &imageFile{Image: saved}
				if row != nil {
					files[i.Key].before = media.Image{Path: row.Path, Sizes: row.Sizes}
				}
				continue
			}
		}
		if !errors.Is(err, media.ErrUnusable) || ctx.Err() != nil {
			return files, fmt.Errorf("picture %s: %w", i.URL, err)
		}
		r.report.Problems = append(r.report.Problems, Problem{
			Where: i.Where, Reason: err.Error() + "; it stays a reference",
		})
	}
	return files, nil
}

// discard deletes files that no image uses after a batch: files of images that were not stored, and files that were
// replaced.
func (r *importRun) discard(ctx context.Context, files map[string]*imageFile) error {
	var errs []error
	for key, f := range files {
		unnamed := f.before
		if r.ids[key] == 0 {
			unnamed = f.Image
		}
		errs = append(errs, media.Remove(context.WithoutCancel(ctx), r.Pictures.Files, unnamed))
	}
	return errors.Join(errs...)
}

func (r *importRun) knownImages(ctx context.Context, db *ent.Client, items []*Image) (map[string]*ent.Image, error) {
	rows, err := db.Image.Query().Where(image.SourceIDIn(keysOf(items)...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("images by source: %w", err)
	}
	return bySource(rows, func(i *ent.Image) *string { return i.SourceID }), nil
}

// prepareImages compares images of the source with the stored ones, and returns the writes. A downloaded image never
// becomes a link again.
func (r *importRun) prepareImages(
	ctx context.Context, db *ent.Client, items []*Image, files map[string]*imageFile,
) ([]recordWrite, error) {
	known, err := r.knownImages(ctx, db, items)
	if err != nil {
		return nil, err
	}
	writes := make([]recordWrite, len(items))
	for n, i := range items {
		row, f := known[i.Key], files[i.Key]
		wanted := i.row()
		if f != nil {
			wanted = f.row(i.URL)
		}
		due := r.Pictures != nil && row != nil && (row.Path == "" || row.SourceURL != i.URL)
		switch {
		case row == nil:
			writes[n] = recordWrite{action: Create, do: r.createImage(i, wanted)}
		case f == nil && row.Path != "" && row.SourceURL != i.URL:
			writes[n] = recordWrite{action: Unchanged, id: row.ID, notice: "another picture now; download it with --images"}
		case f == nil && row.Path != "", f == nil && equalImages(row, wanted):
			writes[n] = recordWrite{action: Unchanged, id: row.ID}
		default:
			writes[n] = recordWrite{action: Update, id: row.ID, do: r.updateImage(row, wanted)}
		}
		if r.DryRun && due {
			writes[n] = recordWrite{action: Update, id: row.ID}
		}
	}
	return writes, nil
}

// row returns the database row of an image that is linked at another service, not downloaded.
func (i *Image) row() *ent.Image {
	return &ent.Image{
		SourceURL: i.URL, Extension: i.Extension, MimeType: i.MIMEType, Width: i.Width, Height: i.Height,
		Filesize: i.Filesize, Sizes: i.Sizes,
	}
}

// row returns the database row of a downloaded image. from is the image's URL at the source.
func (f *imageFile) row(from string) *ent.Image {
	return &ent.Image{
		Path: f.Path, SourceURL: from, Extension: f.Extension, MimeType: f.MIMEType, Width: f.Width,
		Height: f.Height, Filesize: f.Filesize, Sizes: f.Sizes,
	}
}

func equalImages(a, b *ent.Image) bool {
	return a.Path == b.Path && a.SourceURL == b.SourceURL && a.Extension == b.Extension &&
		a.MimeType == b.MimeType && a.Width == b.Width && a.Height == b.Height && a.Filesize == b.Filesize &&
		maps.Equal(a.Sizes, b.Sizes)
}

func (r *importRun) createImage(i *Image, row *ent.Image) func(context.Context, *ent.Tx) (int64, error) {
	return func(ctx context.Context, tx *ent.Tx) (int64, error) {
		made, err := r.editor.CreateImage(ctx, tx, func(c *ent.ImageCreate) {
			c.SetNillableAuthorID(r.author()).SetPath(row.Path).SetSourceURL(row.SourceURL).SetSourceID(i.Key).
				SetExtension(row.Extension).SetMimeType(row.MimeType).SetWidth(row.Width).SetHeight(row.Height).
				SetFilesize(row.Filesize).SetSizes(row.Sizes)
		})
		if err != nil {
			return 0, err
		}
		return made.ID, nil
	}
}

func (r *importRun) updateImage(old, row *ent.Image) func(context.Context, *ent.Tx) (int64, error) {
	return func(ctx context.Context, tx *ent.Tx) (int64, error) {
		there, err := r.editor.ReplaceImage(ctx, tx, old.ID, func(u *ent.ImageUpdate) {
			u.SetPath(row.Path).SetSourceURL(row.SourceURL).SetExtension(row.Extension).SetMimeType(row.MimeType).
				SetWidth(row.Width).SetHeight(row.Height).SetFilesize(row.Filesize).SetSizes(row.Sizes)
		})
		if err == nil && !there {
			err = fmt.Errorf("image %d: %w", old.ID, store.ErrConflict)
		}
		if err != nil {
			return 0, err
		}
		return old.ID, nil
	}
}
