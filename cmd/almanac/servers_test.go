package main

import (
	"context"
	"encoding/binary"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestSeveralServers names several database servers. A wrong name is an error at the start. A server that cannot be
// reached is only left out.
func TestSeveralServers(t *testing.T) {
	t.Parallel()
	if os.Getenv(storetest.Variable) == "" {
		t.Skipf("%s names no server", storetest.Variable)
	}
	calendar := func() string {
		url := storetest.MySQL(t)
		st := storetest.Migrated(t, url)
		if _, err := edit.PasswordKey(t.Context(), st.Ent); err != nil {
			t.Fatal(err)
		}
		return url
	}
	own, other, unmigrated := calendar(), calendar(), storetest.MySQL(t)
	const away = "127.0.0.1:1"
	unknown := refusingServer(t, 1049, "Unknown database")
	denied := refusingServer(t, 1045, "Access denied")
	at := func(address string) string { return "mysql://ewa:s3cret@" + address + "/cal" }
	and := func(address string) string {
		return strings.Replace(own, "/almanac_test", ","+address+"/almanac_test", 1)
	}
	sqlite := "sqlite://" + filepath.Join(t.TempDir(), "a.db")
	for _, test := range []struct {
		name   string
		args   []string
		serves bool
		want   []string // parts of the output
	}{
		{"a replica", []string{"--db", own, "--db-read", own}, true, []string{"database server is used"}},
		{"a replica that is away", []string{"--db", own, "--db-read", at(away)}, true, []string{"is away", away, "the database itself"}},
		{"one of two replicas is away", []string{"--db", own, "--db-read", at(away) + "," + own}, true, []string{"is away", away}},
		{"a replica that lacks migrations", []string{"--db", own, "--db-read", unmigrated}, true, []string{"is away", "migration"}},
		{"a replica of another calendar", []string{"--db", own, "--db-read", own, "--db-read", other}, false, []string{"--db-read", "another calendar"}},
		{"a replica without the database", []string{"--db", own, "--db-read", at(unknown)}, false, []string{unknown, "Unknown database"}},
		{"a replica with a wrong password", []string{"--db", own, "--db-read", at(denied)}, false, []string{denied, "Access denied"}},
		{"several hosts for a replica", []string{"--db", own, "--db-read", and(away)}, false, []string{"one host"}},
		{"a replica of SQLite", []string{"--db", sqlite, "--db-read", sqlite}, false, []string{"replicas are of MySQL"}},
		{"one of two servers is away", []string{"--db", and(away)}, true, []string{"is away", away, "database server is used"}},
		{"one of two servers is wrong", []string{"--db", and(unknown)}, false, []string{unknown, "Unknown database"}},
		{"none of two servers answers", []string{"--db", "mysql://ewa:s3cret@127.0.0.1:1,127.0.0.1:2/cal"}, false, []string{away, "127.0.0.1:2"}},
		{"no lag", []string{"--db", own, "--db-read", own, "--db-read-lag", "0s"}, false, []string{"--db-read-lag"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			printed := &watchedOutput{stop: stop, until: "almanac: serving "}
			args := append([]string{"serve", "--listen", "127.0.0.1:0", "--media", t.TempDir()}, test.args...)
			code := run(ctx, args, noOutput, streams{Out: printed, Err: printed, In: strings.NewReader("")})
			text := printed.String()
			if test.serves != (code == 0) || test.serves != strings.Contains(text, printed.until) {
				t.Errorf("status %d: %s", code, text)
			}
			for _, want := range test.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in %s", want, text)
				}
			}
			if strings.Contains(text, "s3cret") {
				t.Errorf("the password is in %s", text)
			}
		})
	}
}

// watchedOutput records the output of a server, and calls stop when the text until appears in it.
type watchedOutput struct {
	stop  func()
	until string

	mu   sync.Mutex
	text strings.Builder
}

func (w *watchedOutput) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.text.Write(b); strings.Contains(w.text.String(), w.until) {
		w.stop()
	}
	return len(b), nil
}

func (w *watchedOutput) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// refusingServer returns the address of a server that answers each connection with an error of MySQL.
func refusingServer(t *testing.T, number uint16, message string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ln.Close(); err != nil {
			t.Error(err)
		}
	})
	body := slices.Concat([]byte{0xff}, binary.LittleEndian.AppendUint16(nil, number), []byte("#42000"+message))
	packet := slices.Concat([]byte{byte(len(body)), 0, 0, 0}, body)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write(packet) // a client that is gone needs no answer
			_ = c.Close()
		}
	}()
	return ln.Addr().String()
}

func TestSplitURLs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ given, want []string }{
		{nil, nil},
		{[]string{"mysql://a@h/c"}, []string{"mysql://a@h/c"}},
		{[]string{"mysql://a@h/c,mysql://b@i/c", "mysql://c@j/c"}, []string{"mysql://a@h/c", "mysql://b@i/c", "mysql://c@j/c"}},
		{[]string{"mysql://a:x,y@h/c,mysql+unix://b@/s?database=c"}, []string{"mysql://a:x,y@h/c", "mysql+unix://b@/s?database=c"}},
	} {
		if got := splitURLs(test.given); !slices.Equal(got, test.want) {
			t.Errorf("%q: got %q, want %q", test.given, got, test.want)
		}
	}
}
