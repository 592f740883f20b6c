package limit

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// Proxies are the networks of proxies whose forwarded addresses are trusted. The zero value trusts none.
type Proxies []netip.Prefix

// ParseProxies parses networks in CIDR notation and single addresses. IPv4 may be written as mapped IPv6 (RFC
// 4291, 2.5.5.2).
func ParseProxies(texts []string) (Proxies, error) {
	var out Proxies
	for _, text := range texts {
		if a, err := netip.ParseAddr(text); err == nil {
			a = a.Unmap().WithZone("")
			out = append(out, netip.PrefixFrom(a, a.BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		// Addresses are compared as IPv4 where possible, so a network of mapped addresses becomes one of IPv4. A wider
		// network would also contain IPv6 addresses, which its name does not suggest.
		if a := p.Addr(); a.Is4In6() {
			if p.Bits() < 96 {
				return nil, fmt.Errorf("%s: an IPv4 address in an IPv6 network of %d bits: 96 or more are needed", text, p.Bits())
			}
			p = netip.PrefixFrom(a.Unmap(), p.Bits()-96)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// Trusted reports whether an address belongs to a trusted proxy.
func (p Proxies) Trusted(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	for _, network := range p {
		if network.Contains(a) {
			return true
		}
	}
	return false
}

// Client returns the address of the client behind the proxies. peer is the address that opened the connection.
// hops are the forwarded addresses, the nearest last. Client follows them from the end while they are trusted
// proxies, and returns the first one that is not. An unreadable hop ends this at the proxy that wrote it.
func (p Proxies) Client(peer netip.Addr, hops []string) netip.Addr {
	client := peer.Unmap().WithZone("")
	for i := len(hops) - 1; i >= 0 && p.Trusted(client); i-- {
		hop, ok := parseHop(hops[i])
		if !ok {
			break
		}
		client = hop
	}
	return client
}

// parseHop parses a forwarded address, with or without a port, and with or without brackets for IPv6. It
// returns false if the text is not an address.
func parseHop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap().WithZone(""), true
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		if text, ok = strings.CutSuffix(inner, "]"); !ok {
			return netip.Addr{}, false
		}
	}
	a, err := netip.ParseAddr(text)
	return a.Unmap().WithZone(""), err == nil
}

// ForwardedFor returns the addresses (hops) in the values of X-Forwarded-For, in order. It returns only the
// last 32, because a client may send any number.
func ForwardedFor(values ...string) []string {
	var out []string
	for _, value := range values {
		out = append(out, strings.Split(value, ",")...)
	}
	return lastHops(out)
}

func lastHops(hops []string) []string { return hops[max(0, len(hops)-32):] }

// Forwarded returns the addresses (hops) in the values of Forwarded (RFC 7239), from the parameter "for" of
// each element. An element without it, or with an obfuscated name, gives an unreadable hop.
func Forwarded(values ...string) []string {
	var out []string
	for _, value := range values {
		for _, element := range splitQuoted(value, ',') {
			hop := ""
			for _, pair := range splitQuoted(element, ';') {
				name, text, _ := strings.Cut(pair, "=")
				if strings.EqualFold(strings.TrimSpace(name), "for") {
					hop = unquoted(strings.TrimSpace(text))
				}
			}
			out = append(out, hop)
		}
	}
	return lastHops(out)
}

// splitQuoted splits text at a separator outside quotes. If a quote is never closed, quotes are ignored: a
// client may have sent it to hide the hops that proxies add.
func splitQuoted(text string, separator byte) []string {
	var out []string
	start, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == separator && !quoted:
			out = append(out, text[start:i])
			start = i + 1
		}
	}
	if quoted {
		return strings.Split(text, string(separator))
	}
	return append(out, text[start:])
}

func unquoted(text string) string {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	var b strings.Builder
	for i := 1; i < len(text)-1; i++ {
		if text[i] == '\\' && i < len(text)-2 {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// Key returns the key under which requests of an address are counted. It is the address for IPv4, and the /64
// network for IPv6, which one household usually has.
func Key(a netip.Addr) string {
	a = a.Unmap()
	if a.Is6() {
		if p, err := a.WithZone("").Prefix(64); err == nil {
			return p.Addr().String() + "/64"
		}
	}
	return a.String()
}

// Near reports whether an address belongs to this machine or to a private network. An invalid address counts
// too.
func Near(a netip.Addr) bool {
	a = a.Unmap()
	return !a.IsValid() || a.IsUnspecified() || a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast()
}

// Peer returns the remote address of a connection. A Unix socket counts as 127.0.0.1.
func Peer(a net.Addr) netip.Addr {
	switch a := a.(type) {
	case *net.TCPAddr:
		if ip, ok := netip.AddrFromSlice(a.IP); ok {
			return ip.Unmap()
		}
	case *net.UnixAddr:
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.Addr{}
}
