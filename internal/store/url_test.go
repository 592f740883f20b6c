package store_test

import (
	"errors"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestMySQLURLs(t *testing.T) {
	t.Parallel()
	type settings struct {
		User, Password, Address, Name, TLS string
		Timeout                            time.Duration
	}
	const wait = 10 * time.Second
	for _, test := range []struct {
		name, url string
		want      settings
		shown     string
	}{
		{
			"plain", "mysql://root@127.0.0.1:13306/cal",
			settings{"root", "", "127.0.0.1:13306", "cal", "", wait},
			"mysql://root@127.0.0.1:13306/cal",
		},
		{
			"no port", "mysql://ewa:s3cret@db.example.org/cal",
			settings{"ewa", "s3cret", "db.example.org:3306", "cal", "", wait},
			"mysql://ewa:xxxxx@db.example.org/cal",
		},
		{
			"no user", "mysql://localhost/cal",
			settings{"", "", "localhost:3306", "cal", "", wait},
			"mysql://localhost/cal",
		},
		{
			"IPv6", "mysql://ewa:s3cret@[2001:db8::1]:3307/cal",
			settings{"ewa", "s3cret", "[2001:db8::1]:3307", "cal", "", wait},
			"mysql://ewa:xxxxx@[2001:db8::1]:3307/cal",
		},
		{
			"IPv6 without port", "mysql://ewa@[::1]/cal",
			settings{"ewa", "", "[::1]:3306", "cal", "", wait},
			"mysql://ewa@[::1]/cal",
		},
		{
			"percent-encoded password", "mysql://ewa:s3cret%40%2F%3A%3F%23%25@h/cal",
			settings{"ewa", "s3cret@/:?#%", "h:3306", "cal", "", wait},
			"mysql://ewa:xxxxx@h/cal",
		},
		{
			"percent-encoded user and name", "mysql://e%40wa@h/my%20cal",
			settings{"e@wa", "", "h:3306", "my cal", "", wait},
			"mysql://e%40wa@h/my%20cal",
		},
		{
			"options", "mysql://ewa:s3cret@h/cal?tls=skip-verify&timeout=3s",
			settings{"ewa", "s3cret", "h:3306", "cal", "skip-verify", 3 * time.Second},
			"mysql://ewa:xxxxx@h/cal?tls=skip-verify&timeout=3s",
		},
		{
			"tls", "mysql://ewa:s3cret@h/cal?tls=true",
			settings{"ewa", "s3cret", "h:3306", "cal", "true", wait},
			"mysql://ewa:xxxxx@h/cal?tls=true",
		},
		{
			"Unix socket", "mysql+unix://ewa:s3cret@/run/mysqld/mysqld.sock?database=cal&timeout=3s",
			settings{"ewa", "s3cret", "/run/mysqld/mysqld.sock", "cal", "", 3 * time.Second},
			"mysql+unix://ewa:xxxxx@/run/mysqld/mysqld.sock?database=cal&timeout=3s",
		},
		{
			"Unix socket without user", "mysql+unix:///tmp/my%20sql.sock?database=my%20cal",
			settings{"", "", "/tmp/my sql.sock", "my cal", "", wait},
			"mysql+unix:///tmp/my%20sql.sock?database=my%20cal",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, shown, err := store.ParseURL(test.url)
			must.Succeed(t, err)
			got := settings{c.User, c.Passwd, c.Addr, c.DBName, c.TLSConfig, c.Timeout}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if shown != test.shown {
				t.Errorf("shown as %s, want %s", shown, test.shown)
			}
			if !c.ParseTime || c.Loc != time.UTC || !c.InterpolateParams || !c.ClientFoundRows ||
				c.Params["time_zone"] != "'+00:00'" || !strings.Contains(c.Params["sql_mode"], "STRICT_TRANS_TABLES") {
				t.Errorf("settings of every connection: %+v", c)
			}
			if _, err := mysql.NewConnector(c); err != nil {
				t.Errorf("the driver refuses it: %v", err)
			}
		})
	}
}

func TestURLsOfSeveralHosts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, url string
		want      []string
		shown     string
	}{
		{"one", "mysql://ewa@h/cal", nil, "mysql://ewa@h/cal"},
		{
			"three", "mysql://ewa:s3cret@h1:3307,h2,[::1]:3308/cal?tls=true",
			[]string{"h1:3307", "h2:3306", "[::1]:3308"},
			"mysql://ewa:xxxxx@h1:3307,h2,[::1]:3308/cal?tls=true",
		},
		{"password with a comma", "mysql://ewa:a,b@h1,h2/cal", []string{"h1:3306", "h2:3306"}, "mysql://ewa:xxxxx@h1,h2/cal"},
		{"comma in the password of one host", "mysql://ewa:a,b@h1/cal", nil, "mysql://ewa:xxxxx@h1/cal"},
		{"no user", "mysql://h1,h2/cal", []string{"h1:3306", "h2:3306"}, "mysql://h1,h2/cal"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			hosts, err := store.HostsOf(test.url)
			if err != nil || !slices.Equal(hosts, test.want) {
				t.Errorf("got %q, %v, want %q", hosts, err, test.want)
			}
			if _, shown, _ := store.ParseURL(test.url); shown != test.shown {
				t.Errorf("shown as %s, want %s", shown, test.shown)
			}
		})
	}
}

// TestOpenOnAUnixSocket connects to the test server by its Unix socket. It is skipped if the server is on another
// machine.
func TestOpenOnAUnixSocket(t *testing.T) {
	t.Parallel()
	if os.Getenv(storetest.Variable) == "" {
		t.Skipf("%s names no server", storetest.Variable)
	}
	address := storetest.MySQL(t)
	st := storetest.Migrated(t, address)
	socket := storetest.Value(t, st.DB, "SELECT @@socket")
	if _, err := os.Stat(socket); err != nil {
		t.Skipf("the server's socket is not on this machine: %v", err)
	}
	target, err := store.MySQLTarget(address)
	must.Succeed(t, err)
	u := url.URL{Scheme: "mysql+unix", User: url.User(target.User), Path: socket}
	u.RawQuery = url.Values{"database": {target.Database}}.Encode()
	local := storetest.Open(t, u.String())
	if err := migrate.CheckCurrent(t.Context(), local); err != nil {
		t.Error(err)
	}
	if got := storetest.Value(t, local.DB, "SELECT DATABASE()"); got != target.Database {
		t.Errorf("got database %s, want %s", got, target.Database)
	}
	if via := storetest.Value(t, local.DB, "SELECT host FROM information_schema.processlist WHERE id = CONNECTION_ID()"); via != "localhost" {
		t.Errorf("connected from %s, want a socket", via)
	}
}

func TestURLsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, url string }{
		{"nothing", ""},
		{"a file", "almanac.db"},
		{"notation of the driver", "ewa:s3cret@tcp(127.0.0.1:3306)/cal"},
		{"notation of the driver with a scheme behind", "ewa:s3cret@tcp://h/cal"},
		{"another engine", "postgres://ewa:s3cret@h/cal"},
		{"no file", "sqlite://"},
		{"options of SQLite", "sqlite://a.db?mode=ro"},
		{"no host", "mysql:///cal"},
		{"no name", "mysql://ewa:s3cret@h"},
		{"empty name", "mysql://ewa:s3cret@h/"},
		{"two names", "mysql://ewa:s3cret@h/cal/s"},
		{"no number for a port", "mysql://ewa:s3cret@h:port/cal"},
		{"no such port", "mysql://ewa:s3cret@h:99999/cal"},
		{"password that is not encoded", "mysql://ewa:s3cret%@h/cal"},
		{"password with a slash", "mysql://ewa:s3cret/x@h/cal"},
		{"password with a slash after digits", "mysql://ewa:123/s3cret@h/cal"},
		{"password with a slash, one name", "mysql://ewa:123/s3cret@h"},
		{"password with a number sign", "mysql://ewa:123#s3cret@h/cal"},
		{"password with a question mark", "mysql://ewa:123?s3cret@h/cal"},
		{"fragment", "mysql://ewa:s3cret@h/cal#x"},
		{"password among the options", "mysql://ewa@h/cal?password=s3cret"},
		{"unknown tls", "mysql://ewa:s3cret@h/cal?tls=yes"},
		{"no duration", "mysql://ewa:s3cret@h/cal?timeout=3"},
		{"socket without a database", "mysql+unix://ewa:s3cret@/run/mysqld/mysqld.sock"},
		{"socket with an empty database", "mysql+unix://ewa:s3cret@/run/mysqld/mysqld.sock?database="},
		{"socket with two databases", "mysql+unix://ewa:s3cret@/run/mysqld/mysqld.sock?database=a/b"},
		{"socket and a host", "mysql+unix://ewa:s3cret@h/run/mysqld/mysqld.sock?database=cal"},
		{"no socket", "mysql+unix://ewa:s3cret@/?database=cal"},
		{"socket, password with a slash", "mysql+unix://ewa:123/s3cret@/run/mysqld.sock?database=cal"},
		{"database among the options of a host", "mysql://ewa:s3cret@h/cal?database=other"},
		{"negative duration", "mysql://ewa:s3cret@h/cal?timeout=-3s"},
		{"an empty host among several", "mysql://ewa:s3cret@h1,,h2/cal"},
		{"an empty last host", "mysql://ewa:s3cret@h1,/cal"},
		{"a host that is named twice", "mysql://ewa:s3cret@h1,h1:3306/cal"},
		{"no such port of the second host", "mysql://ewa:s3cret@h1,h2:99999/cal"},
		{"several sockets", "mysql+unix://ewa:s3cret@,/run/a.sock?database=cal"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := store.ParseURL(test.url)
			if !errors.Is(err, store.ErrURL) {
				t.Fatalf("got %v, want ErrURL", err)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the password is in the message: %v", err)
			}
		})
	}
}

func FuzzURLNeverShowsThePassword(f *testing.F) {
	f.Add("ewa", "h:3306", "/cal?tls=true")
	f.Add("e:w@a", "[::1]", "/cal")
	f.Add("", "(127.0.0.1)", "?password=")
	f.Fuzz(func(t *testing.T, login, host, rest string) {
		const secret = "kWq7#xu2"
		if strings.Contains(login+host+rest, "kWq7") {
			t.Skip()
		}
		for _, password := range []string{secret, "kWq7%23xu2"} {
			for _, scheme := range []string{"mysql://", "mysql+unix://", "postgres://", ""} {
				_, shown, err := store.ParseURL(scheme + login + ":" + password + "@" + host + rest)
				if err != nil {
					shown = err.Error()
				}
				if strings.Contains(shown, "kWq7") {
					t.Errorf("shown: %s", shown)
				}
			}
		}
	})
}

// FuzzParseURL checks that Store.String, which shows a URL without its password, still names the same database.
func FuzzParseURL(f *testing.F) {
	for _, seed := range []string{
		"sqlite://almanac.db", "sqlite::memory:", "sqlite://:memory:", "sqlite:///var/lib/a b?c.db", "sqlite://a.db?cache=64MiB&busy=5s&mmap=1GiB", "sqlite://a%20b.db",
		"mysql://ewa@h/cal", "mysql://ewa@[::1]:3307/cal?tls=skip-verify&timeout=3s", "mysql://e%40w%3Aa@h:3306/c%2Fal?pool=8", "mysql://h/cal", "mysql:///", "://",
		"mysql://ewa@h1,h2:3307,[::1]/cal", "mysql+unix://ewa@/run/mysqld.sock?database=cal", "mysql+unix:///a%20b?database=c%26d&max-open=3",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "tls-") {
			t.Skip("names files")
		}
		config, shown, err := store.ParseURL(text)
		if err != nil {
			if !errors.Is(err, store.ErrURL) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if config != nil && config.Passwd != "" {
			return // which is not shown
		}
		other, again, err := store.ParseURL(shown)
		if err != nil || again != shown {
			t.Fatalf("%q is shown as %q, and that as %q (%v)", text, shown, again, err)
		}
		if (config == nil) != (other == nil) {
			t.Fatalf("%q is shown as %q, of another engine", text, shown)
		}
		if config != nil && (config.User != other.User || config.Addr != other.Addr || config.DBName != other.DBName) {
			t.Errorf("%q is shown as %q: %s@%s/%s, not %s@%s/%s", text, shown,
				other.User, other.Addr, other.DBName, config.User, config.Addr, config.DBName)
		}
	})
}

func TestManualNamesEveryOption(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/dba.md")
	must.Succeed(t, err)
	text := string(page)
	for _, u := range []string{"mysql://h/cal?x=", "sqlite://a.db?x="} {
		_, _, err := store.ParseURL(u)
		if err == nil {
			t.Fatalf("%s is taken", u)
		}
		_, known, ok := strings.Cut(err.Error(), "known are ")
		if !ok {
			t.Fatalf("got %v", err)
		}
		for name := range strings.SplitSeq(known, ", ") {
			if !strings.Contains(text, "`"+name+"`") {
				t.Errorf("option %s is not in the manual", name)
			}
		}
	}
	for _, example := range regexp.MustCompile(`(?m)^(?:mysql|sqlite)://.*$`).FindAllString(text, -1) {
		if _, _, err := store.ParseURL(example); err != nil {
			t.Errorf("%s: %v", example, err)
		}
	}
}
