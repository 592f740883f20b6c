// Recipes follows the recipes of docs/recipes.md to the letter in a copy of the tree, and asks the service that results.
//
//	go run ./.ci/recipes -mysql mysql://root@127.0.0.1:3306/
//
// A block is inserted in a file, or runs in a shell (manual.Steps). The address of a MySQL server in it becomes the one of
// -mysql. Then the short suite runs, and requests ask the program on each engine, with the index and without. -keep leaves the
// copy for a look at it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	server := flag.String("mysql", "", "URL of a MySQL server whose user may create databases; without it SQLite alone is asked")
	keep := flag.Bool("keep", false, "leave the copy, and print where it is")
	flag.Parse()
	if err := run(*server, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "recipes:", err)
		os.Exit(1)
	}
}

func run(server string, keep bool) (err error) {
	page, err := os.ReadFile("docs/recipes.md")
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "almanac-recipes-")
	if err != nil {
		return err
	}
	if keep {
		fmt.Println("The copy is in", tmp)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	}
	k := workTree{tree: filepath.Join(tmp, "tree"), tmp: tmp, mysql: server}
	if err := k.copyTree(); err != nil {
		return fmt.Errorf("copy of the tree: %w", err)
	}
	if err := k.commitCopy(); err != nil {
		return err
	}
	var followed []recipe
	for _, r := range recipes {
		if r.needsMySQL && server == "" {
			fmt.Printf("%s: skipped, it plans migrations on MySQL\n", r.title)
			continue
		}
		followed = append(followed, r)
	}
	for i, r := range followed {
		if err := k.follow(string(page), r.title, i < len(followed)-1); err != nil {
			return fmt.Errorf("%s: %w", r.title, err)
		}
	}
	if err := k.checkTouchedFiles(string(page), followed); err != nil {
		return err
	}
	return k.check(followed)
}
