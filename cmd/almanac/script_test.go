package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestMain makes the test binary act as almanac in scripts, and as curl in those of the manual.
func TestMain(m *testing.M) {
	// Programs that live for a moment need not collect garbage as often as servers do.
	if os.Getenv("GOGC") == "" {
		if err := os.Setenv("GOGC", "400"); err != nil {
			panic(err)
		}
	}
	testscript.Main(programTests{m}, map[string]func(){"almanac": main, "almanac-session": sessionMain, "curl": curlMain})
}

// TestScripts runs testdata/script. Beside the commands of testscript they have those of commands.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "../../testdata/script", Cmds: commands(), RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			setUp(env)
			return nil
		},
	})
}

// TestScriptsOnMySQL runs testdata/script/mysql, each with an empty database that ALMANAC_DB names.
func TestScriptsOnMySQL(t *testing.T) {
	t.Parallel()
	if os.Getenv(storetest.Variable) == "" {
		t.Skipf("%s names no server", storetest.Variable)
	}
	testscript.Run(t, testscript.Params{
		Dir: "../../testdata/script/mysql", Cmds: commands(), RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			setUp(env)
			env.Setenv("ALMANAC_DB", storetest.MySQL(t))
			return nil
		},
	})
}

// setUp gives a script its session and its environment. Programs built with the race detector do not sleep for a
// second before they end.
func setUp(env *testscript.Env) {
	env.Setenv("GORACE", "atexit_sleep_ms=10")
	env.Setenv("GOGC", os.Getenv("GOGC"))
	addSession(env)
}

// commands returns the script commands that this package adds to those of testscript, by name.
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"port": portCommand(), "answers": answersCommand, "request": requestCommand, "json": jsonCommand,
		"secret": secretCommand, "status": statusCommand, "run": runCommand, "made-demo": demoCommand,
	}
}

// statusCommand is the script command "status CODE PROGRAM [ARGUMENT...]". It runs a program and checks its exit
// status. For almanac itself, the command run is faster.
func statusCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: status CODE PROGRAM [ARGUMENT...]")
	}
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got := strconv.Itoa(code); got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

// portCommand is the script command "port NAME...". It sets each variable to a free port that no other script gets.
// The ports are below those that the kernel assigns itself.
func portCommand() func(*testscript.TestScript, bool, []string) {
	var mu sync.Mutex
	taken := map[int]bool{}
	return func(ts *testscript.TestScript, _ bool, names []string) {
		mu.Lock()
		defer mu.Unlock()
		for _, name := range names {
			port := 0
			for port == 0 || taken[port] || !isFree(port) {
				port = 20000 + rand.IntN(12000)
			}
			taken[port] = true
			ts.Setenv(name, strconv.Itoa(port))
		}
	}
}

func isFree(port int) bool {
	ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	return err == nil && ln.Close() == nil
}

// answersCommand is "answers URL": waits until a server started in the background answers.
func answersCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: answers URL")
	}
	var err error
	// Two minutes: with the race detector the pictures of a demo take a while.
	for range 2400 {
		var reply *http.Response
		if reply, err = http.Get(args[0]); err == nil {
			ts.Check(reply.Body.Close())
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Check(err)
}

// requestCommand is "request METHOD URL STATUS [-H 'Name: value'] [-d BODY]": makes a request, checks the status
// and keeps the body for json and stdout. A BODY is JSON.
func requestCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 3 || len(args)%2 == 0 {
		ts.Fatalf("usage: request METHOD URL STATUS [-H 'Name: value'] [-d BODY]")
	}
	var body io.Reader
	header := http.Header{}
	for i := 3; i < len(args); i += 2 {
		switch args[i] {
		case "-H":
			name, value, _ := strings.Cut(args[i+1], ":")
			header.Add(name, strings.TrimSpace(value))
		case "-d":
			body = strings.NewReader(args[i+1])
			header.Set("Content-Type", "application/json")
		default:
			ts.Fatalf("unknown option %s", args[i])
		}
	}
	r, err := http.NewRequest(args[0], args[1], body)
	ts.Check(err)
	r.Header = header
	reply, err := http.DefaultClient.Do(r)
	ts.Check(err)
	data, err := io.ReadAll(reply.Body)
	ts.Check(errors.Join(err, reply.Body.Close()))
	_, err = ts.Stdout().Write(data)
	ts.Check(err)
	if got := strconv.Itoa(reply.StatusCode); got != args[2] {
		ts.Fatalf("%s %s: status %s, want %s\n%s", args[0], args[1], got, args[2], data)
	}
	ts.Setenv("BODY", string(data))
}

// jsonCommand is "[!] json PATH VALUE": compares a value of the last reply, such as events.0.title, by its text.
func jsonCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: json PATH VALUE")
	}
	got, err := lookUp([]byte(ts.Getenv("BODY")), args[0])
	ts.Check(err)
	if (got == args[1]) == neg {
		ts.Fatalf("%s is %q, want %q (negated: %t)", args[0], got, args[1], neg)
	}
}

// lookUp returns the value in a JSON text at a path of keys and indexes separated by dots. It returns a value that
// is not a string as JSON.
func lookUp(doc []byte, path string) (string, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", fmt.Errorf("%w in %s", err, doc)
	}
	for key := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			next, ok := in[key]
			if !ok {
				return "", fmt.Errorf("no %s of %s in %s", key, path, doc)
			}
			v = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(in) {
				return "", fmt.Errorf("no %s of %s in %s", key, path, doc)
			}
			v = in[i]
		default:
			return "", fmt.Errorf("no %s of %s in %s", key, path, doc)
		}
	}
	if text, ok := v.(string); ok {
		return text, nil
	}
	text, err := json.Marshal(v)
	return string(text), err
}

// secretCommand is "secret NAME": sets a variable to the last word that the last command printed.
func secretCommand(ts *testscript.TestScript, _ bool, args []string) {
	words := strings.Fields(ts.ReadFile("stdout"))
	if len(args) != 1 || len(words) == 0 {
		ts.Fatalf("usage: secret NAME, after something that printed one")
	}
	ts.Setenv(args[0], words[len(words)-1])
}
