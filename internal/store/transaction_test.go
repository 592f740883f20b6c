package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// proxyThatLoses starts a proxy for a MySQL server. It forwards a connection until the client sends the given
// statement. From then on it drops all data of the client, and leaves the connection open.
func proxyThatLoses(t *testing.T, statement, server string) (address string) {
	t.Helper()
	packet := append([]byte{3}, statement...) // 3 is the command of a query
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	open := []io.Closer{l}
	var mu sync.Mutex
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range open {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return // the test has ended
			}
			to, err := net.Dial("tcp", server)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			open = append(open, client, to)
			mu.Unlock()
			go io.Copy(client, to) //nolint:errcheck // ends with the connections
			go func() {
				buf := make([]byte, 1<<16)
				for {
					n, err := client.Read(buf)
					if err != nil || bytes.HasSuffix(buf[:n], packet) {
						return
					}
					if _, err := to.Write(buf[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// TestEndOfATransactionWithoutAnAnswer ends a transaction on a server that no longer answers. A commit must end with
// the request's context, and a rollback after its time limit.
func TestEndOfATransactionWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		statement string
		end       func(*sql.Tx) error
	}{
		{"COMMIT", (*sql.Tx).Commit},
		{"ROLLBACK", (*sql.Tx).Rollback},
	} {
		t.Run(test.statement, func(t *testing.T) {
			t.Parallel()
			if os.Getenv(storetest.Variable) == "" {
				t.Skipf("%s names no server", storetest.Variable)
			}
			to, err := url.Parse(storetest.MySQL(t))
			must.Succeed(t, err)
			to.Host = proxyThatLoses(t, test.statement, to.Host)
			st := storetest.Open(t, to.String())
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			tx, err := st.DB.BeginTx(ctx, nil)
			must.Succeed(t, err)
			ended := make(chan error, 1)
			go func() { ended <- test.end(tx) }()
			select {
			case err := <-ended:
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("it ended with %v", err)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("it waits for an answer")
			}
			var one int
			if err := st.DB.QueryRowContext(t.Context(), "SELECT 1").Scan(&one); err != nil {
				t.Errorf("a query after it: %v", err)
			}
		})
	}
}
