package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/settings"
)

// siteFlags has settings of the site for one process. They override those in the database.
type siteFlags struct {
	Timezone string `placeholder:"ZONE" help:"Time zone of the site, an IANA name or UTC+h. Default the calendar's, at first UTC."`
	Language string `default:"" placeholder:"LANG" enum:",en,pl,es" help:"Main language of the site: en, pl or es. Default the calendar's, at first en."`
}

// moneyFlags has the settings of prices for one process.
type moneyFlags struct {
	CurrencySymbol   *string `placeholder:"TEXT" help:"Currency symbol of prices that name none. Default the calendar's, at first $$."`
	CurrencyCode     string  `placeholder:"CODE" help:"ISO 4217 code of the currency. Default the calendar's, at first USD."`
	CurrencyPosition string  `default:"" placeholder:"SIDE" enum:",prefix,postfix" help:"Place of the currency symbol: prefix or postfix. Default the calendar's, at first prefix."`
	DecimalMark      string  `placeholder:"MARK" help:"Decimal mark of ambiguous prices: a dot or a comma. Default the calendar's, at first a dot."`
}

// add sets in the layer said the settings that the flags give. For a wrong value it returns a usageError that
// names the flag.
func (f moneyFlags) add(said settings.Layer) error {
	values := [][2]string{{"currency-code", f.CurrencyCode}, {"currency-position", f.CurrencyPosition}, {"decimal-mark", f.DecimalMark}}
	if f.CurrencySymbol != nil {
		if err := said.Set("currency-symbol", *f.CurrencySymbol); err != nil {
			return flagError(err)
		}
	}
	for _, v := range values {
		if v[1] == "" {
			continue
		}
		if err := said.Set(v[0], v[1]); err != nil {
			return flagError(err)
		}
	}
	return nil
}

// flagError returns the error of a setting as an error of the flag for that setting.
func flagError(err error) error {
	if wrong, ok := errors.AsType[*settings.KeyError](err); ok {
		err = fmt.Errorf("--%s %s", wrong.Key, strings.Replace(wrong.Err.Error(), "; want", ": want", 1)) // as flags say it
	}
	return usageError{err}
}

// flags returns the settings that the flags set. For a wrong value it returns a usageError that names the flag.
func (f siteFlags) flags() (settings.Flags, error) {
	out := settings.Flags{Layer: settings.Layer{}, Language: calendar.Language(f.Language)}
	if f.Timezone == "" {
		return out, nil
	}
	zone, err := parseZone(f.Timezone)
	if err != nil {
		return out, err
	}
	return out, out.Set("timezone", zone.String())
}

// source returns the settings of the site that the flags give.
func (f siteFlags) source() (siteSource, error) {
	flags, err := f.flags()
	return siteSource{flags: flags}, err
}

// siteSource has the site's settings from the flags and the folder of a process. Its methods combine them with
// those in the database.
type siteSource struct {
	flags  settings.Flags
	folder settings.Folder
}

// load reads the stored settings of the site and combines them with those of the process. It returns them as
// settings of the pages and as a calendar.Site.
func (s siteSource) load(ctx context.Context, db *ent.Client) (settings.Site, calendar.Site, error) {
	stored, text, err := edit.StoredSite(ctx, db)
	if err != nil {
		return settings.Site{}, calendar.Site{}, err
	}
	return s.resolve(stored, text)
}

// resolve combines the stored settings of a site with those of the process. The argument text is the stored form
// of the settings.
func (s siteSource) resolve(stored settings.Layer, text string) (settings.Site, calendar.Site, error) {
	all, err := settings.Resolve(s.flags, s.folder, stored)
	if err != nil {
		return settings.Site{}, calendar.Site{}, fmt.Errorf("settings of the site: %w", err)
	}
	site := all.Calendar(clockNow)
	site.Stored = text
	if stored != nil {
		calendars, err := settings.Resolve(settings.Flags{}, settings.Folder{}, stored)
		if err != nil {
			return settings.Site{}, site, fmt.Errorf("settings of the site: %w", err)
		}
		site.Indexed = calendars.Language()
	}
	return all, site, nil
}

// recordSettings returns the settings that the process stores in a calendar without settings. They come from its
// flags, and from settings in its folder that affect records. The main language is the first one.
func (s siteSource) recordSettings() (settings.Layer, error) {
	out := settings.Layer{}
	for _, key := range settings.RecordKeys {
		if value := s.folder.Said[key]; value != nil {
			out[key] = value
		}
	}
	maps.Copy(out, s.flags.Layer)
	return out, setMain(out, s.flags.Language)
}
