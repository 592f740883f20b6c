package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/almanac-cal/almanac/store"
)

// size is a number of events: 1k, 10k, 1m, or plain digits.
type size int

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *size) UnmarshalText(text []byte) error {
	digits, factor := string(text), 1
	switch {
	case strings.HasSuffix(digits, "k"):
		digits, factor = strings.TrimSuffix(digits, "k"), 1000
	case strings.HasSuffix(digits, "m"):
		digits, factor = strings.TrimSuffix(digits, "m"), 1_000_000
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > 10_000_000/factor {
		return fmt.Errorf("%q is no size: want one such as 1k, 10k or 1m", text)
	}
	*s = size(n * factor)
	return nil
}

func (s size) String() string {
	switch {
	case s%1_000_000 == 0:
		return strconv.Itoa(int(s/1_000_000)) + "m"
	case s%1000 == 0:
		return strconv.Itoa(int(s/1000)) + "k"
	}
	return strconv.Itoa(int(s))
}

// places are the flags that say where the databases are.
type places struct {
	Dir   string `help:"Folder of the SQLite files." placeholder:"DIR" type:"path"`
	MySQL string `name:"mysql" help:"URL of a MySQL server on which databases may be made." placeholder:"URL"`
	Sizes []size `help:"Numbers of events." default:"1k,10k,100k,1m"`
}

// engine is one of the places with its name.
type engine struct {
	name string
	p    places
}

func (p places) engines() ([]engine, error) {
	var out []engine
	if p.Dir != "" {
		out = append(out, engine{"SQLite", p})
	}
	if p.MySQL != "" {
		out = append(out, engine{"MySQL", p})
	}
	if out == nil {
		return nil, errors.New("name a folder with --dir, a server with --mysql, or both")
	}
	slices.Sort(p.Sizes)
	return out, nil
}

// database is the URL of the database of a size.
func (e engine) database(s size) (string, error) {
	name := "scale_" + s.String()
	if e.name == "SQLite" {
		return "sqlite://" + filepath.Join(e.p.Dir, name+".db"), nil
	}
	server, err := url.Parse(e.p.MySQL)
	if err != nil {
		return "", errors.New("--mysql is not a URL")
	}
	server.Path = "/" + name
	return server.String(), nil
}

// open opens the database of a size; whoever fills it migrates it.
func (e engine) open(ctx context.Context, s size) (*store.Store, error) {
	at, err := e.database(s)
	if err != nil {
		return nil, err
	}
	if file, ok := store.SQLiteFile(at); ok {
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("%w: fill it first", err)
		}
	}
	return store.Open(ctx, at)
}

// anew makes the database of a size empty, and brings its schema up to date.
func (e engine) anew(ctx context.Context, s size) (*store.Store, error) {
	at, err := e.database(s)
	if err != nil {
		return nil, err
	}
	if e.name == "SQLite" {
		err = e.emptyFile(s)
	} else {
		err = emptyDatabase(ctx, at)
	}
	if err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	if _, err := st.Migrate(ctx, "scale"); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return st, nil
}

func (e engine) emptyFile(s size) error {
	if err := os.MkdirAll(e.p.Dir, 0o755); err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		err := os.Remove(filepath.Join(e.p.Dir, "scale_"+s.String()+".db"+suffix))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func emptyDatabase(ctx context.Context, at string) (err error) {
	u, err := url.Parse(at)
	if err != nil {
		return err
	}
	c := mysql.NewConfig()
	c.User = u.User.Username()
	if password, ok := u.User.Password(); ok {
		c.Passwd = password
	}
	c.Net, c.Addr = "tcp", u.Host
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	name := strings.Trim(u.Path, "/") // scale_ and a size
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
