// Command scale measures the service's latencies on SQLite and MySQL, from a thousand events to a million:
//
//	go -C lab run ./scale fill --dir /var/tmp/scale --mysql mysql://root@127.0.0.1:3306/ --sizes 1k,10k,100k,1m
//	go -C lab run ./scale fill --dir /var/tmp/series --sizes 1m --series 10000
//	go -C lab run ./scale measure --dir /var/tmp/scale --mysql mysql://root@127.0.0.1:3306/ --markdown
//	go -C lab run ./scale explain --mysql mysql://root@127.0.0.1:3306/ --sizes 100k
//	go -C lab run ./scale baseline --dir /var/tmp/scale --sizes 100k
//
// Each size has its own database, such as the file scale_10k.db or the MySQL database scale_10k.
package main

import (
	"context"
	"io"

	"github.com/almanac-cal/almanac/lab/command"
)

type cli struct {
	Fill     fillCmd     `cmd:"" help:"Make the databases."`
	Measure  measureCmd  `cmd:"" help:"Ask every question of every database, and print how long it took."`
	Explain  explainCmd  `cmd:"" help:"Print the statements behind every question, and how the database runs them."`
	Baseline baselineCmd `cmd:"" help:"Compare the service with the same written by hand."`
}

func main() { command.Main(run) }

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	return command.Run(ctx, &cli{}, "scale", "Measures the service on calendars of different sizes.", args, out, errs)
}
