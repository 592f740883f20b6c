package reply

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
)

// Coding is a content coding (RFC 9110, section 8.4.1). "" means that the body is not compressed.
type Coding string

// Identity, Gzip and Brotli are the values of Coding.
const (
	Identity Coding = ""
	Gzip     Coding = "gzip"
	Brotli   Coding = "br"
)

// gzipLevel and brotliLevel are moderately high levels of compression, since one compressed body serves many
// replies.
const (
	gzipLevel   = 6
	brotliLevel = 5
)

// minCompressed is the smallest body in bytes that is compressed. A shorter body fits into one packet anyway.
const minCompressed = 1 << 10

// AcceptedCoding returns the coding that an Accept-Encoding header prefers (RFC 9110, section 12.5.3). Brotli
// wins among equal weights. Malformed items are ignored.
func AcceptedCoding(header string) Coding {
	if header == "" {
		return Identity
	}
	weights := map[Coding]float64{}
	others := 0.0
	for part := range strings.SplitSeq(header, ",") {
		name, parameters, _ := strings.Cut(part, ";")
		q, ok := parseQuality(parameters)
		if !ok {
			continue
		}
		switch name = strings.TrimSpace(name); {
		case strings.EqualFold(name, "br"):
			weights[Brotli] = q
		case strings.EqualFold(name, "gzip"), strings.EqualFold(name, "x-gzip"):
			weights[Gzip] = q
		case name == "*":
			others = q
		}
	}
	best, weight := Identity, 0.0
	for _, c := range [2]Coding{Brotli, Gzip} {
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

// parseQuality parses the weight of a list item, such as "q=0.5". The weight is 1 if there is none.
func parseQuality(parameters string) (q float64, ok bool) {
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

// compressedBody is a body in one content coding. The first request for that coding compresses it.
type compressedBody struct {
	once sync.Once
	// data is the compressed body. Nil means that the body is too short or does not get shorter.
	data []byte
}

// bytes returns the compressed body. It returns nil if the body should be sent uncompressed.
func (b *compressedBody) bytes(body []byte, c Coding) []byte {
	b.once.Do(func() {
		if len(body) < minCompressed {
			return
		}
		out := bytes.NewBuffer(make([]byte, 0, len(body)/4))
		if compressBody(out, body, c) == nil && out.Len() < len(body) {
			b.data = bytes.Clone(out.Bytes())
		}
	})
	return b.data
}

// compressBody writes a compressed body to out. Writing to memory never fails.
func compressBody(out *bytes.Buffer, body []byte, c Coding) error {
	if c == Brotli {
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
