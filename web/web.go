// Package web renders the HTML pages of the service. It embeds all files that they need, and none come from another
// host.
//
// assets/, pages/ and words/ are written by hand. bash .ci/web generates static/ from the packages in
// package-lock.json.
package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/andybalholm/brotli"
)

//go:embed assets calendar pages static words
var files embed.FS

// AssetsPath is the path of the assets, below the base URL. No language precedes it.
const AssetsPath = "/assets/"

// File is a file that browsers receive. Its bytes must not be changed.
type File struct {
	Type   string // media type
	Tag    string // entity tag, which changes with the content
	Gzip   []byte
	Brotli []byte

	plain []byte // uncompressed content; nil means that only the compressed forms are stored
}

// Plain returns the uncompressed content. Some files are decompressed on each call, because clients rarely ask
// for that.
func (f *File) Plain() ([]byte, error) {
	if f.plain != nil {
		return f.plain, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(f.Gzip))
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

	gzip   *gzip.Writer
	brotli *brotli.Writer
}

// DocsPath is the path of the API reference, below the base URL and an optional language.
const DocsPath = "/docs"

// DevelopersPath is the path of the page for developers, below the base URL and an optional language.
const DevelopersPath = "/developers/"

// Page returns the page with a path: "/", "/developers/" or "/docs". The slash at the end of "/developers/" is
// optional.
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

// New renders the pages of a site in the given languages. An error means that the program was built with invalid
// templates or words.
func New(site Site, languages []string) (*Pages, error) {
	p := &Pages{
		pages: make(map[string]map[string]*File, len(languages)), assets: map[string]*File{}, names: map[string]string{},
	}
	var err error
	if p.gzip, err = gzip.NewWriterLevel(io.Discard, gzip.DefaultCompression); err != nil {
		return nil, err
	}
	p.brotli = brotli.NewWriterLevel(io.Discard, brotliLevel)
	if err := p.readAssets(); err != nil {
		return nil, err
	}
	if err := p.readStatic(); err != nil {
		return nil, err
	}
	for name, data := range site.Files {
		if err := p.addAsset(name, data); err != nil {
			return nil, err
		}
	}
	if err := p.write(site, languages); err != nil {
		return nil, err
	}
	p.gzip, p.brotli = nil, nil
	return p, nil
}

// brotliLevel is the compression level of small files, which are compressed at each start. Large files are
// compressed beforehand.
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

// readAssets reads the hand-written assets, and names them by the hash of their content.
func (p *Pages) readAssets() error {
	return eachFile("assets", p.addAsset)
}

// addAsset adds an asset, named by the hash of its content.
func (p *Pages) addAsset(name string, data []byte) error {
	f, err := p.file(path.Ext(name), data)
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
			f.Brotli = data
		case ".gz":
			f.Gzip = data
		default:
			made, err := p.file(ext, data)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			f.plain, f.Gzip, f.Brotli = data, made.Gzip, made.Brotli
		}
		return nil
	})
	if err != nil {
		return err
	}
	for name, f := range p.assets {
		if f.Gzip == nil || f.Brotli == nil {
			return fmt.Errorf("%s: want it in both forms", name)
		}
	}
	return nil
}

// eachFile calls do with each file of an embedded folder, in the order of file names.
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

// file returns a content with its media type, tag and compressed forms.
func (p *Pages) file(ext string, data []byte) (*File, error) {
	if mediaTypes[ext] == "" {
		return nil, fmt.Errorf("no media type for %q", ext)
	}
	f := &File{Type: mediaTypes[ext], plain: data}
	for _, form := range []struct {
		w interface {
			io.WriteCloser
			Reset(io.Writer)
		}
		to *[]byte
	}{{p.gzip, &f.Gzip}, {p.brotli, &f.Brotli}} {
		var packed bytes.Buffer
		form.w.Reset(&packed)
		if _, err := form.w.Write(data); err != nil {
			return nil, err
		}
		if err := form.w.Close(); err != nil {
			return nil, err
		}
		*form.to = packed.Bytes()
	}
	f.Tag = contentTag(data)
	return f, nil
}
