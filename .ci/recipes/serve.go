package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// check runs the short tests in the copy. Then it builds the program and sends the requests of each recipe.
func (k *workTree) check(followed []recipe) error {
	suite := k.command("go", shortSuite...)
	suite.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "ALMANAC_TEST_MYSQL=") })
	out, err := suite.CombinedOutput()
	if err != nil {
		return fmt.Errorf("short suite: %w\n%s", err, out)
	}
	fmt.Printf("The short suite is green: %d packages\n", bytes.Count(out, []byte("\nok ")))
	program := filepath.Join(k.tmp, "almanac")
	if out, err := k.command("go", "build", "-o", program, "./cmd/almanac").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	for _, engine := range []string{"sqlite", "mysql"} {
		if engine == "mysql" && k.mysql == "" {
			continue
		}
		for _, index := range []string{"true", "false"} {
			for _, r := range followed {
				if err := k.serve(program, engine, index, r); err != nil {
					return fmt.Errorf("%s on %s, index %s: %w", r.title, engine, index, err)
				}
				fmt.Printf("%s: %s, index %s: %d lists as they should be\n", r.title, engine, index, len(r.asks))
			}
		}
	}
	return nil
}

// shortSuite are arguments of go that run the short suite on SQLite. Ent's generated code has no tests.
var shortSuite = []string{"test", "-short", "./..."}

// serve runs the program on a new database, creates the records of a recipe and checks its lists.
func (k *workTree) serve(program, engine, index string, r recipe) (err error) {
	database := "sqlite://" + filepath.Join(k.tmp, "calendar.db")
	if engine == "mysql" {
		name := "almanac_recipes"
		database = strings.TrimRight(k.mysql, "/") + "/" + name
		if err := k.sql("CREATE DATABASE " + name); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, k.sql("DROP DATABASE "+name)) }()
	} else {
		defer func() {
			for _, end := range []string{"", "-wal", "-shm"} {
				if e := os.Remove(filepath.Join(k.tmp, "calendar.db"+end)); !errors.Is(e, os.ErrNotExist) {
					err = errors.Join(err, e)
				}
			}
		}()
	}
	if out, err := k.command(program, "migrate", "apply", "--db", database).CombinedOutput(); err != nil {
		return fmt.Errorf("migrate apply: %w\n%s", err, out)
	}
	words, err := k.command(program, "user", "add", "--db", database, "--login", "cook", "--role", "administrator").Output()
	if err != nil {
		return fmt.Errorf("user add: %w", err)
	}
	fields := strings.Fields(string(words))
	if len(fields) == 0 {
		return errors.New("user add printed no token")
	}
	token := fields[len(fields)-1]
	address, err := freeAddress()
	if err != nil {
		return err
	}
	var log bytes.Buffer
	c := k.command(program, "serve", "--db", database, "--listen", address, "--index="+index, "--media", filepath.Join(k.tmp, "media"))
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, c.Process.Signal(syscall.SIGTERM), c.Wait())
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, log.Bytes())
		}
	}()
	client := client{"http://" + address + "/cal/events/v1/", cmp.Or(r.collection, "events"), token}
	if err := client.ready(); err != nil {
		return err
	}
	for i, members := range r.records {
		body := client.body(string(rune('A'+i)), members)
		if err := client.create(body, http.StatusCreated); err != nil {
			return err
		}
	}
	for _, members := range r.refused {
		body := client.body("X", members)
		if err := client.create(body, http.StatusBadRequest); err != nil {
			return err
		}
	}
	for _, a := range r.asks {
		if err := client.check(a); err != nil {
			return err
		}
	}
	return nil
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
