package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// release builds the release for this system and checks it.
func release(j *job) {
	dist := j.path("dist")
	j.run("bash", ".ci/release/run", "--snapshot", dist)
	program := filepath.Join(dist, "almanac-"+runtime.GOOS+"-"+runtime.GOARCH)
	if out, err := j.output("ldd", program); err == nil {
		j.fail("the program is linked dynamically: %s", out)
	}
	j.run(program, "version")
	j.in(dist).run("sha256sum", "--check", "--quiet", "SHA256SUMS")
	parts, err := os.ReadFile(program + ".cdx.json")
	j.check(err)
	modules, err := j.output("go", "version", "-m", program)
	j.check(err)
	count := 0
	for line := range strings.Lines(modules) {
		f := strings.Fields(line)
		if f[0] != "dep" {
			continue
		}
		if !strings.Contains(string(parts), fmt.Sprintf(`"pkg:golang/%s@%s?type=module"`, f[1], f[2])) {
			j.fail("the SBOM lacks %s@%s", f[1], f[2])
		}
		count++
	}
	if count == 0 {
		j.fail("the program names no modules")
	}
	j.say("%d modules in the SBOM", count)
}

// vulnerabilities reports known vulnerabilities in what the program calls. They fail a release, but no change: the database
// grows without one.
func vulnerabilities(j *job) {
	err := j.try("bash", ".ci/release/run", "--vulnerable")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 3 {
		j.say("the program calls something vulnerable: see above; make release will fail")
		return
	}
	j.check(err)
}

// demo starts the demo in a fresh clone, as the README tells a new user.
func demo(j *job) {
	if j.git("status", "--porcelain") != "" {
		j.say("note: what is not committed is not in the clone")
	}
	clone, log, port := j.path("clone"), j.path("demo.log"), freePort()
	j.run("git", "clone", "-q", j.root, clone)
	// The process group has two processes, because go run starts one. Both must stop.
	alone := j.in(clone).with("ALMANAC_REAL_CALENDAR=", "ALMANAC_TEST_REDIS=", fmt.Sprintf("ALMANAC_LISTEN=127.0.0.1:%d", port))
	group, ended := alone.start(log, "go", "run", "./cmd/almanac", "demo")
	url, events := fmt.Sprintf("http://127.0.0.1:%d/cal/events/v1/events", port), ""
	err := j.poll(5*time.Minute, ended, func() bool {
		reply, err := j.output("curl", "-fsS", url)
		events = reply
		return err == nil
	})
	text, _ := os.ReadFile(log) // only printed
	j.say("%s", text)
	j.check(err)
	if !strings.Contains(events, `"events":[{`) {
		j.fail("the demo lists no events: %.300s", events)
	}
	j.check(syscall.Kill(-group, syscall.SIGTERM))
	if j.poll(15*time.Second, nil, func() bool { return !listens(port) }) != nil {
		j.fail("the demo does not stop when told to")
	}
	if left := alone.git("status", "--porcelain"); left != "" {
		j.fail("the demo leaves files that git does not ignore: %s", left)
	}
}
