package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// madeDemo is the calendar of a demo for several tests. It is filled once, because drawing its pictures takes
// seconds.
type madeDemo struct {
	dir      string // folder of demo.db and demo-media
	out, err string // what the program printed
}

// programTests runs the tests of the package, and then removes the files that they share.
type programTests struct{ *testing.M }

// demoFolder is the folder of the shared demo; "" before it is made.
var demoFolder string

// Run implements testscript.TestingM.
func (p programTests) Run() int {
	code := p.M.Run()
	if demoFolder != "" {
		if err := os.RemoveAll(demoFolder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// sharedDemo returns the demo of all tests.
var sharedDemo = sync.OnceValues(func() (madeDemo, error) {
	dir, err := os.MkdirTemp("", "almanac-demo-test-")
	if err != nil {
		return madeDemo{}, err
	}
	demoFolder = dir
	return fillDemo(dir)
})

// demoAddress finds the address of the calendar in the output of a demo.
var demoAddress = regexp.MustCompile(`(?m)^  Calendar +(\S+)$`)

// fillDemo starts a demo in a new folder, requests its home page, and stops it. With -short, the demo has fewer
// than the usual 300 events.
func fillDemo(dir string) (d madeDemo, err error) {
	args := []string{"demo", "--keep", filepath.Join(dir, "demo.db"), "--listen", "127.0.0.1:0"}
	if testing.Short() {
		args = append(args, "--events", "20")
	}
	demo := exec.Command("almanac", args...)
	demo.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=10")
	pipe, err := demo.StdoutPipe()
	if err != nil {
		return d, err
	}
	var failed bytes.Buffer
	demo.Stderr = &failed
	if err := demo.Start(); err != nil {
		return d, err
	}
	// It prints everything in one write when it is ready.
	first := make([]byte, 1<<16)
	n, err := pipe.Read(first)
	if err != nil {
		return d, fmt.Errorf("demo: %w: %s", errors.Join(err, demo.Wait()), &failed)
	}
	err = answersOK(demoAddress.FindStringSubmatch(string(first[:n])))
	if err = errors.Join(err, demo.Process.Signal(syscall.SIGTERM)); err != nil {
		return d, errors.Join(err, demo.Process.Kill(), demo.Wait())
	}
	rest, err := io.ReadAll(pipe)
	if err = errors.Join(err, demo.Wait()); err != nil {
		return d, fmt.Errorf("demo: %w: %s", err, &failed)
	}
	return madeDemo{dir: dir, out: string(first[:n]) + string(rest), err: failed.String()}, nil
}

// copyTo copies demo.db and demo-media into a folder. Pictures become hard links, because no command writes into an
// existing picture.
func (d madeDemo) copyTo(folder string) error {
	return filepath.WalkDir(d.dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(d.dir, name)
		if err != nil {
			return err
		}
		to := filepath.Join(folder, rel)
		if e.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		if filepath.Ext(name) == ".jpg" {
			return os.Link(name, to)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o600)
	})
}

// answersOK requests the URL in match[1], and returns an error unless the status is 200. Nil as match is an error,
// too.
func answersOK(match []string) error {
	if match == nil {
		return errors.New("demo: no address was printed")
	}
	reply, err := http.Get(match[1])
	if err != nil {
		return err
	}
	if reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", match[1], reply.Status)
	}
	return errors.Join(err, reply.Body.Close())
}

// demoCommand is the script command "made-demo". It copies demo.db and demo-media of the shared demo into the
// script's folder. It prints what the command demo printed when it filled them.
func demoCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) > 0 || neg {
		ts.Fatalf("usage: made-demo")
	}
	d, err := sharedDemo()
	ts.Check(err)
	ts.Check(d.copyTo(ts.MkAbs(".")))
	_, err = io.Copy(ts.Stdout(), strings.NewReader(d.out))
	ts.Check(err)
	_, err = io.Copy(ts.Stderr(), strings.NewReader(d.err))
	ts.Check(err)
}
