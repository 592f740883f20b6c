package seed

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/setting"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
)

// Plan has the options of a generated calendar, as the database stores them. A command needs them to finish a
// calendar whose writing was interrupted. A second calendar of the same scenario has its own plan, with Number 2.
type Plan struct {
	Number   Number `json:"series"`
	Complete bool   `json:"complete"`

	Scenario   string              `json:"scenario"`
	Seed       uint64              `json:"seed"`
	Events     int                 `json:"events"`
	Venues     int                 `json:"venues"`
	Organizers int                 `json:"organizers"`
	City       string              `json:"city,omitempty"`
	From       string              `json:"from"`
	Months     int                 `json:"months"`
	Zone       string              `json:"zone"` // "" means the zones of the places
	Languages  []calendar.Language `json:"languages"`
	Now        time.Time           `json:"now"`
	Nasty      bool                `json:"nasty"`
	Pictures   bool                `json:"pictures"`
}

// PlanOf returns the incomplete plan of calendar n. o are the options as the user gave them, without default values.
func PlanOf(o scenario.Options, n Number) Plan {
	p := Plan{
		Number: n, Scenario: o.Scenario, Seed: o.Seed, Events: o.Events, Venues: o.Venues, Organizers: o.Organizers,
		City: o.City, From: o.From.String(), Months: o.Months, Languages: o.Languages, Now: o.Now.UTC(), Nasty: o.Nasty,
		Pictures: o.Pictures,
	}
	if o.Zone != (calendar.Zone{}) {
		p.Zone = o.Zone.String()
	}
	return p
}

// Options returns the options that generate the calendar of the plan. It returns an error if the stored start or time
// zone is invalid.
func (p Plan) Options() (scenario.Options, error) {
	o := scenario.Options{
		Scenario: p.Scenario, Seed: p.Seed, Events: p.Events, Venues: p.Venues, Organizers: p.Organizers,
		City: p.City, Months: p.Months, Languages: p.Languages, Now: p.Now, Nasty: p.Nasty, Pictures: p.Pictures,
	}
	var err error
	if o.From, err = calendar.ParseWall(p.From); err != nil {
		return o, fmt.Errorf("plan of %s: %w", p.name(), err)
	}
	if p.Zone != "" {
		if o.Zone, err = calendar.ParseZone(p.Zone); err != nil {
			return o, fmt.Errorf("plan of %s: %w", p.name(), err)
		}
	}
	return o, nil
}

// Same reports whether two plans describe the same calendar. It ignores Now and Complete.
func (p Plan) Same(q Plan) bool {
	return p.Number == q.Number && p.Scenario == q.Scenario && p.Seed == q.Seed && p.Events == q.Events &&
		p.Venues == q.Venues && p.Organizers == q.Organizers && p.City == q.City && p.From == q.From && p.Months == q.Months &&
		p.Zone == q.Zone && slices.Equal(p.Languages, q.Languages) && p.Nasty == q.Nasty && p.Pictures == q.Pictures
}

// name returns the id of the database setting in which the plan is stored, such as seed:city or seed:city.2.
func (p Plan) name() string { return strings.TrimSuffix(p.Number.prefix(p.Scenario), ":") }

// Save stores the plan in the database, and replaces an earlier plan of the same calendar.
func (p Plan) Save(ctx context.Context, db *ent.Client) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	err = db.Setting.Create().SetID(p.name()).SetValue(text).
		OnConflict(sql.ConflictColumns(setting.FieldID)).UpdateNewValues().Exec(ctx)
	if err != nil {
		return fmt.Errorf("plan of %s: %w", p.name(), err)
	}
	return nil
}

// LastPlan returns the plan with the highest number among those of the scenario name. The result ok is false if there
// is none.
func LastPlan(ctx context.Context, db *ent.Client, name string) (last Plan, ok bool, err error) {
	plans, err := Plans(ctx, db, name)
	for _, p := range plans {
		if p.Number >= last.Number {
			last = p
		}
	}
	return last, last.Number > 0, err
}

// Plans returns the plans for all calendars of the scenario name, in no order. The name "" means all scenarios.
func Plans(ctx context.Context, db *ent.Client, name string) (out []Plan, err error) {
	rows, err := db.Setting.Query().Where(predicate.Setting(sql.FieldHasPrefix(setting.FieldID, sourcePrefix+name))).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("plans of %s: %w", name, err)
	}
	for _, row := range rows {
		if name != "" && !isOfScenario(row.ID, name) {
			continue
		}
		var p Plan
		if err := json.Unmarshal(row.Value, &p); err != nil {
			return nil, fmt.Errorf("setting %s: %w", row.ID, err)
		}
		out = append(out, p)
	}
	return out, nil
}

// isOfScenario reports whether the database setting id stores a plan of the scenario name.
func isOfScenario(id, name string) bool {
	rest, ok := strings.CutPrefix(id, sourcePrefix+name)
	if !ok || rest == "" {
		return ok
	}
	number, ok := strings.CutPrefix(rest, ".")
	_, err := strconv.ParseUint(number, 10, 32)
	return ok && err == nil
}

// forgetPlans deletes the plans of the scenario name. The name "" means all scenarios.
func forgetPlans(ctx context.Context, db *ent.Client, name string) error {
	rows, err := db.Setting.Query().Where(predicate.Setting(sql.FieldHasPrefix(setting.FieldID, sourcePrefix+name))).IDs(ctx)
	if err != nil {
		return fmt.Errorf("plans: %w", err)
	}
	for _, id := range rows {
		if name != "" && !isOfScenario(id, name) {
			continue
		}
		if err := db.Setting.DeleteOneID(id).Exec(ctx); err != nil && !ent.IsNotFound(err) {
			return fmt.Errorf("plan %s: %w", id, err)
		}
	}
	return nil
}
