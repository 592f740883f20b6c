// Package web holds the pages of the service for people. Today these are the start page and the API reference. Everything
// they need is embedded; nothing comes from another host.
//
// assets/, pages/ and words/ are written by hand. static/ is made from the packages that package-lock.json names, by
// bash .ci/web.
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

// AssetsPath is where the assets are served, below the base URL and without a language.
const AssetsPath = "/assets/"

// File is something that browsers are sent. Its bytes are never to be changed.
type File struct {
	Type   string // media type
	Tag    string // another content has another one
	Gzip   []byte
	Brotli []byte

	plain []byte // nil means it is kept compressed only
}

// Plain is the content without compression. For some files it is unpacked each time: hardly a client asks.
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

// Pages are the pages of one site in every language, and what they refer to. They never change, and may be read by
// any number of goroutines.
type Pages struct {
	pages  map[string]map[string]*File // language: path: page
	assets map[string]*File            // by name, with the hash of the content in it
	names  map[string]string           // site.css: site.0123456789ab.css

	gzip   *gzip.Writer
	brotli *brotli.Writer
}

// DocsPath is where the reference is served, below the base URL and the language if one is named.
const DocsPath = "/docs"

// DevelopersPath is where the page for developers is served, likewise.
const DevelopersPath = "/developers/"

// Page is a page of the site: "/", "/developers/" or "/docs". The slash at the end of the second may be missing.
func (p *Pages) Page(language, path string) (*File, bool) {
	f, ok := p.pages[language][path]
	if !ok {
		f, ok = p.pages[language][path+"/"]
	}
	return f, ok
}

// Asset is a file below AssetsPath. Its name is never given to another content, so it may be kept for ever.
func (p *Pages) Asset(name string) (*File, bool) {
	f, ok := p.assets[name]
	return f, ok
}

// New makes the pages of a site in the languages given. An error means that they were built wrong.
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

// brotliLevel is how well small files are compressed at each start; the large ones have been before.
const brotliLevel = 5

// mediaTypes are the media types of files by the end of their name.
var mediaTypes = map[string]string{
	".css":  "text/css; charset=UTF-8",
	".html": "text/html; charset=UTF-8",
	".js":   "text/javascript; charset=UTF-8",
	".png":  "image/png",
	".svg":  "image/svg+xml; charset=UTF-8",
	".txt":  "text/plain; charset=UTF-8",
}

// readAssets takes the files that are written by hand, and names them after their content.
func (p *Pages) readAssets() error {
	return eachFile("assets", p.addAsset)
}

// addAsset adds a file, and names it after its content.
func (p *Pages) addAsset(name string, data []byte) error {
	f, err := p.file(path.Ext(name), data)
	if err != nil {
		return fmt.Errorf("asset %s: %w", name, err)
	}
	p.names[name] = assetName(name, data)
	p.assets[p.names[name]] = f
	return nil
}

// readStatic takes the files that are made: name.hash.ext, or that in the two compressed forms instead.
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

// eachFile calls do with every file of a folder, in the order of their names.
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

// file is a content as it is sent.
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
