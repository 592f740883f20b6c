package main

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/seed"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/internal/store"
)

// sampleSettings returns the settings for the site of a sample calendar. They are those of its city, overridden by
// those of the flags.
func sampleSettings(made *scenario.Calendar, flags settings.Flags) (settings.Layer, error) {
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

// forgetSites removes stored settings that sample calendars have left in a calendar without records. Settings that
// a user has changed stay.
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
		if sites[i], err = sampleSettings(made, settings.Flags{}); err != nil {
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
