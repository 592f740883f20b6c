package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSettingsAreNotTold passes wrong addresses with passwords to commands, by flags and by the environment. The
// output must help to find the mistake, but must not contain the password.
func TestSettingsAreNotTold(t *testing.T) {
	t.Parallel()
	const secret = "s3cret%2Fw0rd"
	dead := "mysql://ewa:" + secret + "@127.0.0.1:1/cal"
	sqlite := "--db=sqlite://" + filepath.Join(t.TempDir(), "a.db")
	listen := "--listen=127.0.0.1:0"
	for _, test := range []struct {
		name string
		args []string
		env  map[string]string
		want string // in what is printed
	}{
		{"a server that is away", []string{"user", "list", "--db=" + dead}, nil, "127.0.0.1:1"},
		{"the same from the environment", []string{"user", "list"}, map[string]string{"ALMANAC_DB": dead}, "127.0.0.1:1"},
		{"served", []string{"serve", listen, "--db=" + dead}, nil, "127.0.0.1:1"},
		{"migrations", []string{"migrate", "status", "--db=" + dead}, nil, "127.0.0.1:1"},
		{"no name", []string{"user", "list", "--db=mysql://ewa:" + secret + "@h"}, nil, "database URL"},
		{"another engine", []string{"user", "list", "--db=postgres://ewa:" + secret + "@h/cal"}, nil, "database URL"},
		{"unknown option", []string{"user", "list", "--db=" + dead + "?x=1"}, nil, "x"},
		{"a replica", []string{"serve", listen, sqlite, "--db-read=mysql://ewa:" + secret + "@127.0.0.1:1/cal"}, nil, ""},
		{"a counter", []string{"serve", listen, sqlite, "--rate-redis=http://:" + secret + "@h:1/0"}, nil, ""},
		{"a counter with a wrong number", []string{"serve", listen, sqlite, "--rate-redis=redis://:" + secret + "@h:port/0"}, nil, ""},
		{"a collector", []string{"serve", listen, sqlite, "--otlp-endpoint=ftp://ewa:" + secret + "@h"}, nil, ""},
		{"a collector with a wrong number", []string{"serve", listen, sqlite, "--otlp-endpoint=https://ewa:" + secret + "@h:port"}, nil, ""},
		{"an address with a wrong number", []string{"serve", sqlite, "--base-url=https://ewa:" + secret + "@h:port"}, nil, ""},
		{"an address with a user", []string{"serve", sqlite, "--base-url=https://ewa:" + secret + "@h"}, nil, "base URL"},
		{"an import", []string{"import", "http://ewa:" + secret + "@127.0.0.1:1/x", sqlite}, nil, ""},
		{"help", []string{"serve", "--help"}, map[string]string{"ALMANAC_DB": dead, "ALMANAC_RATE_REDIS": "redis://:" + secret + "@h/0"}, "ALMANAC_DB"},
		{"wrong usage", []string{"serve", "--nonsense"}, map[string]string{"ALMANAC_DB": dead}, "nonsense"},
		{"a wrong variable", []string{"serve"}, map[string]string{"ALMANAC_DB": dead, "ALMANAC_PER_PAGE": "x"}, "ALMANAC_PER_PAGE"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
			defer stop()
			var out, failed strings.Builder
			code := run(ctx, test.args, func(name string) string { return test.env[name] }, streams{Out: &out, Err: &failed, In: strings.NewReader("")})
			printed := out.String() + failed.String()
			if code == 0 && test.name != "help" || ctx.Err() != nil {
				t.Errorf("exit status %d: %s", code, printed)
			}
			if !strings.Contains(printed, test.want) {
				t.Errorf("%q is not in %s", test.want, printed)
			}
			for _, word := range []string{"s3cret", "w0rd"} {
				if strings.Contains(printed, word) {
					t.Errorf("the password is in %s", printed)
				}
			}
		})
	}
}
