// Command writers counts the SQL statements of writes on a database, and checks that its change log has no gaps:
//
//	go -C lab run ./writers --db mysql://root@127.0.0.1:3306/writers --time 2m
//
// The database must be empty. First a single client writes, and the command counts the statements of each kind of
// request, including BEGIN and COMMIT. On MySQL and TiDB each statement is a round trip. Then eight clients create
// events of one venue, at two services that share the database. Meanwhile a reader follows the change log. The command
// prints how often the database returned which error. It ends with status 1 if changes appeared out of order.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/lab/command"
	"github.com/almanac-cal/almanac/lab/local"
)

// settings contains the command-line flags.
type settings struct {
	DB      string        `name:"db" help:"URL of an empty database." required:"" placeholder:"URL"`
	Time    time.Duration `help:"How long to write." default:"2m"`
	Writers int           `help:"Clients that write at the same time." default:"8"`
	Rounds  int           `help:"Requests of each kind that are counted. The median counts." default:"9"`
}

func main() { command.Main(run) }

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	return command.Run(ctx, &settings{}, "writers", "Counts what writes cost on a database.", args, out, errs)
}

// Run prints the number of statements of a single client's writes, then lets several clients write at once.
func (s settings) Run(ctx context.Context, o command.Output) (err error) {
	st, err := store.Open(ctx, s.DB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if _, err := migrate.Apply(ctx, st, migrate.ApplyOptions{Operator: "writers"}); err != nil {
		return err
	}
	if err := migrate.RecordData(ctx, st, migrate.DataStep{Name: "series"}, time.Now()); err != nil {
		return err
	}
	version := "SELECT VERSION()"
	if st.Engine() == "sqlite" {
		version = "SELECT 'SQLite ' || sqlite_version()"
	}
	var name string
	if err := st.DB.QueryRowContext(ctx, version).Scan(&name); err != nil {
		return err
	}
	fmt.Fprintln(o.Out, name)
	if err := countStatements(ctx, s, o.Out); err != nil {
		return err
	}
	return writeTogether(ctx, s, st, o.Out)
}

// counts counts the SQL statements, transactions and errors of a store. failed counts errors by a text with their
// reason and statement.
type counts struct {
	statements, begun, commits atomic.Int64

	mu     sync.Mutex
	failed map[string]int
}

func (c *counts) watch(ctx context.Context, operation, statement string) (context.Context, func(error)) {
	c.statements.Add(1)
	switch operation {
	case "begin":
		c.begun.Add(1)
	case "commit":
		c.commits.Add(1)
	}
	return ctx, func(err error) {
		if err == nil || errors.Is(err, context.Canceled) {
			return
		}
		reason := err.Error()
		if my, ok := errors.AsType[*mysql.MySQLError](err); ok {
			reason = fmt.Sprint("error ", my.Number)
		}
		if words := strings.Fields(statement); len(words) > 3 {
			statement = strings.Join(words[:3], " ")
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.failed == nil {
			c.failed = map[string]int{}
		}
		c.failed[reason+" at "+statement]++
	}
}

// client sends writes to a service of its own, so that several services write to one database.
type client struct {
	*local.Service
	store *store.Store
	counts
}

// dial starts a service on the database and returns its client.
func dial(ctx context.Context, url string) (*client, error) {
	st, err := store.Open(ctx, url)
	if err != nil {
		return nil, err
	}
	c := &client{store: st}
	st.Watch(c.watch)
	if c.Service, err = local.Start(ctx, local.Config{Store: st}); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return c, nil
}

func (c *client) close() error { return errors.Join(c.Close(), c.store.Close()) }

// send sends a request with a JSON body, and returns the id of the record in the reply. A status of 300 or more is an
// error.
func (c *client) send(ctx context.Context, method, path, body string) (id int64, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.API+path, bytes.NewBufferString(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return 0, fmt.Errorf("%s %s: %d %s", method, path, res.StatusCode, data)
	}
	var record struct {
		ID int64 `json:"id"`
	}
	return record.ID, json.Unmarshal(data, &record)
}

const eventDates = `"start_date":"2027-03-05 18:00","end_date":"2027-03-05 20:00"`

// countStatements prints the median number of SQL statements for each kind of write, with a single client.
func countStatements(ctx context.Context, s settings, out io.Writer) (err error) {
	c, err := dial(ctx, s.DB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	venue, err := c.send(ctx, http.MethodPost, "/venues", `{"venue":"Hall"}`)
	if err != nil {
		return err
	}
	created := int64(0)
	n := 0
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, kind := range []struct {
		name  string
		write func() (int64, error)
	}{
		{"POST /venues", func() (int64, error) {
			return c.send(ctx, http.MethodPost, "/venues", fmt.Sprintf(`{"venue":"Hall %d"}`, n))
		}},
		{"POST /events", func() (int64, error) {
			return c.send(ctx, http.MethodPost, "/events", fmt.Sprintf(`{"title":"Concert %d",%s}`, n, eventDates))
		}},
		{"POST /events, with a venue", func() (id int64, err error) {
			created, err = c.send(ctx, http.MethodPost, "/events", fmt.Sprintf(`{"title":"Talk %d",%s,"venue":%d}`, n, eventDates, venue))
			return created, err
		}},
		{"POST /events, a series of 52", func() (int64, error) {
			return c.send(ctx, http.MethodPost, "/events",
				fmt.Sprintf(`{"title":"Class %d",%s,"rrule":"FREQ=WEEKLY;COUNT=52"}`, n, eventDates))
		}},
		{"PATCH /events/{id}, its title", func() (int64, error) {
			return c.send(ctx, http.MethodPatch, fmt.Sprint("/events/", created), fmt.Sprintf(`{"title":"Talk again %d"}`, n))
		}},
		{"DELETE /events/{id}", func() (int64, error) {
			id, err := c.send(ctx, http.MethodPost, "/events", fmt.Sprintf(`{"title":"Gone %d",%s}`, n, eventDates))
			if err != nil {
				return 0, err
			}
			c.statements.Store(0)
			return c.send(ctx, http.MethodDelete, fmt.Sprint("/events/", id), "")
		}},
	} {
		var seen []int64
		for range s.Rounds {
			n++
			c.statements.Store(0)
			if _, err := kind.write(); err != nil {
				return err
			}
			seen = append(seen, c.statements.Load())
		}
		slices.Sort(seen)
		fmt.Fprintf(table, "%s\t%d\tstatements\t\n", kind.name, seen[len(seen)/2])
	}
	return table.Flush()
}

// writeTogether lets clients create events at one venue concurrently while a reader follows the change log. It prints
// counts. It returns an error if changes did not appear in the order of their numbers.
func writeTogether(ctx context.Context, s settings, st *store.Store, out io.Writer) (err error) {
	var clients []*client
	defer func() {
		for _, c := range clients {
			err = errors.Join(err, c.close())
		}
	}()
	for range 2 {
		c, err := dial(ctx, s.DB)
		if err != nil {
			return err
		}
		clients = append(clients, c)
	}
	venue, err := clients[0].send(ctx, http.MethodPost, "/venues", `{"venue":"Shared"}`)
	if err != nil {
		return err
	}
	for _, c := range clients {
		c.begun.Store(0)
		c.commits.Store(0)
		c.statements.Store(0)
	}
	writing, stop := context.WithTimeout(ctx, s.Time)
	defer stop()
	var group sync.WaitGroup
	var written atomic.Int64
	failures := make([]map[string]int, s.Writers)
	for i := range s.Writers {
		c := clients[i%len(clients)]
		failures[i] = map[string]int{}
		group.Go(func() {
			for n := 0; writing.Err() == nil; n++ {
				// A request that has begun is waited for.
				_, err := c.send(ctx, http.MethodPost, "/events",
					fmt.Sprintf(`{"title":"Concert %d of %d",%s,"venue":%d}`, n, i, eventDates, venue))
				if err != nil {
					_, reason, _ := strings.Cut(err.Error(), ": ")
					failures[i][reason]++
					continue
				}
				written.Add(1)
			}
		})
	}
	log := &logReader{store: st}
	following := make(chan error, 1)
	go func() {
		for writing.Err() == nil {
			if err := log.read(ctx); err != nil {
				following <- err
				return
			}
		}
		following <- nil
	}()
	group.Wait()
	if err := errors.Join(<-following, log.read(ctx)); err != nil {
		return err
	}
	var begun, commits, statements int64
	failed := map[string]int{}
	for _, c := range clients {
		begun, commits, statements = begun+c.begun.Load(), commits+c.commits.Load(), statements+c.statements.Load()
		for reason, n := range c.failed {
			failed[reason] += n
		}
	}
	fmt.Fprintf(out, "%d events in %s by %d clients, %d transactions, %d commits, %.1f statements an event\n",
		written.Load(), s.Time, s.Writers, begun, commits, float64(statements)/float64(max(written.Load(), 1)))
	for _, reason := range slices.Sorted(maps.Keys(failed)) {
		fmt.Fprintf(out, "%d times %s\n", failed[reason], reason)
	}
	for _, of := range failures {
		for reason, n := range of {
			fmt.Fprintf(out, "%d requests failed: %s\n", n, reason)
		}
	}
	fmt.Fprintf(out, "the reader asked %d times, and read %d changes up to revision %d: gaps %d, out of order %d\n",
		log.asked, log.changes, log.newest, log.gaps, log.late)
	if log.gaps > 0 || log.late > 0 {
		return errors.New("the change log is not in the order of commits")
	}
	return nil
}

// logReader reads the change log like a client: it requests the changes after the newest one that it has read.
type logReader struct {
	store          *store.Store
	newest         int64
	asked, changes int
	gaps, late     int
}

func (l *logReader) read(ctx context.Context) error {
	l.asked++
	rows, err := l.store.DB.QueryContext(ctx, "SELECT id FROM changes WHERE id > ? ORDER BY id", l.newest)
	if err != nil {
		return err
	}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return errors.Join(err, rows.Close())
		}
		l.changes++
		if id != l.newest+1 {
			l.gaps++
		}
		l.newest = id
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	// A change with a smaller number than one that was read shows only in the number of all.
	var all int64
	if err := l.store.DB.QueryRowContext(ctx, "SELECT COUNT(*) FROM changes WHERE id <= ?", l.newest).Scan(&all); err != nil {
		return err
	}
	if all != int64(l.changes) {
		l.late++
	}
	return nil
}
