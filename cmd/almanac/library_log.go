package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"
)

// libraryLog receives log lines of libraries that have one logger for the whole program. It passes them to the
// server's log after use was called. It is safe for concurrent use.
type libraryLog struct{ to atomic.Pointer[slog.Logger] }

// newLibraryLog returns a log that receives the log lines of libraries from now on. It writes text to w until use
// is called. Call it when the program starts, because some libraries allow no change of logger later.
func newLibraryLog(w io.Writer) (*libraryLog, error) {
	l := &libraryLog{}
	l.to.Store(slog.New(slog.NewTextHandler(w, nil)))
	return l, mysql.SetLogger(l)
}

// use passes further lines to a log, which also becomes the default of packages log and slog. On nil it does
// nothing.
func (l *libraryLog) use(log *slog.Logger) {
	if l == nil {
		return
	}
	l.to.Store(log)
	slog.SetDefault(log)
}

// Print logs a line of the MySQL driver as a warning. It implements the driver's logger.
func (l *libraryLog) Print(v ...any) {
	l.to.Load().Warn("database driver", "error", strings.TrimSpace(fmt.Sprint(v...)))
}
