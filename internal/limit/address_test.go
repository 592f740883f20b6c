package limit

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClients(t *testing.T) {
	t.Parallel()
	proxies, err := ParseProxies([]string{"10.0.0.0/8", "192.0.2.7", "fd00::/8"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, peer string
		hops       []string
		want       string
	}{
		{"no proxy", "203.0.113.5", nil, "203.0.113.5"},
		{"who is no proxy says what he likes", "203.0.113.5", []string{"198.51.100.1"}, "203.0.113.5"},
		{"a proxy without a word", "10.0.0.1", nil, "10.0.0.1"},
		{"one proxy", "10.0.0.1", []string{"203.0.113.5"}, "203.0.113.5"},
		{"two proxies", "10.0.0.1", []string{"203.0.113.5", "192.0.2.7"}, "203.0.113.5"},
		{"what a client adds in front", "10.0.0.1", []string{"127.0.0.1", "203.0.113.5", "10.9.9.9"}, "203.0.113.5"},
		{"all of them proxies", "10.0.0.1", []string{"10.0.0.3", "10.0.0.2"}, "10.0.0.3"},
		{"with ports and spaces", "10.0.0.1", []string{" 203.0.113.5:4711 "}, "203.0.113.5"},
		{"IPv6", "fd00::1", []string{"2001:db8::5"}, "2001:db8::5"},
		{"IPv6 in brackets", "fd00::1", []string{"[2001:db8::5]"}, "2001:db8::5"},
		{"IPv6 with a port", "fd00::1", []string{"[2001:db8::5]:80"}, "2001:db8::5"},
		{"IPv4 in IPv6", "::ffff:10.0.0.1", []string{"::ffff:203.0.113.5"}, "203.0.113.5"},
		{"a word that is no address", "10.0.0.1", []string{"203.0.113.5", "unknown"}, "10.0.0.1"},
		{"an empty hop", "10.0.0.1", []string{"203.0.113.5", ""}, "10.0.0.1"},
	} {
		if got := proxies.Client(netip.MustParseAddr(test.peer), test.hops).String(); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
	for _, none := range []string{"10.0.0.0/33", "::ffff:0.0.0.0/1", "::ffff:10.0.0.0/95"} {
		if _, err := ParseProxies([]string{none}); err == nil {
			t.Errorf("%s was taken for a network", none)
		}
	}
}

func TestForwarded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		values []string
		want   []string
	}{
		{[]string{`for=192.0.2.60;proto=http;by=203.0.113.43`}, []string{"192.0.2.60"}},
		{[]string{`For="[2001:db8:cafe::17]:4711"`}, []string{"[2001:db8:cafe::17]:4711"}},
		{[]string{`for=192.0.2.43, for=198.51.100.17`, `for=unknown`}, []string{"192.0.2.43", "198.51.100.17", "unknown"}},
		{[]string{`by=10.0.0.1`}, []string{""}},
		{[]string{`for="a,b;c\"d";proto=x, for=_hidden`}, []string{`a,b;c"d`, "_hidden"}},
		{[]string{`for="open, for=192.0.2.1`}, []string{`"open`, "192.0.2.1"}},
		{[]string{`for="open, for="[2001:db8::1]:80"`}, []string{`"open`, "[2001:db8::1]:80"}},
		{[]string{`for="a\, for="[2001:db8::1]:80"`}, []string{`"a\`, "[2001:db8::1]:80"}},
	} {
		if diff := cmp.Diff(test.want, Forwarded(test.values...)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.values, diff)
		}
	}
	if got := ForwardedFor(strings.Repeat("192.0.2.1,", 100) + "192.0.2.2"); len(got) != 32 || got[31] != "192.0.2.2" {
		t.Errorf("of many hops: %q", got)
	}
}

// FuzzForwarded parses arbitrary headers of a request through a trusted proxy. Client must return a valid address
// without a zone. If no proxy is trusted, it must return the peer.
func FuzzForwarded(f *testing.F) {
	for _, seed := range []string{"for=192.0.2.1", `for="[::1]:1"`, "192.0.2.1, 10.0.0.2", `for="\`, ",,;=", "fe80::1%eth0"} {
		f.Add(seed)
	}
	proxies := Proxies{netip.MustParsePrefix("10.0.0.0/8")}
	peer := netip.MustParseAddr("10.0.0.1")
	f.Fuzz(func(t *testing.T, text string) {
		for _, hops := range [][]string{Forwarded(text), ForwardedFor(text)} {
			got := proxies.Client(peer, hops)
			if !got.IsValid() || got.Zone() != "" || got.Is4In6() {
				t.Errorf("%q: %v", text, got)
			}
			if alone := Proxies(nil).Client(peer, hops); alone != peer {
				t.Errorf("%q was believed: %v", text, alone)
			}
		}
	})
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ address, want string }{
		{"192.0.2.1", "192.0.2.1"},
		{"::ffff:192.0.2.1", "192.0.2.1"},
		{"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"fe80::1%eth0", "fe80::/64"},
	} {
		if got := Key(netip.MustParseAddr(test.address)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.address, got, test.want)
		}
	}
}

func TestNear(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"127.0.0.1": true, "::1": true, "10.1.2.3": true, "192.168.1.1": true, "fd00::1": true, "169.254.0.1": true,
		"203.0.113.1": false, "2001:db8::1": false, "100.64.0.1": false, "::ffff:10.0.0.1": true,
	} {
		if got := Near(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: got %v", address, got)
		}
	}
	if !Near(Peer(&net.UnixAddr{Name: "/run/x"})) || !Near(Peer(nil)) {
		t.Error("a socket in the file system is far away")
	}
}

// FuzzParseProxies checks that a parsed network contains the address in its text, and that its String parses to the
// same network.
func FuzzParseProxies(f *testing.F) {
	for _, seed := range []string{"10.0.0.0/8", "192.0.2.7", "fd00::1/8", "::ffff:10.0.0.1", "::ffff:10.0.0.0/104", "::ffff:0.0.0.0/1", "fe80::1%eth0", "10.0.0.1/33", "*"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		proxies, err := ParseProxies([]string{text})
		if err != nil {
			if proxies != nil {
				t.Errorf("%q: %v and %v", text, proxies, err)
			}
			return
		}
		if len(proxies) != 1 || proxies[0] != proxies[0].Masked() {
			t.Fatalf("%q: %v", text, proxies)
		}
		again, err := ParseProxies([]string{proxies[0].String()})
		if err != nil || again[0] != proxies[0] {
			t.Errorf("%q is %v, and that is %v (%v)", text, proxies, again, err)
		}
		name, _, _ := strings.Cut(text, "/")
		if a, err := netip.ParseAddr(name); err == nil && !proxies.Trusted(a) {
			t.Errorf("%q does not contain %v", text, a)
		}
	})
}
