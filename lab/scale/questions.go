package main

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/almanac-cal/almanac/lab/fill"
)

// aim is the limit that a question's latency, or its growth with the calendar, should keep.
type aim int

const (
	noAim     aim = iota
	flatAim       // p50 does not grow with the calendar
	growthAim     // p50 grows at most threefold from 10k to 1m
	searchAim     // p95 at most ten times the p50 of the default list
)

// question is a kind of request to measure. Its paths are requested in turn.
type question struct {
	name    string
	aim     aim
	paths   func(*facts) []string
	admin   bool // requests are an administrator's
	clients bool // throughput is measured too, with several clients
	from    size // the smallest calendar for which it makes sense
}

// listPath returns the path of a list with a query. pairs are names and values in turn.
func listPath(collection string, pairs ...string) string {
	var b strings.Builder
	b.WriteString("/" + collection)
	for i := 0; i < len(pairs); i += 2 {
		b.WriteByte("?&"[min(i, 1)])
		b.WriteString(pairs[i] + "=" + url.QueryEscape(pairs[i+1]))
	}
	return b.String()
}

// singlePath returns a function for question.paths that returns one path: a list with a query.
func singlePath(collection string, pairs ...string) func(*facts) []string {
	return func(*facts) []string { return []string{listPath(collection, pairs...)} }
}

// pathsOf calls path for each value and returns the paths.
func pathsOf[T any](values []T, path func(T) string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = path(v)
	}
	return out
}

// days calls path for forty days that are two weeks apart, from now on, and returns the results. week is the last day
// of the week that begins on day.
func (f *facts) days(path func(day, week string) string) []string {
	var out []string
	for i := range 40 {
		day := f.now.AddDate(0, 0, 14*i)
		out = append(out, path(day.Format("2006-01-02"), day.AddDate(0, 0, 6).Format("2006-01-02")))
	}
	return out
}

// datePaths returns a function for question.paths that returns lists with one date filter.
func datePaths(parameter string) func(*facts) []string {
	return func(f *facts) []string {
		return f.days(func(day, _ string) string { return listPath("events", parameter, day) })
	}
}

// wordPaths returns a function for question.paths that returns searches for single words. first is the rank by
// frequency of the first word.
func wordPaths(first int) func(*facts) []string {
	return func(*facts) []string {
		var out []string
		for i := range samples {
			out = append(out, listPath("events", "search", fill.Word(first+i)))
		}
		return out
	}
}

// pagePaths returns a function for question.paths. It returns the n-th page of the default list and the nine pages
// before it. If there are fewer pages, it starts from the last one.
func pagePaths(n int) func(*facts) []string {
	return func(f *facts) []string {
		var out []string
		for i := range 10 {
			out = append(out, listPath("events", "per_page", "10", "page", fmt.Sprint(max(min(n, f.pages)-i, 1))))
		}
		return out
	}
}

// nearPaths returns a function for question.paths that returns lists of events within a radius around cities. more
// are further names and values.
func nearPaths(kilometres string, more ...string) func(*facts) []string {
	return func(*facts) []string {
		var out []string
		for i := range 12 {
			latitude, longitude := fill.Centre(i)
			out = append(out, listPath("events", append([]string{
				"geoloc_lat", fmt.Sprint(latitude), "geoloc_lng", fmt.Sprint(longitude), "geoloc_radius", kilometres,
			}, more...)...))
		}
		return out
	}
}

// extremePaths returns a function for question.paths that returns one list with a filter. which selects the most or
// least frequent value.
func extremePaths(parameter string, which func(*facts) string) func(*facts) []string {
	return func(f *facts) []string { return []string{listPath("events", parameter, which(f))} }
}

// questions returns all questions in the order in which tables show them.
func questions() []question {
	list := []question{
		{name: "default list", aim: flatAim, paths: singlePath("events"), clients: true},
		{name: "default list in Polish", aim: flatAim, paths: singlePath("events", "ml_language", "pl")},
		{name: "50 a page", aim: growthAim, paths: singlePath("events", "per_page", "50")},
		{name: "page 1,000, or the last", aim: growthAim, paths: pagePaths(1000), clients: true},
		{name: "page 10,000", aim: growthAim, paths: pagePaths(10_000), from: 1_000_000},
	}
	filters := []question{
		{name: "start_date, end_date", paths: func(f *facts) []string {
			return f.days(func(day, week string) string { return listPath("events", "start_date", day, "end_date", week) })
		}},
		{name: "… with strict_dates", paths: func(f *facts) []string {
			return f.days(func(day, week string) string {
				return listPath("events", "start_date", day+" 18:00", "end_date", week+" 23:00", "strict_dates", "true")
			})
		}},
		{name: "starts_before", paths: datePaths("starts_before")},
		{name: "starts_after", paths: datePaths("starts_after")},
		{name: "ends_before", paths: datePaths("ends_before")},
		{name: "ends_after", paths: datePaths("ends_after")},
		{
			name: "categories, popular", clients: true,
			paths: extremePaths("categories", func(f *facts) string { return f.categories.popular }),
		},
		{name: "categories, rare", paths: extremePaths("categories", func(f *facts) string { return f.categories.rare })},
		{name: "tags, popular", paths: extremePaths("tags", func(f *facts) string { return f.tags.popular })},
		{name: "tags, rare", paths: extremePaths("tags", func(f *facts) string { return f.tags.rare })},
		{name: "venue, popular", paths: extremePaths("venue", func(f *facts) string { return f.venues.popular })},
		{name: "venue, rare", paths: extremePaths("venue", func(f *facts) string { return f.venues.rare })},
		{name: "organizer, popular", paths: extremePaths("organizer", func(f *facts) string { return f.organizers.popular })},
		{name: "organizer, rare", paths: extremePaths("organizer", func(f *facts) string { return f.organizers.rare })},
		{name: "featured", paths: singlePath("events", "featured", "true")},
		{name: "ticketed", paths: singlePath("events", "ticketed", "true")},
		{name: "geoloc", paths: singlePath("events", "geoloc", "true")},
		{name: "geoloc=false", paths: singlePath("events", "geoloc", "false")},
		{name: "within 25 km", paths: nearPaths("25"), clients: true},
		{name: "within 500 km", paths: nearPaths("500")},
		{name: "include of 20", paths: func(f *facts) []string {
			ids := pathsOf(f.events[:min(20, len(f.events))], func(e eventName) string { return fmt.Sprint(e.id) })
			return []string{listPath("events", "include", strings.Join(ids, ","))}
		}},
		{name: "post_parent", paths: func(f *facts) []string {
			return pathsOf(f.parents, func(id int64) string { return listPath("events", "post_parent", fmt.Sprint(id)) })
		}},
		{name: "series=next", paths: singlePath("events", "series", "next")},
		{name: "series=next, 50 a page of a week", paths: func(f *facts) []string {
			return f.days(func(day, week string) string {
				return listPath("events", "start_date", day, "end_date", week, "per_page", "50", "series", "next")
			})
		}},
		{name: "series=none", paths: singlePath("events", "series", "none")},
		{name: "series of an id", paths: func(f *facts) []string {
			if f.series == nil {
				return []string{listPath("events", "series", "none")}
			}
			return pathsOf(f.series, func(id int64) string { return listPath("events", "series", fmt.Sprint(id)) })
		}},
		{name: "status, as administrator", admin: true, paths: func(*facts) []string {
			return pathsOf([]string{"draft", "pending", "private", "future", "draft,pending", "publish,future"},
				func(s string) string { return listPath("events", "status", s) })
		}},
	}
	for i := range filters {
		filters[i].aim = growthAim
	}
	return append(append(append(list, filters...), combinations()...), otherQuestions()...)
}

// combinations returns the slowest known combinations of filters. They make the database compare texts, because the
// index in memory contains words but not their neighbours.
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
		{name: "fragment without phrase, in Polish", aim: searchAim, paths: each(func(_ *facts, i int) string {
			return listPath("events", "search", fragment(i)+" -"+phrase(i), "ml_language", "pl")
		})},
		{name: "phrase, ticketed=false, 50 a page", aim: searchAim, paths: each(func(_ *facts, i int) string {
			return listPath("events", "search", phrase(i), "ticketed", "false", "per_page", "50")
		})},
		{name: "fragment without phrase, category, starts_before", aim: searchAim, paths: each(func(f *facts, i int) string {
			return listPath("events", "search", fragment(i)+" -"+phrase(i), "categories", f.categories.popular,
				"starts_before", f.now.AddDate(2, 0, 0).Format("2006-01-02"))
		})},
		{name: "phrase within 464 km", aim: searchAim, paths: each(func(_ *facts, i int) string {
			latitude, longitude := fill.Centre(i)
			return listPath("events", "search", phrase(i), "geoloc_lat", fmt.Sprint(latitude),
				"geoloc_lng", fmt.Sprint(longitude), "geoloc_radius", "464")
		})},
		{name: "without rare word, organizer, ends_before, Polish", aim: searchAim, paths: each(func(f *facts, i int) string {
			return listPath("events", "search", "-"+fill.Word(20_000+i), "organizer", f.organizers.popular,
				"ends_before", f.now.AddDate(1, 0, 0).Format("2006-01-02"), "ml_language", "pl", "per_page", "50")
		})},
	}
}

// otherQuestions returns the questions that search, list other records than events, or request single records.
func otherQuestions() []question {
	return []question{
		{name: "search: frequent word", aim: searchAim, paths: wordPaths(20), clients: true},
		{name: "search: rare word", aim: searchAim, paths: wordPaths(20_000)},
		{name: "search: absent word", aim: searchAim, paths: func(*facts) []string {
			var out []string
			for i := range samples {
				out = append(out, listPath("events", "search", fmt.Sprintf("q%cxq%c", 'a'+i%26, 'a'+i/26)))
			}
			return out
		}},
		{name: "search: fragment in words", aim: searchAim, paths: func(f *facts) []string {
			return pathsOf(f.fragments, func(s string) string { return listPath("events", "search", s) })
		}},
		{name: "search: phrase", aim: searchAim, paths: func(f *facts) []string {
			return pathsOf(f.phrases, func(s string) string { return listPath("events", "search", `"`+s+`"`) })
		}},
		{name: "search: phrase of frequent words", aim: searchAim, paths: func(*facts) []string {
			var out []string
			for i := range 10 {
				out = append(out, listPath("events", "search", `"`+fill.Word(10+i)+" "+fill.Word(i)+`"`))
			}
			return out
		}},
		{name: "search: frequent without another", aim: searchAim, paths: func(*facts) []string {
			var out []string
			for i := range samples {
				out = append(out, listPath("events", "search", fill.Word(20+i)+" -"+fill.Word(60+i)))
			}
			return out
		}},
		{name: "search: two letters", paths: func(f *facts) []string {
			return pathsOf(f.fragments, func(s string) string { return listPath("events", "search", string([]rune(s)[:2])) })
		}},
		{name: "venues", aim: growthAim, paths: singlePath("venues")},
		{name: "venues, has_events", aim: growthAim, paths: singlePath("venues", "has_events", "true")},
		{name: "venues, has_events=false", aim: growthAim, paths: singlePath("venues", "has_events", "false")},
		{name: "venues, only_with_upcoming", aim: growthAim, paths: singlePath("venues", "only_with_upcoming", "true")},
		{name: "venues, search", aim: growthAim, paths: func(*facts) []string {
			var out []string
			for i := range samples {
				out = append(out, listPath("venues", "search", fill.Word(20+i)))
			}
			return out
		}},
		{name: "organizers", aim: growthAim, paths: singlePath("organizers")},
		{name: "organizers, has_events", aim: growthAim, paths: singlePath("organizers", "has_events", "true")},
		{name: "organizers, only_with_upcoming", aim: growthAim, paths: singlePath("organizers", "only_with_upcoming", "true")},
		{name: "categories with counts", aim: growthAim, paths: singlePath("categories")},
		{name: "categories by count", aim: growthAim, paths: singlePath("categories", "orderby", "count", "order", "desc")},
		{name: "tags with counts", aim: growthAim, paths: singlePath("tags", "per_page", "50"), clients: true},
		{name: "tags by count", aim: growthAim, paths: singlePath("tags", "orderby", "count", "order", "desc")},
		{name: "tags, search", aim: growthAim, paths: func(*facts) []string {
			var out []string
			for i := range samples {
				out = append(out, listPath("tags", "search", string([]rune(fill.Word(200 + i))[:3])))
			}
			return out
		}},
		{name: "one event, by id", aim: flatAim, clients: true, paths: func(f *facts) []string {
			return pathsOf(f.events, func(e eventName) string { return fmt.Sprintf("/events/%d", e.id) })
		}},
		{name: "one event, by slug", aim: flatAim, paths: func(f *facts) []string {
			return pathsOf(f.events, func(e eventName) string { return "/events/by-slug/" + url.PathEscape(e.slug) })
		}},
		{name: "one venue, by id", aim: flatAim, paths: func(f *facts) []string {
			return pathsOf(f.venueIDs, func(id int64) string { return fmt.Sprintf("/venues/%d", id) })
		}},
	}
}
