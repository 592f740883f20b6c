package media

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"io"
)

// turnedQualities are the JPEG qualities to try until a turned picture fits the size limit of a file.
var turnedQualities = [...]int{92, 85, 75}

// uprightFile encodes a turned picture, so that the file needs no metadata for it. JPEG and PNG files keep
// their format. WebP files have no encoder: a lossy opaque picture becomes a JPEG, any other a PNG. The colours
// of the file are kept.
func uprightFile(c cleanedFile, p picture) (picture, []byte, error) {
	_, ink := p.img.(*image.CMYK)
	source, gray := p.format, isGray(p.img)
	p.img = c.turn.apply(p.img)
	if c.turn.swapsSides() {
		p.width, p.height = p.height, p.width
	}
	colours := c.colours
	if source == &webpFormat {
		p.format = &pngFormat
		if _, lossy := p.img.(*image.YCbCr); lossy {
			p.format = &jpegFormat
		}
		var err error
		if colours, err = p.format.withProfile(c.profile); err != nil {
			return picture{}, nil, err
		}
	}
	if ink || gray != isGray(p.img) {
		colours = nil // a colour profile fits only the kind of samples that the file had
	}
	most := int(maxTurnedBytes(image.Pt(p.width, p.height)))
	if p.format == &pngFormat {
		s := spool{most: most}
		if err := png.Encode(&s, p.img); err != nil {
			return picture{}, nil, turnedFault(err)
		}
		return p, s.join(pngHead, colours), nil
	}
	for i, quality := range turnedQualities {
		s := spool{most: most}
		err := jpeg.Encode(&s, p.img, &jpeg.Options{Quality: quality})
		if errors.Is(err, errSpoolFull) && i+1 < len(turnedQualities) {
			continue
		}
		if err != nil {
			return picture{}, nil, turnedFault(err)
		}
		const start = 2 // length of the SOI marker
		return p, s.join(start, colours), nil
	}
	return picture{}, nil, ErrTooLarge
}

func turnedFault(err error) error {
	if errors.Is(err, errSpoolFull) {
		return fmt.Errorf("%w, turned", ErrTooLarge)
	}
	return fmt.Errorf("turned: %w", err)
}

func isGray(img image.Image) bool {
	switch img.(type) {
	case *image.Gray, *image.Gray16:
		return true
	}
	return false
}

// withProfile returns an ICC profile as JPEG segments or as a PNG chunk. A nil profile gives nil.
func (f *format) withProfile(profile []byte) ([]byte, error) {
	if profile == nil {
		return nil, nil
	}
	if f == &jpegFormat {
		const most = 1<<16 - 1 - 2 - 14 // room in a segment without its length, name and numbers
		parts := (len(profile) + most - 1) / most
		if parts > 255 {
			return nil, nil // the segment number does not fit, so the picture uses default colours
		}
		var out []byte
		for i := range parts {
			body := append(bytes.Clone(jpegICC), byte(i+1), byte(parts))
			out = appendSegment(out, jpegAPP2, append(body, profile[i*most:min((i+1)*most, len(profile))]...))
		}
		return out, nil
	}
	body := bytes.NewBufferString("iCCPicc\x00\x00")
	w := zlib.NewWriter(body)
	if _, err := io.Copy(w, bytes.NewReader(profile)); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(body.Len()-4))
	out = append(out, body.Bytes()...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(body.Bytes())), nil
}
