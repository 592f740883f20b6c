package importer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// Reader reads calendars from URLs and files. Only its Site must be set.
type Reader struct {
	// Site has the zone of events without one, and the currency format for parsing prices.
	Site calendar.Site
	// Language is the language to request from services whose URL does not select one. "" means any.
	Language calendar.Language
	// Rate is the maximum number of requests per second. 0 means defaultRate.
	Rate float64
	// Progress is called with the number of events read and the total, which is 0 if unknown. Nil disables it.
	Progress func(read, total int)
	// Retry is called before each retry with its reason and delay. Nil disables it.
	Retry func(err error, wait time.Duration)
	// Tables has the options for tables, such as CSV files.
	Tables Tables

	firstWait time.Duration // delay before the first retry; 0 means the default of the backoff package
}

// Read reads a calendar from a source, which is an address or a file name. The source is an iCalendar file, a table or
// a list of events. Read follows next_rest_url through the pages of an address. If a page after the first fails, Read
// adds a Problem and returns the records of the earlier pages. It returns an error if it read nothing, ctx ended, or
// the dates of a recurring event are invalid.
func (r *Reader) Read(ctx context.Context, source string) (cal *Calendar, err error) {
	if isURL(source) {
		cal, err = r.readURL(ctx, source)
	} else {
		cal, err = r.readFile(source)
	}
	if err == nil {
		err = cal.joinDates()
	}
	return cal, err
}

// maxPages and the other constants limit what a Reader requests and reads.
const (
	maxBody     = 32 << 20         // bytes of a reply from an address or of a table; other files have no such limit
	maxPages    = 10_000           // pages of one list
	maxTries    = 6                // tries of one request
	maxWait     = 2 * time.Minute  // maximum delay that a service may request before a retry
	requestTime = 60 * time.Second // time limit of one try
	maxDepth    = 50               // levels of parent categories to read
)

// defaultRate is the default number of requests per second to a service.
const defaultRate = 2

// errUnknownFormat is the error for a file that is not a calendar, table or page of events.
var errUnknownFormat = errors.New("neither a calendar file (iCalendar) with an event, nor a page of events of the REST API (JSON), nor a " +
	"table (CSV) with titles and starts of events")

func (r *Reader) readFile(name string) (cal *Calendar, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in := bufio.NewReaderSize(f, maxICalStart)
	// Peek returns the whole of a short file together with io.EOF.
	start, err := in.Peek(maxICalStart)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if isICal(start) {
		data, err := io.ReadAll(in)
		if err == nil {
			cal, err = decodeICal(data, r.icalSite())
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return cal, nil
	}
	if text := bytes.TrimSpace(bytes.TrimPrefix(start, byteOrderMark)); len(text) > 0 && text[0] != '{' {
		data, err := readLimited(in)
		if err == nil {
			cal, err = r.readTable(data)
		}
		if errors.Is(err, errNoTable) {
			err = errUnknownFormat
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return cal, nil
	}
	if bytes.HasPrefix(start, byteOrderMark) {
		if _, err := in.Discard(len(byteOrderMark)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if start = bytes.TrimSpace(bytes.TrimPrefix(start, byteOrderMark)); len(start) == 0 || start[0] != '{' {
		return nil, fmt.Errorf("%s: %w", name, errUnknownFormat)
	}
	page, err := decodePage(in, 1, r.Site)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	cal = &Calendar{}
	cal.add(page)
	if page.Next != "" {
		cal.Notices = append(cal.Notices, fmt.Sprintf(
			"%s is one page of several; import its address instead of the file to get all of them", name))
	}
	return cal, nil
}

// icalSite returns the site with the language in which the source is read, for decodeICal.
func (r *Reader) icalSite() calendar.Site {
	site := r.Site
	if r.Language != "" {
		site.Language = r.Language
	}
	return site
}

var errTooLarge = fmt.Errorf("over %d MiB", maxBody>>20)

func readLimited(from io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxBody {
		return nil, errTooLarge
	}
	return data, nil
}
