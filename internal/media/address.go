package media

import "net/netip"

// ipv4Special are the IPv4 addresses that are not of the public Internet: the special-purpose registry of IANA,
// multicast and reserved space, and one address of a cloud's own machinery.
var ipv4Special = prefixes(
	"0.0.0.0/8",        // this network
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // carrier-grade NAT
	"127.0.0.0/8",      // loopback
	"168.63.129.16/32", // the host of a machine on Azure
	"169.254.0.0/16",   // link-local, with the metadata service of most clouds
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // protocol assignments
	"192.0.2.0/24",     // documentation
	"192.88.99.0/24",   // 6to4 relays
	"192.168.0.0/16",   // private
	"198.18.0.0/15",    // benchmarks
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, and broadcast
)

// ipv6Global is all of IPv6 that is handed out for the public Internet. Loopback, link-local and unique local
// addresses, multicast, NAT64 (64:ff9b::/96) and addresses with an IPv4 address inside lie outside of it.
var ipv6Global = netip.MustParsePrefix("2000::/3")

// ipv6Special has the ranges inside ipv6Global that are not public.
var ipv6Special = prefixes(
	"2001::/23",     // protocol assignments: Teredo, benchmarks, ORCHID
	"2001:db8::/32", // documentation
	"2002::/16",     // 6to4, with an IPv4 address inside
	"3fff::/20",     // documentation
)

func prefixes(texts ...string) []netip.Prefix {
	ps := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		ps[i] = netip.MustParsePrefix(t)
	}
	return ps
}

// isPublic reports whether an address is reachable from the Internet.
func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	switch {
	case a.Zone() != "":
		return false
	case a.Is4():
		return !inPrefixes(a, ipv4Special)
	default:
		return ipv6Global.Contains(a) && !inPrefixes(a, ipv6Special)
	}
}

func inPrefixes(a netip.Addr, ps []netip.Prefix) bool {
	for _, p := range ps {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
