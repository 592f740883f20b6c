package manual

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Step is a block of a recipe: text to insert in a file, a new file, or commands if File is "".
type Step struct {
	File string // relative to the root of the project
	// After is text that one line of the file contains; the block is inserted after that line. "" means a new file.
	After string
	Text  string
}

var (
	insertMark = regexp.MustCompile(`^<!-- insert (\S+) after (.+) -->$`)
	createMark = regexp.MustCompile(`^<!-- create (\S+) -->$`)
	fence      = regexp.MustCompile("^(\\s*)```")
)

// Steps returns the blocks of a section of a page. A block below `<!-- insert FILE after TEXT -->` is inserted, one below
// `<!-- create FILE -->` is a new file, and one below `<!-- run -->` has commands. A block loses the indentation of its fence. Any other block or comment is an error.
func Steps(page, title string) ([]Step, error) {
	_, section, found := strings.Cut(page, "\n## "+title+"\n")
	if !found {
		return nil, fmt.Errorf("there is no section %q", title)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var steps []Step
	var next *Step
	inside, indent := false, ""
	for line := range strings.SplitSeq(section, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case inside && fence.MatchString(line):
			steps = append(steps, *next)
			next, inside = nil, false
		case inside:
			next.Text += strings.TrimPrefix(strings.TrimRight(line, " \t"), indent) + "\n"
		case fence.MatchString(line):
			if next == nil {
				return nil, errors.New("a block without a marker")
			}
			inside, indent = true, fence.FindStringSubmatch(line)[1]
		case trimmed == "<!-- run -->":
			next = &Step{}
		default:
			if m := insertMark.FindStringSubmatch(trimmed); m != nil {
				next = &Step{File: m[1], After: m[2]}
			} else if m := createMark.FindStringSubmatch(trimmed); m != nil {
				next = &Step{File: m[1]}
			} else if strings.HasPrefix(trimmed, "<!--") {
				return nil, fmt.Errorf("a marker that is neither insert, create nor run: %s", trimmed)
			}
		}
	}
	if len(steps) == 0 {
		return nil, errors.New("no block of the section says what to do")
	}
	return steps, nil
}

// IsNew reports whether the block is a new file.
func (s Step) IsNew() bool { return s.File != "" && s.After == "" }

// Insert returns the given text of a file with the block added below the line that contains s.After. The block gets
// the indentation of that line. It returns an error if no line or more than one line contains s.After.
func (s Step) Insert(text string) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	after := -1
	for i, line := range lines {
		if !strings.Contains(line, s.After) {
			continue
		}
		if after >= 0 {
			return "", fmt.Errorf("%s: lines %d and %d contain %q", s.File, after+1, i+1, s.After)
		}
		after = i
	}
	if after < 0 {
		return "", fmt.Errorf("%s: no line contains %q", s.File, s.After)
	}
	indent := lines[after][:len(lines[after])-len(strings.TrimLeft(lines[after], " \t"))]
	var block strings.Builder
	for line := range strings.Lines(s.Text) {
		block.WriteString(indent + line)
	}
	return strings.Join(lines[:after+1], "") + block.String() + strings.Join(lines[after+1:], ""), nil
}
