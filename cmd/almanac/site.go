package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/upkeep"
)

type siteCmds struct {
	Show siteShowCmd `cmd:"" help:"Print the settings of the calendar."`
	Set  siteSetCmd  `cmd:"" help:"Change settings of the calendar. Processes that serve it follow within seconds."`
}

type siteShowCmd struct {
	database `group:"Database:"`
	JSON     bool `name:"json" help:"Print the stored ones as site.json."`
}

// shownSettings are the settings that site show prints even if they are not stored.
var shownSettings = []string{
	"title", "tagline", "languages", "english", "timezone", "currency-symbol", "currency-code", "currency-position", "decimal-mark",
	"per-page", "week-start", "path-aliases", "paths",
}

// Run prints the settings.
func (c siteShowCmd) Run(ctx context.Context, s streams) error {
	return c.withReadOnly(ctx, func(st *store.Store) error {
		if err := migrate.CheckCurrent(ctx, st); err != nil {
			return adviseMigration(err, st)
		}
		return c.show(ctx, s, st)
	})
}

func (c siteShowCmd) show(ctx context.Context, s streams, st *store.Store) error {
	stored, _, err := edit.StoredSite(ctx, st.Ent)
	if err != nil {
		return err
	}
	if c.JSON {
		if stored == nil {
			stored = settings.Layer{}
		}
		return printJSON(s.Out, stored)
	}
	keys := slices.Clone(shownSettings)
	for _, key := range settings.Keys() {
		if stored[key] != nil && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	t := newTable(s.Out, "SETTING", "VALUE", "FROM")
	for _, key := range keys {
		if stored[key] != nil {
			t.row(key, stored.Text(key), "calendar")
		} else {
			t.row(key, settings.DefaultText(key), "default")
		}
	}
	return t.Flush()
}

type siteSetCmd struct {
	Settings []string `arg:"" name:"setting" optional:"" placeholder:"NAME=VALUE" help:"Settings, such as languages=pl,en. NAME= restores the default. Without any, an interrupted change is finished."`
	database `group:"Database:"`
	Yes      bool `short:"y" help:"Do not ask for confirmation of a new time zone."`
}

// Run stores settings. If another language becomes the main one, it recomputes the stored data that depends on
// that.
func (c siteSetCmd) Run(ctx context.Context, s streams) error {
	change := settings.Layer{}
	var unset []string
	for _, text := range c.Settings {
		name, value, ok := strings.Cut(text, "=")
		switch {
		case !ok:
			return usageError{fmt.Errorf("%q: want NAME=VALUE", text)}
		case change[name] != nil, slices.Contains(unset, name):
			return usageError{fmt.Errorf("%q: written twice", name)}
		case value == "" && slices.Contains(settings.Keys(), name):
			unset = append(unset, name)
			continue
		}
		if err := change.Set(name, value); err != nil {
			return usageError{err}
		}
	}
	return c.withStore(ctx, func(st *store.Store) error {
		if err := requireCurrent(ctx, st, false); err != nil {
			return err
		}
		if len(c.Settings) == 0 {
			return c.finish(ctx, s, st)
		}
		if err := c.confirmZone(ctx, s, st, change, unset); err != nil {
			return err
		}
		err := edit.StoreSite(ctx, st.Ent, func(stored settings.Layer) (settings.Layer, bool, error) {
			before, err := settings.Resolve(settings.Flags{}, settings.Folder{}, stored)
			if err != nil {
				return nil, false, err
			}
			first := stored == nil // records of an earlier version may be in any language
			if first {
				stored = settings.Layer{}
			}
			maps.Copy(stored, change)
			for _, key := range unset {
				delete(stored, key)
			}
			after, err := settings.Resolve(settings.Flags{}, settings.Folder{}, stored)
			return stored, first || before.Language() != after.Language(), err
		})
		if err != nil {
			return err
		}
		return c.finish(ctx, s, st)
	})
}

// finish recomputes all stored data that depends on the main language of the site, if that language has changed.
func (c siteSetCmd) finish(ctx context.Context, s streams, st *store.Store) error {
	pending, err := upkeep.ReindexPending(ctx, st.Ent)
	if err != nil {
		return err
	}
	if pending {
		_, site, err := siteSource{}.load(ctx, st.Ent)
		if err != nil {
			return err
		}
		bar := newProgress(s.Err, "sorting and indexing in the new language")
		e := &edit.Editor{Site: site, Now: clockNow(), By: auth.System()}
		total := 0
		last := map[calendar.Kind]int{}
		err = upkeep.FinishReindex(ctx, st.Ent, e, func(kind calendar.Kind, records int) {
			total += records - last[kind]
			last[kind] = records
			bar.show(total, 0)
		})
		bar.end()
		switch {
		case errors.Is(err, context.Canceled):
			return errors.New("interrupted; run 'almanac site set' to continue")
		case errors.Is(err, edit.ErrSiteChanged):
			return errors.New("the settings of the calendar changed meanwhile; run 'almanac site set' to continue")
		case err != nil:
			return err
		}
		if total > 0 {
			fmt.Fprintf(s.Out, "%d records and terms sorted and indexed\n", total)
		}
	}
	return siteShowCmd{}.show(ctx, s, st)
}

// zoneExamples is the number of events that confirmZone names.
const zoneExamples = 3

// confirmZone asks the user to confirm a change of the time zone. It prints how many events would begin on another
// day.
func (c siteSetCmd) confirmZone(ctx context.Context, s streams, st *store.Store, change settings.Layer, unset []string) error {
	if change["timezone"] == nil && !slices.Contains(unset, "timezone") {
		return nil
	}
	before, _, err := siteSource{}.load(ctx, st.Ent)
	if err != nil {
		return err
	}
	next := settings.Layer{}
	if zone := change["timezone"]; zone != nil {
		next["timezone"] = zone
	}
	after, err := settings.Resolve(settings.Flags{}, settings.Folder{}, next)
	if err != nil {
		return err
	}
	if before.Zone.String() == after.Zone.String() {
		return nil
	}
	moved, coming, examples, err := movedDays(ctx, st.Ent, clockNow(), before.Zone, after.Zone)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Err, "The time zone of the site becomes %s. It was %s.\n", after.Zone, before.Zone)
	end := "."
	if moved > 0 {
		end = ":"
	}
	fmt.Fprintf(s.Err, "%d of %d coming events stand on another day of the pages%s\n", moved, coming, end)
	for _, e := range examples {
		fmt.Fprintln(s.Err, " ", cellText(e))
	}
	fmt.Fprintln(s.Err, "Events keep their own times and zones. Dates without a zone are read in the new one, and days begin there.")
	if c.Yes || coming == 0 {
		return nil
	}
	if err := askToConfirm(s, "Change the time zone?"); err != nil {
		return errors.New("nothing was changed; --yes changes the time zone without asking")
	}
	return nil
}

// movedDays returns how many coming events there are, and how many of them begin on another day after a change of
// the zone. The strings in examples describe a few of these.
func movedDays(ctx context.Context, db *ent.Client, now time.Time, from, to calendar.Zone) (moved, coming int, examples []string, err error) {
	const batch = 1000
	for after := int64(0); ; {
		rows, err := db.Event.Query().Where(event.IDGT(after), event.EndsAtGTE(now), event.StatusEQ(calendar.Publish)).
			Order(event.ByID()).Limit(batch).Select(event.FieldID, event.FieldTitle, event.FieldStartsAt, event.FieldAllDay).All(ctx)
		if err != nil {
			return 0, 0, nil, fmt.Errorf("coming events: %w", err)
		}
		for _, e := range rows {
			after = e.ID
			coming++
			was, is := from.Wall(e.StartsAt), to.Wall(e.StartsAt)
			if e.AllDay || was.StartOfDay() == is.StartOfDay() {
				continue
			}
			if moved++; len(examples) < zoneExamples {
				examples = append(examples, fmt.Sprintf("%s: %s instead of %s", e.Title, is.Format("2006-01-02 15:04"), was.Format("2006-01-02 15:04")))
			}
		}
		if len(rows) < batch {
			return moved, coming, examples, nil
		}
	}
}
