package store_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestOptionsOfURLs(t *testing.T) {
	t.Parallel()
	const (
		lite = "sqlite://cal.db"
		my   = "mysql://ewa@h/cal"
		// The pragmas that no option changes.
		writing = "file:cal.db?_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=synchronous(NORMAL)" +
			"&_txlock=immediate&_time_format=sqlite&_timezone=UTC"
	)
	files := store.Limits{Open: 16, Idle: 16, DSN: writing, Busy: 10 * time.Second}
	server := store.Limits{Open: 32, Idle: 32, IdleTime: 5 * time.Minute, Age: 30 * time.Minute, Timeout: 10 * time.Second, PrepareAfter: 64}
	for _, test := range []struct {
		name, url string
		change    func(*store.Limits)
	}{
		{"SQLite without", lite, func(*store.Limits) {}},
		{"SQLite without, with a question mark", lite + "?", func(*store.Limits) {}},
		{"SQLite waits", lite + "?busy-timeout=1m", func(l *store.Limits) { l.Busy = time.Minute }},
		{"SQLite waits briefly", lite + "?busy-timeout=1ms", func(l *store.Limits) { l.Busy = time.Millisecond }},
		{"pages in memory", lite + "?cache-size=64M", func(l *store.Limits) { l.DSN += "&_pragma=cache_size(-65536)" }},
		{"pages in bytes", lite + "?cache-size=10", func(l *store.Limits) { l.DSN += "&_pragma=cache_size(-1)" }},
		{"a mapped file", lite + "?mmap-size=2g", func(l *store.Limits) { l.DSN += "&_pragma=mmap_size(2147483648)" }},
		{"no mapped file", lite + "?mmap-size=0", func(*store.Limits) {}},
		{"SQLite's pool", lite + "?max-open=4&max-idle=2", func(l *store.Limits) { l.Open, l.Idle = 4, 2 }},
		{"MySQL without", my, func(*store.Limits) {}},
		{"what is sent often", my + "?prepare-after=5", func(l *store.Limits) { l.PrepareAfter = 5 }},
		{"nothing prepared", my + "?prepare-after=0", func(l *store.Limits) { l.PrepareAfter = 0 }},
		{"a smaller pool has fewer idle", my + "?max-open=8", func(l *store.Limits) { l.Open, l.Idle = 8, 8 }},
		{"no idle ones", my + "?max-idle=0", func(l *store.Limits) { l.Idle = 0 }},
		{"a larger pool", my + "?max-open=200&max-idle=200", func(l *store.Limits) { l.Open, l.Idle = 200, 200 }},
		{
			"ages", my + "?max-idle-time=1m&max-lifetime=0",
			func(l *store.Limits) { l.IdleTime, l.Age = time.Minute, 0 },
		},
		{
			"times", my + "?timeout=1s&read-timeout=30s&write-timeout=15s",
			func(l *store.Limits) { l.Timeout, l.Read, l.Write = time.Second, 30*time.Second, 15*time.Second },
		},
		{"the last one counts", my + "?max-open=8&max-open=9", func(l *store.Limits) { l.Open, l.Idle = 9, 9 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := store.LimitsOf(test.url)
			must.Succeed(t, err)
			want := server
			if strings.HasPrefix(test.url, "sqlite") {
				want = files
			}
			test.change(&want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOptionsThatAreRefused(t *testing.T) {
	t.Parallel()
	noPEM := filepath.Join(t.TempDir(), "notes.txt")
	must.Succeed(t, os.WriteFile(noPEM, []byte("no certificate"), 0o600))
	for _, test := range []struct{ url, want string }{
		{"sqlite://a.db?mode=ro", "known are busy-timeout, cache-size, max-idle, max-idle-time, max-lifetime, max-open, mmap-size"},
		{"sqlite://a.db?tls=true", "unknown option"},
		{"sqlite://a.db?busy-timeout=0", "option busy-timeout: want a duration"},
		{"sqlite://a.db?busy-timeout=10", "option busy-timeout: want a duration"},
		{"sqlite://a.db?busy-timeout=1us", "option busy-timeout: want a duration"},
		{"sqlite://a.db?cache-size=-1", "option cache-size: want a size"},
		{"sqlite://a.db?cache-size=", "option cache-size: want a size"},
		{"sqlite://a.db?cache-size=M", "option cache-size: want a size"},
		{"sqlite://a.db?cache-size=64MB", "option cache-size: want a size"},
		{"sqlite://a.db?mmap-size=2000000G", "option mmap-size: want a size"},
		{"sqlite://a.db?max-open=0", "option max-open: want a number from 1"},
		{"sqlite://a.db?max-open=%zz", "percent-encode"},
		{"mysql://h/cal?busy-timeout=1s", "unknown option"},
		{"mysql://h/cal?max-open=lots", "option max-open: want a number"},
		{"mysql://h/cal?max-open=10001", "option max-open: want a number"},
		{"mysql://h/cal?max-open=4&max-idle=5", "option max-idle: want at most max-open"},
		{"mysql://h/cal?max-lifetime=-1s", "option max-lifetime: want a duration"},
		{"mysql://h/cal?timeout=0", "option timeout: want a duration"},
		{"mysql://h/cal?read-timeout=soon", "option read-timeout: want a duration"},
		{"mysql://h/cal?loc=Local", "unknown option"},
		{"mysql://h/cal?parseTime=false", "unknown option"},
		{"mysql://h/cal?tls=maybe", "option tls: want true"},
		{"mysql://h/cal?tls-ca=", "option tls-ca: want a file"},
		{"mysql://h/cal?tls-ca=/nowhere/ca.pem", "option tls-ca: no such file"},
		{"mysql://h/cal?tls-ca=" + noPEM, "option tls-ca: no certificate in PEM"},
		{"mysql://h/cal?tls=skip-verify&tls-ca=" + noPEM, "want tls=true with them"},
		{"mysql://h/cal?tls-cert=" + noPEM, "want both or none"},
		{"mysql://h/cal?tls-cert=" + noPEM + "&tls-key=" + noPEM, "options tls-cert and tls-key: "},
	} {
		_, err := store.LimitsOf(test.url)
		if !errors.Is(err, store.ErrURL) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.url, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "nowhere") {
			t.Errorf("%s: the value is in the message: %v", test.url, err)
		}
	}
}

// TestEveryConnectionIsSetUp asks the server for the settings that every connection must have.
func TestEveryConnectionIsSetUp(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		want := map[string]string{
			"PRAGMA foreign_keys": "1", "PRAGMA journal_mode": "wal", "PRAGMA cache_size": "-8192",
			// SQLite would wait without listening to a context, so it does not.
			"PRAGMA busy_timeout": "0", "PRAGMA mmap_size": "1048576", "PRAGMA synchronous": "1",
		}
		options := "?busy-timeout=7s&cache-size=8M&mmap-size=1M&max-open=3"
		if strings.HasPrefix(url, "mysql") {
			want = map[string]string{
				"SELECT @@session.time_zone":                             "+00:00",
				"SELECT @@session.sql_mode LIKE '%STRICT_TRANS_TABLES%'": "1",
				"SELECT @@session.sql_mode LIKE '%ONLY_FULL_GROUP_BY%'":  "1",
				"SELECT @@session.default_storage_engine":                "InnoDB",
				"SELECT @@session.character_set_connection":              "utf8mb4",
				"SELECT @@session.innodb_lock_wait_timeout":              "10",
				"SELECT @@session.lock_wait_timeout":                     "5",
				"SELECT ? + 1":                                           "42",
				// Engines differ in which of the two they evaluate first.
				"SELECT ABS(TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(), NOW())) <= 1": "1",
			}
			options = "&max-open=3&read-timeout=1m&write-timeout=1m"
		}
		st := storetest.Open(t, url+options)
		for query, value := range want {
			var args []any
			if strings.Contains(query, "?") {
				args = append(args, 41)
			}
			if got := storetest.Value(t, st.DB, query, args...); got != value {
				t.Errorf("%s: %s, want %s", query, got, value)
			}
		}
		if got := st.DB.Stats().MaxOpenConnections; got != 3 {
			t.Errorf("%d connections at most, want 3", got)
		}
		if st.Engine() == "mysql" {
			isolation := "SELECT @@session.transaction_isolation"
			if storetest.IsMariaDB(t, st) {
				isolation = "SELECT @@session.tx_isolation"
			}
			if got := storetest.Value(t, st.DB, isolation); got != "READ-COMMITTED" {
				t.Errorf("isolation level %s", got)
			}
			if _, err := st.DB.ExecContext(t.Context(), "CREATE TABLE strict (name varchar(2))"); err != nil {
				t.Fatal(err)
			}
			if _, err := st.DB.ExecContext(t.Context(), "INSERT INTO strict VALUES ('long')"); err == nil {
				t.Error("a text that is too long was cut")
			}
		}
	})
}

func TestConnectionIsEncryptedWhenAsked(t *testing.T) {
	t.Parallel()
	if os.Getenv(storetest.Variable) == "" {
		t.Skipf("%s names no server", storetest.Variable)
	}
	url := storetest.MySQL(t)
	plain := storetest.Open(t, url)
	var name, have string
	row := plain.DB.QueryRowContext(t.Context(), "SHOW STATUS LIKE 'Ssl_server_not_after'")
	if err := row.Scan(&name, &have); err != nil || have == "" {
		t.Skipf("the server has no certificate (%v)", err)
	}
	for _, mode := range []string{"skip-verify", "preferred"} {
		st := storetest.Open(t, url+"&tls="+mode)
		var cipher string
		must.Succeed(t, st.DB.QueryRowContext(t.Context(), "SHOW STATUS LIKE 'Ssl_cipher'").Scan(&name, &cipher))
		if cipher == "" {
			t.Errorf("tls=%s: not encrypted", mode)
		}
	}
	// No trusted authority signed the certificate that a server makes for itself.
	if _, err := store.Open(t.Context(), url+"&tls=true"); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("tls=true: got %v, want that the certificate is not trusted", err)
	}
}

func TestServersAreVerifiedByTheCertificateGiven(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ours, theirs := newAuthority(t, dir, "ours"), newAuthority(t, dir, "theirs")
	certFile, keyFile := ours.issue(t, "client", "")
	for _, test := range []struct {
		name    string
		signer  *authority
		host    string // in the server's certificate
		options string
		want    string // the error of the server's side; "" for none
		client  bool   // showed a certificate
	}{
		{"signed by it", ours, "127.0.0.1", "tls-ca=" + ours.file, "", false},
		{"asked for in words too", ours, "127.0.0.1", "tls=true&tls-ca=" + ours.file, "", false},
		{"with a certificate of the client", ours, "127.0.0.1", "tls-ca=" + ours.file + "&tls-cert=" + certFile + "&tls-key=" + keyFile, "", true},
		{"signed by another", theirs, "127.0.0.1", "tls-ca=" + ours.file, "bad certificate", false},
		{"of another host", ours, "127.0.0.2", "tls-ca=" + ours.file, "bad certificate", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cert, key := test.signer.issue(t, strings.ReplaceAll(test.name, " ", "-"), test.host)
			pair, err := tls.LoadX509KeyPair(cert, key)
			must.Succeed(t, err)
			addr, outcome := startTLSGreeter(t, &tls.Config{
				Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12,
			})
			if _, err := store.Open(t.Context(), "mysql://ewa@"+addr+"/cal?timeout=5s&"+test.options); err == nil {
				t.Error("a server that only says hello was opened")
			}
			got := <-outcome
			if (test.want == "") != (got.err == nil) || got.err != nil && !strings.Contains(got.err.Error(), test.want) {
				t.Errorf("got %v, want %q", got.err, test.want)
			}
			if got.client != test.client {
				t.Errorf("a certificate of the client: %t, want %t", got.client, test.client)
			}
		})
	}
}

// handshakeResult is the result of a TLS handshake as the server sees it.
type handshakeResult struct {
	err    error
	client bool
}

// startTLSGreeter starts a server that performs the start of the MySQL protocol, including the TLS handshake. It
// serves one client. The channel outcome receives the result.
func startTLSGreeter(t *testing.T, config *tls.Config) (addr string, outcome <-chan handshakeResult) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	t.Cleanup(func() { ln.Close() })
	out := make(chan handshakeResult, 1)
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			out <- handshakeResult{err: err}
			return
		}
		defer conn.Close()
		out <- greetAndHandshake(conn, config)
	}()
	return ln.Addr().String(), out
}

func greetAndHandshake(conn net.Conn, config *tls.Config) handshakeResult {
	// Protocol 10, version, thread, salt, capabilities (with CLIENT_SSL), utf8mb4, status, more of all that.
	hello := append([]byte{10}, "9.0.0\x00\x01\x00\x00\x00saltsalt\x00"...)
	hello = binary.LittleEndian.AppendUint16(hello, 0xffff)
	hello = append(hello, 45, 2, 0)
	hello = binary.LittleEndian.AppendUint16(hello, 0x0008)
	hello = append(hello, 21)
	hello = append(hello, make([]byte, 10)...)
	hello = append(hello, "saltsaltsalt\x00mysql_native_password\x00"...)
	if _, err := conn.Write(append([]byte{byte(len(hello)), 0, 0, 0}, hello...)); err != nil {
		return handshakeResult{err: err}
	}
	const request = 4 + 32 // the client asks for TLS
	if _, err := io.ReadFull(conn, make([]byte, request)); err != nil {
		return handshakeResult{err: err}
	}
	server := tls.Server(conn, config)
	if err := server.Handshake(); err != nil {
		return handshakeResult{err: err}
	}
	// In TLS 1.3 the client refuses a certificate after the server thinks all is well.
	if _, err := bufio.NewReader(server).ReadByte(); err != nil {
		return handshakeResult{err: err}
	}
	return handshakeResult{client: len(server.ConnectionState().PeerCertificates) > 0}
}

// authority is a certificate authority for tests.
type authority struct {
	dir, file string
	cert      *x509.Certificate
	key       *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, dir, name string) *authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must.Succeed(t, err)
	cert, err := x509.ParseCertificate(der)
	must.Succeed(t, err)
	return &authority{dir: dir, file: writePEM(t, filepath.Join(dir, name+".pem"), "CERTIFICATE", der), cert: cert, key: key}
}

// issue writes the files of a new certificate and its key. The certificate is for the given host, or for a client if
// host is "".
func (a *authority) issue(t *testing.T, name, host string) (certFile, keyFile string) {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if host != "" {
		template.IPAddresses = []net.IP{net.ParseIP(host)}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	must.Succeed(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must.Succeed(t, err)
	return writePEM(t, filepath.Join(a.dir, name+"-cert.pem"), "CERTIFICATE", der),
		writePEM(t, filepath.Join(a.dir, name+"-key.pem"), "PRIVATE KEY", private)
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.Succeed(t, err)
	return key
}

func writePEM(t *testing.T, file, kind string, der []byte) string {
	t.Helper()
	must.Succeed(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	return file
}
