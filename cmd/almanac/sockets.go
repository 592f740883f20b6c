package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"
)

// sockets has the listeners of a server. Sockets from systemd override the addresses of the flags.
type sockets struct {
	public net.Listener
	// private is the listener for operators. Nil means that there is none.
	private net.Listener
}

// close closes the open listeners.
func (s sockets) close() error {
	var errs []error
	for _, ln := range []net.Listener{s.public, s.private} {
		if ln == nil {
			continue
		}
		if err := ln.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// hostPort completes an address that is only a port. "9000" becomes "127.0.0.1:9000".
func hostPort(address string) string {
	if strings.Trim(address, "0123456789") == "" && address != "" {
		return net.JoinHostPort("127.0.0.1", address)
	}
	return address
}

// checkSockets returns an error if requests and operators use the same address. It runs before anything is opened.
// With --reuse-port, the kernel would give a connection to either, and so show the metrics to the public. Sockets
// from systemd have addresses of their own.
func (f serveFlags) checkSockets(getenv func(string) string) error {
	if getenv("LISTEN_FDS") != "" || f.MetricsListen == "" || !addressesOverlap(f.Listen, f.MetricsListen) {
		return nil
	}
	return usageError{fmt.Errorf("--metrics-listen %q: want another address than --listen %q, because metrics are not for the public",
		f.MetricsListen, f.Listen)}
}

// addressesOverlap reports whether two addresses HOST:PORT can receive the same connections. That needs the same
// port, and the same host or one that means all hosts. Names are compared literally, but localhost overlaps with all
// loopback addresses. Port 0 never overlaps.
func addressesOverlap(a, b string) bool {
	hostA, portA, okA := splitAddress(a)
	hostB, portB, okB := splitAddress(b)
	if !okA || !okB || portA != portB || portA == 0 {
		return false
	}
	for _, host := range []string{hostA, hostB} {
		if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
			return true
		}
	}
	return hostA == hostB || isLocalHost(hostA) && hostB == "localhost" || hostA == "localhost" && isLocalHost(hostB)
}

// splitAddress splits HOST:PORT. It normalises the spelling of the host. ok is false for any other text.
func splitAddress(text string) (host string, port int, ok bool) {
	host, service, err := net.SplitHostPort(hostPort(text))
	if err != nil {
		return "", 0, false
	}
	at, err := net.ResolveTCPAddr("tcp", ":"+service)
	if err != nil {
		return "", 0, false
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String(), at.Port, true
	}
	return strings.ToLower(host), at.Port, true
}

func isLocalHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// openSocketsEarly opens the sockets before the database is opened. If the port is taken, the program then ends without
// having created a file. With --reuse-port, openSocketsEarly opens none. The kernel would give some connections to this
// process before it is ready, instead of to the old one.
func (f serveFlags) openSocketsEarly(ctx context.Context) (sockets, error) {
	if f.ReusePort {
		return sockets{}, nil
	}
	return f.sockets(ctx)
}

// sockets opens the sockets of the server, or takes those from systemd.
func (f serveFlags) sockets(ctx context.Context) (sockets, error) {
	given, err := inheritedSockets()
	if err != nil {
		return sockets{}, err
	}
	if given.public == nil {
		if given.public, err = f.open(ctx, f.Listen); err != nil {
			return sockets{}, portProblem("listen", f.Listen, err)
		}
	}
	if given.private == nil && f.MetricsListen != "" {
		if given.private, err = f.open(ctx, f.MetricsListen); err != nil {
			return sockets{}, errors.Join(portProblem("metrics-listen", f.MetricsListen, err), given.public.Close())
		}
	}
	// Host names that resolve to the same address can only be compared now.
	if f.ReusePort && given.private != nil && addressesOverlap(given.public.Addr().String(), given.private.Addr().String()) {
		err := fmt.Errorf("--metrics-listen: %s is also the address for requests", given.private.Addr())
		return sockets{}, errors.Join(usageError{err}, given.close())
	}
	return given, nil
}

// open listens on an address. With --reuse-port, several processes may listen on it while one process replaces
// another.
func (f operateFlags) open(ctx context.Context, address string) (net.Listener, error) {
	var c net.ListenConfig
	if f.ReusePort {
		c.Control = reusePort
	}
	return c.Listen(ctx, "tcp", hostPort(address))
}

// portProblem returns the error for an address that cannot be opened. If the port is taken, it suggests another
// one.
func portProblem(flag, address string, err error) error {
	host, port, ok := splitAddress(address)
	if !ok || !errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	other := port + 1
	if port == math.MaxUint16 {
		other = port - 1
	}
	return fmt.Errorf("--%s %s: %w: another program listens there, perhaps another Almanac; stop it, or choose another port, "+
		"such as --%[1]s %[4]s", flag, hostPort(address), syscall.EADDRINUSE, net.JoinHostPort(host, strconv.Itoa(other)))
}

// inheritedSockets returns the sockets that systemd passed to the process, or empty ones. The socket named
// metrics is private, and the other one public. More than these two are an error.
func inheritedSockets() (out sockets, err error) {
	for _, file := range activation.Files(true) {
		name := file.Name()
		ln, err := net.FileListener(file)
		// The listener has a duplicate of the file descriptor, so the file is closed.
		if err := errors.Join(err, file.Close()); err != nil {
			return sockets{}, fmt.Errorf("socket %q of systemd: %w", name, err)
		}
		switch {
		case name == "metrics" && out.private == nil:
			out.private = ln
		case name != "metrics" && out.public == nil:
			out.public = ln
		default:
			return sockets{}, fmt.Errorf("socket %q of systemd: want one for requests, and one named metrics or none", name)
		}
	}
	return out, nil
}

// reachableAddress returns the address of a listener for clients on this machine. It has the actual port if port
// 0 was requested. "localhost" replaces the address that means all addresses.
func reachableAddress(a net.Addr) string {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
	}
	return a.String()
}

// address returns the address at which clients on this machine reach the server.
func (f serveFlags) address(sock sockets) string {
	if sock.public == nil {
		return hostPort(f.Listen)
	}
	return reachableAddress(sock.public.Addr())
}
