// Package media keeps pictures. It fetches them, tells their type by content, makes the sizes a page needs and stores the
// files. It knows neither the database nor HTTP routes: bytes come in, files go out.
//
// Save and the decoders behind it work on the calling goroutine. A Budget bounds the memory of all calls together.
package media

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// The limits of a picture (contract, section 15).
const (
	MaxBytes  = 10 << 20   // of the file
	MaxPixels = 40_000_000 // width times height
)

// These errors refuse a picture. Each wraps ErrUnusable, which means that the picture or the URL is at fault and the
// client may be informed. Any other error comes from the store.
var (
	ErrUnusable = errors.New("image not usable")
	ErrType     = fmt.Errorf("%w: not a readable JPEG, PNG, GIF or WebP", ErrUnusable)
	ErrTooLarge = fmt.Errorf("%w: over %d bytes", ErrUnusable, MaxBytes)
	ErrPixels   = fmt.Errorf("%w: over %d pixels", ErrUnusable, MaxPixels)
	ErrMemory   = fmt.Errorf("%w: takes too much memory to decode", ErrUnusable)
	ErrFetch    = fmt.Errorf("%w: download", ErrUnusable)
	ErrAddress  = fmt.Errorf("%w: address not public", ErrUnusable)
)

// Image is a stored picture with its sizes.
type Image struct {
	Path      string // in the store: 2026/11/pic.png
	Extension string // jpg, png, gif or webp
	MIMEType  string
	Width     int // pixels
	Height    int // pixels
	Filesize  int64
	Sizes     map[string]calendar.ImageSize // thumbnail, medium, medium_large, large, where made; never nil
}

const (
	maxName      = 100 // bytes of a name without folder, number, size and extension
	maxTries     = 100 // names tried with a number, and then with letters drawn by chance
	suffixLength = 10  // how many of these: 50 bits
)

// Save checks a picture and stores it without metadata, together with its smaller sizes. The path has the year and
// month of now, in now's zone: 2026/11/pic.png, 2026/11/pic-150x150.png. The name is a slug of the client's file name,
// with or without path and extension. If any file of that name exists, Save tries pic-2, and so on.
//
// It waits until the budget has room for the picture. It returns ErrTooLarge, ErrPixels, ErrMemory or ErrType for a
// refused picture, or the error of the store. After an error no file remains. If the record of the picture cannot be
// written afterwards, call Remove.
func Save(ctx context.Context, b *Budget, st Store, name string, data []byte, now time.Time) (Image, error) {
	return save(ctx, b, st, name, data, now, MaxPixels)
}

func save(
	ctx context.Context, b *Budget, st Store, name string, data []byte, now time.Time, pixels int64,
) (Image, error) {
	files, err := prepareFiles(ctx, b, data, pixels)
	if err != nil {
		return Image{}, err
	}

	folder, base := now.Format("2006/01"), baseName(name)
	for try := 1; try <= 2*maxTries; try++ {
		numbered := path.Join(folder, base)
		switch {
		case try > maxTries:
			// The month has many files of this name. A random suffix ends the search.
			numbered += "-" + strings.ToLower(rand.Text()[:suffixLength])
		case try > 1:
			numbered += "-" + strconv.Itoa(try)
		}
		img, err := storeFiles(ctx, st, numbered, files)
		if !errors.Is(err, fs.ErrExist) {
			return img, err
		}
	}
	return Image{}, fmt.Errorf("%s/%s: no free name: %w", folder, base, fs.ErrExist)
}

// preparedFiles are the files of a picture, ready to be stored.
type preparedFiles struct {
	format        *format
	data          []byte
	width, height int
	sizes         []madeSize
}

// prepareFiles makes the files of a picture. The memory of its pixels counts for the budget until it returns.
func prepareFiles(ctx context.Context, b *Budget, data []byte, pixels int64) (preparedFiles, error) {
	if len(data) > MaxBytes {
		return preparedFiles{}, ErrTooLarge
	}
	f, c, size, err := inspect(data, pixels)
	if err != nil {
		return preparedFiles{}, err
	}
	release, err := b.take(ctx, f.memoryFor(c, size))
	if err != nil {
		return preparedFiles{}, err
	}
	defer release()
	return makeFiles(ctx, f, c, size)
}

func makeFiles(ctx context.Context, f *format, c cleanedFile, size image.Point) (preparedFiles, error) {
	pic, err := f.picture(c, size)
	if err != nil {
		return preparedFiles{}, err
	}
	if c.turn != turnUpright {
		if pic, c.data, err = uprightFile(c, pic); err != nil {
			return preparedFiles{}, err
		}
	}
	sizes, err := makeSizes(ctx, pic)
	if err != nil {
		return preparedFiles{}, err
	}
	return preparedFiles{format: pic.format, data: c.data, width: pic.width, height: pic.height, sizes: sizes}, nil
}

// storeFiles stores all files of a picture or none. The original comes last, so where there is one, all is there.
func storeFiles(
	ctx context.Context, st Store, name string, files preparedFiles,
) (img Image, err error) {
	var done []string
	defer func() {
		if err != nil {
			err = removeStored(ctx, st, done, err)
		}
	}()
	create := func(p string, data []byte, mimeType string) error {
		if err := st.Create(ctx, p, data, mimeType); err != nil {
			return fmt.Errorf("store %s: %w", p, err)
		}
		done = append(done, p)
		return nil
	}

	img = Image{
		Path:      name + "." + files.format.ext,
		Extension: files.format.ext,
		MIMEType:  files.format.mimeType,
		Width:     files.width,
		Height:    files.height,
		Filesize:  int64(len(files.data)),
		Sizes:     make(map[string]calendar.ImageSize, len(files.sizes)),
	}
	for _, s := range files.sizes {
		p := s.path(name)
		if !slices.Contains(done, p) {
			if err := create(p, s.data, s.format.mimeType); err != nil {
				return Image{}, err
			}
		}
		img.Sizes[s.name] = s.stored(p)
	}
	if err := create(img.Path, files.data, files.format.mimeType); err != nil {
		return Image{}, err
	}
	return img, nil
}

// removeStored removes what was stored before cause ended a write.
func removeStored(ctx context.Context, st Store, done []string, cause error) error {
	// What ended it, such as a client that left, must not keep its traces.
	ctx = context.WithoutCancel(ctx)
	var errs []error
	for _, p := range done {
		if err := st.Remove(ctx, p); err != nil {
			errs = append(errs, fmt.Errorf("undo %s: %w", p, err))
		}
	}
	if len(errs) == 0 {
		return cause
	}
	if !errors.Is(cause, fs.ErrExist) { // which calls for another try, and would have the rest forgotten
		errs = append([]error{cause}, errs...)
	}
	return errors.Join(errs...)
}

// Remove removes the files of an image; files that are gone already are no error. An image without Path is a
// picture elsewhere and has none. What cannot be removed does not keep the rest from going.
func Remove(ctx context.Context, st Store, img Image) error {
	if img.Path == "" {
		return nil
	}
	var errs []error
	remove := func(p string) {
		if err := st.Remove(ctx, p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove %s: %w", p, err))
		}
	}
	remove(img.Path)
	for _, s := range img.Sizes {
		remove(s.Path)
	}
	return errors.Join(errs...)
}

// baseName is the slug of a file's name without folders, of either kind of slash, and without extension.
func baseName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.TrimSuffix(name, path.Ext(name))
	slug := calendar.Slug(strings.ToValidUTF8(name, ""))
	slug = strings.Trim(slug[:min(len(slug), maxName)], "-_")
	if slug == "" {
		return "image"
	}
	return slug
}

// madeSize is a made size, ready to be stored.
type madeSize struct {
	name          string
	format        *format
	width, height int
	data          []byte
}

// path returns where the size of a picture is stored. name is the path of the picture without extension.
func (s madeSize) path(name string) string {
	return fmt.Sprintf("%s-%dx%d.%s", name, s.width, s.height, s.format.ext)
}

// stored returns the size as the record of its picture has it.
func (s madeSize) stored(path string) calendar.ImageSize {
	return calendar.ImageSize{
		Path: path, MIMEType: s.format.mimeType, Width: s.width, Height: s.height, Filesize: int64(len(s.data)),
	}
}

// makeSizes makes the sizes a picture is due, the largest first. Two of the same dimensions are one file under two names: the
// large and the medium large size of a picture of 3 by 4.
func makeSizes(ctx context.Context, pic picture) ([]madeSize, error) {
	var sizes []madeSize
	largest := pic
	for _, b := range sizeBoxes {
		if !b.isDue(pic.width, pic.height) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w, h := b.dimensions(pic.width, pic.height)
		if i := slices.IndexFunc(sizes, func(s madeSize) bool { return s.width == w && s.height == h }); i >= 0 {
			same := sizes[i]
			same.name = b.name
			sizes = append(sizes, same)
			continue
		}
		source := largest
		if source.width < w || source.height < h {
			source = pic
		}
		img := source.shrink(w, h)
		f := pic.format.forSize(img)
		file := spool{most: MaxBytes}
		if err := f.encode(&file, img); err != nil {
			return nil, fmt.Errorf("size %s: %w", b.name, err)
		}
		sizes = append(sizes, madeSize{name: b.name, format: f, width: w, height: h, data: file.join(0, nil)})
		if b == sizeBoxes[0] {
			// The others are made of the largest, which has far fewer pixels than some pictures.
			largest = picture{img: img, width: w, height: h}
		}
	}
	return sizes, nil
}
