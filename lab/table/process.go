package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a server that is measured.
type process struct {
	address string
	cmd     *exec.Cmd
	ended   chan struct{} // closed when it has
	err     error         // why it has
	said    *tail
}

// tail keeps the last of what a process says. It is looked at every now and then, not whenever there is something, so
// that reading the log takes no time of what is measured.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const kept = 8 << 10

func (t *tail) read(r *os.File) {
	b := make([]byte, 1<<20)
	for {
		n, err := r.Read(b)
		t.mu.Lock()
		t.last = append(t.last, b[max(0, n-kept):n]...)
		t.last = append(t.last[:0], t.last[max(0, len(t.last)-kept):]...)
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

// free is an address that nobody listens on.
func free(ctx context.Context) (string, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}

// patience is how long a server may take to start.
const patience = 2 * time.Minute

// startProcess starts a program and waits until it has said all that is awaited.
func startProcess(ctx context.Context, awaited []string, program string, args ...string) (_ *process, err error) {
	address, err := free(ctx)
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	enlarge(w)
	// It ends when it is told to, not in the midst of what is being done.
	//nolint:gosec // the program is named by who runs this
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
	p := &process{address: address, cmd: cmd, ended: make(chan struct{}), said: &tail{}}
	go func() {
		p.said.read(r)
		_ = r.Close() // read to its end
		p.err = cmd.Wait()
		close(p.ended)
	}()
	if err := p.await(ctx, awaited); err != nil {
		return nil, errors.Join(fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err), p.stop())
	}
	return p, nil
}

func (p *process) await(ctx context.Context, awaited []string) error {
	for began := time.Now(); ; {
		said, missing := p.said.String(), false
		for _, what := range awaited {
			missing = missing || !strings.Contains(said, what)
		}
		switch {
		case !missing:
			return nil
		case time.Since(began) > patience:
			return fmt.Errorf("not ready after %s: %s", patience, said)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.ended:
			return fmt.Errorf("%w: %s", p.err, p.said)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// alive returns why a process is not.
func (p *process) alive() error {
	select {
	case <-p.ended:
		return fmt.Errorf("it has ended, %w: %s", p.err, p.said)
	default:
		return nil
	}
}

// stop ends it, kindly at first.
func (p *process) stop() error {
	if p.alive() != nil {
		return nil // who measures it has seen that
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
