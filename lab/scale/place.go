package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/lab/fill"
)

// size is a number of events in a calendar. Flags accept 1k, 10k, 1m or digits.
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

// places contains the flags for the locations of the databases.
type places struct {
	Dir   string `help:"Folder of the SQLite files." placeholder:"DIR" type:"path"`
	MySQL string `name:"mysql" help:"URL of a MySQL server on which databases may be made." placeholder:"URL"`
	Sizes []size `help:"Numbers of events." default:"1k,10k,100k,1m"`
}

// engine is a database engine with the location of its databases.
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

// database returns the URL of the database with a calendar of a size. The database need not exist.
func (e engine) database(s size) (string, error) {
	where := e.p.Dir
	if e.name == "MySQL" {
		where = e.p.MySQL
	}
	return fill.Place(where, "scale_"+s.String())
}

// open opens the existing database with a calendar of a size, without migrating it.
func (e engine) open(ctx context.Context, s size) (*store.Store, error) {
	at, err := e.database(s)
	if err != nil {
		return nil, err
	}
	return fill.Open(ctx, at)
}
