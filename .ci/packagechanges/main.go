// Packagechanges counts how often a reader changes the package on the way down the call tree of functions.
//
//	go run -modfile=tools.mod ./.ci/packagechanges FUNCTION...
//
// FUNCTION is a name such as (*handlers.request).listEvents. The tree has static calls and functions passed as values. A
// reader opens each function once. Functions that Ent generates do not count.
package main

import (
	"cmp"
	"fmt"
	"log"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

const module = "github.com/almanac-cal/almanac/"

// tree is the part of a call tree that was read, with the number of changes of package in it.
type tree struct {
	opened  map[*ssa.Function]bool
	changes int
}

func main() {
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax}, module+"...")
	if err != nil || packages.PrintErrors(loaded) > 0 {
		log.Fatal(err)
	}
	program, _ := ssautil.AllPackages(loaded, ssa.InstantiateGenerics)
	program.Build()
	byName := map[string]*ssa.Function{}
	for f := range ssautil.AllFunctions(program) {
		byName[strings.ReplaceAll(f.String(), module, "")] = f
	}
	t := tree{opened: map[*ssa.Function]bool{}}
	for _, name := range os.Args[1:] {
		if byName[name] == nil {
			log.Fatal("no function ", name)
		}
		t.read(byName[name])
	}
	fmt.Printf("%d functions, %d changes of package\n", len(t.opened), t.changes)
}

// read opens a function and those below it.
func (t *tree) read(f *ssa.Function) {
	t.opened[f] = true
	for _, block := range f.Blocks {
		for _, instruction := range block.Instrs {
			for _, operand := range instruction.Operands(nil) {
				if to, ok := (*operand).(*ssa.Function); ok && !t.opened[to] && packageOf(to) != "" {
					if packageOf(f) != packageOf(to) {
						t.changes++
					}
					t.read(to)
				}
			}
		}
	}
}

// packageOf returns the package of a function without the path of the module. It is "" for other modules and for Ent's.
func packageOf(f *ssa.Function) string {
	for ; f.Parent() != nil; f = f.Parent() {
	}
	f = cmp.Or(f.Origin(), f)
	if f.Object() == nil || f.Object().Pkg() == nil {
		return ""
	}
	path, ours := strings.CutPrefix(f.Object().Pkg().Path(), module)
	if !ours || strings.HasPrefix(path+"/", "ent/") {
		return ""
	}
	return path
}
