package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd prints the script that a shell loads. The script asks the program itself, so it fits any version.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

//go:embed completion.bash
var bashCompletion string

//go:embed completion.zsh
var zshCompletion string

//go:embed completion.fish
var fishCompletion string

// Run prints the script.
func (c completionCmd) Run(s streams) error {
	script := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell]
	_, err := fmt.Fprint(s.Out, script)
	return err
}

// completeCmd prints possible completions of the last word of a command line, one per line. The script of
// completionCmd calls it.
type completeCmd struct {
	Words []string `arg:"" optional:"" passthrough:"" help:"Words of the command line after the name of the program."`
}

// Run prints the completions of the last word in Words.
func (c completeCmd) Run(s streams, k *kong.Kong) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, word := range completions(k.Model.Node, words) {
		if _, err := fmt.Fprintln(s.Out, word); err != nil {
			return err
		}
	}
	return nil
}

// completions returns the possible completions of the last word: commands, flags, or values. It knows only values
// of flags and arguments with a fixed set. For others it returns none, so that the shell completes file names.
func completions(node *kong.Node, words []string) (found []string) {
	words = joinValues(words)
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	var open *kong.Flag // flag whose value is the next word
	arguments := 0
	for _, word := range words[:len(words)-1] {
		switch {
		case open != nil:
			open = nil
		case strings.HasPrefix(word, "-"):
			if f := flagOf(node, word); f != nil && !f.IsBool() && !strings.Contains(word, "=") {
				open = f
			}
		default:
			child := childOf(node, word)
			if child == nil {
				arguments++
				continue
			}
			node, arguments = child, 0
		}
	}
	name, value, assigned := strings.Cut(last, "=")
	switch {
	case open != nil:
		found = valuesOf(open.Value)
	case strings.HasPrefix(last, "-") && assigned:
		if f := flagOf(node, name); f != nil {
			last, found = value, valuesOf(f.Value)
		}
	case strings.HasPrefix(last, "-"):
		for _, f := range flagsOf(node) {
			found = append(found, "--"+f.Name)
			if f.Tag.Negatable != "" {
				found = append(found, "--no-"+f.Name)
			}
		}
	default:
		for _, child := range node.Children {
			if !child.Hidden && arguments == 0 {
				found = append(found, child.Name)
			}
		}
		if arguments < len(node.Positional) {
			found = append(found, valuesOf(node.Positional[arguments])...)
		}
	}
	return slices.DeleteFunc(found, func(word string) bool { return !strings.HasPrefix(word, last) })
}

// joinValues joins "--flag", "=" and "value" to one word, because Bash splits words at the equals sign.
func joinValues(words []string) (out []string) {
	for i := 0; i < len(words); i++ {
		if words[i] == "=" && len(out) > 0 {
			out[len(out)-1] += "="
			if i+1 < len(words) {
				i++
				out[len(out)-1] += words[i]
			}
			continue
		}
		out = append(out, words[i])
	}
	return out
}

// flagsOf returns the visible flags of a command, those of its parents and those of its default command.
func flagsOf(node *kong.Node) (flags []*kong.Flag) {
	for _, level := range node.AllFlags(true) {
		flags = append(flags, level...)
	}
	if node.DefaultCmd != nil {
		flags = append(flags, node.DefaultCmd.Flags...)
	}
	return flags
}

// flagOf returns the flag that a word such as --db or --db=URL names. Nil means that the command has no such flag.
func flagOf(node *kong.Node, word string) *kong.Flag {
	name, _, _ := strings.Cut(word, "=")
	for _, f := range flagsOf(node) {
		if name == "--"+f.Name || f.Short != 0 && name == "-"+string(f.Short) {
			return f
		}
	}
	return nil
}

// childOf returns the visible subcommand called name of a command, or nil.
func childOf(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name && !child.Hidden {
			return child
		}
	}
	return nil
}

// valuesOf returns the fixed set of values that a flag or argument has, without the empty one.
func valuesOf(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return slices.DeleteFunc(v.EnumSlice(), func(word string) bool { return word == "" })
}
