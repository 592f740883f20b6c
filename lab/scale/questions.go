package main

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/almanac-cal/almanac/lab/fill"
)

// aim is what is wanted of a question.
type aim int

const (
	none   aim = iota
	flat       // p50 does not grow with the calendar
	growth     // p50 grows at most threefold from 10k to 1m
	found      // p95 at most ten times the p50 of the default list
)

// question is something a client asks. With several paths they are asked in turn.
type question struct {
	name    string
	aim     aim
	paths   func(*facts) []string
	admin   bool // asked by an administrator
	clients bool // also asked by several clients at once
	from    size // the smallest calendar for which it makes sense
}

// listed is the path of a list with a query.
func listed(collection string, pairs ...string) string {
	var b strings.Builder
	b.WriteString("/" + collection)
	for i := 0; i < len(pairs); i += 2 {
		b.WriteByte("?&"[min(i, 1)])
		b.WriteString(pairs[i] + "=" + url.QueryEscape(pairs[i+1]))
	}
	return b.String()
}

// same is a question that is asked with one path.
func same(collection string, pairs ...string) func(*facts) []string {
	return func(*facts) []string { return []string{listed(collection, pairs...)} }
}

// of makes a path from each of some values.
func of[T any](values []T, path func(T) string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = path(v)
	}
	return out
}

// days makes a path for each of forty days, two weeks apart.
func (f *facts) days(path func(day, week string) string) []string {
	var out []string
	for i := range 40 {
		day := f.now.AddDate(0, 0, 14*i)
		out = append(out, path(day.Format("2006-01-02"), day.AddDate(0, 0, 6).Format("2006-01-02")))
	}
	return out
}

// dated asks for one date filter at a time.
func dated(parameter string) func(*facts) []string {
	return func(f *facts) []string {
		return f.days(func(day, _ string) string { return listed("events", parameter, day) })
	}
}

// words asks for words of the ranks from first on.
func words(first int) func(*facts) []string {
	return func(*facts) []string {
		var out []string
		for i := range samples {
			out = append(out, listed("events", "search", fill.Word(first+i)))
		}
		return out
	}
}

// page is that one of the default list, or the last there is.
func page(n int) func(*facts) []string {
	return func(f *facts) []string {
		var out []string
		for i := range 10 {
			out = append(out, listed("events", "per_page", "10", "page", fmt.Sprint(max(min(n, f.pages)-i, 1))))
		}
		return out
	}
}

// near asks around the cities.
func near(kilometres string, more ...string) func(*facts) []string {
	return func(*facts) []string {
		var out []string
		for i := range 12 {
			latitude, longitude := fill.Centre(i)
			out = append(out, listed("events", append([]string{
				"geoloc_lat", fmt.Sprint(latitude), "geoloc_lng", fmt.Sprint(longitude), "geoloc_radius", kilometres,
			}, more...)...))
		}
		return out
	}
}

// either asks for the one of two extremes.
func either(parameter string, which func(*facts) string) func(*facts) []string {
	return func(f *facts) []string { return []string{listed("events", parameter, which(f))} }
}

// questions is all that is measured, in the order of the table.
func questions() []question {
	list := []question{
		{name: "default list", aim: flat, paths: same("events"), clients: true},
		{name: "default list in Polish", aim: flat, paths: same("events", "ml_language", "pl")},
		{name: "50 a page", aim: growth, paths: same("events", "per_page", "50")},
		{name: "page 1,000, or the last", aim: growth, paths: page(1000), clients: true},
		{name: "page 10,000", aim: growth, paths: page(10_000), from: 1_000_000},
	}
	filters := []question{
		{name: "start_date, end_date", paths: func(f *facts) []string {
			return f.days(func(day, week string) string { return listed("events", "start_date", day, "end_date", week) })
		}},
		{name: "… with strict_dates", paths: func(f *facts) []string {
			return f.days(func(day, week string) string {
				return listed("events", "start_date", day+" 18:00", "end_date", week+" 23:00", "strict_dates", "true")
			})
		}},
		{name: "starts_before", paths: dated("starts_before")},
		{name: "starts_after", paths: dated("starts_after")},
		{name: "ends_before", paths: dated("ends_before")},
		{name: "ends_after", paths: dated("ends_after")},
		{
			name: "categories, popular", clients: true,
			paths: either("categories", func(f *facts) string { return f.categories.popular }),
		},
		{name: "categories, rare", paths: either("categories", func(f *facts) string { return f.categories.rare })},
		{name: "tags, popular", paths: either("tags", func(f *facts) string { return f.tags.popular })},
		{name: "tags, rare", paths: either("tags", func(f *facts) string { return f.tags.rare })},
		{name: "venue, popular", paths: either("venue", func(f *facts) string { return f.venues.popular })},
		{name: "venue, rare", paths: either("venue", func(f *facts) string { return f.venues.rare })},
		{name: "organizer, popular", paths: either("organizer", func(f *facts) string { return f.organizers.popular })},
		{name: "organizer, rare", paths: either("organizer", func(f *facts) string { return f.organizers.rare })},
		{name: "featured", paths: same("events", "featured", "true")},
		{name: "ticketed", paths: same("events", "ticketed", "true")},
		{name: "geoloc", paths: same("events", "geoloc", "true")},
		{name: "geoloc=false", paths: same("events", "geoloc", "false")},
		{name: "within 25 km", paths: near("25"), clients: true},
		{name: "within 500 km", paths: near("500")},
		{name: "include of 20", paths: func(f *facts) []string {
			ids := of(f.events[:min(20, len(f.events))], func(e eventName) string { return fmt.Sprint(e.id) })
			return []string{listed("events", "include", strings.Join(ids, ","))}
		}},
		{name: "post_parent", paths: func(f *facts) []string {
			return of(f.parents, func(id int64) string { return listed("events", "post_parent", fmt.Sprint(id)) })
		}},
		{name: "series=next", paths: same("events", "series", "next")},
		{name: "series=next, 50 a page of a week", paths: func(f *facts) []string {
			return f.days(func(day, week string) string {
				return listed("events", "start_date", day, "end_date", week, "per_page", "50", "series", "next")
			})
		}},
		{name: "series=none", paths: same("events", "series", "none")},
		{name: "series of an id", paths: func(f *facts) []string {
			if f.series == nil {
				return []string{listed("events", "series", "none")}
			}
			return of(f.series, func(id int64) string { return listed("events", "series", fmt.Sprint(id)) })
		}},
		{name: "status, as administrator", admin: true, paths: func(*facts) []string {
			return of([]string{"draft", "pending", "private", "future", "draft,pending", "publish,future"},
				func(s string) string { return listed("events", "status", s) })
		}},
	}
	for i := range filters {
		filters[i].aim = growth
	}
	return append(append(append(list, filters...), combinations()...), others()...)
}

// combinations are the worst that hunting found. What they have in common are texts that have to be compared, because
// the index knows words and not what stands beside what.
func combinations() []question {
	phrase := func(i int) string { return `"` + fill.Word(i%20) + " " + fill.Word((i+7)%20) + `"` }
	fragment := func(i int) string { return string([]rune(fill.Word(20 + i))[1:4]) }
	each := func(path func(f *facts, i int) string) func(*facts) []string {
		return func(f *facts) []string {
			var out []string
			for i := range 10 {
				out = append(out, path(f, i))
			}
			return out
		}
	}
	return []question{
		{name: "fragment without phrase, in Polish", aim: found, paths: each(func(_ *facts, i int) string {
			return listed("events", "search", fragment(i)+" -"+phrase(i), "ml_language", "pl")
		})},
		{name: "phrase, ticketed=false, 50 a page", aim: found, paths: each(func(_ *facts, i int) string {
			return listed("events", "search", phrase(i), "ticketed", "false", "per_page", "50")
		})},
		{name: "fragment without phrase, category, starts_before", aim: found, paths: each(func(f *facts, i int) string {
			return listed("events", "search", fragment(i)+" -"+phrase(i), "categories", f.categories.popular,
				"starts_before", f.now.AddDate(2, 0, 0).Format("2006-01-02"))
		})},
		{name: "phrase within 464 km", aim: found, paths: each(func(_ *facts, i int) string {
			latitude, longitude := fill.Centre(i)
			return listed("events", "search", phrase(i), "geoloc_lat", fmt.Sprint(latitude),
				"geoloc_lng", fmt.Sprint(longitude), "geoloc_radius", "464")
		})},
		{name: "without rare word, organizer, ends_before, Polish", aim: found, paths: each(func(f *facts, i int) string {
			return listed("events", "search", "-"+fill.Word(20_000+i), "organizer", f.organizers.popular,
				"ends_before", f.now.AddDate(1, 0, 0).Format("2006-01-02"), "ml_language", "pl", "per_page", "50")
		})},
	}
}

// others are the searches, the other lists and the single records.
func others() []question {
	return []question{
		{name: "search: frequent word", aim: found, paths: words(20), clients: true},
		{name: "search: rare word", aim: found, paths: words(20_000)},
		{name: "search: absent word", aim: found, paths: func(*facts) []string {
			var out []string
			for i := range samples {
				out = append(out, listed("events", "search", fmt.Sprintf("q%cxq%c", 'a'+i%26, 'a'+i/26)))
			}
			return out
		}},
		{name: "search: fragment in words", aim: found, paths: func(f *facts) []string {
			return of(f.fragments, func(s string) string { return listed("events", "search", s) })
		}},
		{name: "search: phrase", aim: found, paths: func(f *facts) []string {
			return of(f.phrases, func(s string) string { return listed("events", "search", `"`+s+`"`) })
		}},
		{name: "search: phrase of frequent words", aim: found, paths: func(*facts) []string {
			var out []string
			for i := range 10 {
				out = append(out, listed("events", "search", `"`+fill.Word(10+i)+" "+fill.Word(i)+`"`))
			}
			return out
		}},
		{name: "search: frequent without another", aim: found, paths: func(*facts) []string {
			var out []string
			for i := range samples {
				out = append(out, listed("events", "search", fill.Word(20+i)+" -"+fill.Word(60+i)))
			}
			return out
		}},
		{name: "search: two letters", paths: func(f *facts) []string {
			return of(f.fragments, func(s string) string { return listed("events", "search", string([]rune(s)[:2])) })
		}},
		{name: "venues", aim: growth, paths: same("venues")},
		{name: "venues, has_events", aim: growth, paths: same("venues", "has_events", "true")},
		{name: "venues, has_events=false", aim: growth, paths: same("venues", "has_events", "false")},
		{name: "venues, only_with_upcoming", aim: growth, paths: same("venues", "only_with_upcoming", "true")},
		{name: "venues, search", aim: growth, paths: func(*facts) []string {
			var out []string
			for i := range samples {
				out = append(out, listed("venues", "search", fill.Word(20+i)))
			}
			return out
		}},
		{name: "organizers", aim: growth, paths: same("organizers")},
		{name: "organizers, has_events", aim: growth, paths: same("organizers", "has_events", "true")},
		{name: "organizers, only_with_upcoming", aim: growth, paths: same("organizers", "only_with_upcoming", "true")},
		{name: "categories with counts", aim: growth, paths: same("categories")},
		{name: "categories by count", aim: growth, paths: same("categories", "orderby", "count", "order", "desc")},
		{name: "tags with counts", aim: growth, paths: same("tags", "per_page", "50"), clients: true},
		{name: "tags by count", aim: growth, paths: same("tags", "orderby", "count", "order", "desc")},
		{name: "tags, search", aim: growth, paths: func(*facts) []string {
			var out []string
			for i := range samples {
				out = append(out, listed("tags", "search", string([]rune(fill.Word(200 + i))[:3])))
			}
			return out
		}},
		{name: "one event, by id", aim: flat, clients: true, paths: func(f *facts) []string {
			return of(f.events, func(e eventName) string { return fmt.Sprintf("/events/%d", e.id) })
		}},
		{name: "one event, by slug", aim: flat, paths: func(f *facts) []string {
			return of(f.events, func(e eventName) string { return "/events/by-slug/" + url.PathEscape(e.slug) })
		}},
		{name: "one venue, by id", aim: flat, paths: func(f *facts) []string {
			return of(f.venueIDs, func(id int64) string { return fmt.Sprintf("/venues/%d", id) })
		}},
	}
}
