package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

var negativeNumber = regexp.MustCompile(`^-[0-9]`)

// normalizeArgs rewrites arguments that other programs accept to those that the parser knows. These are "help
// COMMAND", --version, -v, negative numbers as values of flags, and --login for the argument LOGIN.
func normalizeArgs(args []string) []string {
	if len(args) == 0 {
		return args
	}
	switch args[0] {
	case "help":
		return append(slices.Clone(args[1:]), "--help")
	case "--version", "-v":
		return append([]string{"version"}, args[1:]...)
	}
	var out []string
	for _, arg := range args {
		last := len(out) - 1
		if negativeNumber.MatchString(arg) && last >= 0 && isBareFlag(out[last]) {
			out[last] += "=" + arg // the parser would read the number as a flag
			continue
		}
		out = append(out, arg)
	}
	if len(out) < 3 || out[0] != "user" && out[0] != "token" {
		return out
	}
	for i, arg := range out {
		login, given := strings.CutPrefix(arg, "--login=")
		end := i + 1
		if arg == "--login" && end < len(out) {
			login, given, end = out[end], true, end+1
		}
		if given {
			return slices.Insert(slices.Delete(out, i, end), 2, login)
		}
	}
	return out
}

// isBareFlag reports whether arg is a flag without a value.
func isBareFlag(arg string) bool {
	return strings.HasPrefix(arg, "--") && arg != "--" && !strings.Contains(arg, "=")
}

// explainUsage prints why args cannot be parsed, and returns the exit status. A command that only groups others,
// and the program without a command, print their help instead.
func explainUsage(s streams, env *environment, wrong *kong.ParseError, args []string) int {
	node := wrong.Context.Selected()
	if node == nil {
		node = wrong.Context.Model.Node
	}
	if wrong.Context.Error == nil && len(node.Children) > 0 {
		if err := wrong.Context.PrintUsage(false); err != nil {
			fmt.Fprintln(s.Err, "almanac:", err)
			return 1
		}
		return 0
	}
	hint := ""
	if isPort := func(arg string) bool { return arg == "--port" || strings.HasPrefix(arg, "--port=") }; wrong.Context.Error != nil &&
		slices.ContainsFunc(args, isPort) && slices.ContainsFunc(node.Flags, func(f *kong.Flag) bool { return f.Name == "listen" }) {
		hint = `, did you mean "--listen"?`
	}
	fault := strings.Replace(wrong.Error(), `must be one of "",`, "must be one of ", 1) // "" means that the flag is not given
	fmt.Fprintf(s.Err, "almanac: %s%s\n", fault, hint)
	env.mention(s.Err)
	fmt.Fprintf(s.Err, "Run '%s --help' for its commands and flags.\n", node.FullPath())
	return 2
}

// printHelp prints kong's help. A command also shows the flags of its default command.
func printHelp(o kong.HelpOptions, ctx *kong.Context) error {
	if node := ctx.Selected(); node != nil && node.DefaultCmd != nil {
		node.Flags = append(node.Flags, node.DefaultCmd.Flags...)
	}
	return kong.DefaultHelpPrinter(o, ctx)
}
