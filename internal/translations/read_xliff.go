package translations

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxDepth is the maximum depth of nested elements. XLIFF needs about ten levels, and more for nested groups.
const maxDepth = 100

// xliffReader reads XLIFF 2.0 and 2.1. It never reads anything outside the file. It refuses a document type
// declaration, which entities would need.
type xliffReader struct {
	d         *xml.Decoder
	g         *limitedReader
	do        func(*Unit) error
	namespace string
	depth     int
	from, to  string
}

func readXLIFF(r io.Reader, g *limitedReader, do func(*Unit) error) error {
	x := &xliffReader{d: xml.NewDecoder(r), g: g, do: do}
	x.d.Strict = true
	root, err := x.next()
	for err == nil {
		if start, ok := root.(xml.StartElement); ok {
			return x.document(start)
		}
		root, err = x.next()
	}
	if errors.Is(err, io.EOF) {
		return refuse("XML without an element")
	}
	return err
}

// next returns the next token. At the end of the file it returns io.EOF. Any other error is ErrFile.
func (x *xliffReader) next() (xml.Token, error) {
	t, err := x.d.Token()
	if err != nil {
		if errors.Is(err, ErrFile) || errors.Is(err, io.EOF) {
			return nil, err
		}
		return nil, x.refuse("%w", err)
	}
	switch t := t.(type) {
	case xml.Directive:
		return nil, x.refuse("a document type declaration, which is not accepted")
	case xml.StartElement:
		if x.depth++; x.depth > maxDepth {
			return nil, x.refuse("more than %d elements in each other", maxDepth)
		}
		return t, nil
	case xml.EndElement:
		x.depth--
	}
	return t, nil
}

func (x *xliffReader) refuse(format string, args ...any) error {
	return refuse("XLIFF, %s: %w", x.line(), fmt.Errorf(format, args...))
}

func (x *xliffReader) line() string {
	line, _ := x.d.InputPos()
	return "line " + strconv.Itoa(line)
}

// document reads the elements below the root element of the file.
func (x *xliffReader) document(root xml.StartElement) error {
	if root.Name.Local != "xliff" {
		return x.refuse("the file is XML, but no XLIFF: it starts with <%s>", shorten(root.Name.Local))
	}
	x.namespace = root.Name.Space
	switch version := attr(root, "version"); version {
	case "2.0", "2.1":
	case "1.2":
		return x.refuse("XLIFF version 1.2: save it as XLIFF 2.0 or export it again, as xliff or json")
	default:
		return x.refuse("XLIFF version %q: want 2.0 or 2.1", shorten(version))
	}
	x.from, x.to = attr(root, "srcLang"), attr(root, "trgLang")
	for {
		t, err := x.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		start, ok := t.(xml.StartElement)
		if !ok || start.Name.Space != x.namespace {
			continue
		}
		if start.Name.Local == "unit" {
			if err := x.unit(start); err != nil {
				return err
			}
			x.g.reset()
		}
	}
}

// segment is a part of a unit. Tools may split a unit into several segments.
type segment struct {
	source, target string
	translated     bool // the segment has a target
	ignorable      bool // the segment is white space between other segments
	untouched      bool // the file marks the target as not translated yet
}

// unit reads a unit element and calls do with the unit.
func (x *xliffReader) unit(start xml.StartElement) error {
	u := &Unit{place: x.line()}
	name := attr(start, "id")
	if _, err := ParseID(name); err != nil && attr(start, "name") != "" {
		name = attr(start, "name")
	}
	u.setID(name)
	u.setLanguages(x.from, x.to)
	var parts []segment
	for {
		t, err := x.nextBeforeEnd()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.EndElement:
			if t.Name == start.Name {
				x.join(u, parts)
				return x.do(u)
			}
		case xml.StartElement:
			ours := t.Name.Space == x.namespace
			switch local := t.Name.Local; {
			case ours && (local == "segment" || local == "ignorable"):
				state := attr(t, "state")
				parts = append(parts, segment{ignorable: local == "ignorable", untouched: state == "initial"})
			case ours && len(parts) > 0 && local == "source":
				if parts[len(parts)-1].source, err = x.text(u, t); err != nil {
					return err
				}
			case ours && len(parts) > 0 && local == "target":
				p := &parts[len(parts)-1]
				p.translated = true
				if attr(t, "order") != "" {
					u.reject(errors.New("segments in another order than in the source are not supported"))
				}
				if p.target, err = x.text(u, t); err != nil {
					return err
				}
			default: // notes, alternatives, what other standards add
				if err := x.skip(); err != nil {
					return err
				}
			}
		}
	}
}

// join sets the source and target of a unit from its segments. The unit has a target only if all its segments have one.
func (x *xliffReader) join(u *Unit, parts []segment) {
	var source, target strings.Builder
	translated := len(parts) > 0
	for _, p := range parts {
		source.WriteString(p.source)
		switch {
		case p.ignorable && !p.translated:
			target.WriteString(p.source)
		case !p.translated && strings.TrimSpace(p.source) != "", p.untouched && p.target == p.source:
			translated = false
		default:
			target.WriteString(p.target)
		}
	}
	u.Source = source.String()
	if translated {
		u.Target = new(target.String())
	}
}

// nextBeforeEnd returns the next token, like next, at a place where the file must not end. The end of the file is an error
// there.
func (x *xliffReader) nextBeforeEnd() (xml.Token, error) {
	t, err := x.next()
	if errors.Is(err, io.EOF) {
		return nil, x.refuse("%w", io.ErrUnexpectedEOF)
	}
	return t, err
}

// skip reads and ignores the rest of the element whose start tag was just read.
func (x *xliffReader) skip() error {
	for above := x.depth - 1; x.depth > above; {
		if _, err := x.nextBeforeEnd(); err != nil {
			return err
		}
	}
	return nil
}

// text reads the text of a source or target element. It ignores markers of annotations and decodes cp elements. Other
// inline elements make the unit unusable, because exports have none.
func (x *xliffReader) text(u *Unit, of xml.StartElement) (string, error) {
	var out strings.Builder
	for above := x.depth - 1; x.depth > above; {
		t, err := x.nextBeforeEnd()
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case xml.CharData:
			out.Write(t)
		case xml.StartElement:
			local := t.Name.Local
			switch {
			case t.Name.Space != x.namespace:
			case local == "mrk", local == "sm", local == "em":
				continue
			case local == "cp":
				if n, err := strconv.ParseInt(attr(t, "hex"), 16, 32); err == nil && n >= 0 {
					out.WriteRune(rune(n)) // an invalid code point becomes U+FFFD
					continue
				}
			}
			u.reject(fmt.Errorf("%s: <%s> in it, which was not exported", of.Name.Local, shorten(local)))
		}
	}
	return out.String(), nil
}

// attr returns the value of an attribute without a namespace. "" means that there is none.
func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Space == "" && a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
