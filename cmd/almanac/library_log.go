package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"
)

// libraryLog takes the lines of libraries that have one log for a whole program, and gives them to the log of the server
// once there is one. It is for concurrent use.
type libraryLog struct{ to atomic.Pointer[slog.Logger] }

// newLibraryLog receives the log lines of libraries from now on. It writes text until use is called. Call it at the
// start of the program, because not all libraries allow a change of logger while they run.
func newLibraryLog(w io.Writer) (*libraryLog, error) {
	l := &libraryLog{}
	l.to.Store(slog.New(slog.NewTextHandler(w, nil)))
	return l, mysql.SetLogger(l)
}

// use gives what comes from now on to a log, which also becomes that of log and slog. On nil it does nothing.
func (l *libraryLog) use(log *slog.Logger) {
	if l == nil {
		return
	}
	l.to.Store(log)
	slog.SetDefault(log)
}

// Print implements the logger of the MySQL driver.
func (l *libraryLog) Print(v ...any) {
	l.to.Load().Warn("database driver", "error", strings.TrimSpace(fmt.Sprint(v...)))
}
