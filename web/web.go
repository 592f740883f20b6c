// Package web renders the HTML pages of the service. It embeds all files that they need, and none come from another
// host.
//
// assets/, calendar/, pages/ and words/ are written by hand. bash .ci/web generates static/ from the packages in
// package-lock.json.
package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
)

//go:embed assets calendar pages static words
var files embed.FS

// AssetsPath is the path of the assets, below the base URL. No language precedes it.
const AssetsPath = "/assets/"

// File is a file that browsers receive. Its bytes must not be changed.
type File struct {
	Type string // media type
	Tag  string // entity tag, which changes with the content

	plain  []byte // uncompressed content; nil means that only the compressed forms are stored
	gzip   func() ([]byte, error)
	brotli func() ([]byte, error)
}

// Gzip returns the content compressed with gzip. The first call may compress it.
func (f *File) Gzip() ([]byte, error) { return f.gzip() }

// Brotli returns the content compressed with Brotli. The first call may compress it.
func (f *File) Brotli() ([]byte, error) { return f.brotli() }

// Plain returns the uncompressed content. Some files are decompressed on each call, because clients rarely ask
// for that.
func (f *File) Plain() ([]byte, error) {
	if f.plain != nil {
		return f.plain, nil
	}
	packed, err := f.Gzip()
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return data, r.Close()
}

// Pages has the start page and the API reference in every language, and their assets. It is immutable and safe
// for concurrent use.
type Pages struct {
	pages  map[string]map[string]*File // pages by language, then by path
	assets map[string]*File            // assets by name, which contains the hash of the content
	names  map[string]string           // names in assets by plain name: site.css is site.0123456789ab.css
}

// DocsPath is the path of the API reference, below the base URL and an optional language.
const DocsPath = "/docs"

// DevelopersPath is the path of the page for developers, below the base URL and an optional language.
const DevelopersPath = "/developers/"

// Page returns the page of a path in a language. The paths are "/", "/developers/" and "/docs". "/developers" has the
// same page as "/developers/". Page returns false if there is no such page.
func (p *Pages) Page(language, path string) (*File, bool) {
	f, ok := p.pages[language][path]
	if !ok {
		f, ok = p.pages[language][path+"/"]
	}
	return f, ok
}

// Asset returns the asset with a name, below AssetsPath. A name always has the same content, so clients may cache
// it without limit.
func (p *Pages) Asset(name string) (*File, bool) {
	f, ok := p.assets[name]
	return f, ok
}

// New renders the pages of a site in the given languages. An error means that the base URL or the name of a file in
// site is invalid, or that the program was built with invalid templates or words.
func New(site Site, languages []string) (*Pages, error) {
	common, err := embedded()
	if err != nil {
		return nil, err
	}
	p := &Pages{
		pages:  make(map[string]map[string]*File, len(languages)),
		assets: maps.Clone(common.assets), names: maps.Clone(common.names),
	}
	for name, data := range site.Files {
		if err := p.addAsset(name, data); err != nil {
			return nil, err
		}
	}
	if err := p.write(site, languages); err != nil {
		return nil, err
	}
	return p, nil
}

// brotliLevel is the compression level of small files, which each process compresses for the first client. Large files
// are compressed beforehand.
const brotliLevel = 5

// mediaTypes maps file extensions to media types.
var mediaTypes = map[string]string{
	".css":  "text/css; charset=UTF-8",
	".html": "text/html; charset=UTF-8",
	".js":   "text/javascript; charset=UTF-8",
	".png":  "image/png",
	".svg":  "image/svg+xml; charset=UTF-8",
	".txt":  "text/plain; charset=UTF-8",
}

// embedded returns the assets that every site has, and no pages. They are read once.
var embedded = sync.OnceValues(func() (*Pages, error) {
	p := &Pages{assets: map[string]*File{}, names: map[string]string{}}
	return p, errors.Join(eachFile("assets", p.addAsset), p.readStatic())
})

// addAsset adds an asset, named by the hash of its content.
func (p *Pages) addAsset(name string, data []byte) error {
	f, err := newFile(path.Ext(name), data)
	if err != nil {
		return fmt.Errorf("asset %s: %w", name, err)
	}
	p.names[name] = assetName(name, data)
	p.assets[p.names[name]] = f
	return nil
}

// readStatic reads the generated assets. Each is a file name.hash.ext, or its two compressed forms.
func (p *Pages) readStatic() error {
	err := eachFile("static", func(file string, data []byte) error {
		name, form := file, path.Ext(file)
		if form == ".br" || form == ".gz" {
			name = strings.TrimSuffix(file, form)
		}
		parts := strings.Split(name, ".")
		ext := path.Ext(name)
		if len(parts) != 3 || mediaTypes[ext] == "" {
			return fmt.Errorf("%s: want NAME.HASH.TYPE, and .br or .gz after it", file)
		}
		p.names[parts[0]+ext] = name
		f := p.assets[name]
		if f == nil {
			f = &File{Type: mediaTypes[ext], Tag: parts[1]}
			p.assets[name] = f
		}
		switch form {
		case ".br":
			f.brotli = keepContent(data)
		case ".gz":
			f.gzip = keepContent(data)
		default:
			made, err := newFile(ext, data)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			f.plain, f.gzip, f.brotli = data, made.gzip, made.brotli
		}
		return nil
	})
	if err != nil {
		return err
	}
	for name, f := range p.assets {
		if f.gzip == nil || f.brotli == nil {
			return fmt.Errorf("%s: want it in both forms", name)
		}
	}
	return nil
}

// eachFile calls do with each file in a folder of the embedded files, in the order of file names.
func eachFile(folder string, do func(name string, data []byte) error) error {
	entries, err := files.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		data, err := fs.ReadFile(files, folder+"/"+e.Name())
		if err != nil {
			return err
		}
		if err := do(e.Name(), data); err != nil {
			return err
		}
	}
	return nil
}

// newFile returns a File with the given content. The extension ext determines the media type.
func newFile(ext string, data []byte) (*File, error) {
	if mediaTypes[ext] == "" {
		return nil, fmt.Errorf("no media type for %q", ext)
	}
	return &File{
		Type: mediaTypes[ext], Tag: contentTag(data), plain: data,
		gzip:   compressor(data, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }),
		brotli: compressor(data, func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, brotliLevel) }),
	}, nil
}

// compressor returns a function that returns data in compressed form. It compresses at its first call only.
func compressor(data []byte, newWriter func(io.Writer) io.WriteCloser) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) {
		var packed bytes.Buffer
		w := newWriter(&packed)
		_, err := w.Write(data)
		err = errors.Join(err, w.Close())
		return packed.Bytes(), err
	})
}

// keepContent returns a function that returns data, which is compressed already.
func keepContent(data []byte) func() ([]byte, error) {
	return func() ([]byte, error) { return data, nil }
}
