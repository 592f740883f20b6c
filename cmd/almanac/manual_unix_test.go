//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/internal/manual"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// notTested are the reasons for which a block of commands is not run: the whole list.
var notTested = []string{
	"needs Docker", "needs systemd", "needs Kubernetes", "needs the Atlas CLI", "needs mysqldump", "needs mysql", "needs Git",
	"needs two machines", "needs a process whose files were removed", "needs the Translate Toolkit", "runs the tests",
	"takes minutes",
}

// fewTested are pages that may skip more blocks than they run.
var fewTested = []string{"docs/performance.md", "docs/faults.md", "docs/recipes.md"}

// quickPages are the pages whose commands run in short mode, too.
var quickPages = []string{"README.md", "docs/getting-started.md"}

// TestManualCommands runs the commands of the README and of the manual, each page in order and in one shell. It compares
// their output with the shown one. A word after sh says how they run:
//
//   - "server": in the background, until the next server of the page or its end; the page continues when it is ready;
//   - "mysql": on an empty MySQL database, where there is one;
//   - "fails": the last command must exit with a status other than 0;
//   - "no-test: REASON": not at all.
//
// ALMANAC_TEST_CURL=/usr/bin/curl runs them with that instead of the stand-in.
func TestManualCommands(t *testing.T) { testManualCommands(t, false) }

// TestManualCommandsOnMySQL does the same for pages with commands marked "mysql". It is a separate test, because CI
// repeats only the tests that need a database server.
func TestManualCommandsOnMySQL(t *testing.T) { testManualCommands(t, true) }

// testManualCommands runs the pages that have commands on MySQL, or the others.
func testManualCommands(t *testing.T, onMySQL bool) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell")
	}
	demo, err := sharedDemo()
	must.Succeed(t, err)
	for _, file := range manualPages(t) {
		name := strings.TrimPrefix(filepath.ToSlash(file), "../../")
		all, err := manual.Blocks(readPage(t, file))
		must.Succeed(t, err)
		if slices.ContainsFunc(all, func(b manual.Block) bool { return b.Lang == "sh" && b.Mark == "mysql" }) != onMySQL {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && !slices.Contains(quickPages, name) {
				t.Skip("takes long")
			}
			blocks := commandsOf(t, name, all)
			if len(blocks) == 0 {
				t.Skip("no commands")
			}
			runPage(t, name, demo, blocks, pagePort)
		})
	}
}

// command is a block of commands in the manual and the output that the manual shows. Nil means that it shows none.
type command struct {
	manual.Block
	shown *manual.Block
}

// commandsOf returns the blocks of a page to run. The test fails for blocks that are marked wrongly.
func commandsOf(t *testing.T, page string, all []manual.Block) []command {
	t.Helper()
	var out []command
	run, skipped := 0, 0
	for i, b := range all {
		if b.Lang != "sh" {
			if b.Lang == "" || b.Lang == "bash" || b.Lang == "shell" || b.Lang == "console" {
				t.Errorf("line %d: a block in no language, or in %q: want sh, text, json or another", b.Line, b.Lang)
			}
			continue
		}
		if reason, ok := strings.CutPrefix(b.Mark, "no-test: "); ok {
			if !slices.Contains(notTested, reason) {
				t.Errorf("line %d: %q is none of the reasons not to test: %s", b.Line, reason, strings.Join(notTested, ", "))
			}
			skipped++
			continue
		}
		if !slices.Contains([]string{"", "server", "mysql", "fails"}, b.Mark) {
			t.Errorf("line %d: unknown mark %q", b.Line, b.Mark)
		}
		run++
		c := command{Block: b}
		if i+1 < len(all) && strings.HasPrefix(all[i+1].Mark, "output") {
			c.shown = &all[i+1]
		}
		out = append(out, c)
	}
	if skipped > run && !slices.Contains(fewTested, page) {
		t.Errorf("%d blocks of commands are skipped and %d run", skipped, run)
	}
	t.Logf("%d blocks run, %d skipped", run, skipped)
	return out
}

// pagePort gives ports to the pages of both tests: two pickers would give the same ports.
var pagePort = portPicker()

// portPicker returns a function that returns a free port, another one for each call. The ports are below those that
// the kernel assigns itself.
func portPicker() func() string {
	taken := make(chan map[int]bool, 1)
	taken <- map[int]bool{}
	return func() string {
		seen := <-taken
		defer func() { taken <- seen }()
		for port := 12000 + os.Getpid()%8000; ; port++ {
			if !seen[port] && isFree(port) {
				seen[port] = true
				return strconv.Itoa(port)
			}
		}
	}
}

// prelude defines the commands and variables of the shell. A demo is the one made for all pages. An import does
// not spare its source. For go the prelude has the commands of the manual.
const prelude = `set -eu
CALL=command
almanac() {
	case "$1" in
	demo) shift; set -- demo --keep "$DEMO_DB" "$@" ;;
	import) shift; set -- import --rate 100 "$@" ;;
	move) shift; set -- move --rate 100 "$@" ;;
	esac
	$CALL almanac "$@"
}
go() {
	case "$1 ${2-}" in
	"run ./cmd/almanac") shift 2; almanac "$@" ;;
	"build ./cmd/almanac") : ;;
	*) echo "go $*: the test does not know it" >&2; return 1 ;;
	esac
}
if [ -n "${CURL-}" ]; then curl() { command "$CURL" -s "$@"; }; fi
serving() {
	until command curl -f -o ready http://127.0.0.1:$PORT/readyz 2>/dev/null; do
		kill -0 $SERVER 2>/dev/null || { echo "the server ended:" >&2; cat err.$1 >&2; return 1; }
		sleep 0.05
	done
	case "$2" in *demo*)
		DEMO_TOKEN=
		while [ -z "$DEMO_TOKEN" ]; do
			DEMO_TOKEN=$(sed -n 's/^Login demo, token //p' out.$1)
			[ -n "$DEMO_TOKEN" ] || sleep 0.05
		done ;;
	esac
}
ended() {
	if [ -n "${SERVER-}" ]; then kill $SERVER; wait $SERVER || true; fi
}
`

var mysqlURL = regexp.MustCompile(`mysql://[^\s'"/]+@db\.example\.org:3306/almanac\b`)

// runPage runs the blocks of a page in one shell, in an empty folder.
func runPage(t *testing.T, page string, made madeDemo, blocks []command, port func() string) {
	t.Helper()
	dir := t.TempDir()
	here := port()
	replacements := []string{
		"127.0.0.1:8080", "127.0.0.1:" + here, "127.0.0.1:9090", "127.0.0.1:" + port(),
		"/var/lib/almanac", filepath.Join(dir, "var"), "/backup/", filepath.Join(dir, "backup") + "/", "./almanac ", "almanac ",
	}
	for _, folder := range []string{"var", "backup"} {
		must.Succeed(t, os.Mkdir(filepath.Join(dir, folder), 0o700))
	}
	env := slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "ALMANAC_") })
	env = append(env, "PORT="+here, "ALMANAC_LISTEN=127.0.0.1:"+here, "GORACE=atexit_sleep_ms=10", "CURL="+os.Getenv("ALMANAC_TEST_CURL"))
	must.Succeed(t, made.copyTo(dir))
	env = append(env, "DEMO_DB="+filepath.Join(dir, "demo.db"))
	var whole strings.Builder
	for _, b := range blocks {
		whole.WriteString(b.Text)
	}
	if strings.Contains(whole.String(), "https://calendar.example.org") {
		replacements = append(replacements, "https://calendar.example.org", existingSite(t, made, port()))
	}
	replace := strings.NewReplacer(replacements...)
	var script strings.Builder
	script.WriteString(prelude)
	for i, b := range blocks {
		text := strings.ReplaceAll(replace.Replace(b.Text), "alm_…", "$DEMO_TOKEN")
		if b.Mark == "mysql" {
			if os.Getenv(storetest.Variable) == "" {
				t.Run(fmt.Sprint("line ", b.Line), func(t *testing.T) { t.Skipf("%s names no server", storetest.Variable) })
				continue
			}
			if !mysqlURL.MatchString(text) {
				t.Errorf("line %d: a block for MySQL names no database at db.example.org", b.Line)
			}
			text = mysqlURL.ReplaceAllLiteralString(text, storetest.MySQL(t))
		}
		fmt.Fprintf(&script, "echo %d >at\n", i)
		switch b.Mark {
		case "server":
			fmt.Fprintf(&script, "ended\nCALL=exec\n{\n%s} >out.%d 2>err.%d &\nSERVER=$!\nCALL=command\nserving %d '%s'\n",
				text, i, i, i, strings.ReplaceAll(text, "'", ""))
		case "fails":
			fmt.Fprintf(&script, "set +e\n{\n%s} >out.%d 2>err.%d\nSTATUS=$?\nset -e\n[ $STATUS -ne 0 ]\n", text, i, i)
		default:
			fmt.Fprintf(&script, "{\n%s} >out.%d 2>err.%d\n", text, i, i)
		}
	}
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "commands"), []byte(script.String()), 0o600))
	failed, err := runShell(t, dir, env)
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return string(data)
	}
	if err != nil {
		at, convErr := strconv.Atoi(strings.TrimSpace(read("at")))
		if convErr != nil {
			t.Fatalf("%v: %s", err, failed)
		}
		t.Errorf("%s, line %d: %v\n%s\nprinted %s%s%s", page, blocks[at].Line, err, blocks[at].Text,
			read(fmt.Sprintf("out.%d", at)), read(fmt.Sprintf("err.%d", at)), failed)
	}
	for i, b := range blocks {
		if _, err := os.Stat(filepath.Join(dir, fmt.Sprintf("out.%d", i))); b.shown == nil || err != nil {
			continue
		}
		got := read(fmt.Sprintf("out.%d", i))
		if b.Mark == "fails" {
			got += read(fmt.Sprintf("err.%d", i))
		}
		if err := manual.Match(b.shown.Lang, replace.Replace(b.shown.Text), got); err != nil {
			t.Errorf("%s, line %d:\n%s\n%v", page, b.shown.Line, b.Text, err)
		}
	}
}

// runShell runs the commands and ends whatever they left running. They have two minutes: with the race detector
// programs take a while to start.
func runShell(t *testing.T, dir string, env []string) (printed string, err error) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var out bytes.Buffer
	shell := exec.CommandContext(ctx, "sh", "commands")
	shell.Dir, shell.Env, shell.Stdout, shell.Stderr = dir, env, &out, &out
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	end := func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	shell.Cancel, shell.WaitDelay = end, time.Second
	err = shell.Run()
	if shell.Process != nil {
		if endErr := end(); !errors.Is(endErr, syscall.ESRCH) {
			err = errors.Join(err, endErr)
		}
	}
	return out.String(), err
}

// existingSite is the address of a calendar under the path of the original.
func existingSite(t *testing.T, made madeDemo, port string) string {
	t.Helper()
	dir := t.TempDir()
	must.Succeed(t, made.copyTo(dir))
	address := "http://127.0.0.1:" + port
	site := exec.Command("almanac", "serve", "--db", "sqlite://demo.db", "--media", "demo-media",
		"--listen", "127.0.0.1:"+port, "--mount", "/wp-json/tribe/events/v1")
	site.Dir = dir
	must.Succeed(t, site.Start())
	t.Cleanup(func() {
		if err := site.Process.Kill(); err != nil {
			t.Error(err)
		}
		if err := site.Wait(); !errors.As(err, new(*exec.ExitError)) {
			t.Error(err)
		}
	})
	for range 2400 {
		if reply, err := http.Get(address + "/readyz"); err == nil {
			must.Succeed(t, reply.Body.Close())
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return address
}
