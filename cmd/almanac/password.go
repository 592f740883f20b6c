package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// readPassword prompts twice for a password on a terminal, without showing it. Without a terminal, it reads the
// first line of standard input.
func readPassword(ctx context.Context, s streams) (string, error) {
	if f, ok := s.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return askPassword(ctx, s.Err, int(f.Fd()))
	}
	line, err := bufio.NewReader(io.LimitReader(s.In, 1<<16)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("password: %w", err)
	}
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return "", usageError{errors.New("no password on standard input")}
	}
	return line, nil
}

func askPassword(ctx context.Context, out io.Writer, fd int) (string, error) {
	first, err := askHidden(ctx, out, fd, "Password: ")
	if err != nil {
		return "", err
	}
	if first == "" {
		return "", usageError{errors.New("no password given")}
	}
	again, err := askHidden(ctx, out, fd, "Again: ")
	if err != nil {
		return "", err
	}
	if first != again {
		return "", errors.New("the two passwords differ")
	}
	return first, nil
}

// askHidden reads a line from a terminal without echo. If ctx ends first, it restores the state of the terminal.
func askHidden(ctx context.Context, out io.Writer, fd int, prompt string) (string, error) {
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	fmt.Fprint(out, prompt)
	defer fmt.Fprintln(out)
	type answer struct {
		text []byte
		err  error
	}
	answered := make(chan answer, 1)
	// A read from a terminal cannot be cancelled, so this goroutine ends with the process.
	go func() {
		text, err := term.ReadPassword(fd)
		answered <- answer{text, err}
	}()
	select {
	case a := <-answered:
		return string(a.text), a.err
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), term.Restore(fd, before))
	}
}
