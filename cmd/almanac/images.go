package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
)

type imagesCmds struct {
	Clean imagesCleanCmd `cmd:"" help:"Remove metadata from stored images, and create missing sizes."`
}

// imagesCleanCmd cleans image files that earlier versions published as uploaded. It also makes the scaled sizes
// that these versions did not make.
type imagesCleanCmd struct {
	database    `group:"Database:"`
	siteFlags   `group:"Site:"`
	Media       string `default:"almanac-media" type:"path" placeholder:"DIR" help:"Folder of the images. Default ${default}."`
	MaxDecoding string `default:"512MiB" placeholder:"SIZE" help:"Memory for a picture that must be rotated. 0 means no limit. Default ${default}."`
}

// cleanBatch is the number of rows that one statement reads.
const cleanBatch = 100

// Run cleans one image after the other. The service may run meanwhile. After an interruption, another run checks all
// images from the first, and leaves clean ones unchanged.
func (c imagesCleanCmd) Run(ctx context.Context, s streams) error {
	source, err := c.source()
	if err != nil {
		return err
	}
	most, err := parseMemory("max-decoding", c.MaxDecoding)
	if err != nil {
		return usageError{err}
	}
	return c.withExisting(ctx, func(st *store.Store) (err error) {
		if err := migrate.CheckCurrent(ctx, st); err != nil {
			return err
		}
		_, site, err := source.load(ctx, st.Ent)
		if err != nil {
			return err
		}
		files, err := media.OpenDir(c.Media)
		if err != nil {
			return fmt.Errorf("--media: %w", err)
		}
		defer func() { err = errors.Join(err, files.Close()) }()
		e := &edit.Editor{Site: site, Now: clockNow(), By: auth.System()}
		cleaner := imageCleaner{db: st.Ent, editor: e, files: files, budget: media.NewBudget(most), progress: s}
		return cleaner.run(ctx)
	})
}

// imageCleaner cleans all images of a calendar and counts them.
type imageCleaner struct {
	db       *ent.Client
	editor   *edit.Editor
	files    media.Store
	budget   *media.Budget
	progress streams

	seen, cleaned, failed int
}

func (c *imageCleaner) run(ctx context.Context) error {
	for last := int64(0); ; {
		rows, err := c.db.Image.Query().Where(image.IDGT(last), image.PathNEQ("")).Order(ent.Asc(image.FieldID)).
			Limit(cleanBatch).All(ctx)
		if err != nil {
			return fmt.Errorf("images: %w", err)
		}
		for _, row := range rows {
			if err := c.cleanImage(ctx, row); err != nil {
				return fmt.Errorf("image %d: %w", row.ID, err)
			}
			last = row.ID
		}
		if len(rows) < cleanBatch {
			break
		}
	}
	fmt.Fprintf(c.progress.Out, "%d images, %d cleaned\n", c.seen, c.cleaned)
	if c.failed > 0 {
		return fmt.Errorf("%d images are not cleaned", c.failed)
	}
	return nil
}

// cleanImage cleans one image. If its file is missing or not a usable picture, it reports that and returns nil, so
// that other images are cleaned.
func (c *imageCleaner) cleanImage(ctx context.Context, row *ent.Image) error {
	c.seen++
	old := media.Image{
		Path: row.Path, Extension: row.Extension, MIMEType: row.MimeType, Width: row.Width, Height: row.Height,
		Filesize: row.Filesize, Sizes: row.Sizes,
	}
	img, err := media.Clean(ctx, c.budget, c.files, old)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, media.ErrUnusable) {
		c.failed++
		fmt.Fprintf(c.progress.Err, "image %d: %s: %v\n", row.ID, row.Path, err)
		return nil
	}
	if err != nil {
		return err
	}
	if img.Path == old.Path && img.Filesize == old.Filesize && maps.Equal(img.Sizes, old.Sizes) {
		return nil
	}
	there := false
	err = edit.Write(ctx, c.db, c.editor, func(tx *ent.Tx) (err error) {
		there, err = c.editor.ReplaceImage(ctx, tx, row.ID, func(u *ent.ImageUpdate) {
			u.SetPath(img.Path).SetExtension(img.Extension).SetMimeType(img.MIMEType).SetWidth(img.Width).
				SetHeight(img.Height).SetFilesize(img.Filesize).SetSizes(img.Sizes)
		})
		return err
	})
	unnamed := old
	switch {
	case err != nil || !there:
		unnamed = img
	default:
		c.cleaned++
	}
	if img.Path == old.Path {
		if err != nil || !there {
			for _, added := range media.Added(old, img) {
				err = errors.Join(err, c.files.Remove(context.WithoutCancel(ctx), added))
			}
		}
		return err
	}
	return errors.Join(err, media.Remove(context.WithoutCancel(ctx), c.files, unnamed))
}
