package sheet

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	utf16 "golang.org/x/text/encoding/unicode"
)

// decode converts the bytes of a file to UTF-8 without a byte order mark. It detects the encoding, and returns its
// name. If polish is true, it prefers Windows-1250 to Windows-1252 in case of doubt. The error is ErrBinary if the
// file has a zero byte and is not UTF-16.
func decode(data []byte, polish bool) (text, encoding string, err error) {
	order, name := utf16.LittleEndian, "UTF-16"
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = utf16.BigEndian
	case bytes.IndexByte(data, 0) >= 0:
		return "", "", ErrBinary
	default:
		name = ""
	}
	if name != "" {
		out, err := utf16.UTF16(order, utf16.UseBOM).NewDecoder().Bytes(data)
		if err == nil && bytes.IndexByte(out, 0) >= 0 {
			err = ErrBinary
		}
		return string(out), name, err
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if utf8.Valid(data) {
		return string(data), "UTF-8", nil
	}
	if isDamagedUTF8(data) {
		return strings.ToValidUTF8(string(data), "�"), "UTF-8 with damaged characters", nil
	}
	page, name := charmap.Windows1252, "Windows-1252"
	if isPolish(data, polish) {
		page, name = charmap.Windows1250, "Windows-1250"
	}
	out, err := page.NewDecoder().Bytes(data)
	return string(out), name, err
}

// isDamagedUTF8 reports whether data has more multi-byte UTF-8 characters than invalid bytes.
func isDamagedUTF8(data []byte) bool {
	good, bad := 0, 0
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			good++
		}
		data = data[n:]
	}
	return good > bad
}

// polishBytes are Polish letters in Windows-1250, and westernBytes western letters in Windows-1252. In the other
// encoding these bytes are unlikely characters.
const (
	polishBytes  = "\xa5\xb9\xc6\xe6\xca\xea\xa3\xb3\xd1\x8c\x9c\x8f\x9f\xaf\xbf" // ĄąĆćĘęŁłŃŚśŹźŻż
	westernBytes = "\xa1\xe8\xe0\xf2\xf9\xf5\xe3\xc0\xc8\xf1\xd1"                 // ¡èàòùõãÀÈñÑ
)

// isPolish reports whether a text is in Windows-1250 rather than in Windows-1252. If its letters do not decide, the
// result is the parameter polish.
func isPolish(data []byte, polish bool) bool {
	letter := func(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80 }
	pl, west := 0, 0
	for i, c := range data {
		if c < 0x80 {
			continue
		}
		before := i > 0 && letter(data[i-1])
		after := i+1 < len(data) && letter(data[i+1])
		switch {
		case c == 0xbf && !before && after: // ¿ or Ż in lower case at the start of a word
			west++
			pl++
		case c == 0xa3 && !before && !after: // £
			west++
		case c == 0xb9 && !before, c == 0xb3 && !before && !after: // superscripts
			west++
		case strings.IndexByte(polishBytes, c) >= 0 && c != 0xd1:
			pl++
		case strings.IndexByte(westernBytes, c) >= 0:
			west++
		}
	}
	if pl == west {
		return polish
	}
	return pl > west
}
