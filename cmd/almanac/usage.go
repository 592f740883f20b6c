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
	env.printUsedVariables(s.Err)
	fmt.Fprintf(s.Err, "Run '%s --help' for its commands and flags.\n", node.FullPath())
	return 2
}

// printHelp prints kong's help and an example. A command also shows the flags of its default command. The program
// shows its commands without theirs.
func printHelp(o kong.HelpOptions, ctx *kong.Context) error {
	node := ctx.Selected()
	if node == nil {
		node, o.NoExpandSubcommands = ctx.Model.Node, true
	} else if node.DefaultCmd != nil {
		node.Flags = append(node.Flags, node.DefaultCmd.Flags...)
	}
	if err := kong.DefaultHelpPrinter(o, ctx); err != nil {
		return err
	}
	if example := exampleLines[node.FullPath()]; example != "" {
		_, err := fmt.Fprintf(ctx.Stdout, "\nExample:\n  %s\n", example)
		return err
	}
	return nil
}

// exampleLines has a command line for each command.
var exampleLines = map[string]string{ //nolint:gosec // the name of a command is no secret
	"almanac":                     "almanac demo --open",
	"almanac demo":                "almanac demo --city Gdańsk --open",
	"almanac serve":               "almanac serve --listen 9000 --base-url https://calendar.example.org",
	"almanac migrate":             "almanac migrate status",
	"almanac migrate apply":       "almanac migrate apply --db mysql://almanac@127.0.0.1:3306/almanac",
	"almanac migrate status":      "almanac migrate status --db almanac.db",
	"almanac migrate plan":        "almanac migrate plan --db almanac.db",
	"almanac migrate data":        "almanac migrate data --db almanac.db",
	"almanac migrate verify":      "almanac migrate verify --db almanac.db",
	"almanac migrate baseline":    "almanac migrate baseline 20261101120000 --db mysql://almanac@127.0.0.1:3306/almanac",
	"almanac migrate set":         "almanac migrate set 20261101120000 --db mysql://almanac@127.0.0.1:3306/almanac",
	"almanac migrate lint":        "almanac migrate lint --latest 1",
	"almanac translations export": "almanac translations export --to pl --out texts.json",
	"almanac translations import": "almanac translations import texts.json",
	"almanac backup":              "almanac backup almanac-copy.db",
	"almanac check":               "almanac check --repair",
	"almanac images":              "almanac images clean",
	"almanac images clean":        "almanac images clean --db almanac.db",
	"almanac search":              "almanac search rebuild",
	"almanac search rebuild":      "almanac search rebuild --db almanac.db",
	"almanac seed":                "almanac seed --events 500 --city Brighton --db brighton.db",
	"almanac seed fill":           "almanac seed --events 500 --city Brighton --db brighton.db",
	"almanac seed remove":         "almanac seed remove --yes --db brighton.db",
	"almanac import":              "almanac import --dry-run choir.ics",
	"almanac move":                "almanac move --yes https://calendar.example.org",
	"almanac export":              "almanac export events.ics",
	"almanac translations":        "almanac translations status",
	"almanac translations status": "almanac translations status --missing",
	"almanac user":                "almanac user add ewa --role editor",
	"almanac user add":            "almanac user add ewa --role editor --token-only",
	"almanac user list":           "almanac user list --json",
	"almanac user passwd":         "almanac user passwd ewa",
	"almanac user role":           "almanac user role ewa administrator",
	"almanac user disable":        "almanac user disable ewa",
	"almanac user enable":         "almanac user enable ewa",
	"almanac user remove":         "almanac user remove ewa",
	"almanac token":               "almanac token add ewa --expires 90d",
	"almanac token add":           "almanac token add ewa --expires 90d --token-only",
	"almanac token list":          "almanac token list ewa",
	"almanac token revoke":        "almanac token revoke 3",
	"almanac site":                "almanac site set timezone=Europe/Warsaw languages=pl,en",
	"almanac site show":           "almanac site show",
	"almanac site set":            "almanac site set timezone=Europe/Warsaw languages=pl,en",
	"almanac openapi":             "almanac openapi --out openapi.json",
	"almanac completion":          "almanac completion bash",
	"almanac version":             "almanac version --licences",
}
