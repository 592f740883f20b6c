// Command go lists the next events of an Almanac calendar with a client generated from the interface description.
// With a token it also creates an event, changes it and deletes it.
//
//	go run . -base http://127.0.0.1:8080/cal/events/v1 -token alm_…
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/almanac-cal/almanac/examples/go/almanac"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("go", flag.ContinueOnError)
	base := flags.String("base", "http://127.0.0.1:8080/cal/events/v1", "address of the API")
	token := flags.String("token", os.Getenv("ALMANAC_TOKEN"), "access token; without one nothing is written")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	client, err := almanac.NewClientWithResponses(*base,
		almanac.WithHTTPClient(&http.Client{Timeout: 20 * time.Second}),
		almanac.WithRequestEditorFn(func(_ context.Context, req *http.Request) error {
			if *token != "" {
				req.Header.Set("Authorization", "Bearer "+*token)
			}
			return nil
		}))
	if err != nil {
		return err
	}
	x := example{client: client, out: out}
	if err := x.read(ctx); err != nil {
		return err
	}
	if err := x.meetErrors(ctx); err != nil {
		return err
	}
	if *token == "" {
		fmt.Fprintln(out, "Nothing is written without -token.")
		return nil
	}
	return x.write(ctx)
}

// example contains the client and the output that the parts of the program share.
type example struct {
	client *almanac.ClientWithResponses
	out    io.Writer
}

// failure is an error reply of the service as a Go error. what names the request.
type failure struct {
	what   string
	answer *almanac.Error
}

func (f failure) Error() string {
	return fmt.Sprintf("%s: %d %s: %s", f.what, f.answer.Data.Status, f.answer.Code, f.answer.Message)
}

// refused returns an error for an unexpected reply. e is its decoded body, nil for a reply that has none. what names
// the request.
func refused(what string, status int, e *almanac.Error) error {
	if e == nil {
		return fmt.Errorf("%s: status %d", what, status)
	}
	return failure{what, e}
}

// read lists the events of the next six weeks, page by page, and prints up to five. It then reads the first of them
// by its id.
func (x example) read(ctx context.Context) error {
	var first *almanac.Event
	seen, total := 0, 0
	for page, pages := int64(1), int64(1); page <= pages; page++ {
		res, err := x.client.ListEventsWithResponse(ctx, &almanac.ListEventsParams{
			StartsAfter:  new("now"),
			StartsBefore: new("+6 weeks"),
			PerPage:      new(int64(20)),
			Page:         &page,
			MlLanguage:   new(almanac.ListEventsParamsMlLanguageEn),
		})
		if err != nil {
			return err
		}
		if res.JSON200 == nil {
			return refused("list", res.StatusCode(), res.JSONDefault)
		}
		list := res.JSON200
		if res.Headers200.XTECTotal != list.Total {
			return fmt.Errorf("list: header says %d events, body %d", res.Headers200.XTECTotal, list.Total)
		}
		if first == nil && len(list.Events) > 0 {
			first = &list.Events[0]
		}
		pages, total = int64(list.TotalPages), list.Total
		for _, e := range list.Events {
			if seen++; seen <= 5 {
				// Titles are text that is ready for HTML.
				fmt.Fprintf(x.out, "%s  %s%s\n", e.StartDate[:16], html.UnescapeString(e.Title), place(e))
			}
		}
	}
	fmt.Fprintf(x.out, "%d events within six weeks.\n", total)
	if seen != total {
		return fmt.Errorf("list: %d events on all pages, %d announced", seen, total)
	}
	if first == nil {
		return nil
	}
	res, err := x.client.GetEventWithResponse(ctx, first.ID, nil)
	if err != nil {
		return err
	}
	if res.JSON200 == nil {
		return refused("read", res.StatusCode(), res.JSONDefault)
	}
	if res.JSON200.ID != first.ID || res.JSON200.JSONLd == nil {
		return fmt.Errorf("read: got event %d, want all of %d", res.JSON200.ID, first.ID)
	}
	fmt.Fprintf(x.out, "The first of them: %s\n", res.JSON200.URL)
	return nil
}

// place returns ", " and the name of the first venue, or "" if there is none. In JSON the venue is an object, a list,
// or an empty list.
func place(e almanac.Event) string {
	venues, err := e.Venue.AsEventVenue1()
	if err != nil {
		one, err := e.Venue.AsVenue()
		if err != nil {
			return ""
		}
		venues = []almanac.Venue{one}
	}
	if len(venues) == 0 || venues[0].Venue == nil {
		return ""
	}
	return ", " + html.UnescapeString(*venues[0].Venue)
}

// meetErrors sends requests that the service must refuse: for an unknown event and for page 0. Programs should
// compare the code of an error, since the message is for people.
func (x example) meetErrors(ctx context.Context) error {
	missing, err := x.client.GetEventWithResponse(ctx, 1<<60, nil)
	if err != nil {
		return err
	}
	if e := missing.JSONDefault; missing.StatusCode() != http.StatusNotFound || e == nil || e.Code != "rest-event-not-found" {
		return refused("an unknown event", missing.StatusCode(), e)
	}
	fmt.Fprintf(x.out, "Not found, in Polish too: %s\n", x.inPolish(ctx))

	wrong, err := x.client.ListEventsWithResponse(ctx, &almanac.ListEventsParams{Page: new(int64(0))})
	if err != nil {
		return err
	}
	e := wrong.JSONDefault
	if wrong.StatusCode() != http.StatusBadRequest || e == nil || e.Code != "rest_invalid_param" || e.Data.Details == nil {
		return refused("page 0", wrong.StatusCode(), e)
	}
	details, err := e.Data.Details.AsErrorDataDetails1()
	if err != nil {
		return err
	}
	if details["page"].Code != "rest_out_of_bounds" {
		return refused("page 0", wrong.StatusCode(), e)
	}
	fmt.Fprintf(x.out, "Refused: page: %s\n", details["page"].Message)
	return nil
}

// inPolish returns the message of an error in Polish, or "?" if the request fails.
func (x example) inPolish(ctx context.Context) string {
	res, err := x.client.GetEventWithResponse(ctx, 1<<60, &almanac.GetEventParams{
		MlLanguage: new(almanac.GetEventParamsMlLanguagePl),
	})
	if err != nil || res.JSONDefault == nil {
		return "?"
	}
	return res.JSONDefault.Message
}

// write creates an event, changes its title and end, and moves it to the trash.
func (x example) write(ctx context.Context) (err error) {
	var category almanac.EventCreate_Categories_Item
	if err := category.FromEventCreateCategories1("Example"); err != nil {
		return err
	}
	var cost almanac.EventCreate_Cost
	if err := cost.FromEventCreateCost0("5 €"); err != nil {
		return err
	}
	created, err := x.client.CreateEventWithResponse(ctx, nil, almanac.EventCreate{
		Title: "Go & friends", StartDate: "tomorrow 18:00", EndDate: "tomorrow 20:00", Timezone: new("Europe/Warsaw"),
		Categories: &[]almanac.EventCreate_Categories_Item{category}, Cost: &cost,
	})
	if err != nil {
		return err
	}
	if created.JSON201 == nil {
		return refused("create", created.StatusCode(), created.JSONDefault)
	}
	event := created.JSON201
	// Whatever happens now, nothing stays behind.
	gone := false
	defer func() {
		if !gone {
			_, deleteErr := x.client.DeleteEventWithResponse(context.WithoutCancel(ctx), event.ID, nil)
			err = errors.Join(err, deleteErr)
		}
	}()
	fmt.Fprintf(x.out, "Created %s, %s, %s\n", created.Headers201.Location, event.StartDate, event.Cost)
	if event.Title != "Go &amp; friends" || event.CostDetails.CurrencySymbol != "€" {
		return fmt.Errorf("create: got title %q, cost %q", event.Title, event.Cost)
	}

	// Only what is sent changes; new(v) and not v tells the zero value from what was not sent.
	updated, err := x.client.UpdateEventWithResponse(ctx, event.ID, nil, almanac.EventUpdate{
		Title: new("Go & more friends"), EndDate: new("tomorrow 21:00"), Featured: new(false),
	})
	if err != nil {
		return err
	}
	if updated.JSON200 == nil {
		return refused("update", updated.StatusCode(), updated.JSONDefault)
	}
	if got := updated.JSON200; got.StartDate != event.StartDate || got.EndDate == event.EndDate {
		return fmt.Errorf("update: from %s to %s", got.StartDate, got.EndDate)
	}
	fmt.Fprintf(x.out, "Updated: %s, until %s\n", html.UnescapeString(updated.JSON200.Title), updated.JSON200.EndDate)

	deleted, err := x.client.DeleteEventWithResponse(ctx, event.ID, nil)
	if err != nil {
		return err
	}
	if deleted.JSON200 == nil || deleted.JSON200.Status != almanac.EventStatusTrash {
		return refused("delete", deleted.StatusCode(), deleted.JSONDefault)
	}
	gone = true
	again, err := x.client.DeleteEventWithResponse(ctx, event.ID, nil)
	if err != nil {
		return err
	}
	if again.StatusCode() != http.StatusGone {
		return refused("delete again", again.StatusCode(), again.JSONDefault)
	}
	fmt.Fprintln(x.out, "Deleted: it is in the trash.")
	return nil
}
