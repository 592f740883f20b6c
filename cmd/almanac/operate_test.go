package main

import (
	"context"
	"encoding/json"
	"errors"
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

	"github.com/almanac-cal/almanac/internal/limit"
	"github.com/almanac-cal/almanac/proof/must"
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
		{"--max-receiving", "some"},
		{"--max-decoding", "all"},
		{"--max-receiving", "10MiB"},
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
			if code := run(t.Context(), args, noOutput, streams{Out: io.Discard, Err: &failed}); code != 2 {
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
	if code := run(t.Context(), []string{"serve", "--pprof"}, noOutput, streams{Out: io.Discard, Err: &failed}); code != 2 {
		t.Errorf("profiles for the public: exit status %d", code)
	}
}

func TestRatesThatNobodyChose(t *testing.T) {
	t.Parallel()
	address := func(text string) net.Addr {
		a, err := net.ResolveTCPAddr("tcp", text)
		must.Succeed(t, err)
		return a
	}
	usual := limit.Rate{Interval: 20 * time.Millisecond, Burst: 250}
	for _, test := range []struct {
		name, text string
		at         net.Addr
		want       limit.Rate
		far        bool
	}{
		{"this machine", autoValue, address("127.0.0.1:80"), limit.Rate{}, false},
		{"this machine, IPv6", autoValue, address("[::1]:80"), limit.Rate{}, false},
		{"all addresses", autoValue, address("0.0.0.0:80"), usual, true},
		{"a public address", autoValue, address("203.0.113.1:80"), usual, true},
		{"a socket in the file system", autoValue, &net.UnixAddr{Name: "x"}, limit.Rate{}, false},
		{"chosen, on this machine", "1/s burst 2", address("127.0.0.1:80"), limit.Rate{Interval: time.Second, Burst: 2}, false},
		{"off", "off", address("0.0.0.0:80"), limit.Rate{}, false},
	} {
		got, far, err := parseRate(test.text, addressRate, test.at)
		if got != test.want || far != test.far || err != nil {
			t.Errorf("%s: got %v, far %v, %v", test.name, got, far, err)
		}
	}
}

// process is the program, run as another process.
type process struct {
	*exec.Cmd
	ended chan error
	said  *strings.Builder // what it wrote to its standard error, once it has ended
}

// programLink returns the path of a link to the test binary, which is the program under the name almanac.
func programLink(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	must.Succeed(t, err)
	program := filepath.Join(t.TempDir(), "almanac")
	must.Succeed(t, os.Symlink(self, program))
	return program
}

func start(t *testing.T, files []*os.File, shell string, args ...string) *process {
	t.Helper()
	program := programLink(t)
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", shell + ` exec "$0" "$@"`, program}, args...)...)
	cmd.Env = append(slices.Clone(os.Environ()), "GORACE=atexit_sleep_ms=10")
	cmd.ExtraFiles = files
	cmd.Dir = t.TempDir()
	var out strings.Builder
	cmd.Stderr = &out
	must.Succeed(t, cmd.Start())
	p := &process{cmd, make(chan error, 1), &out}
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

// waitHealthy waits until a process is ready.
func waitHealthy(t *testing.T, p *process, url string) {
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

// ask sends a GET on a new connection and returns the status.
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

// heldSocket returns a listening socket and its URL, as systemd would pass it. It listens as long as the file or a
// process with it is open. The caller closes the file.
func heldSocket(t *testing.T) (file *os.File, url string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	tcp, ok := ln.(*net.TCPListener)
	if !ok {
		t.Fatalf("%T", ln)
	}
	if file, err = tcp.File(); err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil { // this process accepts nothing, the socket stays
		t.Fatal(err)
	}
	return file, "http://" + ln.Addr().String()
}

// TestRestartRefusesNobody restarts a server whose socket belongs to systemd. No request may fail meanwhile. The
// first process must report when it is ready.
func TestRestartRefusesNobody(t *testing.T) {
	t.Parallel()
	file, url := heldSocket(t)
	defer file.Close()
	db := "sqlite://" + filepath.Join(t.TempDir(), "a.db")
	notices, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "n"), Net: "unixgram"})
	must.Succeed(t, err)
	defer notices.Close()
	activated := `LISTEN_PID=$$; LISTEN_FDS=1; LISTEN_FDNAMES=http; export LISTEN_PID LISTEN_FDS LISTEN_FDNAMES;
		NOTIFY_SOCKET='` + notices.LocalAddr().String() + `'; export NOTIFY_SOCKET;`
	begin := func() *process {
		return start(t, []*os.File{file}, activated, "serve", "--db", db, "--listen", "127.0.0.1:1")
	}
	first := begin()
	waitHealthy(t, first, url+"/readyz")
	must.Succeed(t, notices.SetReadDeadline(time.Now().Add(time.Minute)))
	notice := make([]byte, 64)
	if n, err := notices.Read(notice); err != nil || string(notice[:n]) != "READY=1" {
		t.Errorf("got %q, %v", notice[:n], err)
	}

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
	waitHealthy(t, second, url+"/readyz")
	cancel()
	if n := <-asked; n == 0 {
		t.Error("nothing was asked")
	}
	second.stop(t)
}

// TestLogHasOneForm checks that each line of the log has the chosen form, including lines of libraries.
func TestLogHasOneForm(t *testing.T) {
	t.Parallel()
	hangsUp, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	t.Cleanup(func() { hangsUp.Close() }) // after those below
	go func() {
		for {
			c, err := hangsUp.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	const nobody = "127.0.0.1:1"
	for _, test := range []struct {
		name  string
		args  []string
		shell string
		want  string // a part of it
		fails bool
	}{
		{"a database that hangs up", []string{"--db=mysql://ewa:x@" + hangsUp.Addr().String() + "/cal"}, "", "database driver", true},
		{"no counter", []string{"--rate-redis=redis://" + nobody + "/0", "--rate-limit=100/s"}, "", "shared rate limit", false},
		{"no collector", []string{"--otlp-endpoint=http://" + nobody}, "", "traces", false},
		{
			"a collector with a certificate that is not there",
			[]string{"--otlp-endpoint=https://" + nobody},
			"OTEL_EXPORTER_OTLP_CERTIFICATE=/nowhere; export OTEL_EXPORTER_OTLP_CERTIFICATE;", "read tls ca cert file", false,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			address := unusedAddress(t)
			p := start(t, nil, test.shell, append([]string{"serve", "--log-format=json", "--listen=" + address}, test.args...)...)
			if test.fails {
				if err := <-p.ended; err == nil {
					t.Error("it did not fail")
				}
			} else {
				waitHealthy(t, p, "http://"+address+"/readyz")
				if _, err := ask(t.Context(), "http://"+address+"/cal/events/v1/events"); err != nil {
					t.Error(err)
				}
				p.stop(t)
			}
			if !strings.Contains(p.said.String(), test.want) {
				t.Errorf("nothing of %q", test.want)
			}
			for line := range strings.Lines(p.said.String()) {
				if !strings.HasPrefix(line, "almanac: ") && !json.Valid([]byte(line)) {
					t.Errorf("in another form: %s", line)
				}
			}
		})
	}
}

// unusedAddress returns an address that was opened and closed. The system does not assign it again soon.
func unusedAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	must.Succeed(t, ln.Close())
	return ln.Addr().String()
}

func TestOneAddressIsNotForAll(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		public, private string
		refused         bool
	}{
		{"127.0.0.1:8080", "127.0.0.1:8080", true},
		{"0.0.0.0:8080", "127.0.0.1:8080", true},
		{"127.0.0.1:8080", ":8080", true},
		{"[::]:80", "127.0.0.1:http", true},
		{"[::1]:8080", "[0:0::1]:8080", true},
		{"127.0.0.1:8080", "[::ffff:127.0.0.1]:8080", true},
		{"localhost:8080", "127.0.0.1:8080", true},
		{"Host.example:8080", "host.example:8080", true},
		{"127.0.0.1:8080", "127.0.0.1:9090", false},
		{"127.0.0.1:8080", "127.0.0.2:8080", false},
		{"203.0.113.1:8080", "localhost:8080", false},
		{"127.0.0.1:0", "127.0.0.1:0", false},
		{"127.0.0.1:8080", "", false},
	} {
		f := serveFlags{Listen: test.public, operateFlags: operateFlags{MetricsListen: test.private, ReusePort: true}}
		err := f.checkSockets(noOutput)
		if (err != nil) != test.refused || err != nil && !errors.As(err, new(usageError)) {
			t.Errorf("%s and %s: %v", test.public, test.private, err)
		}
	}
	// What systemd hands over is somewhere else.
	f := serveFlags{Listen: "127.0.0.1:8080", operateFlags: operateFlags{MetricsListen: "127.0.0.1:8080"}}
	given := map[string]string{"LISTEN_FDS": "1"}
	if err := f.checkSockets(func(name string) string { return given[name] }); err != nil {
		t.Error(err)
	}
}

// TestTwoNamesOfOneAddress sets the same address, written as a host name and as an IP address, for requests and for
// operators. The program must refuse this when it opens the sockets.
func TestTwoNamesOfOneAddress(t *testing.T) {
	t.Parallel()
	_, port, err := net.SplitHostPort(unusedAddress(t))
	must.Succeed(t, err)
	host, err := os.Hostname()
	must.Succeed(t, err)
	at, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(host, port))
	if err != nil {
		t.Skipf("this machine does not know its name: %v", err)
	}
	f := serveFlags{Listen: net.JoinHostPort(host, port), operateFlags: operateFlags{MetricsListen: at.String(), ReusePort: true}}
	got, err := f.sockets(t.Context())
	if err == nil {
		t.Error("opened")
		if err := got.close(); err != nil {
			t.Error(err)
		}
	}
	if !errors.As(err, new(usageError)) {
		t.Errorf("got %v", err)
	}
}

func TestCollectors(t *testing.T) {
	t.Parallel()
	const endpoint, traces = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	const fine = "http://127.0.0.1:4318"
	for _, test := range []struct {
		name string
		flag string
		env  map[string]string
		on   bool
		want string // of the error; "" for none
	}{
		{"nowhere", "", nil, false, ""},
		{"a flag", fine, nil, true, ""},
		{"a variable", "", map[string]string{endpoint: fine}, true, ""},
		{"a variable for traces", "", map[string]string{traces: " https://h/x "}, true, ""},
		{"a variable that is empty", "", map[string]string{endpoint: " "}, false, ""},
		{"all of it is off", fine, map[string]string{"OTEL_SDK_DISABLED": "True", endpoint: "nonsense"}, false, ""},
		{"it is not off", fine, map[string]string{"OTEL_SDK_DISABLED": "false"}, true, ""},
		{"a wrong port", "", map[string]string{endpoint: "http://u:s3cret@h:bad"}, false, endpoint},
		{"a wrong port for traces", "", map[string]string{traces: "http://u:s3cret@h:bad"}, false, traces},
		{"a wrong one beside a flag", fine, map[string]string{endpoint: "http://u:s3cret@h:bad"}, false, endpoint},
		{"no scheme", "", map[string]string{endpoint: "collector:4318"}, false, endpoint},
		{"another scheme", "", map[string]string{endpoint: "grpc://u:s3cret@h"}, false, endpoint},
		{"a sampler", fine, map[string]string{"OTEL_TRACES_SAMPLER": "Parentbased_TraceIDRatio", "OTEL_TRACES_SAMPLER_ARG": "0.1"}, true, ""},
		{"no such sampler", fine, map[string]string{"OTEL_TRACES_SAMPLER": "bogus"}, false, "OTEL_TRACES_SAMPLER"},
		{"no such sampler, and no traces", "", map[string]string{"OTEL_TRACES_SAMPLER": "bogus"}, false, ""},
		{
			"more than all", fine,
			map[string]string{"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "10"},
			false, "OTEL_TRACES_SAMPLER_ARG",
		},
		{
			"no number", fine,
			map[string]string{"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "NaN"},
			false, "OTEL_TRACES_SAMPLER_ARG",
		},
		{"a share of a sampler that takes none", fine, map[string]string{"OTEL_TRACES_SAMPLER": "always_on", "OTEL_TRACES_SAMPLER_ARG": "x"}, true, ""},
		{"headers", fine, map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20x, x-team=a=b"}, true, ""},
		{"a header without a value", fine, map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "authorization:s3cret"}, false, "OTEL_EXPORTER_OTLP_HEADERS"},
		{"a header that is no name", fine, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_HEADERS": "a s3cret=x"}, false, "OTEL_EXPORTER_OTLP_TRACES_HEADERS"},
		{"a value that ends early", fine, map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "a=s3cret%2"}, false, "OTEL_EXPORTER_OTLP_HEADERS"},
		{"a time", fine, map[string]string{"OTEL_EXPORTER_OTLP_TIMEOUT": "5000"}, true, ""},
		{"a time with a unit", fine, map[string]string{"OTEL_EXPORTER_OTLP_TIMEOUT": "5s"}, false, "OTEL_EXPORTER_OTLP_TIMEOUT"},
	} {
		got, err := operateFlags{OTLPEndpoint: test.flag}.collector(func(name string) string { return test.env[name] })
		if test.want == "" && (err != nil || (got != nil) != test.on) {
			t.Errorf("%s: on %t, %v", test.name, got != nil, err)
		}
		if test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%s: got %v", test.name, err)
		}
	}
}

func TestProcessesShareAPort(t *testing.T) {
	t.Parallel()
	address, private := unusedAddress(t), unusedAddress(t)
	serve := func() *process {
		return start(t, nil, "", "serve", "--listen", address, "--reuse-port", "--metrics-listen", private)
	}
	first := serve()
	waitHealthy(t, first, "http://"+address+"/readyz")
	second := serve()
	// Both answer: each connection goes to either, and after the first has ended all go to the second.
	time.Sleep(time.Second)
	select {
	case err := <-second.ended:
		t.Fatalf("the second ended: %v", err)
	default:
	}
	first.stop(t)
	waitHealthy(t, second, "http://"+address+"/readyz")
	waitHealthy(t, second, "http://"+private+"/metrics")
	second.stop(t)
}
