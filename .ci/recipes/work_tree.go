package main

import (
	"bytes"
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/almanac-cal/almanac/internal/manual"
)

// workTree is a copy of the repository in which recipes are carried out, one after the other.
type workTree struct {
	tree, tmp, mysql string
}

// copyTree copies all files that git tracks or would add.
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

// commitCopy commits the copy, so that checkTouchedFiles can list what the recipes change.
func (k *workTree) commitCopy() error {
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "-A"},
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

// checkTouchedFiles returns an error if following the recipes changed a file that they do not mention. Generated
// files, by .gitattributes or with generated parts, are exempt.
func (k *workTree) checkTouchedFiles(page string, followed []recipe) error {
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

// follow carries out the steps of a recipe. Its last commands generate files from the whole tree. If another recipe
// follows with the same last commands, they are skipped.
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

// create writes the new file of a step.
func (k *workTree) create(s manual.Step) error {
	name := filepath.Join(k.tree, s.File)
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		return cmp.Or(err, fmt.Errorf("%s exists", s.File))
	}
	return os.WriteFile(name, []byte(s.Text), 0o600)
}

// insert inserts the text of a step into its file, after the line that the step names.
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
