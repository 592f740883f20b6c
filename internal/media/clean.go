package media

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// cleanedFile is a picture file without metadata. Pixels, colour profiles and animation are kept.
type cleanedFile struct {
	data []byte
	// turn is the rotation that the metadata required. The pixels of data are not yet turned.
	turn turn
	// colours are the JPEG segments or PNG chunks that describe the colours. They can be copied to another file
	// of the format.
	colours []byte
	profile []byte // ICC profile of a WebP file; nil means none
}

var errBroken = fmt.Errorf("%w: broken or cut off", ErrType)

// jpegSOF0 to jpegCOM are the markers of JPEG files that cleanJPEG distinguishes (ITU-T T.81, table B.1).
const (
	jpegSOF0  = 0xC0
	jpegSOF1  = 0xC1
	jpegSOF2  = 0xC2
	jpegDHT   = 0xC4
	jpegRST0  = 0xD0
	jpegRST7  = 0xD7
	jpegEOI   = 0xD9
	jpegSOS   = 0xDA
	jpegDQT   = 0xDB
	jpegDRI   = 0xDD
	jpegAPP0  = 0xE0
	jpegAPP1  = 0xE1
	jpegAPP2  = 0xE2
	jpegAPP14 = 0xEE
	jpegAPP15 = 0xEF
	jpegCOM   = 0xFE
)

var (
	jpegEXIF = []byte("Exif\x00\x00")
	jpegICC  = []byte("ICC_PROFILE\x00")
)

// cleanJPEG returns a JPEG file without metadata. It keeps the segments that decoders need, the pixel density
// of JFIF, the ICC profile and Adobe's colour transform. The first EXIF block determines the turn.
func cleanJPEG(data []byte) (cleanedFile, error) {
	c := cleanedFile{turn: turnUpright}
	out := make([]byte, 0, len(data))
	out = append(out, data[:2]...)
	turned := false
	for rest := data[2:]; ; {
		marker, after, ok := jpegMarker(rest)
		if !ok {
			return cleanedFile{}, errBroken
		}
		if marker == jpegEOI {
			out = append(out, 0xFF, jpegEOI)
			c.data = out
			return c, nil
		}
		if marker >= jpegRST0 && marker <= jpegRST7 {
			rest = after
			continue
		}
		if len(after) < 2 {
			return cleanedFile{}, errBroken
		}
		length := int(binary.BigEndian.Uint16(after))
		if length < 2 || length > len(after) {
			return cleanedFile{}, errBroken
		}
		body := after[2:length]
		rest = after[length:]
		switch marker {
		case jpegSOF0, jpegSOF1, jpegSOF2, jpegDHT, jpegDQT, jpegDRI:
			out = appendSegment(out, marker, body)
		case jpegSOS:
			n := jpegScan(rest)
			out = append(appendSegment(out, marker, body), rest[:n]...)
			rest = rest[n:]
		case jpegAPP0:
			const jfif = 14 // bytes of the body before the thumbnail
			if bytes.HasPrefix(body, []byte("JFIF\x00")) && len(body) >= jfif {
				out = appendSegment(out, marker, body[:jfif])
				out[len(out)-2], out[len(out)-1] = 0, 0 // width and height of the thumbnail
			}
		case jpegAPP1:
			if exif, ok := bytes.CutPrefix(body, jpegEXIF); ok && !turned {
				c.turn, turned = exifTurn(exif), true
			}
		case jpegAPP2:
			if bytes.HasPrefix(body, jpegICC) {
				out = appendSegment(out, marker, body)
				c.colours = appendSegment(c.colours, marker, body)
			}
		case jpegAPP14:
			const adobe = 12
			if bytes.HasPrefix(body, []byte("Adobe")) && len(body) >= adobe {
				out = appendSegment(out, marker, body[:adobe])
			}
		default:
			if marker != jpegCOM && (marker < jpegAPP0 || marker > jpegAPP15) {
				return cleanedFile{}, errBroken
			}
		}
	}
}

// jpegMarker returns the next marker in data, and the bytes after it. ok is false if there is none.
func jpegMarker(data []byte) (marker byte, after []byte, ok bool) {
	for {
		i := bytes.IndexByte(data, 0xFF)
		if i < 0 {
			return 0, nil, false
		}
		for data = data[i:]; len(data) > 0 && data[0] == 0xFF; {
			data = data[1:] // any number of fill bytes may precede a marker
		}
		if len(data) == 0 {
			return 0, nil, false
		}
		if marker, data = data[0], data[1:]; marker != 0 {
			return marker, data, true
		}
	}
}

// jpegScan returns the length of the entropy-coded data at the start of data, which follows the header of a
// scan.
func jpegScan(data []byte) int {
	for i := 0; ; {
		n := bytes.IndexByte(data[i:], 0xFF)
		if n < 0 {
			return len(data)
		}
		i += n
		if i+1 == len(data) {
			return i
		}
		if b := data[i+1]; b != 0 && (b < jpegRST0 || b > jpegRST7) {
			return i
		}
		i += 2
	}
}

func appendSegment(out []byte, marker byte, body []byte) []byte {
	out = append(out, 0xFF, marker)
	out = binary.BigEndian.AppendUint16(out, uint16(len(body)+2))
	return append(out, body...)
}

const (
	pngSignature = 8
	pngHead      = pngSignature + 25 // signature and the chunk IHDR
	pngAround    = 12                // bytes around a chunk's body: length, name and checksum
)

// cleanPNG returns a PNG file without metadata. It keeps the chunks that determine the pixels, their colours
// and their timing.
func cleanPNG(data []byte) (cleanedFile, error) {
	c := cleanedFile{turn: turnUpright}
	out := make([]byte, 0, len(data))
	out = append(out, data[:pngSignature]...)
	animated := false
	for rest := data[pngSignature:]; ; {
		if len(rest) < pngAround {
			return cleanedFile{}, errBroken
		}
		length := uint64(binary.BigEndian.Uint32(rest))
		if length > uint64(len(rest)-pngAround) {
			return cleanedFile{}, errBroken
		}
		chunk := rest[:pngAround+length]
		rest = rest[len(chunk):]
		switch name := string(chunk[4:8]); name {
		case "IEND":
			out = append(out, chunk...)
			c.data = out
			if animated {
				c.turn = turnUpright // the frames of an animation cannot be turned
			}
			return c, nil
		case "acTL":
			animated = true
			out = append(out, chunk...)
		case "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "mDCV", "cLLI":
			out = append(out, chunk...)
			c.colours = append(c.colours, chunk...)
		case "IHDR", "PLTE", "IDAT", "tRNS", "sBIT", "bKGD", "pHYs", "fcTL", "fdAT":
			out = append(out, chunk...)
		case "eXIf":
			c.turn = exifTurn(chunk[8 : 8+length])
		}
	}
}

// gifExtension to gifApplication are the types of blocks and extensions in GIF files.
const (
	gifExtension   = 0x21
	gifImage       = 0x2C
	gifTrailer     = 0x3B
	gifControl     = 0xF9
	gifApplication = 0xFF
)

// cleanGIF returns a GIF file without metadata. It keeps pictures, their timing, the number of repeats of an
// animation, and a colour profile. It ends the file before the first truncated block, as decoders do.
func cleanGIF(data []byte) (cleanedFile, error) {
	const header = 13
	if len(data) < header {
		return cleanedFile{}, errBroken
	}
	i := header + gifColours(data[10])
	if i > len(data) {
		return cleanedFile{}, errBroken
	}
	out := append(make([]byte, 0, len(data)), data[:i]...)
	pictures := 0
	for i < len(data) {
		block := data[i:]
		n := gifBlock(block)
		if n == 0 {
			break
		}
		block = block[:n]
		i += n
		switch {
		case block[0] == gifImage:
			out = append(out, block...)
			pictures++
		case block[1] == gifControl:
			out = append(out, block...)
		case block[1] == gifApplication:
			out = append(out, gifApplicationOf(block)...)
		}
	}
	if pictures == 0 {
		return cleanedFile{}, errBroken
	}
	return cleanedFile{data: append(out, gifTrailer), turn: turnUpright}, nil
}

// gifColours returns the length in bytes of the colour table that the flags byte announces. 0 means no table.
func gifColours(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// gifBlock returns the length in bytes of the image or extension at the start of data. 0 means a truncated or
// unknown block.
func gifBlock(data []byte) int {
	at := 0
	switch {
	case len(data) >= 2 && data[0] == gifExtension:
		at = 2
	case len(data) >= 10 && data[0] == gifImage:
		at = 10 + gifColours(data[9]) + 1 // and one byte with the code size
	default:
		return 0
	}
	for at < len(data) {
		n := int(data[at])
		at += n + 1
		if n == 0 {
			return at
		}
	}
	return 0
}

// gifApplicationOf returns the part of a GIF application extension to keep, such as the number of repeats. Nil means
// that nothing is kept.
func gifApplicationOf(block []byte) []byte {
	const name, loop = 11, 3 // lengths in bytes of the sub-blocks with the application's name and with the loop count
	if len(block) < 3+name || block[2] != name {
		return nil
	}
	switch body := block[3+name:]; string(block[3 : 3+name]) {
	case "ICCRGBG1012":
		return block
	case "NETSCAPE2.0", "ANIMEXTS1.0":
		if len(body) > loop && body[0] == loop && body[1] == 1 {
			return append(bytes.Clone(block[:3+name+1+loop]), 0)
		}
	}
	return nil
}

// webpXMP, webpEXIF and webpMoves are flags in the VP8X chunk of WebP files.
const (
	webpXMP   = 1 << 2
	webpEXIF  = 1 << 3
	webpMoves = 1 << 1
)

// cleanWebP returns a WebP file without metadata. It keeps the chunks with the picture, its frames and the
// colour profile. The EXIF chunk determines the turn.
func cleanWebP(data []byte) (cleanedFile, error) {
	const header = 12
	c := cleanedFile{turn: turnUpright}
	end := min(uint64(len(data)), 8+uint64(binary.LittleEndian.Uint32(data[4:])))
	if end < header {
		return cleanedFile{}, errBroken
	}
	out := append(make([]byte, 0, len(data)), data[:header]...)
	seen := map[string]bool{}
	moves := false
	for rest := data[header:end]; len(rest) >= 8; {
		name, body, after := webpChunk(rest)
		rest = after
		if body == nil || name != "ANMF" && seen[name] {
			continue
		}
		if !seen["VP8X"] && (seen["VP8 "] || seen["VP8L"]) {
			break // a picture without VP8X is a single chunk
		}
		seen[name] = true
		switch name {
		case "VP8X":
			if len(body) != 10 {
				return cleanedFile{}, errBroken
			}
			moves = body[0]&webpMoves != 0
			at := len(out)
			out = appendChunk(out, name, body)
			out[at+8] &^= webpXMP | webpEXIF
		case "ICCP":
			c.profile = body
			out = appendChunk(out, name, body)
		case "ANIM", "ALPH", "VP8 ", "VP8L":
			out = appendChunk(out, name, body)
		case "ANMF":
			out = appendChunk(out, name, cleanFrame(body))
		case "EXIF":
			exif, _ := bytes.CutPrefix(body, jpegEXIF) // some programs write this JPEG prefix
			c.turn = exifTurn(exif)
		}
	}
	if moves {
		c.turn = turnUpright // the frames of an animation cannot be turned
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	c.data = out
	return c, nil
}

// cleanFrame removes from a frame of an animation the chunks that are not shown.
func cleanFrame(body []byte) []byte {
	const placement = 16
	if len(body) < placement {
		return body
	}
	out := bytes.Clone(body[:placement])
	for rest := body[placement:]; len(rest) >= 8; {
		name, chunk, after := webpChunk(rest)
		rest = after
		if chunk != nil && (name == "ALPH" || name == "VP8 " || name == "VP8L") {
			out = appendChunk(out, name, chunk)
		}
	}
	return out
}

// webpChunk splits the first chunk off data. A nil body means that the chunk is truncated.
func webpChunk(data []byte) (name string, body, after []byte) {
	length := uint64(binary.LittleEndian.Uint32(data[4:]))
	name, after = string(data[:4]), data[8:]
	if length > uint64(len(after)) {
		return name, nil, nil
	}
	return name, after[:length:length], after[min(length+length%2, uint64(len(after))):]
}

func appendChunk(out []byte, name string, body []byte) []byte {
	out = append(out, name...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(body)))
	out = append(out, body...)
	if len(body)%2 == 1 {
		out = append(out, 0)
	}
	return out
}
