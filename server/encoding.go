package server

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
)

// coding is a content coding of RFC 9110, section 8.4.1: "" for none.
type coding string

const (
	identity coding = ""
	gzipped  coding = "gzip"
	brotlied coding = "br"
)

// How well bodies are compressed. It is done once for many replies.
const (
	gzipLevel   = 6
	brotliLevel = 5
)

// leastCompressed is the length from which a body is worth compressing: less fits into a packet anyway.
const leastCompressed = 1 << 10

// accepted is the coding to answer in, by the Accept-Encoding header (RFC 9110, section 12.5.3): the one the client
// likes best of those we have, the one that compresses best among equals. What is not understood is not accepted.
func accepted(header string) coding {
	if header == "" {
		return identity
	}
	weights := map[coding]float64{}
	others := 0.0
	for part := range strings.SplitSeq(header, ",") {
		name, parameters, _ := strings.Cut(part, ";")
		q, ok := quality(parameters)
		if !ok {
			continue
		}
		switch name = strings.TrimSpace(name); {
		case strings.EqualFold(name, "br"):
			weights[brotlied] = q
		case strings.EqualFold(name, "gzip"), strings.EqualFold(name, "x-gzip"):
			weights[gzipped] = q
		case name == "*":
			others = q
		}
	}
	best, weight := identity, 0.0
	for _, c := range [2]coding{brotlied, gzipped} {
		q, named := weights[c]
		if !named {
			q = others
		}
		if q > weight {
			best, weight = c, q
		}
	}
	return best
}

// quality reads the weight of a list's item: 1 if there is none.
func quality(parameters string) (q float64, ok bool) {
	parameters = strings.TrimSpace(parameters)
	if parameters == "" {
		return 1, true
	}
	name, value, _ := strings.Cut(parameters, "=")
	if !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 0, false
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return q, err == nil && q >= 0 && q <= 1
}

// packed is a body in one coding, made when somebody asks for it.
type packed struct {
	once sync.Once
	data []byte // nil: it is not worth it
}

// of compresses the body, once.
func (p *packed) of(body []byte, c coding) []byte {
	p.once.Do(func() {
		if len(body) < leastCompressed {
			return
		}
		out := bytes.NewBuffer(make([]byte, 0, len(body)/4))
		if compress(out, body, c) == nil && out.Len() < len(body) {
			p.data = bytes.Clone(out.Bytes())
		}
	})
	return p.data
}

// compress writes a body in a coding. Writing to memory does not fail.
func compress(out *bytes.Buffer, body []byte, c coding) error {
	if c == brotlied {
		w := brotli.NewWriterLevel(out, brotliLevel)
		if _, err := w.Write(body); err != nil {
			return err
		}
		return w.Close()
	}
	w, err := gzip.NewWriterLevel(out, gzipLevel)
	if err != nil {
		return err
	}
	if _, err := w.Write(body); err != nil {
		return err
	}
	return w.Close()
}
