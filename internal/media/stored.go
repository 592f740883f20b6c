package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"time"
)

// Clean removes metadata from a picture that was stored with it, and turns it as the metadata ask for. It returns the
// image as it is stored then. The address stays, also of a turned JPEG, whose sizes were made upright. A turned PNG or
// WebP gets a new path and new sizes; the caller removes the old files when the record names the new ones.
//
// A second call changes nothing. The error is ErrUnusable for a file that Save would refuse.
func Clean(ctx context.Context, b *Budget, st Store, img Image) (Image, error) {
	data, err := read(ctx, st, img.Path)
	if err != nil {
		return img, err
	}
	f, c, _, err := inspect(data, MaxPixels)
	if err != nil {
		return img, err
	}
	if c.turn != upright {
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
	// A call that was interrupted may have replaced the file and not told the record.
	img.Filesize = int64(len(c.data))
	return img, nil
}

func read(ctx context.Context, st Store, name string) (data []byte, err error) {
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
