// Recipes follows CONTRIBUTING's recipes to the letter in a copy of the tree, and asks the service that results.
//
//	go run ./.ci/recipes -mysql mysql://root@127.0.0.1:3306/
//
// A block is inserted in a file, or runs in a shell (manual.Steps). The address of a MySQL server in it becomes the one of
// -mysql. Then the short suite runs, and requests ask the program on each engine, with the index and without. -keep leaves the
// copy for a look at it.
package main

import (
	"bytes"
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/almanac-cal/almanac/internal/manual"
)

func main() {
	server := flag.String("mysql", "", "URL of a MySQL server whose user may create databases; without it SQLite alone is asked")
	keep := flag.Bool("keep", false, "leave the copy, and print where it is")
	flag.Parse()
	if err := run(*server, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "recipes:", err)
		os.Exit(1)
	}
}

func run(server string, keep bool) (err error) {
	page, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "almanac-recipes-")
	if err != nil {
		return err
	}
	if keep {
		fmt.Println("The copy is in", tmp)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	}
	k := workTree{tree: filepath.Join(tmp, "tree"), tmp: tmp, mysql: server}
	if err := k.copyTree(); err != nil {
		return fmt.Errorf("copy of the tree: %w", err)
	}
	if err := k.remember(); err != nil {
		return err
	}
	var followed []recipe
	for _, r := range recipes {
		if r.needsMySQL && server == "" {
			fmt.Printf("%s: skipped, it plans migrations on MySQL\n", r.title)
			continue
		}
		followed = append(followed, r)
	}
	for i, r := range followed {
		if err := k.follow(string(page), r.title, i < len(followed)-1); err != nil {
			return fmt.Errorf("%s: %w", r.title, err)
		}
	}
	if err := k.touched(string(page), followed); err != nil {
		return err
	}
	return k.taste(followed)
}

// recipe is a section of CONTRIBUTING, with requests to the program that results from it.
type recipe struct {
	title      string
	needsMySQL bool
	collection string // in the API; "" means events
	// records are the JSON members of the records to create, which get the titles A, B and so on. Replies have the members.
	records []string
	refused []string // JSON members that no record can have
	asks    []filterRequest
}

// filterRequest is a request for a list, with the expected titles in alphabetical order.
type filterRequest struct {
	query  string
	titles string
	status int // 0 means 200
}

// declarationTests are arguments of go that run the tests which iterate over the declarations of filters and
// fields.
var declarationTests = []string{"test", "-count=1", "./handlers", "-short", "-run", "NoFilterFinds|Samples|IsTranslated|WhatACallerMayNotRead|PublishedBounds|RepliesAreAsDescribed|AskForTheirColumns|DescriptionIsValid|SeriesHaveEveryField"}

var recipes = []recipe{
	{
		title:   "Add a filter",
		records: []string{`"sticky": true`, `"sticky": false`, `"featured": true`, `"sticky": true, "featured": true`},
		asks: []filterRequest{
			{query: "", titles: "ABCD"},
			{query: "sticky=true", titles: "AD"},
			{query: "sticky=false", titles: "BC"},
			{query: "sticky=true&featured=true", titles: "D"},
			{query: "sticky=perhaps", status: http.StatusBadRequest},
		},
	},
	{
		title:      "Add a field",
		needsMySQL: true,
		records: []string{
			`"colour": "red", "min_age": 12, "outdoors": true`, `"colour": "", "min_age": 0, "outdoors": false`,
			`"min_age": 120`, `"colour": "blue", "rrule": "FREQ=DAILY;COUNT=1"`,
		},
		refused: []string{
			`"colour": "twenty-one characters"`, `"min_age": 121`, `"min_age": -1`, `"min_age": "young"`, `"outdoors": "perhaps"`,
		},
		asks: []filterRequest{{query: "", titles: "ABCD"}},
	},
	{
		title:      "Add a resource",
		needsMySQL: true,
		collection: "partners",
		records: []string{
			`"level": "gold", "phone": "+48 42 111 11 11", "email": "a@example.org", "website": "https://example.org", "since": 1998, "listed": false`,
			`"level": "silver", "description": "<p>Rower</p>"`, `"status": "private"`,
		},
		refused: []string{`"since": 2101`, `"since": "long ago"`, `"level": "a level of more than twenty characters"`, `"website": "x"`},
		asks: []filterRequest{
			{query: "", titles: "ABC"},
			{query: "level=gold", titles: "A"},
			{query: "level=gold,silver", titles: "AB"},
			{query: "search=rower", titles: "B"},
			{query: "status=private", titles: "C"},
			{query: "status=none", status: http.StatusBadRequest},
		},
	},
}

// workTree is a copy of the source tree in which recipes are followed one after the other.
type workTree struct {
	tree, tmp, mysql string
}

// copyTree copies the files that git would commit.
func (k *workTree) copyTree() error {
	list, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		data, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			return err
		}
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		to := filepath.Join(k.tree, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, data, info.Mode()); err != nil {
			return err
		}
	}
	return nil
}

// remember commits the copy as it is, so that touched can tell what the recipes have changed.
func (k *workTree) remember() error {
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A"},
		{"-c", "user.name=cook", "-c", "user.email=cook@localhost", "-c", "commit.gpgsign=false", "commit", "-qm", "before"},
	} {
		if out, err := k.command("git", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", args[0], err, out)
		}
	}
	return nil
}

// generatedPart begins a part of a page that a command writes.
const generatedPart = "<!-- generated: "

// touched returns an error if the recipes have changed a file by hand that they do not name. Files are generated as
// .gitattributes says, or have generated parts.
func (k *workTree) touched(page string, followed []recipe) error {
	named := make(map[string]bool)
	for _, r := range followed {
		steps, err := manual.Steps(page, r.title)
		if err != nil {
			return err
		}
		for _, s := range steps {
			named[s.File] = true
		}
	}
	out, err := k.command("git", "status", "--porcelain", "-z", "--untracked-files=all").Output()
	if err != nil {
		return fmt.Errorf("git status: %w", err)
	}
	for line := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		name := line[len("XY "):]
		if named[name] {
			continue
		}
		attribute, err := k.command("git", "check-attr", "linguist-generated", "--", name).Output()
		if err != nil {
			return fmt.Errorf("git check-attr %s: %w", name, err)
		}
		text, err := os.ReadFile(filepath.Join(k.tree, name))
		if err != nil {
			return err
		}
		if !strings.HasSuffix(strings.TrimSpace(string(attribute)), ": set") && !bytes.Contains(text, []byte(generatedPart)) {
			return fmt.Errorf("the recipes change %s, which they do not name", name)
		}
	}
	return nil
}

// follow carries out the steps of a recipe. The last commands write files that depend on the whole tree. If
// another recipe follows, which ends with the same commands, follow leaves them to it.
func (k *workTree) follow(page, title string, another bool) error {
	steps, err := manual.Steps(page, title)
	if err != nil {
		return err
	}
	last := len(steps) - 1
	for last > 0 && steps[last].File != "" {
		last--
	}
	for i, s := range steps {
		if another && i == last {
			continue
		}
		switch {
		case s.File == "":
			err = k.shell(s.Text)
		case s.IsNew():
			err = k.create(s)
		default:
			err = k.insert(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// taste runs the tests that iterate over declarations. Then it sends the requests of each recipe to the
// program.
func (k *workTree) taste(followed []recipe) error {
	out, err := k.command("go", declarationTests...).CombinedOutput()
	fmt.Printf("%s", out)
	if err != nil {
		return fmt.Errorf("tests: %w", err)
	}
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

// create writes a new file.
func (k *workTree) create(s manual.Step) error {
	name := filepath.Join(k.tree, s.File)
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		return cmp.Or(err, fmt.Errorf("%s exists", s.File))
	}
	return os.WriteFile(name, []byte(s.Text), 0o600)
}

// insert inserts a block in its file.
func (k *workTree) insert(s manual.Step) error {
	name := filepath.Join(k.tree, s.File)
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, err := s.Insert(string(data))
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o600)
}

func (k *workTree) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = k.tree
	if k.mysql != "" {
		c.Env = append(os.Environ(), "ALMANAC_TEST_MYSQL="+k.mysql)
	}
	return c
}

// devDatabase is the database in which migrations are planned. The command creates and drops it.
const devDatabase = "almanac_recipes_dev"

var manualServer = regexp.MustCompile(`mysql://root@127\.0\.0\.1:3306/\w+`)

func (k *workTree) shell(text string) error {
	text = manualServer.ReplaceAllLiteralString(text, strings.TrimRight(k.mysql, "/")+"/"+devDatabase)
	out, err := k.command("bash", "-euo", "pipefail", "-c", text).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.TrimSpace(text), err, out)
	}
	return nil
}

// serve runs the program on a new database, creates the events of the recipe and checks its lists.
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

func (k *workTree) sql(statement string) (err error) {
	at, err := url.Parse(k.mysql)
	if err != nil {
		return err
	}
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User = "tcp", at.Host, at.User.Username()
	config.Passwd, _ = at.User.Password()
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.Exec(statement)
	return err
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

var requests = http.Client{Timeout: 20 * time.Second}

// client sends requests about a collection with an access token.
type client struct{ root, collection, token string }

// titleMember returns the name of the member with what a record is called.
func (c client) titleMember() string {
	if c.collection == "events" {
		return "title"
	}
	return strings.TrimSuffix(c.collection, "s")
}

// body returns the JSON of a record. Events are tomorrow.
func (c client) body(title, members string) string {
	dates := ""
	if c.collection == "events" {
		dates = `"start_date": "tomorrow 10:00", "end_date": "tomorrow 11:00", `
	}
	return fmt.Sprintf(`{%q: %q, %s%s}`, c.titleMember(), title, dates, members)
}

func (c client) ready() error {
	for range 300 {
		if res, err := requests.Get(strings.TrimSuffix(c.root, "cal/events/v1/") + "readyz"); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("the service does not become ready")
}

// create sends a record. The reply to a valid one has the members that were sent, except those of its schedule.
func (c client) create(body string, want int) error {
	req, err := http.NewRequest(http.MethodPost, c.root+c.collection, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	status, text, err := c.send(req)
	if err != nil || status != want {
		return cmp.Or(err, fmt.Errorf("POST %s: %d %s", body, status, text))
	}
	if want != http.StatusCreated {
		return nil
	}
	var sent, got map[string]any
	if err := errors.Join(json.Unmarshal([]byte(body), &sent), json.Unmarshal(text, &got)); err != nil {
		return err
	}
	for name, value := range sent {
		if name != "start_date" && name != "end_date" && name != "rrule" && got[name] != value {
			return fmt.Errorf("POST %s: %s is %v", body, name, got[name])
		}
	}
	return nil
}

func (c client) check(a filterRequest) error {
	req, err := http.NewRequest(http.MethodGet, c.root+c.collection+"?"+a.query, nil)
	if err != nil {
		return err
	}
	status, text, err := c.send(req)
	if err != nil {
		return err
	}
	if want := cmp.Or(a.status, http.StatusOK); status != want {
		return fmt.Errorf("GET ?%s: %d, want %d: %s", a.query, status, want, text)
	}
	if status != http.StatusOK {
		return nil
	}
	var list map[string]json.RawMessage
	var records []map[string]any
	var total int
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	if err := errors.Join(json.Unmarshal(list[c.collection], &records), json.Unmarshal(list["total"], &total)); err != nil {
		return err
	}
	var titles []string
	for _, r := range records {
		titles = append(titles, fmt.Sprint(r[c.titleMember()]))
	}
	slices.Sort(titles)
	if got := strings.Join(titles, ""); got != a.titles || total != len(a.titles) {
		return fmt.Errorf("GET ?%s: %q of %d, want %q", a.query, got, total, a.titles)
	}
	return nil
}

func (c client) send(req *http.Request) (status int, body []byte, err error) {
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := requests.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	body, err = io.ReadAll(res.Body)
	return res.StatusCode, body, err
}
