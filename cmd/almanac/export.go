package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/wholefile"
	"github.com/almanac-cal/almanac/server"
)

// exportCmd writes all public records of one kind to a file.
type exportCmd struct {
	File    string `arg:"" optional:"" default:"-" placeholder:"FILE" help:"File to write, such as events.ics, events.csv or events.json. Default standard output."`
	Format  string `default:"" placeholder:"FORMAT" enum:",ics,csv,json" help:"Format: ics, csv or json. Default that of the file's name, else ics."`
	Records string `default:"events" placeholder:"KIND" enum:"events,venues,organizers,categories,tags" help:"Records to write: events, venues, organizers, categories or tags. Default ${default}."`
	Force   bool   `help:"Replace an existing file."`
	BaseURL string `default:"http://127.0.0.1:8080" placeholder:"URL" help:"Public URL of the REST root, for the links in the file. Default ${default}."`

	database  `group:"Database:"`
	siteFlags `group:"Site:"`
}

// Run writes the records that visitors see. It reads them page by page, so memory does not grow with the calendar.
func (c exportCmd) Run(ctx context.Context, s streams) error {
	format, err := c.format()
	if err != nil {
		return usageError{err}
	}
	source, err := c.source()
	if err != nil {
		return err
	}
	if c.File != "-" && !c.Force {
		if _, err := os.Lstat(c.File); err == nil {
			return fmt.Errorf("%s: %w; replace it with --force", c.File, store.ErrExists)
		} else if !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return c.withCurrentReadOnly(ctx, func(st *store.Store) error {
		_, site, err := source.load(ctx, st.Ent)
		if err != nil {
			return err
		}
		site.BaseURL = strings.TrimRight(c.BaseURL, "/")
		before, err := edit.Revision(ctx, st.Ent)
		if err != nil {
			return err
		}
		var written int
		err = writeOutput(s, c.File, "", func(out io.Writer) (err error) {
			written, err = exportRecords(ctx, out, st, site, c.Records, format)
			return err
		})
		if err != nil {
			return err
		}
		after, err := edit.Revision(ctx, st.Ent)
		if err != nil {
			return err
		}
		if after != before {
			fmt.Fprintln(s.Err, "almanac: warning: the calendar changed during the export, so records may be missing or repeated; export it again")
		}
		fmt.Fprintf(s.Err, "exported %d %s\n", written, c.Records)
		return nil
	})
}

// format returns the format of the file: that of the flag, else that of the file's name. For standard output it
// is iCalendar for events, and CSV for other records.
func (c exportCmd) format() (string, error) {
	format := c.Format
	if format == "" {
		switch ext := strings.ToLower(filepath.Ext(c.File)); {
		case ext == ".ics" || ext == ".csv" || ext == ".json":
			format = ext[1:]
		case c.File != "-":
			return "", fmt.Errorf("%s: want a name that ends in .ics, .csv or .json, or --format", c.File)
		case c.Records == "events":
			format = "ics"
		default:
			format = "csv"
		}
	}
	if format == "ics" && c.Records != "events" {
		return "", fmt.Errorf("%s cannot be iCalendar; want --format csv or json", c.Records)
	}
	return format, nil
}

// writeOutput runs do with standard output if file is "-". Otherwise do writes a file, which replaces an existing one
// only when it is complete. Errors of the file mention flag, unless it is "".
func writeOutput(s streams, file, flag string, do func(io.Writer) error) error {
	if file == "-" {
		return do(s.Out)
	}
	var failed error
	err := wholefile.Write(file, func(out io.Writer) error {
		failed = do(out)
		return failed
	})
	if err != nil && failed == nil && flag != "" {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return err
}

// exportSizes has the number of records in each request, by format. In JSON the API allows no more.
var exportSizes = map[string]int{"json": 50, "csv": 500, "ics": 500}

// exportWindow is a query that selects events of all years. It leaves out a day at each end, because the limits
// of the API are in UTC.
const exportWindow = "?start_date=1000-01-02&end_date=9999-12-30"

// exportRecords requests all public records of a kind from the API, and writes the pages as one file. It returns the
// number of records.
func exportRecords(
	ctx context.Context, out io.Writer, st *store.Store, site calendar.Site, records, format string,
) (total int, err error) {
	srv, err := newInnerServer(ctx, st, site, nil)
	if err != nil {
		return 0, err
	}
	e := &exporter{out: bufio.NewWriter(out), records: records, zones: make(map[string]bool)}
	e.list = site.BaseURL + "/" + handlers.Namespace + "/" + records
	address, add := e.list, e.addJSON
	switch format {
	case "ics":
		address, add = site.BaseURL+"/events.ics", e.addCalendar
	case "csv":
		add = e.addTable
	}
	e.window = "?hide_empty=0"
	if records == "events" {
		e.window = exportWindow
	}
	query := fmt.Sprintf("%s&per_page=%d", e.window, exportSizes[format])
	if format == "csv" {
		query += "&format=csv"
	}
	for page, pages := 1, 1; page <= pages; page++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		pages, err = e.page(ctx, srv, fmt.Sprintf("%s%s&page=%d", address, query, page), page, add)
		if err != nil {
			return 0, fmt.Errorf("page %d: %w", page, err)
		}
	}
	switch format {
	case "json":
		e.write("\n]}\n")
	case "ics":
		e.write("END:VCALENDAR\r\n")
	}
	return e.total, e.out.Flush()
}

// exporter writes the pages of a list as one file.
type exporter struct {
	out     *bufio.Writer
	list    string // address of the list in the API
	window  string // query of the list without paging
	records string
	total   int
	zones   map[string]bool // VTIMEZONE components that are written
}

// write adds a text to the file. The writer out keeps an error, and its method Flush returns it.
func (e *exporter) write(text string) {
	_, _ = e.out.WriteString(text)
}

// page requests one page of the list and passes its body to add. It returns the number of pages of the list.
func (e *exporter) page(ctx context.Context, srv *server.Server, address string, page int, add func(int, []byte) error) (pages int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	res, err := srv.App().Test(req, -1)
	if err != nil {
		return 0, err
	}
	body, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return 0, err
	}
	if res.StatusCode != http.StatusOK {
		var reply struct {
			Code string `json:"code"`
		}
		return 0, errors.Join(fmt.Errorf("status %d", res.StatusCode), json.Unmarshal(body, &reply), errors.New(reply.Code))
	}
	if e.total, err = strconv.Atoi(res.Header.Get("X-Tec-Total")); err != nil {
		return 0, err
	}
	if pages, err = strconv.Atoi(res.Header.Get("X-Tec-Totalpages")); err != nil {
		return 0, err
	}
	return pages, add(page, body)
}

// addJSON adds the records of a page of JSON.
func (e *exporter) addJSON(page int, body []byte) error {
	var reply map[string]json.RawMessage
	if err := json.Unmarshal(body, &reply); err != nil {
		return err
	}
	var items []json.RawMessage
	if err := json.Unmarshal(reply[e.records], &items); err != nil {
		return err
	}
	if page == 1 {
		e.write(fmt.Sprintf(`{"rest_url":%q,"total":%d,"total_pages":1,%q:[`, e.list+"/"+e.window, e.total, e.records))
	}
	for i, item := range items {
		if page > 1 || i > 0 {
			e.write(",")
		}
		e.write("\n" + string(item))
	}
	return nil
}

// addTable adds the lines of a CSV page. It leaves out the headings of later pages, which are the first line.
func (e *exporter) addTable(page int, body []byte) error {
	if page > 1 {
		_, body, _ = bytes.Cut(body, []byte("\n"))
	}
	e.write(string(body))
	return nil
}

// addCalendar adds the components of an iCalendar file. The properties of the calendar come from the first page, and
// each time zone from the first page that has it.
func (e *exporter) addCalendar(page int, body []byte) error {
	const zone, zoneEnd = "BEGIN:VTIMEZONE\r\n", "END:VTIMEZONE\r\n"
	text, whole := strings.CutSuffix(string(body), "END:VCALENDAR\r\n")
	if !whole {
		return errors.New("the feed ends early")
	}
	// Within a value, folding and escaping never leave a line that begins like this.
	head := min(indexOrEnd(text, "\r\n"+zone), indexOrEnd(text, "\r\nBEGIN:VEVENT\r\n"))
	head = min(head+2, len(text))
	if page == 1 {
		for line := range strings.SplitAfterSeq(text[:head], "\r\n") {
			// A file does not refresh itself, unlike the feed.
			if !strings.HasPrefix(line, "REFRESH-INTERVAL") && !strings.HasPrefix(line, "X-PUBLISHED-TTL") {
				e.write(line)
			}
		}
	}
	text = text[head:]
	for strings.HasPrefix(text, zone) {
		end := strings.Index(text, "\r\n"+zoneEnd)
		if end < 0 {
			return errors.New("a time zone has no end")
		}
		end += len("\r\n" + zoneEnd)
		if block := text[:end]; !e.zones[block] {
			e.zones[block] = true
			e.write(block)
		}
		text = text[end:]
	}
	e.write(text)
	return nil
}

// indexOrEnd returns the index of part in text, or the length of text if part does not occur.
func indexOrEnd(text, part string) int {
	if at := strings.Index(text, part); at >= 0 {
		return at
	}
	return len(text)
}
