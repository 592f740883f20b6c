// Licences lists the modules that are linked into the program, with their licences. It collects the texts that
// must be distributed with the program:
//
//	go generate ./cmd/almanac
//
// It writes THIRD_PARTY.md for readers, and cmd/almanac/notices.txt, which the program embeds. It reads the
// module cache, and recognises usual licences by their wording (see recognise). It fails for an unknown text,
// for a licence that is not allowed, and for a module without a licence.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	root := flag.String("root", ".", "top of the source tree")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(root, name), files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// platforms are the operating systems of the releases, which link slightly different modules.
var platforms = []string{"linux", "darwin", "windows"}

// module is one piece of third-party software in the program, with its licence.
type module struct {
	Path, Version, Dir string

	licence string   // SPDX expression
	texts   []string // texts of licences and notices, those of the top folder first
}

// generate returns the contents of THIRD_PARTY.md and notices.txt, by their paths below root.
func generate(root string) (map[string][]byte, error) {
	modules, err := linkedModules(root)
	if err != nil {
		return nil, err
	}
	bundle, err := bundledModules(root)
	if err != nil {
		return nil, err
	}
	for i := range modules {
		if err := modules[i].read(modules[i].folders); err != nil {
			return nil, fmt.Errorf("%s %s: %w", modules[i].Path, modules[i].Version, err)
		}
	}
	all := make([]module, 0, len(modules)+len(bundle))
	for _, m := range modules {
		all = append(all, m.module)
	}
	all = append(all, bundle...)
	zones, err := zoneTable(root)
	if err != nil {
		return nil, err
	}
	all = append(all, zones)
	return map[string][]byte{"THIRD_PARTY.md": table(all), "cmd/almanac/notices.txt": notices(all)}, nil
}

// goModule is a Go module with those of its folders that are compiled into the program.
type goModule struct {
	module
	folders []string
}

// linkedModules returns Go itself and the modules of the program.
func linkedModules(root string) ([]goModule, error) {
	base, err := runCommand(root, nil, "list", "-m", "-f", "{{.GoVersion}}")
	if err != nil {
		return nil, err
	}
	goroot, err := runCommand(root, nil, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	goroot = strings.TrimSpace(goroot)
	byPath := map[string]*goModule{}
	for _, system := range platforms {
		out, err := runCommand(root, []string{"GOOS=" + system, "GOARCH=amd64", "CGO_ENABLED=0"}, "list", "-deps", "-json=Dir,Module", "./cmd/almanac")
		if err != nil {
			return nil, err
		}
		dec := json.NewDecoder(strings.NewReader(out))
		for dec.More() {
			var p struct {
				Dir    string
				Module *struct {
					Path, Version, Dir string
					Main               bool
				}
			}
			if err := dec.Decode(&p); err != nil {
				return nil, err
			}
			if p.Module == nil || p.Module.Main {
				continue
			}
			m := byPath[p.Module.Path]
			if m == nil {
				m = &goModule{module: module{Path: p.Module.Path, Version: p.Module.Version, Dir: p.Module.Dir}}
				byPath[p.Module.Path] = m
			}
			for dir := p.Dir; len(dir) >= len(m.Dir); dir = filepath.Dir(dir) {
				if !slices.Contains(m.folders, dir) {
					m.folders = append(m.folders, dir)
				}
			}
		}
	}
	out := []goModule{{
		module:  module{Path: "Go standard library and runtime", Version: "from " + strings.TrimSpace(base), Dir: goroot},
		folders: []string{goroot},
	}}
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		out = append(out, *byPath[path])
	}
	return out, nil
}

// runCommand runs the go command in the folder root and returns its output. env has additional environment variables.
func runCommand(root string, env []string, args ...string) (string, error) {
	c := exec.CommandContext(context.Background(), "go", args...) //nolint:gosec // the arguments are written above
	c.Dir = root
	c.Env = append(os.Environ(), env...)
	out, err := c.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%w: %s", err, failed.Stderr)
	}
	if err != nil {
		return "", fmt.Errorf("go %s: %w", args[0], err)
	}
	return string(out), nil
}

// legalFileName matches the names of files with licences and notices.
var legalFileName = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents|unlicense)([.-].*)?$`)

// noticeFileName matches the names of files with notices that are not licences.
var noticeFileName = regexp.MustCompile(`(?i)^(notice|patents)([.-].*)?$`)

// read reads the licence texts in the folders and sets the licence of the module.
func (m *module) read(folders []string) error {
	folders = slices.Clone(folders)
	slices.SortFunc(folders, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	var licences []string
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !legalFileName.MatchString(e.Name()) || e.IsDir() {
				continue
			}
			data, err := os.ReadFile(filepath.Join(folder, e.Name()))
			if err != nil {
				return err
			}
			text := strings.ReplaceAll(string(data), "\r\n", "\n")
			if !noticeFileName.MatchString(e.Name()) {
				found, err := recognise(text)
				if err != nil {
					return fmt.Errorf("%s: %w", e.Name(), err)
				}
				if len(found) == 0 {
					continue
				}
				licences = append(licences, found...)
			}
			m.texts = append(m.texts, text)
		}
	}
	return m.conclude(licences)
}

// conclude sets the licence of a module. It returns an error if a licence is not allowed or if there is none.
func (m *module) conclude(licences []string) error {
	slices.Sort(licences)
	licences = slices.Compact(licences)
	if len(licences) == 0 {
		return errors.New("no licence")
	}
	for _, l := range licences {
		if !slices.Contains(allowedLicences, l) {
			return fmt.Errorf("%s is not among the licences that are allowed: %s", l, strings.Join(allowedLicences, ", "))
		}
	}
	m.licence = strings.Join(licences, " AND ")
	return nil
}

// zoneTable returns the entry for the table of Windows time zones, which is data from CLDR. The version is in the
// table's first line.
func zoneTable(root string) (module, error) {
	const name = "internal/importer/windows_zones"
	table, err := os.ReadFile(filepath.Join(root, name+".txt"))
	if err != nil {
		return module{}, err
	}
	release := regexp.MustCompile(` CLDR ([0-9.]+)`).FindSubmatch(table)
	if release == nil {
		return module{}, fmt.Errorf("%s.txt names no release of CLDR", name)
	}
	text, err := os.ReadFile(filepath.Join(root, name+".LICENSE"))
	if err != nil {
		return module{}, err
	}
	m := module{Path: "npm: cldr-core", Version: "v" + string(release[1]), texts: []string{string(text)}}
	err = m.conclude([]string{"Unicode-3.0"})
	return m, err
}

// bundledModules returns the software in the web pages of the program: the packages of web/package.json. Their
// licences are next to the built files.
func bundledModules(root string) ([]module, error) {
	data, err := os.ReadFile(filepath.Join(root, "web", "package.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var manifest struct{ Dependencies map[string]string }
	if err := json.Unmarshal(data, &manifest); err != nil {
		return nil, err
	}
	if len(manifest.Dependencies) == 0 {
		return nil, nil
	}
	if data, err = os.ReadFile(filepath.Join(root, "web", "package-lock.json")); err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct{ Version, License string }
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		return nil, err
	}
	var out []module
	for _, name := range slices.Sorted(maps.Keys(manifest.Dependencies)) {
		p := lock.Packages["node_modules/"+name]
		m := module{Path: "npm: " + name, Version: "v" + p.Version}
		if err := m.conclude([]string{p.License}); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files, err := filepath.Glob(filepath.Join(root, "web", "static", strings.TrimSuffix(name, "-dist")+".*.txt"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			m.texts = append(m.texts, string(text))
		}
		if len(m.texts) == 0 {
			return nil, fmt.Errorf("%s: web/static has no text of its licence", name)
		}
		out = append(out, m)
	}
	return out, nil
}

// table returns the content of THIRD_PARTY.md.
func table(modules []module) []byte {
	var b strings.Builder
	b.WriteString("# Third-party software\n\n" +
		"What is linked into `almanac` beside its own code, on Linux, macOS or Windows, with its licences as SPDX\n" +
		"expressions. `almanac version --licences` prints the texts and notices that have to go with the program.\n\n" +
		"This file and `cmd/almanac/notices.txt` are written by `go generate ./cmd/almanac`. A module whose licence is not\n" +
		"recognised, or not among " + strings.Join(allowedLicences[:len(allowedLicences)-1], ", ") + " and " + allowedLicences[len(allowedLicences)-1] + ",\n" +
		"fails that and the tests.\n\n| Module | Version | Licence |\n|---|---|---|\n")
	count := map[string]int{}
	for _, m := range modules {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", m.Path, m.Version, m.licence)
		count[m.licence]++
	}
	b.WriteString("\n| Licence | Modules |\n|---|---:|\n")
	kinds := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	for _, l := range kinds {
		fmt.Fprintf(&b, "| %s | %d |\n", l, count[l])
	}
	return []byte(b.String())
}

// notices returns the content of notices.txt: each text once, below the names of the modules with that text.
func notices(modules []module) []byte {
	var texts []string
	owners := map[string][]string{}
	for _, m := range modules {
		for _, text := range m.texts {
			text = strings.Trim(text, "\n") + "\n"
			if owners[text] == nil {
				texts = append(texts, text)
			}
			owners[text] = append(owners[text], m.Path+" "+m.Version)
		}
	}
	var b strings.Builder
	b.WriteString("Almanac is licensed under the Apache License, Version 2.0. It contains software by others:\n")
	line := strings.Repeat("=", 80) + "\n"
	for _, text := range texts {
		b.WriteString("\n" + line + strings.Join(owners[text], "\n") + "\n" + line + "\n" + text)
	}
	return []byte(b.String())
}
