package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// machine is what the steps share: folders and servers.
type machine struct {
	root   string // the checkout
	shared string // lies beside the checkout on some machines; nothing depends on it
	tmp    string
	alone  bool // -only chose the steps

	engine    string // "mysql" or "mariadb", after a server has started
	mysql     string // its URL, ending in a slash
	mariadb   string // URL of a second server; "" for none
	aptUpdate sync.Once

	mu    sync.Mutex
	undo  []func()
	times strings.Builder // a line for each step
}

// path returns the path of a temporary file.
func (m *machine) path(name string) string { return filepath.Join(m.tmp, name) }

// later registers a function to call at the end.
func (m *machine) later(do func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.undo = append(m.undo, do)
}

// end stops the servers.
func (m *machine) end() {
	for _, do := range m.undo {
		do()
	}
}

// job is the environment of a step. Like a testing.T, it ends the step when a command fails.
type job struct {
	*machine
	ctx  context.Context
	out  io.Writer
	dir  string   // where commands run
	env  []string // more variables for them
	args []string // of the command line, after the flags
	nice bool     // commands leave the processors to those of other jobs
}

// stopped is the panic of a step that failed.
type stopped struct{ error }

// check ends the step if there is an error.
func (j *job) check(err error) {
	if err != nil {
		panic(stopped{err})
	}
}

// fail ends the step.
func (j *job) fail(format string, args ...any) { j.check(fmt.Errorf(format, args...)) }

func (j *job) say(format string, args ...any) { fmt.Fprintf(j.out, format+"\n", args...) }

// with returns a copy of the job with more environment variables.
func (j *job) with(env ...string) *job {
	c := *j
	c.env = append(append([]string{}, j.env...), env...)
	return &c
}

// in returns a copy of the job whose commands run in a folder.
func (j *job) in(dir string) *job {
	c := *j
	c.dir = dir
	return &c
}

// to returns a copy of the job whose output goes elsewhere.
func (j *job) to(out io.Writer) *job {
	c := *j
	c.out = out
	return &c
}

// command prepares a command in a process group of its own, which ends with the job.
func (j *job) command(name string, args ...string) *exec.Cmd {
	if j.nice {
		name, args = "nice", append([]string{"-n", "10", name}, args...)
	}
	c := exec.CommandContext(j.ctx, name, args...)
	c.Dir, c.Env, c.Stdout, c.Stderr = j.dir, append(os.Environ(), j.env...), j.out, j.out
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = 10 * time.Second
	return c
}

// finish waits for a started command. If it fails, finish ends what it leaves running. Otherwise that may be a server.
func finish(c *exec.Cmd) error {
	err := c.Wait()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // fails if nothing is left
	return fmt.Errorf("%.200s: %w", strings.Join(c.Args, " "), err)
}

// try runs a command.
func (j *job) try(name string, args ...string) error {
	c := j.command(name, args...)
	if err := c.Start(); err != nil {
		return err
	}
	return finish(c)
}

// run runs a command that must not fail.
func (j *job) run(name string, args ...string) { j.check(j.try(name, args...)) }

// quietly runs a command and prints its output only if it fails.
func (j *job) quietly(name string, args ...string) error {
	var out bytes.Buffer
	err := j.to(&out).try(name, args...)
	if err != nil {
		j.say("%s", out.String())
	}
	return err
}

// output returns what a command prints, without space at the ends.
func (j *job) output(name string, args ...string) (string, error) {
	var out strings.Builder
	err := j.to(&out).try(name, args...)
	return strings.TrimSpace(out.String()), err
}

// git returns the output of git, or "" if it fails.
func (j *job) git(args ...string) string {
	out, err := j.output("git", args...)
	if err != nil {
		return ""
	}
	return out
}

// start starts a command that runs until the end of all steps. ended is closed when it ends by itself.
func (j *job) start(log, name string, args ...string) (group int, ended chan struct{}) {
	out, err := os.Create(log)
	j.check(err)
	c := j.to(out).command(name, args...)
	j.check(errors.Join(c.Start(), out.Close()))
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Wait() // the log says more
	}()
	j.later(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // fails if it has ended
		<-ended
	})
	return c.Process.Pid, ended
}

// poll waits until ready returns true. It fails after the limit, or when ended is closed.
func (j *job) poll(limit time.Duration, ended <-chan struct{}, ready func() bool) error {
	deadline := time.After(limit)
	for !ready() {
		select {
		case <-j.ctx.Done():
			return j.ctx.Err()
		case <-ended:
			return errors.New("the process ended")
		case <-deadline:
			return fmt.Errorf("not within %v", limit)
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

// install installs packages of Debian.
func (j *job) install(packages ...string) error {
	if !has("apt-get") || os.Getuid() != 0 {
		return fmt.Errorf("missing: %s; install them, or run this on Debian as root", strings.Join(packages, " "))
	}
	j.aptUpdate.Do(func() { _ = j.quietly("apt-get", "-qq", "update") }) // without lists, the next command fails
	return j.quietly("apt-get", append([]string{"-qq", "install", "-y", "--no-install-recommends"}, packages...)...)
}

func has(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
