// Package process runs a server program to measure as a process of its own.
package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Process is a running server program that listens on a local port.
type Process struct {
	Address string // host:port

	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process has ended
	err    error         // why it has ended
	output *tail
}

// BaseURL is the public URL with which Serve configures the service, wherever that listens. So replies are equal to
// the byte.
const BaseURL = "http://127.0.0.1:8080"

// Indexed is the beginning of the text that the service logs when its index in memory is complete.
const Indexed = "msg=index did="

// module is the path of the service's Go module.
const module = "github.com/almanac-cal/almanac"

// Build compiles the service into dir and returns the path of the program. The working directory must be in the
// module lab. The build runs in the service's module, because lab's go.sum is incomplete for it.
func Build(ctx context.Context, dir string) (program string, err error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("go list -m %s: %w", module, err)
	}
	program = filepath.Join(dir, "almanac")
	//nolint:gosec // the operator names the folder
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/almanac")
	cmd.Dir = strings.TrimSpace(string(root))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
}

// Serve starts the service on a database and waits until it serves. It also waits until its index is complete, unless
// the flags include --no-index. media is the folder for images.
func Serve(ctx context.Context, program, db, media string, flags ...string) (*Process, error) {
	awaited := []string{"almanac: serving"}
	if !slices.Contains(flags, "--no-index") {
		awaited = append(awaited, Indexed)
	}
	args := []string{"serve", "--db", db, "--base-url", BaseURL, "--media", media, "--migrate"}
	return Start(ctx, awaited, program, append(args, flags...)...)
}

// tail stores the last output of a process. It reads at intervals, so that reading takes no CPU time from
// measurements.
type tail struct {
	mu   sync.Mutex
	last []byte
}

// tailSize is the number of bytes of output that tail stores.
const tailSize = 8 << 10

func (t *tail) read(r *os.File) {
	b := make([]byte, 1<<20)
	for {
		n, err := r.Read(b)
		t.mu.Lock()
		t.last = append(t.last, b[max(0, n-tailSize):n]...)
		t.last = append(t.last[:0], t.last[max(0, len(t.last)-tailSize):]...)
		t.mu.Unlock()
		if err != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.last))
}

// freeAddress returns an address that no process listens on.
func freeAddress(ctx context.Context) (string, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}

// Patience is how long Start waits until a program is ready.
const Patience = 2 * time.Minute

// Start starts a program with --listen and waits until its recent output contains every awaited text. It stops the
// program and returns an error if that takes longer than Patience. Variables of Almanac and OpenTelemetry are removed
// from its environment.
func Start(ctx context.Context, awaited []string, program string, args ...string) (_ *Process, err error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	enlargePipe(w)
	// Stop ends the process, not the context, so that it is not killed in the middle of a request.
	//nolint:gosec // the operator names the program
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, append(args, "--listen", address)...)
	cmd.Stderr, cmd.Stdout = w, w
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "ALMANAC_") && !strings.HasPrefix(v, "OTEL_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, r.Close(), w.Close())
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	p := &Process{Address: address, cmd: cmd, ended: make(chan struct{}), output: &tail{}}
	go func() {
		p.output.read(r)
		_ = r.Close() // read to its end
		p.err = cmd.Wait()
		close(p.ended)
	}()
	if err := p.await(ctx, awaited); err != nil {
		return nil, errors.Join(fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err), p.Stop())
	}
	return p, nil
}

func (p *Process) await(ctx context.Context, awaited []string) error {
	for began := time.Now(); ; {
		said, missing := p.output.String(), false
		for _, text := range awaited {
			missing = missing || !strings.Contains(said, text)
		}
		switch {
		case !missing:
			return nil
		case time.Since(began) > Patience:
			return fmt.Errorf("not ready after %s: %s", Patience, said)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.ended:
			return fmt.Errorf("%w: %s", p.err, p.output)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// PID returns the id of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Alive returns an error with the last output if the process has ended, else nil.
func (p *Process) Alive() error {
	select {
	case <-p.ended:
		return fmt.Errorf("the process has ended, %w: %s", p.err, p.output)
	default:
		return nil
	}
}

// Stop ends the process with SIGTERM. After 10 s it kills the process and returns an error. It returns nil for a
// process that has ended already, which Alive reports.
func (p *Process) Stop() error {
	if p.Alive() != nil {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(10 * time.Second):
		if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		<-p.ended
		return fmt.Errorf("process %d did not end by itself", p.cmd.Process.Pid)
	}
}
