// Package media handles pictures. It downloads them, detects their type by content,
// makes smaller copies and stores the files. It does not use the database or HTTP routes.
//
// Save runs on the calling goroutine, including the decoders. A Budget limits the memory of all calls together.
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

// MaxBytes, maxStored and maxPixels are the limits of a picture (contract, section 15).
const (
	MaxBytes  = 10 << 20   // bytes of the file
	maxStored = 16 << 20   // bytes of the file and its smaller copies
	maxPixels = 40_000_000 // pixels: width times height
)

// ErrUnusable to ErrAddress are the errors that reject a picture. Each wraps ErrUnusable: the picture or the
// URL is at fault, and the client may see the message. Other errors come from the store, the context or an
// encoder.
var (
	ErrUnusable = errors.New("image not usable")
	ErrType     = fmt.Errorf("%w: not a readable JPEG, PNG, GIF or WebP", ErrUnusable)
	ErrTooLarge = fmt.Errorf("%w: over %d bytes", ErrUnusable, MaxBytes)
	ErrPixels   = fmt.Errorf("%w: over %d pixels", ErrUnusable, maxPixels)
	ErrMemory   = fmt.Errorf("%w: takes too much memory to decode", ErrUnusable)
	ErrFetch    = fmt.Errorf("%w: download", ErrUnusable)
	ErrAddress  = fmt.Errorf("%w: address not public", ErrUnusable)
)

// Image is a stored picture with its smaller copies.
type Image struct {
	Path      string // path in the store, such as 2026/11/pic.png
	Extension string // jpg, png, gif or webp
	MIMEType  string
	Width     int                           // pixels
	Height    int                           // pixels
	Filesize  int64                         // bytes
	Sizes     map[string]calendar.ImageSize // thumbnail, medium, medium_large and large, as far as they were made; never nil
}

const (
	maxName      = 100 // bytes of a name without folder, number, size and extension
	maxTries     = 100 // names that are tried with a number before a random suffix is used
	suffixLength = 10  // letters of the random suffix: 50 bits
)

// Save checks a picture, removes its metadata, and stores it with its smaller copies. The path contains the
// year and month of now in now's zone: 2026/11/pic.png, 2026/11/pic-150x150.png. The name is a slug of the
// client's file name, which may have folders and an extension. If a file with that name exists, Save tries
// pic-2, and so on.
//
// Save waits until the budget has room for the picture. It returns ErrTooLarge, ErrPixels, ErrMemory or ErrType
// for a rejected picture. Other errors come from the store, the context or an encoder. After an error no
// file remains. If the database record cannot be written afterwards, the caller must call Remove.
func Save(ctx context.Context, b *Budget, st Store, name string, data []byte, now time.Time) (Image, error) {
	return save(ctx, b, st, name, data, now, maxPixels)
}

func save(
	ctx context.Context, b *Budget, st Store, name string, data []byte, now time.Time, pixels int64,
) (Image, error) {
	files, err := prepareFiles(ctx, b, data, pixels)
	if err != nil {
		return Image{}, err
	}
	return storeNamed(ctx, st, name, files, now)
}

// SaveDrawn stores a picture that this program drew, and its smaller copies. The parameter file is the JPEG
// file of img. It is stored unchecked, and the copies are made from img. The name and the folder are chosen by
// the rules of Save. After an error no file remains.
func SaveDrawn(ctx context.Context, st Store, name string, img *image.RGBA, file []byte, now time.Time) (Image, error) {
	pic := picture{format: &jpegFormat, img: img, width: img.Rect.Dx(), height: img.Rect.Dy()}
	sizes, err := makeSizes(ctx, pic, len(file))
	if err != nil {
		return Image{}, err
	}
	files := preparedFiles{format: pic.format, data: file, width: pic.width, height: pic.height, sizes: sizes}
	return storeNamed(ctx, st, name, files, now)
}

// storeNamed stores files below the folder of the month of now, under the first free name.
func storeNamed(ctx context.Context, st Store, name string, files preparedFiles, now time.Time) (Image, error) {
	folder, base := now.Format("2006/01"), baseName(name)
	for try := 1; try <= 2*maxTries; try++ {
		numbered := path.Join(folder, base)
		switch {
		case try > maxTries:
			// Many files of this month have this name. A random suffix ends the search.
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

// preparedFiles are the files of a picture before they are stored.
type preparedFiles struct {
	format        *format
	data          []byte
	width, height int
	sizes         []madeSize
}

// prepareFiles decodes a picture and encodes its files. First it waits until the budget has room for the memory that
// this needs. It returns the memory to the budget at the end.
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
	sizes, err := makeSizes(ctx, pic, len(c.data))
	if err != nil {
		return preparedFiles{}, err
	}
	return preparedFiles{format: pic.format, data: c.data, width: pic.width, height: pic.height, sizes: sizes}, nil
}

// storeFiles stores all files of a picture, or none. It stores the original last, so if the original exists,
// all files do.
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

// removeStored deletes files that were stored before a write failed with cause. It returns cause and the errors
// of the deletion.
func removeStored(ctx context.Context, st Store, done []string, cause error) error {
	// A cancelled request must not prevent the clean-up.
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
	if !errors.Is(cause, fs.ErrExist) { // this error makes the caller retry, and the caller would lose the others
		errs = append([]error{cause}, errs...)
	}
	return errors.Join(errs...)
}

// Remove deletes the files of an image. Files that do not exist are not an error. An image without Path is a
// reference to a picture elsewhere and has no files. After an error Remove continues with the other files.
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

// baseName returns the slug of a file name without folders and extension. Both kinds of slash separate folders.
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

// madeSize is an encoded smaller copy of a picture, which is not stored yet.
type madeSize struct {
	name          string
	format        *format
	width, height int
	data          []byte
}

// path returns the path under which the copy is stored. name is the path of the picture without extension.
func (s madeSize) path(name string) string {
	return fmt.Sprintf("%s-%dx%d.%s", name, s.width, s.height, s.format.ext)
}

// stored returns the copy as the database record of its picture stores it.
func (s madeSize) stored(path string) calendar.ImageSize {
	return calendar.ImageSize{
		Path: path, MIMEType: s.format.mimeType, Width: s.width, Height: s.height, Filesize: int64(len(s.data)),
	}
}

// makeSizes makes the smaller copies of a picture, the largest first. Copies of equal dimensions share one
// file, such as large and medium_large of a picture with sides 3:4. It leaves out copies beyond maxStored bytes, stored
// bytes of the picture's file included: the copies of a picture with few colours may be larger than the file.
func makeSizes(ctx context.Context, pic picture, stored int) ([]madeSize, error) {
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
		file := spool{most: min(MaxBytes, maxStored-stored)}
		switch err := f.encode(&file, img); {
		case errors.Is(err, errSpoolFull):
		case err != nil:
			return nil, fmt.Errorf("size %s: %w", b.name, err)
		default:
			stored += file.size
			sizes = append(sizes, madeSize{name: b.name, format: f, width: w, height: h, data: file.join(0, nil)})
		}
		if b == sizeBoxes[0] {
			// The other copies are made from the largest one, which may have far fewer pixels than the picture.
			largest = picture{img: img, width: w, height: h}
		}
	}
	return sizes, nil
}
