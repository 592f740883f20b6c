package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// mysqldScript starts a server in the foreground: mysqld DIR PORT OPTION... The data of a new server is copied from a template.
const mysqldScript = `#!/usr/bin/env bash
set -euo pipefail
dir=$1 port=$2
shift 2
if [ ! -d "$dir/data" ]; then cp -R %[1]q/data "$dir/data"; fi
mapfile -t -d '' server <%[1]q/command
exec "${server[@]}" --datadir="$dir/data" --port="$port" --socket="$dir/sock" --pid-file="$dir/pid" "$@"
`

// faults runs the scenarios of lab/faults, or those that the command line names. They have servers of their own, because
// they stop them.
func faults(j *job) {
	parent := j.tmp
	if j.alone {
		parent = filepath.Dir(j.tmp) // what a failed scenario leaves is for reading
	}
	dir, err := os.MkdirTemp(parent, "almanac-faults.")
	j.check(err)
	server, run := filepath.Join(dir, "server"), filepath.Join(dir, "run")
	defer func() {
		_ = os.RemoveAll(server)
		// The driver removes the folders of scenarios that kept their promises.
		if left, _ := os.ReadDir(run); len(left) == 0 {
			_ = os.RemoveAll(dir)
		} else if j.alone {
			j.say("kept for reading: %s", dir)
		}
	}()
	j.makeTemplate(server)
	program, driver, mysqld := filepath.Join(dir, "almanac"), filepath.Join(dir, "faults"), filepath.Join(server, "mysqld")
	j.check(os.WriteFile(mysqld, fmt.Appendf(nil, mysqldScript, server), 0o755))
	static := j.with("CGO_ENABLED=0")
	static.run("go", "build", "-o", program, "./cmd/almanac")
	static.run("go", "-C", "lab", "build", "-o", driver, "./faults")
	j.run(driver, append([]string{"-binary", program, "-mysqld", mysqld, "-dir", run}, j.args...)...)
}

// makeTemplate leaves the data of a new server in a folder, and the command that ran it.
func (j *job) makeTemplate(dir string) {
	j.check(os.MkdirAll(dir, 0o755))
	if unpacked := j.path("mysql/root"); exists(unpacked) { // it saves a download
		j.check(os.Symlink(unpacked, filepath.Join(dir, "root")))
	}
	_, port, pid := j.launch(dir)
	process := fmt.Sprintf("/proc/%d", pid)
	command, err := os.ReadFile(process + "/cmdline")
	j.check(err)
	j.check(os.WriteFile(filepath.Join(dir, "command"), command, 0o600))
	j.check(syscall.Kill(pid, syscall.SIGTERM))
	// A process that has ended has no program, even if its parent has not noticed.
	j.check(j.poll(30*time.Second, nil, func() bool { return !listens(port) && !exists(process+"/exe") }))
	// Two servers of one id do not replicate.
	j.check(os.RemoveAll(filepath.Join(dir, "data", "auto.cnf")))
}
