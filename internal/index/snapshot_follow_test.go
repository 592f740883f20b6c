package index_test

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	entchange "github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// restarted returns the index of a process that starts now. change may change where it looks for the snapshot.
func (f *follower) restarted(change func(s *index.Snapshot), columns ...*query.Column) *index.Index {
	f.Helper()
	if columns == nil {
		columns = []*query.Column{&sticky, &attendance}
	}
	s := *f.index.Snapshot
	if change != nil {
		change(&s)
	}
	x := index.New(f.api.Store.Ent, columns, slog.New(slog.DiscardHandler))
	x.Snapshot = &s
	return x
}

// save loads the index and writes its snapshot to a new folder.
func (f *follower) save() {
	f.Helper()
	f.index.Snapshot = &index.Snapshot{File: filepath.Join(f.TempDir(), "a.index"), Database: []byte("id"), Schema: "1"}
	if err := f.index.Load(f.Context()); err != nil {
		f.Fatal(err)
	}
	if size, err := f.index.SaveSnapshot(f.Context()); err != nil || size == 0 {
		f.Fatalf("%d bytes, error %v", size, err)
	}
}

func (f *follower) newEvent(title string, day int) int64 {
	f.Helper()
	r := f.do("POST", "/events", object{
		"title": title, "start_date": fmt.Sprintf("2027-03-%02d 20:00:00", day), "end_date": fmt.Sprintf("2027-03-%02d 22:00:00", day),
		"tags": []string{fmt.Sprint("tag", day%3)}, "venue": object{"venue": fmt.Sprint("Hall ", day%4), "geo_lat": 50 + day%2, "geo_lng": 20},
	})
	return int64(r.Get(f.T, "id").(float64))
}

// TestRestoredIndexAnswersAsALoadedOne compares an index that was restored and follows the change log with one that
// was loaded.
func TestRestoredIndexAnswersAsALoadedOne(t *testing.T) {
	eachFollower(t, func(f *follower) {
		f.index = f.restartedWithout()
		var ids []int64
		for day := 1; day < 12; day++ {
			ids = append(ids, f.newEvent(fmt.Sprint("Moonlight walk ", day), day))
		}
		f.save()
		r := rand.New(rand.NewPCG(1, 9))
		for round := range 4 {
			for range r.IntN(4) {
				id := ids[r.IntN(len(ids))]
				f.do("PUT", fmt.Sprint("/events/", id), object{"title": fmt.Sprint("Sunrise run ", r.IntN(9)), "status": []string{"publish", "draft"}[r.IntN(2)]})
			}
			ids = append(ids, f.newEvent("Late walk", 12+round))
			restored, loaded := f.restarted(nil), f.restarted(nil)
			if err := restored.Restore(f.Context()); err != nil {
				f.Fatal(err)
			}
			if restored.LoadedAt().IsZero() {
				f.Error("a restored index is not ready")
			}
			if err := loaded.Load(f.Context()); err != nil {
				f.Fatal(err)
			}
			for name, filter := range f.someFilters() {
				for _, limit := range []int{3, 1000} {
					want, err := loaded.FindEvents(f.Context(), filter, 1, limit)
					got, gotErr := restored.FindEvents(f.Context(), filter, 1, limit)
					want.Changed, got.Changed = nil, nil // a loaded index does not know of changes before it
					if diff := cmp.Diff(want, got); diff != "" || err != nil || gotErr != nil {
						f.Errorf("%s: errors %v and %v (-loaded +restored):\n%s", name, err, gotErr, diff)
					}
				}
			}
			for _, kind := range calendar.NamedKinds {
				filter := &query.Linked{Now: publishedQuery().Now, Visible: publishedQuery().Visible, HasEvents: new(true), Events: publishedQuery().Visible}
				want, err := loaded.FindLinked(f.Context(), kind, filter, 0, 100)
				got, gotErr := restored.FindLinked(f.Context(), kind, filter, 0, 100)
				want.Changed, got.Changed = nil, nil
				if diff := cmp.Diff(want, got); diff != "" || err != nil || gotErr != nil {
					f.Errorf("%s: errors %v and %v (-loaded +restored):\n%s", kind, err, gotErr, diff)
				}
			}
			f.index = restored
			if _, err := restored.SaveSnapshot(f.Context()); err != nil {
				f.Fatal(err)
			}
		}
	})
}

func (f *follower) restartedWithout() *index.Index {
	return index.New(f.api.Store.Ent, []*query.Column{&sticky, &attendance}, slog.New(slog.DiscardHandler))
}

func (f *follower) someFilters() map[string]*query.Events {
	f.Helper()
	near, located, late, byEnd := publishedQuery(), publishedQuery(), publishedQuery(), publishedQuery()
	near.Near = &query.Circle{Latitude: 50, Longitude: 20, Kilometres: 30}
	located.Located = new(false)
	late.Window.StartMin = new(time.Date(2027, 3, 5, 0, 0, 0, 0, time.UTC))
	byEnd.ByEnd, byEnd.Spans = true, true
	all := publishedQuery()
	all.Visible.Anyone = calendar.Statuses
	return map[string]*query.Events{
		"published": publishedQuery(), "all": all, "near": near, "not located": located, "late": late, "by end": byEnd,
		"word": searchQuery(f.T, "walk"), "part": searchQuery(f.T, "oonl"), "phrase": searchQuery(f.T, `"light walk"`),
	}
}

// TestSnapshotOfAnotherCalendarIsRefused checks that a snapshot of another database, program or history is refused.
// The index is then loaded from the database.
func TestSnapshotOfAnotherCalendarIsRefused(t *testing.T) {
	damage := func(change func(data []byte) []byte) func(f *follower, x *index.Snapshot) {
		return func(f *follower, s *index.Snapshot) {
			data, err := os.ReadFile(s.File)
			if err != nil {
				f.Fatal(err)
			}
			if err := os.WriteFile(s.File, change(data), 0o600); err != nil {
				f.Fatal(err)
			}
		}
	}
	for _, test := range []struct {
		name   string
		change func(f *follower, s *index.Snapshot)
		want   error
	}{
		{"the same", func(*follower, *index.Snapshot) {}, nil},
		{"no file", func(_ *follower, s *index.Snapshot) { s.File += "x" }, index.ErrNoSnapshot},
		{"another database", func(_ *follower, s *index.Snapshot) { s.Database = []byte("other") }, index.ErrNoSnapshot},
		{"other tables", func(_ *follower, s *index.Snapshot) { s.Schema = "2" }, index.ErrNoSnapshot},
		{"cut off", damage(func(data []byte) []byte { return data[:len(data)-1] }), index.ErrDamagedSnapshot},
		{"a byte is another", damage(func(data []byte) []byte { data[len(data)/2] ^= 4; return data }), index.ErrDamagedSnapshot},
		{"empty", damage(func([]byte) []byte { return nil }), index.ErrDamagedSnapshot},
		{"the log was forgotten", func(f *follower, _ *index.Snapshot) {
			f.newEvent("A walk later", 20)
			f.forgetLog()
		}, index.ErrNoSnapshot},
		{"the log has another change of that revision", func(f *follower, _ *index.Snapshot) {
			revision := f.api.Revision(f)
			storetest.Exec(f.T, f.api.Store, fmt.Sprint("UPDATE changes SET at = '2027-01-01 00:00:01' WHERE id = ", revision))
		}, index.ErrNoSnapshot},
		{"the log ends before that revision", func(f *follower, _ *index.Snapshot) {
			f.forgetRevision()
		}, index.ErrNoSnapshot},
	} {
		t.Run(test.name, func(t *testing.T) {
			eachFollower(t, func(f *follower) {
				f.newEvent("Moonlight walk", 3)
				f.save()
				x := f.restarted(func(s *index.Snapshot) { test.change(f, s) })
				if err := x.Restore(f.Context()); !errors.Is(err, test.want) {
					f.Fatalf("got %v, want %v", err, test.want)
				}
				if err := x.Load(f.Context()); err != nil {
					f.Fatal(err)
				}
				f.index = x
				f.finds("loaded", searchQuery(f.T, "moonl"), f.find(searchQuery(f.T, "moonl"))[0], true)
			})
		})
	}
	t.Run("other columns", func(t *testing.T) {
		eachFollower(t, func(f *follower) {
			f.newEvent("Moonlight walk", 3)
			f.save()
			if err := f.restarted(nil, &sticky).Restore(f.Context()); !errors.Is(err, index.ErrNoSnapshot) {
				f.Errorf("got %v", err)
			}
		})
	})
}

// forgetLog removes all of the change log but its newest entry.
func (f *follower) forgetLog() {
	f.Helper()
	for {
		n, err := edit.ForgetChanges(f.Context(), f.api.Store.Ent, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
		if err != nil {
			f.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}

// forgetRevision removes the newest entry of the log, as if a backup of the moment before it had been restored.
func (f *follower) forgetRevision() {
	f.Helper()
	revision := f.api.Revision(f)
	f.api.Store.Ent.Change.Delete().Where(entchange.ID(revision)).ExecX(f.Context())
	f.api.Store.Ent.Counter.UpdateOneID("revision").SetValue(revision - 1).ExecX(f.Context())
}
