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

// Clean removes metadata from a picture that was stored with it, and turns it as the metadata ask for. It makes the sizes
// that are missing. It returns the image as it is stored then. The address stays, also of a turned JPEG, whose sizes were made upright. A turned PNG or
// WebP gets a new path and new sizes; the caller removes the old files when the record names the new ones.
//
// A second call changes nothing. The error is ErrUnusable for a file that Save would refuse.
func Clean(ctx context.Context, b *Budget, st Store, img Image) (Image, error) {
	data, err := readStored(ctx, st, img.Path)
	if err != nil {
		return img, err
	}
	f, c, _, err := inspect(data, MaxPixels)
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
		files, err := prepareFiles(ctx, b, data, MaxPixels)
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
	// An interrupted call may have replaced the file without updating the record.
	img.Filesize = int64(len(c.data))
	return addSizes(ctx, b, st, img, c.data)
}

// addSizes makes the sizes that a stored image is due and does not have. The data are those of its file.
func addSizes(ctx context.Context, b *Budget, st Store, img Image, data []byte) (_ Image, err error) {
	isMissing := func(x sizeBox) bool {
		_, made := img.Sizes[x.name]
		return !made && x.isDue(img.Width, img.Height)
	}
	if !slices.ContainsFunc(sizeBoxes, isMissing) {
		return img, nil
	}
	files, err := prepareFiles(ctx, b, data, MaxPixels)
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

// withDimensions returns the name of a stored size with the type and the dimensions of s, "" if there is none.
func withDimensions(stored map[string]calendar.ImageSize, s madeSize) string {
	for name, had := range stored {
		if had.MIMEType == s.format.mimeType && had.Width == s.width && had.Height == s.height {
			return name
		}
	}
	return ""
}

// createSize stores a size under a path that is free: another picture may have the usual one.
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

// Added returns the paths of the files of sizes that one state of an image has and an earlier one has not.
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
