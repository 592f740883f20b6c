package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/internal/importer"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/upkeep"
)

// adoptSettings stores those of the proposed settings said that the database lacks. It does so only while the
// calendar has no settings or no records. It returns the keys of the settings that it has stored.
func adoptSettings(ctx context.Context, st *store.Store, said settings.Layer) (adopted []string, err error) {
	used, err := hasRecords(ctx, st)
	if err != nil {
		return nil, err
	}
	if used {
		if stored, _, err := edit.StoredSite(ctx, st.Ent); err != nil || stored != nil {
			return nil, err
		}
	}
	err = edit.StoreSite(ctx, st.Ent, func(stored settings.Layer) (settings.Layer, bool, error) {
		adopted = nil
		switch {
		case stored == nil:
			stored = settings.Layer{}
		case used:
			return stored, false, nil
		}
		for _, key := range settings.Keys() {
			if value, ok := said[key]; ok && stored[key] == nil {
				stored[key] = value
				adopted = append(adopted, key)
			}
		}
		return stored, false, nil
	})
	return adopted, err
}

// setMain makes main the first language in the settings out, which makes it the main language of the site. It does
// nothing if main is "".
func setMain(out settings.Layer, main calendar.Language) error {
	if main == "" {
		return nil
	}
	site, err := settings.Resolve(settings.Flags{Language: main}, settings.Folder{}, out)
	if err != nil {
		return err
	}
	return out.Set("languages", joinLanguages(site.Languages))
}

// logDifferences logs which settings from the flags and folder of a process differ from those in the database.
func logDifferences(log *slog.Logger, source siteSource, stored settings.Layer) {
	for _, d := range settings.Differences(source.flags, source.folder, stored) {
		log.Warn("a setting of this process differs from that of the calendar: it wins here, and other processes have the other",
			"setting", d.Key, "here", d.Here, "calendar", d.Stored)
	}
}

// adopt stores the settings of the process if the calendar has no settings or no records, and logs which ones
// differ. A calendar with records but without settings comes from an earlier version. It gets the language and zone
// that serve has used for it.
func (f serveFlags) adopt(ctx context.Context, log *slog.Logger, st *store.Store, source siteSource) error {
	said, err := source.recordSettings()
	if err != nil {
		return err
	}
	stored, _, err := edit.StoredSite(ctx, st.Ent)
	if err != nil {
		return err
	}
	if stored == nil {
		used, err := hasRecords(ctx, st)
		if err != nil {
			return err
		}
		if used {
			all, _, err := source.resolve(nil, "")
			if err != nil {
				return err
			}
			if err := errors.Join(said.Set("languages", joinLanguages(all.Languages)), said.Set("timezone", all.Zone.String())); err != nil {
				return err
			}
		}
	}
	adopted, err := adoptSettings(ctx, st, said)
	if err != nil {
		return err
	}
	if len(adopted) > 0 {
		log.Info("settings of this process are those of the calendar from now on", "settings", strings.Join(adopted, ","))
	}
	if stored, _, err = edit.StoredSite(ctx, st.Ent); err != nil {
		return err
	}
	logDifferences(log, source, stored)
	pending, err := upkeep.ReindexPending(ctx, st.Ent)
	if pending {
		log.Warn("records are not all sorted and indexed for the main language: 'almanac site set' continues")
	}
	return err
}

// adoptIdentity completes the settings said with those of an imported site. The main language stays if
// hasLanguage is true. It adds a notice to cal about each setting that the user should set, or that Almanac does
// not accept.
func adoptIdentity(said settings.Layer, hasLanguage bool, cal *importer.Calendar) error {
	site := cal.Site
	if site == nil {
		return nil
	}
	_, hasZone := cal.CommonZone()
	var unsaid []string
	for _, s := range []struct {
		key, value string
		due        bool // a person should set it if the source does not say it
	}{
		{"title", site.Title, true},
		{"tagline", site.Tagline, false},
		{"timezone", site.Zone, !hasZone},
		{"currency-symbol", site.CurrencySymbol, true},
		{"currency-code", site.CurrencyCode, true},
		{"currency-position", site.CurrencyPosition, false},
		{"per-page", textOf(site.PerPage), false},
		{"english", site.English, false},
		{"clock", site.Clock, false},
		{"accent", site.ThemeColour, false},
	} {
		if said[s.key] != nil {
			continue
		}
		if s.value == "" {
			if s.due {
				unsaid = append(unsaid, s.key)
			}
			continue
		}
		trial := maps.Clone(said)
		if err := trial.Set(s.key, s.value); err != nil {
			cal.Notices = append(cal.Notices, fmt.Sprintf("a setting of the source is not kept: %v", err))
			continue
		}
		said[s.key] = trial[s.key]
	}
	if site.Language == "" && !hasLanguage {
		unsaid = append(unsaid, "languages")
	}
	if len(unsaid) > 0 {
		cal.Notices = append(cal.Notices, "the source does not say these settings; set them with 'almanac site set': "+strings.Join(unsaid, ", "))
	}
	if site.Icon != "" {
		cal.Notices = append(cal.Notices, "the icon of the source is not kept, because it is not SVG; it is at "+site.Icon)
	}
	if hasLanguage {
		return nil
	}
	return setMain(said, site.Language)
}

// textOf returns a positive number as text, and "" for 0.
func textOf(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// hasRecords reports whether a calendar has events, venues, organizers or terms.
func hasRecords(ctx context.Context, st *store.Store) (bool, error) {
	for _, exist := range []func(context.Context) (bool, error){
		st.Ent.Event.Query().Exist, st.Ent.Venue.Query().Exist, st.Ent.Organizer.Query().Exist, st.Ent.Term.Query().Exist,
	} {
		if has, err := exist(ctx); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

func joinLanguages(all []calendar.Language) string {
	words := make([]string, len(all))
	for i, l := range all {
		words[i] = string(l)
	}
	return strings.Join(words, ",")
}

// adoptAndPrint stores those of the settings said that the database lacks (see adoptSettings), and prints them.
func adoptAndPrint(ctx context.Context, s streams, st *store.Store, said settings.Layer) error {
	adopted, err := adoptSettings(ctx, st, said)
	if err != nil || len(adopted) == 0 {
		return err
	}
	for i, key := range adopted {
		adopted[i] = key + " " + said.Text(key)
	}
	_, err = fmt.Fprintln(s.Err, "almanac: settings of the calendar:", strings.Join(adopted, "; "))
	return err
}

// printServeHint prints the command that serves a calendar with the folder of its images.
func printServeHint(s streams, st *store.Store, media string) error {
	command := "almanac serve --db " + shellQuote(st.String())
	if usual, err := filepath.Abs("almanac-media"); err != nil || media != usual {
		command += " --media " + shellQuote(media)
	}
	_, err := fmt.Fprintln(s.Out, "serve it with:", command)
	return err
}
