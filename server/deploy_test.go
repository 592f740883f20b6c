package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

var (
	metricName = regexp.MustCompile(`\b(?:almanac|go|process)_[a-z0-9_]+`)
	typeLine   = regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`)
)

// metricNames returns the names of all metrics of a server.
func metricNames(t *testing.T) map[string]bool {
	t.Helper()
	st := storetest.Migrated(t, storetest.SQLite(t))
	m := server.NewMetrics("test")
	none := func(context.Context) (int, error) { return 0, nil }
	replicas := func() []server.ReplicaState { return []server.ReplicaState{{Address: "127.0.0.1:3306"}} }
	err := errors.Join(m.Pool("main", st.DB), m.Index(fixedIndex{}), m.Series(none), m.Replicas(replicas))
	must.Succeed(t, err)
	s := newBrokenServer(t, io.Discard, func(_ *handlers.Config, c *server.Config) { c.Metrics = m })
	do(t, s, "GET", "")
	out := map[string]bool{}
	for _, match := range typeLine.FindAllStringSubmatch(scrape(t, s), -1) {
		out[match[1]] = true
		if match[2] == "histogram" {
			delete(out, match[1])
			for _, part := range []string{"_bucket", "_sum", "_count"} {
				out[match[1]+part] = true
			}
		}
	}
	return out
}

func TestDashboardAndAlertsUseMetricsThatExist(t *testing.T) {
	t.Parallel()
	known := metricNames(t)
	used := map[string]bool{}
	check := func(where, expression string) {
		names := metricName.FindAllString(expression, -1)
		if len(names) == 0 && !strings.Contains(expression, "up{") {
			t.Errorf("%s: no metric in %s", where, expression)
		}
		for _, name := range names {
			used[name] = true
			if !known[name] {
				t.Errorf("%s: there is no %s", where, name)
			}
		}
		if strings.Count(expression, "(") != strings.Count(expression, ")") {
			t.Errorf("%s: parentheses in %s", where, expression)
		}
	}

	var board struct {
		Title  string
		Panels []struct {
			ID      int
			Type    string
			Title   string
			Targets []struct{ Expr string }
		}
	}
	must.Succeed(t, json.Unmarshal(readDeployFile(t, "grafana/almanac.json"), &board))
	ids := map[int]bool{}
	for _, p := range board.Panels {
		if ids[p.ID] || p.Title == "" || p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %d %q", p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			check("dashboard, "+p.Title, target.Expr)
		}
	}

	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	must.Succeed(t, yaml.Unmarshal(readDeployFile(t, "prometheus/alerts.yaml"), &rules))
	alerts := 0
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			alerts++
			check("alert "+r.Alert, r.Expr)
			if r.Alert == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" {
				t.Errorf("alert %q has no severity or summary", r.Alert)
			}
		}
	}
	if alerts == 0 || len(board.Panels) == 0 {
		t.Error("nothing was checked")
	}
	for name := range known {
		if strings.HasPrefix(name, "almanac_") && !strings.HasSuffix(name, "_sum") && !used[name] &&
			!used[strings.TrimSuffix(name, "_count")+"_bucket"] {
			t.Errorf("%s is shown nowhere", name)
		}
	}
}

func readDeployFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(apitest.Root(), "deploy", name))
	must.Succeed(t, err)
	return data
}
