// node --test: what the page knows about the calendar.
"use strict";

const assert = require("node:assert/strict");
const { test } = require("node:test");
const calendar = require("./calendar.js");

test("the state goes into the address and comes back", () => {
	const state = { search: "jazz & blues", category: "muzyka", lang: "pl", page: 3 };
	assert.deepEqual(calendar.stateOf(calendar.hashOf(state)), state);
});

test("what is no state is ignored", () => {
	const usual = { search: "", category: "", lang: "en", page: 1 };
	for (const hash of ["", "#", "#page=0", "#page=1e9", "#lang=xx", "#page=-1&colour=red"]) {
		assert.deepEqual(calendar.stateOf(hash), usual, hash);
	}
});

test("the language is the one asked for, or that of the browser", () => {
	assert.equal(calendar.stateOf("", ["de-DE", "es-MX", "en"]).lang, "es");
	assert.equal(calendar.stateOf("#lang=pl", ["es"]).lang, "pl");
});

test("addresses are encoded and have no empty parameters", () => {
	const url = new URL(calendar.eventsAddress("http://example.org/v1/", { search: "a&b=c", category: "", lang: "en", page: 1 }));
	assert.equal(url.pathname, "/v1/events");
	assert.equal(url.searchParams.get("search"), "a&b=c");
	assert.equal(url.searchParams.has("categories"), false);
	assert.equal(url.searchParams.has("page"), false);
});

test("pages of a Link header", () => {
	const link = '<http://example.org/events>; rel="first", <http://example.org/events?search=a%2Cb&page=3>; rel="next", ' +
		'<http://example.org/events>; rel="prev"';
	assert.deepEqual(calendar.pagesOf(link), { first: 1, next: 3, prev: 1 });
	assert.deepEqual(calendar.pagesOf(null), {});
});

test("dates are those of the place, wherever the page is read", () => {
	const event = { all_day: false, start_date: "2026-12-05 18:00:00", end_date: "2026-12-05 20:30:00", timezone_abbr: "CET" };
	assert.deepEqual(calendar.when(event, "en"), ["Sat, Dec 5", "18:00 – 20:30 CET"]);
	assert.deepEqual(calendar.when({ ...event, all_day: true }, "pl")[1], "cały dzień");
	assert.match(calendar.when({ ...event, end_date: "2026-12-06 02:00:00" }, "en")[1], /Dec 6/);
	assert.deepEqual(calendar.when({ ...event, end_date: event.start_date }, "en")[1], "18:00 CET");
});

test("plurals", () => {
	assert.deepEqual([1, 2, 5, 22].map((n) => calendar.found(n, "pl")), ["1 wydarzenie", "2 wydarzenia", "5 wydarzeń", "22 wydarzenia"]);
	assert.equal(calendar.found(0, "es"), "0 eventos");
});

test("every language has the same words", () => {
	for (const lang of calendar.languages) {
		assert.deepEqual(Object.keys(calendar.words[lang]), Object.keys(calendar.words.en), lang);
	}
});

test("only web pages are linked to", () => {
	assert.equal(calendar.safe("javascript:alert(1)"), undefined);
	assert.equal(calendar.safe("no address"), undefined);
	assert.equal(calendar.safe("https://example.org/a"), "https://example.org/a");
});

test("one venue, several, none", () => {
	assert.deepEqual(calendar.venuesOf({ venue: [] }), []);
	assert.deepEqual(calendar.venuesOf({ venue: { id: 1 } }), [{ id: 1 }]);
	assert.deepEqual(calendar.venuesOf({ venue: [{ id: 1 }, { id: 2 }] }).length, 2);
});

test("long texts are cut between words", () => {
	assert.equal(calendar.shorten("one two  three", 9), "one two…");
	assert.equal(calendar.shorten(" one\ntwo ", 9), "one two");
});
