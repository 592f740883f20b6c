package translations

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// readJSON reads a file in the format of jsonWriter. It ignores unknown members.
func readJSON(r io.Reader, g *limitedReader, do func(*Unit) error) error {
	d := json.NewDecoder(r)
	bad := func(err error) error {
		if errors.Is(err, ErrFile) {
			return err
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return refuse("JSON, byte %d: %w", d.InputOffset(), err)
	}
	if _, err := d.Token(); err != nil { // the brace
		return bad(err)
	}
	format, to, some := "", "", false
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return bad(err)
		}
		switch key {
		case "format":
			if err := d.Decode(&format); err != nil {
				return bad(err)
			}
		case "target_language":
			if err := d.Decode(&to); err != nil {
				return bad(err)
			}
			if _, ok := language(to); !ok {
				return refuse("target_language %q: want en, pl or es", shorten(to))
			}
		case "units":
			switch {
			case format != jsonFormat:
				return refuse("JSON without \"format\": %q before its units", jsonFormat)
			case to == "":
				return refuse("JSON without \"target_language\" before its units")
			}
			some = true
			if err := readUnits(d, g, to, do, bad); err != nil {
				return err
			}
		default:
			var ignored json.RawMessage
			if err := d.Decode(&ignored); err != nil {
				return bad(err)
			}
		}
		g.reset()
	}
	if _, err := d.Token(); err != nil {
		return bad(err)
	}
	if !some {
		return refuse("JSON without \"units\"")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return refuse("JSON, byte %d: more after its end", d.InputOffset())
	}
	return nil
}

// readUnits reads the array of units, and calls do for each.
func readUnits(d *json.Decoder, g *limitedReader, to string, do func(*Unit) error, bad func(error) error) error {
	open, err := d.Token()
	if err != nil {
		return bad(err)
	}
	if open != json.Delim('[') {
		return refuse("JSON, byte %d: \"units\" is no array", d.InputOffset())
	}
	for n := 1; d.More(); n++ {
		var in struct {
			ID     string  `json:"id"`
			From   string  `json:"source_language"`
			Source string  `json:"source"`
			Target *string `json:"target"`
			Note   string  `json:"note"`
		}
		err := d.Decode(&in)
		var mistyped *json.UnmarshalTypeError
		if err != nil && !errors.As(err, &mistyped) {
			return bad(err)
		}
		u := &Unit{Source: in.Source, Target: in.Target, Note: in.Note, place: fmt.Sprintf("item %d", n)}
		u.setID(in.ID)
		u.setLanguages(in.From, to)
		if err != nil {
			u.reject(fmt.Errorf("%s is no text", mistyped.Field))
		}
		if err := do(u); err != nil {
			return err
		}
		g.reset()
	}
	if _, err := d.Token(); err != nil {
		return bad(err)
	}
	return nil
}
