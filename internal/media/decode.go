package media

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"
)

// format has the properties and functions of one type of picture file. Smaller copies are JPEG or PNG, whose encoders
// suit any picture.
type format struct {
	ext, mimeType string
	is            func(data []byte) bool
	clean         func(data []byte) (cleanedFile, error)
	config        func(io.Reader) (image.Config, error)
	footprint     func(data []byte, size image.Point) footprint      // estimates the memory for decoding a cleaned file
	decode        func(data []byte, size image.Point) (frame, error) // size is the one that config returned
	encode        func(io.Writer, image.Image) error                 // encodes a copy; nil: copies have another format
}

// frame is the first or only frame of a picture file. Its field at is the position of the frame's top left
// corner in the whole picture.
type frame struct {
	img image.Image
	at  image.Point
}

var (
	jpegFormat = format{
		ext:       "jpg",
		mimeType:  "image/jpeg",
		is:        func(data []byte) bool { return bytes.HasPrefix(data, []byte("\xFF\xD8\xFF")) },
		clean:     cleanJPEG,
		config:    jpeg.DecodeConfig,
		footprint: jpegFootprint,
		decode:    wholePicture(jpeg.Decode),
		encode: func(w io.Writer, img image.Image) error {
			return jpeg.Encode(w, img, &jpeg.Options{Quality: 82})
		},
	}
	pngFormat = format{
		ext:       "png",
		mimeType:  "image/png",
		is:        func(data []byte) bool { return bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")) },
		clean:     cleanPNG,
		config:    png.DecodeConfig,
		footprint: pngFootprint,
		decode:    wholePicture(png.Decode),
		encode:    png.Encode,
	}
	gifFormat = format{
		ext:      "gif",
		mimeType: "image/gif",
		is: func(data []byte) bool {
			return bytes.HasPrefix(data, []byte("GIF87a")) || bytes.HasPrefix(data, []byte("GIF89a"))
		},
		clean:     cleanGIF,
		config:    gif.DecodeConfig,
		footprint: gifFootprint,
		decode:    decodeGIF,
	}
	webpFormat = format{
		ext:      "webp",
		mimeType: "image/webp",
		is: func(data []byte) bool {
			return len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP"
		},
		clean:     cleanWebP,
		config:    webp.DecodeConfig,
		footprint: webpFootprint,
		decode:    decodeWebP,
	}

	formats = []*format{&jpegFormat, &pngFormat, &gifFormat, &webpFormat}
)

// sniffBytes is the number of bytes that sniff needs.
const sniffBytes = 12

// sniff determines the format of a picture from its first bytes. Nil means an unsupported format.
func sniff(data []byte) *format {
	for _, f := range formats {
		if f.is(data) {
			return f
		}
	}
	return nil
}

// forSize returns the format for a smaller copy of a picture: the picture's own format if it has an encoder.
// Otherwise it is PNG for transparent pictures and GIFs, and JPEG for others.
func (f *format) forSize(img *image.RGBA) *format {
	switch {
	case f.encode != nil:
		return f
	case f == &gifFormat || !img.Opaque():
		return &pngFormat
	default:
		return &jpegFormat
	}
}

// picture is a decoded picture.
type picture struct {
	format        *format
	img           image.Image // pixels of the first or only frame
	at            image.Point // position of img in the picture; the rest of the picture is transparent
	width, height int
}

// picture decodes the first or only frame of a cleaned file.
func (f *format) picture(c cleanedFile, size image.Point) (picture, error) {
	frame, err := f.decode(c.data, size)
	if err != nil {
		return picture{}, fmt.Errorf("%w: %w", ErrType, err)
	}
	return picture{format: f, img: frame.img, at: frame.at, width: size.X, height: size.Y}, nil
}

// inspect checks a file and removes its metadata. It returns the size in pixels, or an error if the picture has
// more than the given number of pixels.
func inspect(data []byte, pixels int64) (*format, cleanedFile, image.Point, error) {
	f := sniff(data)
	if f == nil {
		return nil, cleanedFile{}, image.Point{}, ErrType
	}
	c, err := f.clean(data)
	if err != nil {
		return nil, cleanedFile{}, image.Point{}, err
	}
	config, err := f.config(bytes.NewReader(c.data))
	if err != nil {
		return nil, cleanedFile{}, image.Point{}, fmt.Errorf("%w: %w", ErrType, err)
	}
	if config.Width < 1 || config.Height < 1 {
		return nil, cleanedFile{}, image.Point{}, ErrType
	}
	if int64(config.Width) > pixels/int64(config.Height) {
		return nil, cleanedFile{}, image.Point{}, ErrPixels
	}
	return f, c, image.Pt(config.Width, config.Height), nil
}

// wholePicture adapts a decoder of a format without frames: its image covers the whole picture.
func wholePicture(decode func(io.Reader) (image.Image, error)) func([]byte, image.Point) (frame, error) {
	return func(data []byte, _ image.Point) (frame, error) {
		img, err := decode(bytes.NewReader(data))
		return frame{img: img}, err
	}
}

func decodeGIF(data []byte, _ image.Point) (frame, error) {
	img, err := gif.Decode(bytes.NewReader(data))
	if err != nil {
		return frame{}, err
	}
	return frame{img: img, at: img.Bounds().Min}, nil
}

func decodeWebP(data []byte, size image.Point) (frame, error) {
	var at image.Point
	if file, corner, ok := firstOfWebP(data, size); ok {
		data, at = file, corner
	}
	img, err := webp.Decode(bytes.NewReader(data))
	return frame{img: img, at: at}, err
}

// firstOfWebP extracts the first frame of an animated WebP file as a file of its own, with its position in the
// picture. The decoder does not support animations. ok is false for other files, and for a frame that exceeds
// the picture: the size limit was checked for the picture only.
func firstOfWebP(data []byte, size image.Point) (file []byte, at image.Point, ok bool) {
	const (
		riffHeader  = 12 // "RIFF", length, "WEBP"
		chunkHeader = 8  // name, length
		placement   = 16 // length of the start of an ANMF chunk: x/2, y/2, width-1, height-1, duration, flags
		alphaFlag   = 0x10
	)
	for rest := data[riffHeader:]; len(rest) >= chunkHeader; {
		name, length := string(rest[:4]), uint64(binary.LittleEndian.Uint32(rest[4:]))
		rest = rest[chunkHeader:]
		if length > uint64(len(rest)) || name == "VP8 " || name == "VP8L" {
			break
		}
		if name != "ANMF" {
			rest = rest[min(length+length%2, uint64(len(rest))):]
			continue
		}
		if length < placement {
			break
		}
		body := rest[:length]
		at = image.Pt(2*uint24(body), 2*uint24(body[3:]))
		end := at.Add(image.Pt(1+uint24(body[6:]), 1+uint24(body[9:])))
		if end.X > size.X || end.Y > size.Y {
			break
		}
		var flags byte
		if bytes.HasPrefix(body[placement:], []byte("ALPH")) {
			flags = alphaFlag
		}
		file = append(file, "RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00"...)
		file = append(file, flags, 0, 0, 0)
		file = append(file, body[6:12]...) // width-1 and height-1
		file = append(file, body[placement:]...)
		binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
		return file, at, true
	}
	return nil, image.Point{}, false
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
