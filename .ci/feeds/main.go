// Command feeds writes generated calendars as feeds, and the values that other feed readers must find in them:
//
//	go run ./.ci/feeds FOLDER
//
// NAME.ics has the lines of NAME.tsv: UID, start, end, title, place, description. NAME.atom, .rss and .json
// have those of NAME.items: id, title, link.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/feed"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/seed"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
)

// zones are time zones with different rules: north, south, half hours, no changes, and changes without a yearly
// rule.
var zones = []string{"Europe/Warsaw", "Australia/Lord_Howe", "America/New_York", "Africa/Casablanca", "Asia/Kathmandu"}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./.ci/feeds FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1], time.Now().UTC().Truncate(time.Second)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(folder string, now time.Time) (err error) {
	words, err := locale.Load()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for i, name := range scenario.Scenarios {
		for j, language := range calendar.Languages {
			zone, err := calendar.ParseZone(zones[(i+j)%len(zones)])
			if err != nil {
				return err
			}
			languages := slices.Concat([]calendar.Language{language}, slices.DeleteFunc(slices.Clone(calendar.Languages),
				func(l calendar.Language) bool { return l == language }))
			c, err := scenario.New(scenario.Options{
				Scenario: name, Seed: uint64(i), Events: 60, From: calendar.WallOf(now).StartOfDay(), Now: now, Zone: zone,
				Languages: languages, Nasty: (i+j)%2 == 0,
			})
			if err != nil {
				return err
			}
			f := &feed.Feed{
				Name: name, Language: language, Zone: zone, Words: words, Year: now.Year(),
				Self: "https://a.example/feed", Page: "https://a.example/",
			}
			if err := write(root, name+"-"+string(language), f, c); err != nil {
				return err
			}
		}
	}
	return nil
}

func write(root *os.Root, name string, f *feed.Feed, c *scenario.Calendar) error {
	var file bytes.Buffer
	if err := seed.ICS(&file, c); err != nil {
		return err
	}
	var lines, items []string
	var entries []feed.Entry
	for i := range c.Len() {
		v := c.Event(i)
		if v.Status != calendar.Publish || v.Password != "" {
			continue
		}
		lines = append(lines, strings.Join(fields(f, c, &v), "\t"))
		e := feed.Entry{
			ID: int64(i), UID: v.SourceID, Stamp: v.Published, Created: v.Published, Start: v.Span.StartsAt(), End: v.Span.EndsAt(),
			StartWall: v.Span.Start, EndWall: v.Span.End, Zone: v.Span.Zone, AllDay: v.Span.AllDay,
			Title: v.Title[f.Language], Description: v.Description[f.Language], Excerpt: v.Excerpt[f.Language],
			URL: fmt.Sprintf("https://a.example/event/%d/", i), Withdrawn: i%20 == 7,
		}
		entries = append(entries, e)
		if !e.Withdrawn {
			items = append(items, strings.Join([]string{"urn:uuid:" + e.UID, oneLine(e.Title), e.URL}, "\t"))
		}
	}
	for suffix, data := range map[string][]byte{
		".ics": file.Bytes(), ".tsv": sortedLines(lines), ".items": sortedLines(items), ".atom": f.Atom(entries), ".rss": f.RSS(entries), ".json": f.JSON(entries),
	} {
		if err := root.WriteFile(name+suffix, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// fields returns the values of an event that each reader of its iCalendar file must find.
func fields(f *feed.Feed, c *scenario.Calendar, v *scenario.Event) []string {
	start, end := v.Span.StartsAt().Format(time.RFC3339), v.Span.EndsAt().Format(time.RFC3339)
	if v.Span.AllDay {
		start, end = v.Span.Start.Format(time.DateOnly), v.Span.End.AddDate(0, 0, 1).Format(time.DateOnly)
	}
	title := v.Title[f.Language]
	if v.EventStatus == calendar.Canceled {
		title = f.Words.Message(f.Language, "feed-canceled", nil) + ": " + title
	}
	place := ""
	if len(v.Venues) > 0 {
		p := c.Venues()[v.Venues[0]]
		parts := []string{p.Name[f.Language], p.Address, strings.TrimSpace(p.Zip + " " + p.City), p.Country}
		place = strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
	}
	text := []string{markup.Lines(v.Description[f.Language], 8000), v.Website}
	description := strings.Join(slices.DeleteFunc(text, func(s string) bool { return s == "" }), "\n\n")
	return []string{v.SourceID + "@almanac.example", start, end, oneLine(title), oneLine(place), oneLine(description)}
}

func oneLine(s string) string { return strings.NewReplacer("\n", `\n`, "\t", " ").Replace(s) }

func sortedLines(lines []string) []byte {
	slices.Sort(lines)
	return []byte(strings.Join(lines, "\n") + "\n")
}
