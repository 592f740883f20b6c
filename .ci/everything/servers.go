package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// prepare installs the programs that the steps need.
func prepare(j *job) {
	if !has("git") || !has("curl") || !has("gcc") { // the race detector links with C
		j.check(j.install("ca-certificates", "git", "curl", "gcc", "libc6-dev"))
	}
	j.run("go", "version")
	j.say("%s", j.git("log", "-1", "--format=%h %s"))
	j.run("go", "mod", "download")
}

// volatile returns options for a server whose data is removed at the end.
func volatile(more ...string) []string {
	return append([]string{"--skip-log-bin", "--innodb-flush-log-at-trx-commit=0", "--max-connections=400"}, more...)
}

// startMySQL starts the server of the tests, once. A machine without MySQL gets a MariaDB.
func startMySQL(j *job) {
	if j.mysql != "" {
		return
	}
	// Tests ask the server only for the locks of tables. A thread that helps to count rows takes longer to start than they take
	// to count.
	engine, port, _ := j.launch(j.path("mysql"), volatile(
		"--innodb-doublewrite=OFF", "--loose-innodb-redo-log-capacity=1G", "--loose-innodb-parallel-read-threads=1",
		"--loose-performance-schema-instrument=%=OFF", "--loose-performance-schema-instrument=wait/lock/metadata/sql/mdl=ON")...)
	j.engine, j.mysql = engine, urlOf(port)
	j.say("%s on %s", j.engine, j.mysql)
}

// startSecond starts a MariaDB, if the machine has one and the server of the tests is another.
func startSecond(j *job) {
	port, dir := freePort(), j.path("mariadb")
	switch {
	case j.mariadb != "":
		return
	case j.engine == "mariadb":
		j.say("it is the server of the tests already")
		return
	case j.hasUp("mariadb"):
		_, err := j.up("mariadb", dir, port, volatile()...)
		j.check(err)
	case has("mariadbd"):
		j.startMariaDB(dir, port, volatile()...)
	default:
		j.say("skipped: this machine has no MariaDB")
		return
	}
	j.mariadb = urlOf(port)
	j.say("MariaDB on %s", j.mariadb)
}

// launch starts a MySQL in a folder, or a MariaDB if there is no MySQL. Its data is in the folder data below that one.
func (j *job) launch(dir string, options ...string) (engine string, port, pid int) {
	port = freePort()
	if j.hasUp("mysql") {
		pid, err := j.up("mysql", dir, port, options...)
		if err == nil {
			return "mysql", port, pid
		}
		j.say("%v", err)
	}
	return "mariadb", port, j.startMariaDB(dir, port, options...)
}

// upProgram returns the path of NAME-up, a program that some machines have beside the checkout. It starts a server.
func (j *job) upProgram(name string) string { return filepath.Join(j.shared, "bin", name+"-up") }

func (j *job) hasUp(name string) bool { return exists(j.upProgram(name)) }

// up starts a server with NAME-up, and returns its process id.
func (j *job) up(name, dir string, port int, options ...string) (pid int, err error) {
	if err := j.try(j.upProgram(name), append([]string{dir, strconv.Itoa(port)}, options...)...); err != nil {
		return 0, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.pid"))
	if err != nil || len(files) == 0 {
		return 0, errors.Join(errors.New("the server wrote no process id"), err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return 0, err
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
	j.later(func() {
		// Another process that has this id by now does not have the folder in its command line.
		if command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && bytes.Contains(command, []byte(dir)) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	})
	return pid, err
}

// startMariaDB starts the server of Debian, without making it a service of the machine, and returns its process id.
func (j *job) startMariaDB(dir string, port int, options ...string) int {
	if !has("mariadbd") || !has("mariadb-install-db") {
		j.check(j.install("mariadb-server-core", "mariadb-client-core"))
	}
	j.check(os.MkdirAll(dir, 0o755))
	user, err := j.output("id", "-un")
	j.check(err)
	common := []string{"--no-defaults", "--user=" + user, "--datadir=" + filepath.Join(dir, "data")}
	j.check(j.quietly("mariadb-install-db", append(common, "--auth-root-authentication-method=normal", "--skip-test-db")...))
	common = append(common, "--bind-address=127.0.0.1", "--port="+strconv.Itoa(port), "--socket="+filepath.Join(dir, "sock"),
		"--pid-file="+filepath.Join(dir, "pid"), "--character-set-server=utf8mb4")
	log := filepath.Join(dir, "log")
	pid, ended := j.start(log, "mariadbd", append(common, options...)...)
	j.checkLog(log, j.poll(time.Minute, ended, func() bool { return greets(port) }))
	return pid
}

// checkLog ends the step and prints a log if there is an error.
func (j *job) checkLog(log string, err error) {
	if err != nil {
		text, _ := os.ReadFile(log) // an empty one if there is none
		j.fail("%w\n%s", err, text)
	}
}

// installDumpPrograms puts the programs in PATH that copy and restore databases, if they are available.
func installDumpPrograms(j *job) {
	startMySQL(j)
	if j.engine != "mysql" {
		j.say("no MySQL: its programs are not needed")
	} else if !has("apt-get") || j.try("bash", ".ci/mysql-clients", j.path("clients")) != nil {
		j.say("skipped: no mysqldump of MySQL")
	}
	if !has("mariadb-dump") && j.install("mariadb-client") != nil {
		j.say("skipped: no mariadb-dump")
		return
	}
	j.run("mariadb-dump", "--version")
}

// startRedis starts a Redis or Valkey for the limits that processes share. It installs Redis where that is possible.
func startRedis(j *job) {
	program := "valkey-server"
	if !has(program) {
		program = "redis-server"
		if !has(program) && j.install(program) != nil {
			j.say("skipped: this machine has no Redis")
			return
		}
	}
	port, log := freePort(), j.path("redis.log")
	_, ended := j.start(log, program, "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--save", "", "--appendonly", "no", "--dir", j.tmp)
	j.checkLog(log, j.poll(10*time.Second, ended, func() bool { return listens(port) }))
	j.check(os.Setenv("ALMANAC_TEST_REDIS", fmt.Sprintf("redis://127.0.0.1:%d/0", port)))
	j.run(program, "--version")
}

func urlOf(port int) string { return fmt.Sprintf("mysql://root@127.0.0.1:%d/", port) }

// freePort returns a port on which no process listens, below those that the kernel chooses by itself.
func freePort() int {
	for {
		if port := 20000 + rand.IntN(12000); !listens(port) {
			return port
		}
	}
}

// listens reports whether a process accepts connections on a port.
func listens(port int) bool {
	c, err := net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(port), time.Second)
	if err == nil {
		_ = c.Close() // nothing was sent
	}
	return err == nil
}

var versionNumber = regexp.MustCompile(`[0-9]\.[0-9]`)

// greets reports whether a MySQL server replies on a port. The server sends first, and its greeting has its version.
func greets(port int) bool {
	c, err := net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(port), time.Second)
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }() // nothing was sent
	greeting := make([]byte, 12)
	_ = c.SetReadDeadline(time.Now().Add(time.Second)) // fails for a closed connection, as reading does
	_, err = io.ReadFull(c, greeting)
	return err == nil && versionNumber.Match(greeting)
}
