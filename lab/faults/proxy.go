package main

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// proxyMode is how a proxy treats connections: pass, refuse or stall.
type proxyMode int

const (
	pass   proxyMode = iota // bytes go through
	refuse                  // new connections end at once, and open ones are reset
	stall                   // connections are accepted, but bytes wait until pass
)

// proxy forwards TCP connections to the database, and can block or reset them like a broken network.
type proxy struct {
	to string
	ln net.Listener

	mu      sync.Mutex
	way     proxyMode
	changed chan struct{} // closed when way changes
	conns   map[*net.TCPConn]bool
	group   sync.WaitGroup
}

// newProxy starts a proxy on a local port that forwards connections to an address.
func newProxy(ctx context.Context, to string) (*proxy, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{to: to, ln: ln, changed: make(chan struct{}), conns: map[*net.TCPConn]bool{}}
	p.group.Go(p.accept)
	return p, nil
}

func (p *proxy) address() string { return p.ln.Addr().String() }

// set changes the mode of the proxy. refuse also resets all open connections.
func (p *proxy) set(to proxyMode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.way = to
	close(p.changed)
	p.changed = make(chan struct{})
	if to == refuse {
		p.reset()
	}
}

// reset resets all connections, like a router that lost its state. The caller must hold the lock.
func (p *proxy) reset() {
	for c := range p.conns {
		_ = c.SetLinger(0) // or it is closed already
		_ = c.Close()
	}
	clear(p.conns)
}

// close stops the proxy and closes its connections.
func (p *proxy) close() error {
	err := p.ln.Close()
	p.set(refuse)
	p.group.Wait()
	return err
}

// open blocks while the mode is stall. It returns false if the connection must end instead.
func (p *proxy) open() bool {
	for {
		p.mu.Lock()
		is, changed := p.way, p.changed
		p.mu.Unlock()
		switch is {
		case pass:
			return true
		case refuse:
			return false
		case stall:
			<-changed
		}
	}
}

func (p *proxy) accept() {
	for {
		c, err := p.ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // no more files for the moment
			continue
		}
		p.group.Go(func() { p.join(c.(*net.TCPConn)) })
	}
}

// keep records a connection, so that reset can find it. In the mode refuse it resets the connection and returns
// false.
func (p *proxy) keep(c *net.TCPConn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.way == refuse {
		_ = c.SetLinger(0)
		_ = c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

func (p *proxy) forget(c *net.TCPConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
	_ = c.Close()
}

// join connects a client to the server and copies bytes both ways, until both directions end.
func (p *proxy) join(client *net.TCPConn) {
	if !p.keep(client) {
		return
	}
	defer p.forget(client)
	if !p.open() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	c, err := new(net.Dialer).DialContext(ctx, "tcp", p.to)
	cancel()
	if err != nil {
		return
	}
	server := c.(*net.TCPConn)
	if !p.keep(server) {
		return
	}
	defer p.forget(server)
	var both sync.WaitGroup
	both.Go(func() { p.copy(server, client) })
	both.Go(func() { p.copy(client, server) })
	both.Wait()
}

// copy copies bytes until from ends, and then closes to for writing. On errors it closes both.
func (p *proxy) copy(to, from *net.TCPConn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if !p.open() {
			break
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				break
			}
		}
		if err == nil {
			continue
		}
		if errors.Is(err, io.EOF) {
			_ = to.CloseWrite() // or it is closed already
			return
		}
		break
	}
	_ = to.Close()
	_ = from.Close()
}
