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

// turnedQualities are tried in turn until a turned JPEG is no larger than a file may be.
var turnedQualities = [...]int{92, 85, 75}

// uprightFile encodes a picture that its metadata asks to turn: the file then needs no metadata. JPEG and PNG files keep
// their format. A WebP file, for which there is no encoder, becomes a JPEG if it has nothing transparent and is lossy, and
// a PNG otherwise. The colours stay those of the file.
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
		colours = nil // a profile is for the kind of samples that the file had
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
		const start = 2 // the marker SOI
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

// withProfile returns an ICC profile as JPEG segments or as a PNG chunk.
func (f *format) withProfile(profile []byte) ([]byte, error) {
	if profile == nil {
		return nil, nil
	}
	if f == &jpegFormat {
		const most = 1<<16 - 1 - 2 - 14 // of a segment, less its length, name and numbers
		parts := (len(profile) + most - 1) / most
		if parts > 255 {
			return nil, nil // no room for the number: the picture has the usual colours
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
