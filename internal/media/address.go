package media

import "net/netip"

// ipv4Special are the IPv4 ranges outside the public Internet: IANA's special-purpose registry, multicast,
// reserved space, and the host address of a cloud.
var ipv4Special = prefixes(
	"0.0.0.0/8",        // this network
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // carrier-grade NAT
	"127.0.0.0/8",      // loopback
	"168.63.129.16/32", // host of a virtual machine on Azure
	"169.254.0.0/16",   // link-local; the metadata service of most clouds is in it
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

// ipv6Global is the range of IPv6 that is assigned on the public Internet. Loopback, link-local, unique local
// and multicast addresses are outside it. So are NAT64 (64:ff9b::/96) and IPv4-mapped addresses.
var ipv6Global = netip.MustParsePrefix("2000::/3")

// ipv6Special are the ranges inside ipv6Global that are not public.
var ipv6Special = prefixes(
	"2001::/23",     // protocol assignments: Teredo, benchmarks, ORCHID
	"2001:db8::/32", // documentation
	"2002::/16",     // 6to4, which embeds an IPv4 address
	"3fff::/20",     // documentation
)

func prefixes(texts ...string) []netip.Prefix {
	ps := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		ps[i] = netip.MustParsePrefix(t)
	}
	return ps
}

// isPublic reports whether an address belongs to the public Internet.
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
