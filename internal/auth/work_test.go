package auth

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// work is the effort of refusing credentials, in operations instead of time, so that the measurement is exact.
type work struct {
	Computed []string // the parameters of each password computation
	Queries  int64
	Error    string // error that the client gets
}

// refusalOf measures the work of refusing the credentials in an Authorization header.
func (w *world) refusalOf(t testing.TB, header string) work {
	t.Helper()
	var done work
	matches := w.matches
	w.matches = func(h passwordHash, password string) bool {
		done.Computed = append(done.Computed, fmt.Sprintf("m=%d t=%d p=%d salt=%d key=%d", h.memory, h.passes, h.threads, len(h.salt), len(h.key)))
		return h.matches(password)
	}
	defer func() { w.matches = matches }()
	before := w.queries.Load()
	_, err := w.Verify(t.Context(), header)
	var refused *calendar.Error
	if !errors.As(err, &refused) {
		t.Fatalf("%s: %v", header, err)
	}
	done.Queries = w.queries.Load() - before
	done.Error = fmt.Sprint(refused.Code, refused.Key, refused.Args, refused.Data)
	return done
}

// TestRefusingTakesTheSameWork compares refusals for existing, unknown and disabled users, and users without a
// password. Neither the work nor the error may show a difference.
func TestRefusingTakesTheSameWork(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(st.Ent)
		w.dummy = newDummyHash()
		jan := addUser(t, st.Ent, "jan", calendar.Author, "")
		out := addUser(t, st.Ent, "out", calendar.Author, horse)
		if _, err := AddUser(t.Context(), st.Ent, noon, "ewa", "", calendar.Editor, horse); err != nil {
			t.Fatal(err)
		}
		if err := SetDisabled(t.Context(), st.Ent, noon, out.ID, true); err != nil {
			t.Fatal(err)
		}
		token, _ := issue(t, st.Ent, jan.ID, nil)
		w.accepts(t, inBasic("ewa:"+horse), Principal{UserID: 3, Login: "ewa", Role: calendar.Editor}) // known from now on
		want := w.refusalOf(t, inBasic("nobody:"+horse))
		if len(want.Computed) != 1 || want.Queries != 1 {
			t.Fatalf("an unknown user costs %+v", want)
		}
		for name, header := range map[string]string{
			"wrong password":         inBasic("ewa:wrong horse"),
			"empty-looking login":    inBasic("-:" + horse),
			"no password":            inBasic("jan:" + horse),
			"disabled":               inBasic("out:" + horse),
			"almost a token":         inBasic("jan:" + token[:len(token)-1]),
			"a very long password":   inBasic("ewa:" + fmt.Sprintf("%01000d", 7)),
			"the same once more":     inBasic("nobody:" + horse),
			"unknown, login in caps": inBasic("NOBODY:" + horse),
		} {
			if diff := cmp.Diff(want, w.refusalOf(t, header)); diff != "" {
				t.Errorf("%s (-unknown user +this):\n%s", name, diff)
			}
		}

		// A token is found by its hash alone. A caller with a token of another user learns nothing about the login sent
		// with it.
		want = w.refusalOf(t, inBasic("nobody:"+token))
		if diff := cmp.Diff(want, w.refusalOf(t, inBasic("ewa:"+token))); diff != "" || len(want.Computed) != 0 {
			t.Errorf("a token with another login (-unknown user +known user):\n%s", diff)
		}
		want = w.refusalOf(t, inBasic("nobody:"+newSecret()))
		if diff := cmp.Diff(want, w.refusalOf(t, inBasic("ewa:"+newSecret()))); diff != "" {
			t.Errorf("an unknown token (-unknown user +known user):\n%s", diff)
		}
	})
}

// BenchmarkRefusals prints the time to refuse an existing user, relative to the time for an unknown one. 1 means no
// difference.
func BenchmarkRefusals(b *testing.B) {
	st := storetest.Migrated(b, storetest.SQLite(b))
	if _, err := AddUser(b.Context(), st.Ent, noon, "ewa", "", calendar.Editor, horse); err != nil {
		b.Fatal(err)
	}
	v := NewVerifier(st.Ent, func() time.Time { return noon })
	took := func(header string) time.Duration {
		began := time.Now()
		if _, err := v.Verify(context.Background(), header); err == nil {
			b.Fatal("accepted")
		}
		return time.Since(began)
	}
	var known, unknown time.Duration
	for b.Loop() {
		known += took(inBasic("ewa:wrong horse"))
		unknown += took(inBasic("nobody:wrong horse"))
	}
	b.ReportMetric(known.Seconds()/unknown.Seconds(), "known/unknown")
}
