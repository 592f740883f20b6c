package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/limit"
)

func TestWrongSettingsAreNamedBeforeAnythingIsOpened(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ flag, value string }{
		{"--request-timeout", "0s"},
		{"--request-timeout", "soon"},
		{"--upload-timeout", "2h"},
		{"--drain-wait", "-1s"},
		{"--max-age", "-1s"},
		{"--max-age", "1500ms"},
		{"--stale-while-revalidate", "9000h"},
		{"--max-concurrent", "-1"},
		{"--cache-size", "much"},
		{"--max-sending", "-1"},
		{"--max-connections", "1000001"},
		{"--max-connections-by-address", "-5"},
		{"--rate-limit", "100"},
		{"--rate-limit-token", "1/year"},
		{"--rate-redis", "http://user:hunter2@host"},
		{"--trusted-proxy", "10.0.0.0/33"},
		{"--proxy-header", "x-real-ip"},
		{"--metrics-listen", "nowhere"},
		{"--otlp-endpoint", "collector:4318"},
	} {
		t.Run(test.flag+"="+test.value, func(t *testing.T) {
			t.Parallel()
			var failed strings.Builder
			file := filepath.Join(t.TempDir(), "never.db")
			args := []string{"serve", "--db", "sqlite://" + file, "--listen", "127.0.0.1:0", test.flag + "=" + test.value}
			if code := run(t.Context(), args, nothing, streams{Out: io.Discard, Err: &failed}); code != 2 {
				t.Errorf("exit status %d", code)
			}
			if !strings.Contains(failed.String(), test.flag) || strings.Contains(failed.String(), "hunter2") {
				t.Errorf("said %s", failed.String())
			}
			if _, err := os.Stat(file); err == nil {
				t.Error("the database was made")
			}
		})
	}
	var failed strings.Builder
	if code := run(t.Context(), []string{"serve", "--pprof"}, nothing, streams{Out: io.Discard, Err: &failed}); code != 2 {
		t.Errorf("profiles for the public: exit status %d", code)
	}
}

func TestRatesThatNobodyChose(t *testing.T) {
	t.Parallel()
	address := func(text string) net.Addr {
		a, err := net.ResolveTCPAddr("tcp", text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	usual := limit.Rate{Interval: 20 * time.Millisecond, Burst: 250}
	for _, test := range []struct {
		name, text string
		at         net.Addr
		want       limit.Rate
		far        bool
	}{
		{"this machine", automatic, address("127.0.0.1:80"), limit.Rate{}, false},
		{"this machine, IPv6", automatic, address("[::1]:80"), limit.Rate{}, false},
		{"all addresses", automatic, address("0.0.0.0:80"), usual, true},
		{"a public address", automatic, address("203.0.113.1:80"), usual, true},
		{"a socket in the file system", automatic, &net.UnixAddr{Name: "x"}, limit.Rate{}, false},
		{"chosen, on this machine", "1/s burst 2", address("127.0.0.1:80"), limit.Rate{Interval: time.Second, Burst: 2}, false},
		{"off", "off", address("0.0.0.0:80"), limit.Rate{}, false},
	} {
		got, far, err := rate(test.text, addressRate, test.at)
		if got != test.want || far != test.far || err != nil {
			t.Errorf("%s: got %v, far %v, %v", test.name, got, far, err)
		}
	}
}

func TestSocketNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		env  map[string]string
		want []string
		bad  bool
	}{
		{"not started by systemd", nil, nil, false},
		{"meant for another process", map[string]string{"LISTEN_PID": "8", "LISTEN_FDS": "1"}, nil, false},
		{"one without a name", map[string]string{"LISTEN_PID": "7", "LISTEN_FDS": "1"}, []string{""}, false},
		{"two", map[string]string{"LISTEN_PID": "7", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "http:metrics"}, []string{"http", "metrics"}, false},
		{"none", map[string]string{"LISTEN_PID": "7", "LISTEN_FDS": "0"}, []string{}, false},
		{"no number", map[string]string{"LISTEN_PID": "7", "LISTEN_FDS": "x"}, nil, true},
		{"too many", map[string]string{"LISTEN_PID": "7", "LISTEN_FDS": "99"}, nil, true},
	} {
		got, err := socketNames(func(name string) string { return test.env[name] }, 7)
		if diff := cmp.Diff(test.want, got); diff != "" || (err != nil) != test.bad {
			t.Errorf("%s: %v\n%s", test.name, err, diff)
		}
	}
}

func TestNotify(t *testing.T) {
	t.Parallel()
	if err := notify(t.Context(), "", "READY=1"); err != nil {
		t.Errorf("nobody asked: %v", err)
	}
	socket := filepath.Join(t.TempDir(), "n")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := notify(t.Context(), socket, "READY=1"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64)
	n, err := c.Read(b)
	if err != nil || string(b[:n]) != "READY=1" {
		t.Errorf("got %q, %v", b[:n], err)
	}
}

// process is the program, run as another process.
type process struct {
	*exec.Cmd
	ended chan error
}

func start(t *testing.T, files []*os.File, shell string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The test binary is the program under this name.
	program := filepath.Join(t.TempDir(), "almanac")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", shell + ` exec "$0" "$@"`, program}, args...)...)
	cmd.Env = append(slices.Clone(os.Environ()), "GORACE=atexit_sleep_ms=10")
	cmd.ExtraFiles = files
	cmd.Dir = t.TempDir()
	var out strings.Builder
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd, make(chan error, 1)}
	go func() { p.ended <- cmd.Wait() }()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(out.String())
		}
	})
	return p
}

func (p *process) stop(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := <-p.ended; err != nil {
		t.Errorf("ended with %v", err)
	}
}

// healthy waits until a process is ready.
func healthy(t *testing.T, p *process, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		select {
		case err := <-p.ended:
			t.Fatalf("ended: %v", err)
		default:
		}
		if status, err := ask(ctx, url); err == nil && status == http.StatusOK {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s is not ready", url)
}

// ask is the status of a GET on a connection of its own.
func ask(ctx context.Context, url string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

// With a socket that systemd holds, a client notices nothing of a restart.
func TestRestartRefusesNobody(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tcp, ok := ln.(*net.TCPListener)
	if !ok {
		t.Fatalf("%T", ln)
	}
	file, err := tcp.File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := ln.Close(); err != nil { // this process accepts nothing, the socket stays
		t.Fatal(err)
	}
	url := "http://" + ln.Addr().String()
	db := "sqlite://" + filepath.Join(t.TempDir(), "a.db")
	activated := `LISTEN_PID=$$; LISTEN_FDS=1; LISTEN_FDNAMES=http; export LISTEN_PID LISTEN_FDS LISTEN_FDNAMES;`
	begin := func() *process {
		return start(t, []*os.File{file}, activated, "serve", "--db", db, "--listen", "127.0.0.1:1")
	}
	first := begin()
	healthy(t, first, url+"/readyz")

	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan int, 1)
	go func() {
		n := 0
		defer func() { asked <- n }()
		for ; ctx.Err() == nil; n++ {
			status, err := ask(t.Context(), url+"/cal/events/v1/events")
			if err != nil || status != http.StatusOK {
				t.Errorf("request %d: %d %v", n, status, err)
				return
			}
		}
	}()
	first.stop(t)
	second := begin()
	healthy(t, second, url+"/readyz")
	cancel()
	if n := <-asked; n == 0 {
		t.Error("nothing was asked")
	}
	second.stop(t)
}

func TestProcessesShareAPort(t *testing.T) {
	t.Parallel()
	// Taken and given back: nobody else is given it soon.
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := ln.Addr().String()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	serve := func() *process {
		return start(t, nil, "", "serve", "--listen", address, "--reuse-port", "--metrics-listen", "127.0.0.1:0")
	}
	first := serve()
	healthy(t, first, "http://"+address+"/readyz")
	second := serve()
	// Both answer: each connection goes to either, and after the first has ended all go to the second.
	time.Sleep(time.Second)
	select {
	case err := <-second.ended:
		t.Fatalf("the second ended: %v", err)
	default:
	}
	first.stop(t)
	healthy(t, second, "http://"+address+"/readyz")
	second.stop(t)
}
