package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/seed"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/upkeep"
	"github.com/almanac-cal/almanac/server"
)

// siteFlags has settings of the site for one process. They win over those in the database.
type siteFlags struct {
	Timezone string `placeholder:"ZONE" help:"Time zone of the site, an IANA name or UTC+h. Default that of the calendar, which is UTC until one is set."`
	Language string `default:"" placeholder:"LANG" enum:",en,pl,es" help:"Main language of the site: en, pl or es. Default that of the calendar, which is en until one is set."`
}

// moneyFlags has the settings of prices for one process.
type moneyFlags struct {
	CurrencySymbol   *string `placeholder:"TEXT" help:"Currency symbol of prices that name none. Default that of the calendar, which is $$ until one is set."`
	CurrencyCode     string  `placeholder:"CODE" help:"ISO 4217 code of the currency. Default that of the calendar, which is USD until one is set."`
	CurrencyPosition string  `default:"" placeholder:"SIDE" enum:",prefix,postfix" help:"Place of the currency symbol: prefix or postfix. Default that of the calendar, which is prefix until one is set."`
	DecimalMark      string  `placeholder:"MARK" help:"Decimal mark of prices that are ambiguous, such as 1.500: a dot or a comma. Default that of the calendar, which is a dot until one is set."`
}

// add adds the settings that the flags have to a layer.
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

// flagError turns the error of a setting into that of its flag.
func flagError(err error) error {
	if wrong := (*settings.KeyError)(nil); errors.As(err, &wrong) {
		err = fmt.Errorf("--%s %s", wrong.Key, strings.Replace(wrong.Err.Error(), "; want", ": want", 1)) // as flags say it
	}
	return usageError{err}
}

// flags returns the settings that the flags have. Its usageError names a wrong one.
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

// source returns where a command gets the settings of the site from.
func (f siteFlags) source() (siteSource, error) {
	flags, err := f.flags()
	return siteSource{flags: flags}, err
}

// siteSource is where a process gets the settings of its site from, besides the database.
type siteSource struct {
	flags  settings.Flags
	folder settings.Folder
}

// load returns the settings of the site, and what package calendar calls a site.
func (s siteSource) load(ctx context.Context, db *ent.Client) (settings.Site, calendar.Site, error) {
	stored, text, err := edit.StoredSite(ctx, db)
	if err != nil {
		return settings.Site{}, calendar.Site{}, err
	}
	return s.resolve(stored, text)
}

// resolve returns the settings of a site with the given stored ones.
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

// adopt stores settings that are not stored yet, while the calendar has no settings or no records. It returns the keys of those that
// it has stored. The settings of a calendar with records do not change by the way.
func adopt(ctx context.Context, st *store.Store, said settings.Layer) (adopted []string, err error) {
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

// said returns the settings that a process brings to a calendar without any: its flags, and what its folder says of records. The main
// language is followed by the others.
func (s siteSource) said() (settings.Layer, error) {
	out := settings.Layer{}
	for _, key := range settings.RecordKeys {
		if value := s.folder.Said[key]; value != nil {
			out[key] = value
		}
	}
	maps.Copy(out, s.flags.Layer)
	return out, setMain(out, s.flags.Language)
}

// setMain makes a language the first one of a layer. "" leaves the layer as it is.
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

// tellDifferences logs which settings of a process differ from those of the calendar.
func tellDifferences(log *slog.Logger, source siteSource, stored settings.Layer) {
	for _, d := range settings.Differences(source.flags, source.folder, stored) {
		log.Warn("a setting of this process differs from that of the calendar: it wins here, and other processes have the other",
			"setting", d.Key, "here", d.Here, "calendar", d.Stored)
	}
}

// adopt stores the settings that the process brings, if the calendar has none or no records, and tells which ones differ. A calendar
// that has records but no settings is one of an earlier version: it is in the language and the zone that serve has for it.
func (f serveFlags) adopt(ctx context.Context, log *slog.Logger, st *store.Store, source siteSource) error {
	said, err := source.said()
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
	adopted, err := adopt(ctx, st, said)
	if err != nil {
		return err
	}
	if len(adopted) > 0 {
		log.Info("settings of this process are those of the calendar from now on", "settings", strings.Join(adopted, ","))
	}
	if stored, _, err = edit.StoredSite(ctx, st.Ent); err != nil {
		return err
	}
	tellDifferences(log, source, stored)
	pending, err := upkeep.ReindexPending(ctx, st.Ent)
	if pending {
		log.Warn("records are not all sorted and indexed for the main language: 'almanac site set' continues")
	}
	return err
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

// followEvery is how often a process looks for new settings of the site. A write finds them at once.
const followEvery = time.Second

// followTimeout is how long a process waits for the database when it looks for new settings.
const followTimeout = 5 * time.Second

// liveSite is the site of a server. It follows the settings in the database.
type liveSite struct {
	flags       serveFlags
	source      siteSource
	st          databases
	config      handlers.Config // of the handlers, without what depends on the site
	recordCache int64           // size of the cache of records, in bytes
	server      *server.Server

	replacing chan struct{} // full while one request or job looks for other settings
	now       atomic.Pointer[calendar.Site]
	unusable  atomic.Pointer[unusableSettings] // nil if the settings in the database are used
}

// unusableSettings are settings in the database that a process cannot use.
type unusableSettings struct {
	text string
	err  error
	told atomic.Bool // it was logged
}

// newLiveSite returns the site of a server on a database.
func newLiveSite(flags serveFlags, source siteSource, st databases) *liveSite {
	return &liveSite{flags: flags, source: source, st: st, replacing: make(chan struct{}, 1)}
}

// site returns the site as it is now.
func (l *liveSite) site() calendar.Site { return *l.now.Load() }

// open returns handlers with the present settings.
func (l *liveSite) open(ctx context.Context) (*handlers.Handlers, calendar.Site, error) {
	stored, text, err := edit.StoredSite(ctx, l.st.Ent)
	if err != nil {
		return nil, calendar.Site{}, err
	}
	api, site, err := l.build(stored, text)
	if err == nil {
		l.now.Store(&site)
	}
	return api, site, err
}

// build returns handlers with the given stored settings, and empty caches.
func (l *liveSite) build(stored settings.Layer, text string) (*handlers.Handlers, calendar.Site, error) {
	all, site, err := l.source.resolve(stored, text)
	if err != nil {
		return nil, site, err
	}
	site.BaseURL = l.flags.BaseURL
	c := l.config
	c.Site, c.PageSettings = site, &all
	if c.RecordCache, err = reply.NewRecordCache(l.recordCache); err != nil {
		return nil, site, err
	}
	api, err := handlers.New(c)
	if err != nil {
		return nil, site, usageError{err}
	}
	return api, site, nil
}

// usable returns why the process cannot use the settings in the database, which are those of all writes. Nil means that it does.
func (l *liveSite) usable(context.Context) error {
	if bad := l.unusable.Load(); bad != nil {
		return bad.err
	}
	return nil
}

// follow has the server answer with the settings in the database, if they have changed. If it cannot use them, it notes that.
func (l *liveSite) follow(ctx context.Context) error {
	select {
	case l.replacing <- struct{}{}:
		defer func() { <-l.replacing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	stored, text, err := edit.StoredSite(ctx, l.st.Ent)
	bad := l.unusable.Load()
	switch {
	case err != nil && text == "":
		return err
	case bad != nil && bad.text == text:
		return nil
	}
	if err == nil && text != l.site().Stored {
		err = l.replace(stored, text)
	}
	bad = nil
	if err != nil {
		bad = &unusableSettings{text: text, err: err}
	}
	l.unusable.Store(bad)
	return nil
}

// replace has the server answer with the given stored settings.
func (l *liveSite) replace(stored settings.Layer, text string) error {
	api, site, err := l.build(stored, text)
	if err == nil {
		err = l.server.Replace(api, site)
	}
	if err == nil {
		l.now.Store(&site)
	}
	return err
}

// watch calls follow and logs what it did.
func (l *liveSite) watch(ctx context.Context, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, followTimeout)
	defer cancel()
	before := l.site().Stored
	err := l.follow(ctx)
	bad := l.unusable.Load()
	switch {
	case err != nil && !errors.Is(err, context.Canceled):
		log.Error("settings of the site", "error", err)
	case bad != nil && bad.told.CompareAndSwap(false, true):
		log.Error("settings of the site", "error", bad.err)
	case l.site().Stored != before:
		log.Info("the settings of the site have changed")
	}
}

// adoptAndTell stores settings that are not stored yet, and prints them.
func adoptAndTell(ctx context.Context, s streams, st *store.Store, said settings.Layer) error {
	adopted, err := adopt(ctx, st, said)
	if err != nil || len(adopted) == 0 {
		return err
	}
	for i, key := range adopted {
		adopted[i] = key + " " + said.Text(key)
	}
	_, err = fmt.Fprintln(s.Err, "almanac: settings of the calendar:", strings.Join(adopted, "; "))
	return err
}

// tellServe prints the command that serves a calendar with the folder of its images.
func tellServe(s streams, st *store.Store, media string) error {
	command := "almanac serve --db " + shellQuote(st.String())
	if usual, err := filepath.Abs("almanac-media"); err != nil || media != usual {
		command += " --media " + shellQuote(media)
	}
	_, err := fmt.Fprintln(s.Out, "serve it with:", command)
	return err
}

// forgetSites removes the stored settings that a calendar without records has from made-up ones. Settings that a user has
// changed stay.
func forgetSites(ctx context.Context, st *store.Store, plans []seed.Plan) error {
	used, err := hasRecords(ctx, st)
	if err != nil || used {
		return err
	}
	sites := make([]settings.Layer, len(plans))
	for i, plan := range plans {
		o, err := plan.Options()
		if err != nil {
			return err
		}
		made, err := scenario.New(o)
		if err != nil {
			return err
		}
		if sites[i], err = madeUp(made, settings.Flags{}); err != nil {
			return err
		}
	}
	return edit.StoreSite(ctx, st.Ent, func(stored settings.Layer) (settings.Layer, bool, error) {
		for _, site := range sites {
			stored = stored.Without(site)
		}
		if len(stored) == 0 {
			stored = nil
		}
		return stored, false, nil
	})
}

// madeUp returns the settings of the site of a made-up calendar: those of its city, but for what the flags have.
func madeUp(made *scenario.Calendar, flags settings.Flags) (settings.Layer, error) {
	money, err := made.Currency()
	if err != nil {
		return nil, err
	}
	titles, err := json.Marshal(made.Titles())
	if err != nil {
		return nil, err
	}
	out := settings.Layer{"title": titles}
	english := locale.British
	if made.American() {
		english = locale.American
	}
	for _, v := range [][2]string{
		{"languages", joinLanguages(made.Options().Languages)},
		{"timezone", made.Zone().String()},
		{"english", string(english)},
		{"currency-symbol", money.Symbol},
		{"currency-code", money.Code},
		{"currency-position", money.Position},
		{"decimal-mark", money.Decimal},
	} {
		if err := out.Set(v[0], v[1]); err != nil {
			return nil, err
		}
	}
	maps.Copy(out, flags.Layer)
	return out, setMain(out, flags.Language)
}
