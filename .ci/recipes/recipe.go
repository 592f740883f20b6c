package main

import (
	"net/http"
)

// recipe is a section of docs/recipes.md to follow, with requests that show that the resulting program works.
type recipe struct {
	title      string
	needsMySQL bool
	collection string // in the API; "" means events
	// records are the JSON members of the records to create, which get the titles A, B and so on. Replies have the members.
	records []string
	refused []string // JSON members that no record can have
	asks    []filterRequest
}

// filterRequest is a request for a list, with the expected titles in alphabetical order.
type filterRequest struct {
	query  string
	titles string
	status int // 0 means 200
}

var recipes = []recipe{
	{
		title:   "Add a filter",
		records: []string{`"sticky": true`, `"sticky": false`, `"featured": true`, `"sticky": true, "featured": true`},
		asks: []filterRequest{
			{query: "", titles: "ABCD"},
			{query: "sticky=true", titles: "AD"},
			{query: "sticky=false", titles: "BC"},
			{query: "sticky=true&featured=true", titles: "D"},
			{query: "sticky=perhaps", status: http.StatusBadRequest},
		},
	},
	{
		title:      "Add a field",
		needsMySQL: true,
		records: []string{
			`"colour": "red", "min_age": 12, "outdoors": true`, `"colour": "", "min_age": 0, "outdoors": false`,
			`"min_age": 120`, `"colour": "blue", "rrule": "FREQ=DAILY;COUNT=1"`,
		},
		refused: []string{
			`"colour": "twenty-one characters"`, `"min_age": 121`, `"min_age": -1`, `"min_age": "young"`, `"outdoors": "perhaps"`,
		},
		asks: []filterRequest{{query: "", titles: "ABCD"}},
	},
	{
		title:      "Add a resource",
		needsMySQL: true,
		collection: "partners",
		records: []string{
			`"level": "gold", "phone": "+48 42 111 11 11", "email": "a@example.org", "website": "https://example.org", "since": 1998, "listed": false`,
			`"level": "silver", "description": "<p>Rower</p>"`, `"status": "private"`,
		},
		refused: []string{`"since": 2101`, `"since": "long ago"`, `"level": "a level of more than twenty characters"`, `"website": "x"`},
		asks: []filterRequest{
			{query: "", titles: "ABC"},
			{query: "level=gold", titles: "A"},
			{query: "level=gold,silver", titles: "AB"},
			{query: "search=rower", titles: "B"},
			{query: "status=private", titles: "C"},
			{query: "status=none", status: http.StatusBadRequest},
		},
	},
}
