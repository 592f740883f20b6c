package media

import (
	"bytes"
	"encoding/binary"
	"image"
)

// Memory is estimated from a cleaned file before anything is decoded. An estimate is an upper bound of the
// memory in use at one time in the decoders of Go 1.26 and golang.org/x/image (decision 025).

// decoders is an upper bound of the memory, in bytes, of a decoder's tables, windows and buffers.
const decoders = 256 << 10

// footprint is the memory of one decoded picture, in bytes.
type footprint struct {
	image int64 // memory of the decoded picture
	extra int64 // memory of the decoder that depends on the file, besides the picture and the constant decoders
	// converted is true if turning converts the picture to 4 bytes for each pixel.
	converted bool
}

// memoryFor returns the bytes that prepareFiles needs for the cleaned file, decoding, turning and the smaller
// copies.
func (f *format) memoryFor(c cleanedFile, size image.Point) int64 {
	fp := f.footprint(c.data, size)
	total := int64(len(c.data)) + fp.image + fp.extra + decoders
	if c.turn != turnUpright {
		turned := fp.image
		if fp.converted {
			turned = 2 * 4 * pixelCount(size)
		}
		// The sum covers the turned picture, five lines in the encoder, and the file twice: in pieces and
		// joined.
		total += turned + 5*8*int64(max(size.X, size.Y)) + 2*maxTurnedBytes(size) + spoolPart + encoder
	}
	w, h := size.X, size.Y
	if c.turn.swapsSides() {
		w, h = h, w
	}
	return total + memoryForSizes(w, h)
}

// maxTurnedBytes returns the largest permitted size of a turned picture's file, in bytes.
func maxTurnedBytes(size image.Point) int64 { return min(MaxBytes, 9*pixelCount(size)+spoolPart) }

// encoder is an upper bound of the memory, in bytes, of an encoder's tables, windows and buffers.
const encoder = 2 << 20

// memoryForSizes returns the bytes that makeSizes needs for a picture of w by h pixels. makeSizes makes one
// copy after the other. It keeps their files and the pixels of the largest.
func memoryForSizes(w, h int) int64 {
	var kept, most int64
	for _, b := range sizeBoxes {
		if !b.isDue(w, h) {
			continue
		}
		bw, bh := b.dimensions(w, h)
		pixels := 4 * int64(bw) * int64(bh)
		strip := min(4*int64(w)*int64(h), 4*(stripPixels+int64(w)))
		// The sum covers the pixels, the file in pieces, and the sums of a row.
		most = max(most, 2*pixels+strip+64*int64(bw)+spoolPart+encoder)
		kept += pixels
		if b == sizeBoxes[0] {
			kept += pixels
		}
	}
	return kept + most
}

func pixelCount(size image.Point) int64 { return int64(size.X) * int64(size.Y) }

// ceilDiv returns a/b rounded up.
func ceilDiv(a, b int) int64 { return (int64(a) + int64(b) - 1) / int64(b) }

// jpegFootprint estimates the memory for decoding a JPEG file. Its samples are in whole units of the largest
// component. A progressive file needs 64 coefficients of 4 bytes for each block of 64 samples. RGB and CMYK
// files are converted to a second picture.
func jpegFootprint(data []byte, size image.Point) footprint {
	var frame []byte
	progressive, converted := false, false
	for rest := data[2:]; ; {
		marker, after, ok := jpegMarker(rest)
		if !ok || marker == jpegEOI {
			break
		}
		length := int(binary.BigEndian.Uint16(after))
		body := after[2:length]
		rest = after[length:]
		switch marker {
		case jpegSOF0, jpegSOF1, jpegSOF2:
			if frame == nil {
				frame, progressive = body, marker == jpegSOF2
			}
		case jpegSOS:
			rest = rest[jpegScan(rest):]
		case jpegAPP14:
			converted = converted || bytes.HasPrefix(body, []byte("Adobe")) && body[len(body)-1] == 0
		}
	}
	const head = 6 // precision, height, width, number of components
	if len(frame) < head+3 {
		return footprint{}
	}
	components := (len(frame) - head) / 3
	sides := func(i int) (h, v int) {
		hv := frame[head+1+3*i]
		return int(hv >> 4), int(hv & 15)
	}
	h0, v0 := sides(0)
	if components == 1 {
		h0, v0 = 1, 1
	}
	if h0 == 0 || v0 == 0 {
		return footprint{}
	}
	units := ceilDiv(size.X, 8*h0) * ceilDiv(size.Y, 8*v0)
	var samples int64
	ids := make([]byte, 0, 4)
	for i := range components {
		h, v := sides(i)
		if components == 1 {
			h, v = 1, 1
		}
		samples += 64 * units * int64(h) * int64(v)
		ids = append(ids, frame[head+3*i])
	}
	fp := footprint{image: samples}
	if progressive {
		fp.extra += 4 * samples
	}
	if components == 4 || components == 3 && (converted || string(ids) == "RGB") {
		fp.extra += samples
		fp.image = 4 * pixelCount(size)
	}
	fp.converted = components == 4 || h0 == 4
	return fp
}

// pngFootprint estimates the memory for decoding a PNG file. An interlaced file is read in seven passes; the
// last two are half and a quarter of the picture.
func pngFootprint(data []byte, size image.Point) footprint {
	head := data[pngSignature+8 : pngHead]
	depth, kind, interlaced := int64(head[8]), head[9], head[12] != 0
	transparent := bytes.Contains(data, []byte("tRNS"))
	samples := int64(1)
	switch {
	case kind == 3: // kind 3 is a palette
		depth = 8
	case kind != 0 || transparent:
		samples = 4
	}
	fp := footprint{image: samples * max(depth, 8) / 8 * pixelCount(size)}
	row := 1 + int64(size.X)*8
	fp.extra = 2 * row
	if interlaced {
		fp.extra += fp.image*3/4 + 8*2*row
	}
	return fp
}

// gifFootprint estimates the memory for decoding a GIF file. The lines of an interlaced frame are sorted in a
// second frame.
func gifFootprint(_ []byte, size image.Point) footprint {
	return footprint{image: pixelCount(size), extra: pixelCount(size)}
}

// webpFootprint estimates the memory for decoding a WebP file. It assumes the largest of three codings: lossy,
// lossy with transparency, and lossless.
func webpFootprint(data []byte, size image.Point) footprint {
	lossy := ceilDiv(size.X, 16) * ceilDiv(size.Y, 16) * (16*16*3/2 + 8)
	fp := footprint{image: lossy, extra: 2 * int64(len(data))}
	alpha, lossless := webpChunks(data)
	if alpha {
		fp.image += pixelCount(size)
		fp.converted = true
	}
	if lossless {
		fp.image = max(fp.image, 4*pixelCount(size))
		fp.extra += webpLossless(size)
	}
	return fp
}

// webpLossless returns the bytes that decoding lossless data needs, in addition to 4 bytes for each pixel of
// the result.
func webpLossless(size image.Point) int64 {
	const (
		// A group has trees for 280 colours and 2048 cache entries, three trees for 256 symbols, and one for
		// 40. Each symbol takes 2 nodes of 8 bytes, rounded up by the allocator. Tables take 536 bytes.
		group  = 57_000
		groups = 2600 // the decoder rejects files with more
	)
	tiles := ceilDiv(size.X, 4) * ceilDiv(size.Y, 4)
	// The sum covers the pixels of a palette picture, which share 4 bytes, four pictures of tiles, and the
	// groups.
	return 2*pixelCount(size) + 4*int64(size.Y) + 4*4*tiles + min(tiles+1, groups)*group
}

// webpChunks reports whether a file has transparency beside lossy colours, and whether it has lossless data.
// The transparency itself may be lossless.
func webpChunks(data []byte) (alpha, lossless bool) {
	const (
		header    = 12
		placement = 16
	)
	var walk func(rest []byte)
	walk = func(rest []byte) {
		for len(rest) >= 8 {
			name, body, after := webpChunk(rest)
			rest = after
			switch name {
			case "ALPH":
				alpha = true
				lossless = lossless || len(body) > 0 && body[0]&3 != 0
			case "VP8L":
				lossless = true
			case "ANMF":
				if len(body) > placement {
					walk(body[placement:])
				}
			}
		}
	}
	walk(data[header:])
	return alpha, lossless
}
