// Command load measures a server by sending requests over connections that stay open:
//
//	go -C lab run ./load -clients 64 http://127.0.0.1:8080/cal/events/v1/events
//	go -C lab run ./load -clients 64 -rate 500 http://127.0.0.1:8080/cal/events/v1/events
//
// Without -rate, a client sends its next request when it has a reply. That shows the throughput, and the latencies of a
// server that is exactly saturated. With -rate, requests come at a fixed rate whatever happens to earlier ones. Their
// latency counts from when they were due. Several URLs, of one host, are requested in turn.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/lab/command"
	"github.com/almanac-cal/almanac/lab/drive"
	"github.com/almanac-cal/almanac/lab/proc"
)

func main() { command.Main(run) }

// flags contains the command-line flags.
type flags struct {
	drive.Config
	arrivals, token, paths, body, from string
	pid                                int
}

// run runs the command and returns the exit status: 0 done, 1 failed, 2 wrong usage.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	var f flags
	set := flag.NewFlagSet("load", flag.ContinueOnError)
	set.SetOutput(errs)
	set.IntVar(&f.Clients, "clients", 8, "connections")
	set.DurationVar(&f.Length, "time", 10*time.Second, "how long to measure")
	set.DurationVar(&f.Warm, "warm", time.Second, "how long to ask before")
	set.Float64Var(&f.Rate, "rate", 0, "requests in a second, whatever becomes of them; 0: each client waits for its reply")
	set.StringVar(&f.arrivals, "arrivals", "even", "how requests at a rate come: even, or poisson for random")
	set.Uint64Var(&f.Seed, "seed", 1, "of what is random")
	set.DurationVar(&f.Timeout, "timeout", 10*time.Second, "how long to wait for a reply")
	set.StringVar(&f.token, "token", "", "access token to send")
	set.StringVar(&f.body, "body", "", "file of JSON to POST; \"\" asks with GET")
	set.StringVar(&f.from, "from", "", "address of this machine to ask from, such as 127.0.0.2")
	set.StringVar(&f.paths, "paths", "", "file of more paths on the same host, one a line")
	set.IntVar(&f.pid, "pid", 0, "process on this machine whose CPU time and memory to print")
	set.Usage = func() {
		fmt.Fprintln(errs, "usage: load [flags] URL...")
		set.PrintDefaults()
	}
	if err := set.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if err := f.check(set.Args()); err != nil {
		fmt.Fprintln(errs, "load:", err)
		return 2
	}
	if err := f.measure(ctx, out); err != nil {
		fmt.Fprintln(errs, "load:", err)
		return 1
	}
	return 0
}

// check validates the flags and sets the requests to send. targets are URLs of one host.
func (f *flags) check(targets []string) error {
	f.Poisson = f.arrivals == "poisson"
	if f.arrivals != "even" && !f.Poisson {
		return fmt.Errorf("-arrivals %q: want even or poisson", f.arrivals)
	}
	if f.Clients < 1 || f.Length <= 0 || f.Warm < 0 || f.Rate < 0 || f.Timeout <= 0 {
		return errors.New("want at least one client, and times and rates that are not negative")
	}
	if len(targets) == 0 {
		return errors.New("which URL?")
	}
	var headers []string
	if f.token != "" {
		headers = []string{"Authorization: Bearer " + f.token}
	}
	first, err := url.Parse(targets[0])
	if err != nil || first.Scheme != "http" || first.Host == "" {
		return fmt.Errorf("%q: want http://HOST:PORT/PATH", targets[0])
	}
	method := http.MethodGet
	var body []byte
	if f.body != "" {
		if body, err = os.ReadFile(f.body); err != nil {
			return err
		}
		method, headers = http.MethodPost, append(headers, "Content-Type: application/json")
	}
	if f.from != "" {
		local, err := netip.ParseAddr(f.from)
		if err != nil {
			return err
		}
		dialer := &net.Dialer{Timeout: f.Timeout, LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(local, 0))}
		f.Dial = func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", f.Address) }
	}
	more, err := lines(f.paths)
	if err != nil {
		return err
	}
	var requests [][]byte
	for _, target := range append(targets, more...) {
		u, err := first.Parse(target)
		if err != nil {
			return err
		}
		if u.Scheme != "http" || u.Host != first.Host {
			return fmt.Errorf("%q: want the host of the first, %s", target, first.Host)
		}
		requests = append(requests, drive.Message(method, u, body, headers...))
	}
	f.Address, f.Request = drive.Address(first), drive.Each(requests, f.Seed)
	return nil
}

// lines returns the non-empty lines of a file, without surrounding spaces. It returns nil for the name "".
func lines(name string) (out []string, err error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for s := bufio.NewScanner(file); ; {
		if !s.Scan() {
			return out, s.Err()
		}
		if line := strings.TrimSpace(s.Text()); line != "" {
			out = append(out, line)
		}
	}
}

func (f *flags) measure(ctx context.Context, out io.Writer) error {
	debug.SetGCPercent(400)
	runtime.GOMAXPROCS(runtime.NumCPU() + 2) // one is asleep until the next request is due
	var before proc.Usage
	var err error
	if f.pid != 0 {
		if before, err = proc.Read(f.pid); err != nil {
			return err
		}
	}
	self, err := proc.Read(os.Getpid())
	if err != nil {
		self = proc.Usage{} // a system that does not tell
	}
	r, err := drive.Run(ctx, f.Config)
	if err != nil {
		return err
	}
	at := func(t drive.Times, share float64) time.Duration { return t.At(share).Round(time.Microsecond) }
	kind := "closed loop"
	if f.Rate > 0 {
		kind = fmt.Sprintf("open loop at %.0f/s", f.Rate)
	}
	fmt.Fprintf(out, "%s, %d clients, %s: %.0f replies/s, errors: %s\n", kind, f.Clients, f.Length, r.Rate(), r.Errors())
	fmt.Fprintf(out, "p50 %s, p90 %s, p99 %s, p99.9 %s, max %s\n",
		at(r.Took, 0.5), at(r.Took, 0.9), at(r.Took, 0.99), at(r.Took, 0.999), at(r.Took, 1))
	if f.Rate > 0 {
		fmt.Fprintf(out, "%d requests, %d waited over 1 ms for a connection, %d were due over 1 ms before the generator "+
			"noticed (%s at most)\nfrom sending: p50 %s, p99 %s\n", r.Due, r.Waited, r.Late,
			r.LateMax.Round(time.Microsecond), at(r.Served, 0.5), at(r.Served, 0.99))
	}
	if f.pid != 0 {
		after, err := proc.Read(f.pid)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "server: %s of CPU a request, %.1f MiB, %.1f at most\n",
			((after.CPU - before.CPU) / time.Duration(max(r.All, 1))).Round(100*time.Nanosecond),
			proc.MiB(after.Memory), proc.MiB(after.Peak))
	}
	if now, err := proc.Read(os.Getpid()); err == nil {
		fmt.Fprintf(out, "this program: %s of CPU a request\n",
			((now.CPU - self.CPU) / time.Duration(max(r.All, 1))).Round(100*time.Nanosecond))
	}
	return nil
}
