package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// Clean removes metadata from a picture that was stored with it, and turns the picture as the metadata
// requires. It also makes missing smaller copies. It returns the image as it is then stored.
//
// The path usually stays, even for a turned JPEG, whose smaller copies were already upright. A turned PNG or
// WebP gets a new path and new copies. The caller must remove the old files after the database record has the
// new paths.
//
// A second call changes nothing. The error is ErrUnusable for a file that Save would reject.
func Clean(ctx context.Context, b *Budget, st Store, img Image) (Image, error) {
	data, err := readStored(ctx, st, img.Path)
	if err != nil {
		return img, err
	}
	f, c, _, err := inspect(data, maxPixels)
	if err != nil {
		return img, err
	}
	if c.turn != turnUpright {
		if f != &jpegFormat {
			month, err := time.Parse("2006/01", path.Dir(img.Path))
			if err != nil {
				return img, fmt.Errorf("folder of %s: %w", img.Path, err)
			}
			return Save(ctx, b, st, path.Base(img.Path), data, month)
		}
		files, err := prepareFiles(ctx, b, data, maxPixels)
		if err != nil {
			return img, err
		}
		c.data = files.data
	}
	if !bytes.Equal(c.data, data) {
		if err := st.Replace(ctx, img.Path, c.data); err != nil {
			return img, err
		}
	}
	// An interrupted call may have replaced the file without updating the database record.
	img.Filesize = int64(len(c.data))
	return addSizes(ctx, b, st, img, c.data)
}

// addSizes makes the smaller copies that a stored image should have and lacks. data is the content of its file.
func addSizes(ctx context.Context, b *Budget, st Store, img Image, data []byte) (_ Image, err error) {
	isMissing := func(x sizeBox) bool {
		_, made := img.Sizes[x.name]
		return !made && x.isDue(img.Width, img.Height)
	}
	if !slices.ContainsFunc(sizeBoxes, isMissing) {
		return img, nil
	}
	files, err := prepareFiles(ctx, b, data, maxPixels)
	if err != nil {
		return img, err
	}
	before := img.Sizes
	img.Sizes = maps.Clone(before)
	if img.Sizes == nil {
		img.Sizes = map[string]calendar.ImageSize{}
	}
	for _, s := range files.sizes {
		if _, made := before[s.name]; made {
			continue
		}
		if same := withDimensions(img.Sizes, s); same != "" {
			img.Sizes[s.name] = img.Sizes[same]
			continue
		}
		p, err := createSize(ctx, st, strings.TrimSuffix(img.Path, path.Ext(img.Path)), s)
		if err != nil {
			added := Added(Image{Path: img.Path, Sizes: before}, img)
			img.Sizes = before
			return img, removeStored(ctx, st, added, err)
		}
		img.Sizes[s.name] = s.stored(p)
	}
	return img, nil
}

// withDimensions returns the name of the stored copy that has the media type and dimensions of s. "" means that there
// is none.
func withDimensions(stored map[string]calendar.ImageSize, s madeSize) string {
	for name, had := range stored {
		if had.MIMEType == s.format.mimeType && had.Width == s.width && had.Height == s.height {
			return name
		}
	}
	return ""
}

// createSize stores a smaller copy under a free path and returns the path. The usual path may belong to another
// picture.
func createSize(ctx context.Context, st Store, name string, s madeSize) (string, error) {
	for try := 1; ; try++ {
		numbered := name
		if try > 1 {
			numbered += "-" + strconv.Itoa(try)
		}
		p := s.path(numbered)
		err := st.Create(ctx, p, s.data, s.format.mimeType)
		if err == nil {
			return p, nil
		}
		if !errors.Is(err, fs.ErrExist) || try == maxTries {
			return "", fmt.Errorf("store %s: %w", p, err)
		}
	}
}

// Added returns the paths of the smaller copies that after has and before does not have.
func Added(before, after Image) (paths []string) {
	had := make(map[string]bool, len(before.Sizes))
	for _, s := range before.Sizes {
		had[s.Path] = true
	}
	for _, s := range after.Sizes {
		if !had[s.Path] {
			paths = append(paths, s.Path)
			had[s.Path] = true
		}
	}
	return paths
}

func readStored(ctx context.Context, st Store, name string) (data []byte, err error) {
	f, _, err := st.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err = io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err == nil && len(data) > MaxBytes {
		err = fmt.Errorf("%s: %w", name, ErrTooLarge)
	}
	return data, err
}
