package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// program is a process of the service, which a scenario can kill and restart.
type program struct {
	w       *world
	name    string
	args    []string
	port    int
	logFile string

	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
}

// serve starts a service on a database and waits until it answers. Its request timeout is requestTime, to keep
// scenarios short.
func (w *world) serve(ctx context.Context, name, db string, flags ...string) (*program, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	p := &program{w: w, name: name, port: port, logFile: filepath.Join(w.dir, name+".log")}
	p.args = append([]string{
		"serve", "--db", db, "--listen", "127.0.0.1:" + strconv.Itoa(port), "--media", filepath.Join(w.dir, "media"),
		"--log-format", "json", "--request-timeout", requestTime.String(),
	}, flags...)
	if err := p.start(ctx); err != nil {
		return nil, err
	}
	w.programs = append(w.programs, p)
	return p, nil
}

// requestTime is the request timeout with which scenarios start the service.
const requestTime = 3 * time.Second

// base returns the base URL of the program.
func (p *program) base() string { return "http://127.0.0.1:" + strconv.Itoa(p.port) }

// launch starts the process. It does not wait until the process answers.
func (p *program) launch() (err error) {
	log, err := os.OpenFile(p.logFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	cmd := exec.Command(p.w.binary, p.args...) //nolint:noctx // it outlives the context: the scenario ends it
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, p.w.dir
	cmd.Env = cleanEnvironment()
	ended, err := startProcess(cmd)
	if err != nil {
		return err
	}
	p.cmd, p.ended = cmd, ended
	return nil
}

// start starts the process and waits until /healthz replies 200. It returns an error if the process ends, and after
// waitLimit.
func (p *program) start(ctx context.Context) error {
	if err := p.launch(); err != nil {
		return err
	}
	err := wait(ctx, p.name+" answers", waitLimit, func(ctx context.Context) error {
		if p.gone() {
			return fmt.Errorf("%s ended: %s", p.name, p.tail(5))
		}
		status, err := probe(ctx, p.base()+"/healthz")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("/healthz is %d", status)
		}
		return err
	})
	return err
}

// probe requests a URL over a new connection and returns the status, without checking the reply.
func probe(ctx context.Context, url string) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime+2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	// A connection of its own, so that nothing of a process before this one is left.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

// gone reports whether the process has ended.
func (p *program) gone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// kill sends SIGKILL to the process and waits until it has ended. It does nothing for a process that has ended
// already.
func (p *program) kill() {
	if p.cmd == nil || p.gone() {
		return
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.w.fail("kill %s: %v", p.name, err)
		return
	}
	<-p.ended
}

// stop sends SIGTERM to the process and waits until it has ended. It returns an error unless the exit status is 0.
func (p *program) stop(ctx context.Context) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	select {
	case <-p.ended:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(waitLimit):
		return fmt.Errorf("%s does not stop", p.name)
	}
	if status := p.cmd.ProcessState.ExitCode(); status != 0 {
		return fmt.Errorf("%s stopped with status %d: %s", p.name, status, p.tail(5))
	}
	return nil
}

// tail returns the last lines of the log, or the text of an error if it cannot be read.
func (p *program) tail(lines int) string {
	data, err := os.ReadFile(p.logFile)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// innocent returns an error with log lines that show a panic, a data race or a reply 500 of the program. It returns
// nil if there are none, or no log.
func (p *program) innocent() error {
	data, err := os.ReadFile(p.logFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return logErrors(p.name, data)
}

func logErrors(name string, log []byte) error {
	var found []string
	count := 0
	for lines := bufio.NewScanner(bytes.NewReader(log)); lines.Scan(); {
		var line struct {
			Status int    `json:"status"`
			Method string `json:"method"`
			Route  string `json:"route"`
			Error  string `json:"error"`
		}
		text := lines.Text()
		isJSON := json.Unmarshal(lines.Bytes(), &line) == nil
		why := ""
		switch {
		case strings.Contains(text, "panic") || strings.Contains(text, "fatal error:") || strings.Contains(text, "DATA RACE"):
			why = text
		case isJSON && line.Status == http.StatusInternalServerError:
			why = fmt.Sprintf("500 %s %s: %s", line.Method, line.Route, line.Error)
		default:
			continue
		}
		count++
		if len(found) < 5 && !slices.Contains(found, why) {
			found = append(found, why)
		}
	}
	if count == 0 {
		return nil
	}
	return fmt.Errorf("the log of %s tells of %d faults of its own:\n  %s", name, count, strings.Join(found, "\n  "))
}

// command runs a command of the service's program to its end and returns what it printed. Another exit status than 0
// is an error.
func (w *world) command(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*waitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.binary, args...)
	cmd.Env, cmd.Dir = cleanEnvironment(), w.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("almanac %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return string(out), nil
}

// editor adds an administrator called driver to the database and returns an access token.
func (w *world) editor(ctx context.Context, db string) (string, error) {
	out, err := w.command(ctx, "user", "add", "--db", db, "--login", "driver", "--role", "administrator")
	if err != nil {
		return "", err
	}
	words := strings.Fields(out)
	if len(words) == 0 {
		return "", fmt.Errorf("user add printed nothing")
	}
	return words[len(words)-1], nil
}

// startProcess starts a process. The channel ended is closed after the process has ended.
func startProcess(cmd *exec.Cmd) (ended chan struct{}, err error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // its status is in ProcessState
	}()
	return ended, nil
}

// cleanEnvironment returns this process's environment without the variables that configure the service.
func cleanEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "ALMANAC_") })
}

// freePort returns an unused port outside the usual range of client ports. So it is still free when a process is
// restarted.
func freePort(ctx context.Context) (int, error) {
	for range 100 {
		port := 10_000 + rand.IntN(20_000)
		ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			return port, ln.Close()
		}
	}
	return 0, errors.New("no port is free")
}
