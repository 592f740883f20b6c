package manual

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Step is a block of a recipe: text to insert in a file, or commands if File is "".
type Step struct {
	File  string // relative to the root of the project
	After string // text that one line of the file contains; the block is inserted after that line
	Text  string
}

var (
	insertMark = regexp.MustCompile(`^<!-- insert (\S+) after (.+) -->$`)
	fence      = regexp.MustCompile("^\\s*```")
)

// Steps returns the blocks of a section of a page. A block below `<!-- insert FILE after TEXT -->` is inserted, and one
// below `<!-- run -->` has commands. Any other block or comment is an error.
func Steps(page, title string) ([]Step, error) {
	_, section, found := strings.Cut(page, "\n## "+title+"\n")
	if !found {
		return nil, fmt.Errorf("there is no section %q", title)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var steps []Step
	var next *Step
	inside := false
	for line := range strings.SplitSeq(section, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case inside && fence.MatchString(line):
			steps = append(steps, *next)
			next, inside = nil, false
		case inside:
			next.Text += trimmed + "\n"
		case fence.MatchString(line):
			if next == nil {
				return nil, errors.New("a block without a marker")
			}
			inside = true
		case trimmed == "<!-- run -->":
			next = &Step{}
		default:
			m := insertMark.FindStringSubmatch(trimmed)
			if m == nil && strings.HasPrefix(trimmed, "<!--") {
				return nil, fmt.Errorf("a marker that is neither run nor insert: %s", trimmed)
			}
			if m != nil {
				next = &Step{File: m[1], After: m[2]}
			}
		}
	}
	if len(steps) == 0 {
		return nil, errors.New("no block of the section says what to do")
	}
	return steps, nil
}

// Insert returns the text of the file with the block after the only line that contains s.After. The block gets the
// indentation of that line. It returns an error if no line or more than one line contains s.After.
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
