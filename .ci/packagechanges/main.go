// Packagechanges counts how often a reader changes the package on the way down the call tree of functions.
//
//	go run -modfile=tools.mod ./.ci/packagechanges FUNCTION...
//
// FUNCTION is a name without the path of the module, such as (*handlers.request).listEvents. The tree has the static calls of
// all functions, and the functions that they pass on as values. A reader opens each function once, and changes the package if
// it is in another one than its caller. Functions that Ent generates do not count.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

const module = "github.com/almanac-cal/almanac/"

// tree is a call tree of a program. Functions are added to it as they are read.
type tree struct {
	opened  map[*ssa.Function]bool
	changes map[string]int // numbers of changes by caller and callee, such as "server -> handlers"
	total   int
}

func main() {
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax}, module+"...")
	if err != nil || packages.PrintErrors(loaded) > 0 {
		fmt.Fprintln(os.Stderr, "packagechanges: the program does not build:", err)
		os.Exit(1)
	}
	program, _ := ssautil.AllPackages(loaded, ssa.InstantiateGenerics)
	program.Build()
	byName := map[string]*ssa.Function{}
	for f := range ssautil.AllFunctions(program) {
		byName[strings.ReplaceAll(f.String(), module, "")] = f
	}
	t := tree{opened: map[*ssa.Function]bool{}, changes: map[string]int{}}
	for _, name := range os.Args[1:] {
		if byName[name] == nil {
			fmt.Fprintln(os.Stderr, "packagechanges: no function", name)
			os.Exit(1)
		}
		t.read(byName[name])
	}
	fmt.Printf("%d functions, %d changes of package\n", len(t.opened), t.total)
	var lines []string
	for change, n := range t.changes {
		lines = append(lines, fmt.Sprintf("%6d %s", n, change))
	}
	slices.Sort(lines)
	slices.Reverse(lines)
	fmt.Println(strings.Join(lines, "\n"))
}

// read adds a function and all functions that it calls to the tree.
func (t *tree) read(f *ssa.Function) {
	t.opened[f] = true
	for _, block := range f.Blocks {
		for _, instruction := range block.Instrs {
			for _, operand := range instruction.Operands(nil) {
				to, ok := (*operand).(*ssa.Function)
				if !ok || t.opened[to] || packageOf(to) == "" {
					continue
				}
				if from := packageOf(f); from != packageOf(to) {
					t.changes[from+" -> "+packageOf(to)]++
					t.total++
				}
				t.read(to)
			}
		}
	}
}

// packageOf returns the package of a function, relative to the module. It is "" for other modules and for generated
// Ent code.
func packageOf(f *ssa.Function) string {
	for f.Parent() != nil {
		f = f.Parent()
	}
	if f.Origin() != nil {
		f = f.Origin()
	}
	if f.Object() == nil || f.Object().Pkg() == nil {
		return ""
	}
	path, ours := strings.CutPrefix(f.Object().Pkg().Path(), module)
	if !ours || path == "ent" || strings.HasPrefix(path, "ent/") {
		return ""
	}
	return path
}
