package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"github.com/alecthomas/kong"
	"github.com/rogpeppe/go-internal/testscript"
)

// session is a process that runs the command lines of a script one after another. Starting the program for each of
// them would cost more than most of them do.
type session struct {
	environ []string
	process *exec.Cmd
	in      io.WriteCloser
	calls   *json.Encoder
	replies *json.Decoder
	failed  bytes.Buffer
}

// sessionCall is a command line for a session.
type sessionCall struct {
	Args        []string
	Dir         string
	Environment map[string]string
}

// sessionReply is the exit status and the output of a command line.
type sessionReply struct {
	Status   int
	Out, Err string
}

// sessionMain is the program of a session. It ends at the end of its standard input.
func sessionMain() {
	calls, replies := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var c sessionCall
		err := calls.Decode(&c)
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = os.Chdir(c.Dir)
		}
		var r sessionReply
		if err == nil {
			r, err = c.run()
		}
		if err == nil {
			err = replies.Encode(r)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "session:", err)
			os.Exit(1)
		}
	}
}

func (c sessionCall) run() (sessionReply, error) {
	var out, failed lockedBuffer
	libraries, err := newLibraryLog(&failed)
	if err != nil {
		return sessionReply{}, err
	}
	s := streams{Out: &out, Err: &failed, In: strings.NewReader(""), Libraries: libraries}
	for name, value := range c.Environment {
		s.Environ = append(s.Environ, name+"="+value)
	}
	status := run(context.Background(), c.Args, func(name string) string { return c.Environment[name] }, s)
	return sessionReply{Status: status, Out: out.buffer.String(), Err: failed.buffer.String()}, nil
}

// lockedBuffer is a buffer that goroutines may write to at the same time.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(data)
}

// call runs a command line. It starts the process if necessary.
func (s *session) call(c sessionCall) (r sessionReply, err error) {
	if s.process == nil {
		if err := s.start(); err != nil {
			return r, err
		}
	}
	if err = s.calls.Encode(c); err == nil {
		err = s.replies.Decode(&r)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("session: %w", err), s.end())
	}
	return r, err
}

func (s *session) start() error {
	process := exec.Command("almanac-session")
	process.Env, process.Stderr = s.environ, &s.failed
	in, err := process.StdinPipe()
	if err != nil {
		return err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := process.Start(); err != nil {
		return err
	}
	s.process, s.in, s.calls, s.replies = process, in, json.NewEncoder(in), json.NewDecoder(out)
	return nil
}

// end ends the process of the session. It returns an error if the process failed, or printed anything besides the
// replies.
func (s *session) end() error {
	if s.process == nil {
		return nil
	}
	err := errors.Join(s.in.Close(), s.process.Wait())
	s.process = nil
	if s.failed.Len() > 0 {
		err = errors.Join(err, errors.New(s.failed.String()))
	}
	return err
}

// sessionKey is the key of the session in the values of a script.
type sessionKey struct{}

// addSession gives a script its session.
func addSession(env *testscript.Env) {
	s := &session{environ: append(os.Environ(), env.Vars...)}
	env.Values[sessionKey{}] = s
	env.Defer(func() {
		if err := s.end(); err != nil {
			env.T().Log(err)
			env.T().FailNow()
		}
	})
}

// settingNames returns the variables of the settings.
var settingNames = sync.OnceValues(func() ([]string, error) {
	env := &environment{}
	if _, err := kong.New(new(cli), kong.PostBuild(env.readFlags)); err != nil {
		return nil, err
	}
	var names []string
	for _, name := range env.settings {
		names = append(names, name)
	}
	return names, nil
})

// runCommand is "run STATUS [ARGUMENT...]": runs the program with these arguments in the session of the script, and
// checks the exit status. Standard input is empty.
func runCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || neg {
		ts.Fatalf("usage: run STATUS [ARGUMENT...]")
	}
	names, err := settingNames()
	ts.Check(err)
	environment := map[string]string{}
	for _, name := range names {
		environment[name] = ts.Getenv(name)
	}
	r, err := ts.Value(sessionKey{}).(*session).call(sessionCall{Args: args[1:], Dir: ts.MkAbs("."), Environment: environment})
	ts.Check(err)
	_, err = io.WriteString(ts.Stdout(), r.Out)
	ts.Check(err)
	_, err = io.WriteString(ts.Stderr(), r.Err)
	ts.Check(err)
	if got := strconv.Itoa(r.Status); got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}
