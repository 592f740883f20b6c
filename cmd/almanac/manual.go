package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/manual"
	"github.com/almanac-cal/almanac/internal/read"
)

// manualCmd is the command that writes the generated parts of the manual. It reads the tables of flags from the
// definitions of the commands. It reads the tables of parameters and routes from the API's description.
type manualCmd struct {
	Dir string `arg:"" type:"existingdir" help:"Folder of the pages."`
}

// Run rewrites the pages of the manual whose generated parts have changed.
func (c manualCmd) Run() error {
	pages, err := filepath.Glob(filepath.Join(c.Dir, "*.md"))
	if err != nil {
		return err
	}
	parts, err := newParts()
	if err != nil {
		return err
	}
	for _, page := range pages {
		old, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		text, err := parts.fill(string(old))
		if err != nil {
			return fmt.Errorf("%s: %w", page, err)
		}
		if text == string(old) {
			continue
		}
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// manualParts generates the manual's tables of flags, routes and parameters.
type manualParts struct {
	model *kong.Application
	env   *environment
	api   *handlers.Handlers
	root  read.Root
}

func newParts() (*manualParts, error) {
	p := &manualParts{env: &environment{}}
	k, err := kong.New(new(cli), kong.Name("almanac"), kong.PostBuild(p.env.readFlags))
	if err != nil {
		return nil, err
	}
	p.model = k.Model
	p.api, p.root, err = describedAPI("http://127.0.0.1:8080", nil)
	return p, err
}

// fill returns the text of a page with its generated parts.
func (p *manualParts) fill(page string) (string, error) {
	shown := shownRows{}
	return manual.Fill(page, func(name string) (string, error) { return p.part(name, shown) })
}

// shownRows maps a row in a page's tables of parameters to the path of its operation.
type shownRows map[string]string

// errPart means that the name of a generated part is unknown.
var errPart = errors.New("want flags, routes, or parameters METHOD PATH")

// part returns the generated text of the part with a name. It adds the rows of the part to shown.
func (p *manualParts) part(name string, shown shownRows) (string, error) {
	kind, of, _ := strings.Cut(name, " ")
	method, path, _ := strings.Cut(of, " ")
	switch {
	case kind == "flags" && of == "":
		return p.flags(), nil
	case kind == "routes" && of == "":
		return p.routes(), nil
	case kind == "parameters" && method != "":
		return p.parameters(method, path, shown)
	}
	return "", fmt.Errorf("%q: %w", name, errPart)
}

// longHelp is the number of words from which the description of a flag is printed for one command only.
const longHelp = 12

// flags returns a heading for each command with its arguments, and its flags. It does not repeat flags of serve,
// or flags with long descriptions that an earlier command has. A line below the flags names those that were left
// out, except --db.
func (p *manualParts) flags() string {
	var b strings.Builder
	printed := map[string]string{} // the command in whose table a row is, by row
	described := map[string]bool{} // descriptions of arguments that are printed already
	var inServe []string           // the flags of serve, in order
	commands := p.model.Leaves(true)
	// serve comes first, because other commands refer to its table.
	i := slices.IndexFunc(commands, func(n *kong.Node) bool { return n.Path() == "serve" })
	commands[0], commands[i] = commands[i], commands[0]
	for _, command := range commands {
		var rows [][]string
		var others []string // commands to refer to, in order
		shared := map[string][]string{}
		for _, f := range command.Flags {
			if f.Hidden {
				continue
			}
			row := p.flag(f)
			flag, text := "`--"+f.Name+"`", strings.Join(row, "\n")
			if command.Path() == "serve" {
				inServe = append(inServe, flag)
			}
			other, ok := printed[text]
			if ok && other == "serve" && f.Name == "db" {
				continue
			}
			if ok && (other == "serve" || len(strings.Fields(row[2])) >= longHelp) {
				if !slices.Contains(others, other) {
					others = append(others, other)
				}
				shared[other] = append(shared[other], flag)
				continue
			}
			printed[text] = command.Path()
			rows = append(rows, row)
		}
		synopsis, arguments := "almanac "+command.Path(), ""
		for _, argument := range command.Positional {
			synopsis += " " + argument.Summary()
			help, standard := argument.Help, ""
			if m := defaultSentence.FindStringSubmatch(help); m != nil {
				help, standard = strings.TrimSpace(defaultSentence.ReplaceAllString(help, " ")), m[1]
			}
			if text := flagList([][]string{{"`" + argument.Summary() + "`", standard, help}}); !described[text] {
				described[text] = true
				arguments += text
			}
		}
		fmt.Fprintf(&b, "### `%s`\n\n%s\n\n", synopsis, command.Help)
		if len(rows) <= fewFlags {
			arguments += flagList(rows)
			rows = nil
		}
		if arguments != "" {
			b.WriteString(arguments + "\n")
		}
		if len(rows) > 0 {
			b.WriteString(flagTable(rows) + "\n")
		}
		for _, other := range others {
			flags := strings.Join(shared[other], ", ")
			if other == "serve" && len(shared[other]) > len(inServe)/2 {
				lacking := slices.DeleteFunc(slices.Clone(inServe), func(flag string) bool { return slices.Contains(shared[other], flag) })
				flags = "all flags but " + strings.Join(lacking, ", ")
			}
			fmt.Fprintf(&b, "As for `%s`: %s.\n\n", other, flags)
		}
	}
	return b.String()
}

// fewFlags is the largest number of flags that are listed without a table.
const fewFlags = 3

// flagList returns a list of flags.
func flagList(rows [][]string) string {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString("- " + row[0])
		if row[1] != "" {
			b.WriteString(" (" + row[1] + ")")
		}
		b.WriteString(": " + row[2] + "\n")
	}
	return b.String()
}

// flagTable returns a table of flags. It omits the column of defaults if that is empty in all rows.
func flagTable(rows [][]string) string {
	if slices.ContainsFunc(rows, func(row []string) bool { return row[1] != "" }) {
		return manual.Table([]string{"Flag", "Default", "Meaning"}, rows)
	}
	for i, row := range rows {
		rows[i] = slices.Delete(row, 1, 2)
	}
	return manual.Table([]string{"Flag", "Meaning"}, rows)
}

// defaultSentence matches the sentence about the default in a description. Tables have a column for the default
// instead.
var defaultSentence = regexp.MustCompile(` ?(?:Default:? ([^.]+(?:\.[^.\s][^.]*)*)|On by default)\.(?: |$)`)

// flag returns the table row of a flag: its name, default and description. The description ends with the variable if
// that has another name than the flag.
func (p *manualParts) flag(f *kong.Flag) []string {
	name := "`--" + f.Name + "`"
	if f.Tag.Negatable != "" {
		name += ", `--no-" + f.Name + "`"
	}
	if f.Short != 0 {
		name += ", `-" + string(f.Short) + "`"
	}
	help := strings.ReplaceAll(f.Help, "$$", "$")
	variable := p.env.variable(f)
	if rest, named, ok := strings.Cut(help, " [$"); ok {
		help, variable = rest, strings.TrimSuffix(named, "]")
	}
	standard := ""
	switch m := defaultSentence.FindStringSubmatch(help); {
	case f.Required:
		standard = "required"
	case f.IsBool() && f.Default == "true":
		standard = "on"
	case f.IsBool():
		standard = ""
	case m != nil && m[1] != f.Default:
		standard = m[1]
	case f.Default != "":
		standard = "`" + f.Default + "`"
	}
	help = strings.TrimSpace(defaultSentence.ReplaceAllString(help, " "))
	if variable != "" && p.env.settings[f.Name] == "" {
		help += " Variable `" + variable + "`."
	}
	return []string{name, standard, help}
}

// routes returns a table with a row for each path. It leaves out paths with a slug, because each has the operations of
// a path with an id.
func (p *manualParts) routes() string {
	api := p.api.Describe(time.Unix(0, 0).UTC(), p.root, calendar.English)
	paths := slices.DeleteFunc(api.Explainable(), func(name string) bool {
		return name == "" || name[0] != '/' || strings.Contains(name, "/by-slug/")
	})
	rows := make([][]string, 0, len(paths))
	for _, path := range paths {
		var methods, does []string
		address := "`{api}" + path + "`"
		for _, x := range api.ExplainRoute("", path) {
			method, _, _ := strings.Cut(x.Operation, " ")
			methods = append(methods, method)
			if !slices.Contains(does, x.Summary) {
				does = append(does, x.Summary)
			}
			if x.Server != "" {
				address = "`{base_url}" + path + "`"
			}
		}
		rows = append(rows, []string{address, strings.Join(methods, ", "), strings.Join(does, "; ")})
	}
	return manual.Table([]string{"Path", "Methods", "Does"}, rows)
}

// parameters returns a table with a row for each parameter of an operation. For rows that an earlier table of the
// page has, it returns a sentence that refers to that table.
func (p *manualParts) parameters(method, path string, shown shownRows) (string, error) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	found := p.api.Describe(at, p.root, calendar.English).ExplainRoute(method, path)
	later := p.api.Describe(at.AddDate(0, 1, 1), p.root, calendar.English).ExplainRoute(method, path)
	if len(found) != 1 || len(later) != 1 {
		return "", fmt.Errorf("%s %s: %w", method, path, errPart)
	}
	var rows [][]string
	var paths []string
	shared := map[string][]string{} // names of parameters, by the path of the earlier operation
	for i, x := range found[0].Parameters {
		for r, rule := range x.Rules {
			// This default depends on the day, since it differs a month later.
			if rule != later[0].Parameters[i].Rules[r] {
				x.Rules[r] = "default depends on the day"
			}
		}
		kind := x.Type
		if x.In != "query" && method == http.MethodGet || x.In == "query" && method != http.MethodGet {
			kind += " (" + x.In + ")"
		}
		value := strings.Join(append([]string{kind}, x.Rules...), "; ")
		row := []string{"`" + x.Name + "`", value, x.Description}
		key := strings.Join(row, "\n")
		earlier, ok := shown[key]
		if !ok {
			shown[key] = path
			rows = append(rows, row)
			continue
		}
		if shared[earlier] == nil {
			paths = append(paths, earlier)
		}
		shared[earlier] = append(shared[earlier], row[0])
	}
	var parts []string
	if len(rows) > 0 {
		parts = append(parts, manual.Table([]string{"Parameter", "Value", "Meaning"}, rows))
	}
	for _, earlier := range paths {
		name := strings.TrimPrefix(earlier, "/")
		parts = append(parts, fmt.Sprintf("As for [%s](#%s): %s.\n", name, name, strings.Join(shared[earlier], ", ")))
	}
	return strings.Join(parts, "\n"), nil
}
