// Lists the next events of a calendar with a client whose types were generated from the interface description. With
// a token it also adds an event, changes it and takes it away again.
//
//   node dist/main.js http://127.0.0.1:8080/cal/events/v1 alm_…

import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type Event = components["schemas"]["Event"];
type Failure = components["schemas"]["Error"];

const base = process.argv[2] ?? "http://127.0.0.1:8080/cal/events/v1";
const token = process.argv[3] ?? process.env["ALMANAC_TOKEN"];

// Lists are also described as CSV. This client reads JSON.
const api = createClient<paths, "application/json">({
	baseUrl: base,
	headers: token ? { Authorization: `Bearer ${token}` } : {},
	// Lists go with commas: categories=music,3.
	querySerializer: { array: { style: "form", explode: false } },
});

/** Titles are text that is ready for HTML. */
function plain(escaped: string): string {
	return escaped.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** The venue of an event: there may be one, several in a list, or none, which is an empty list. */
function place(event: Event): string {
	const [venue] = Array.isArray(event.venue) ? event.venue : [event.venue];
	return venue?.venue ? `, ${plain(venue.venue)}` : "";
}

function check(isSo: boolean, what: string): asserts isSo {
	if (!isSo) throw new Error(what);
}

/** Programs go by the code of an error; the message is for people. An answer has two forms; we asked for the usual one. */
function failure(error: unknown): Failure {
	check(typeof error === "object" && error !== null && "code" in error && "data" in error, `not from the calendar: ${String(error)}`);
	return error as Failure;
}

/** The reply, or an error that says what was refused. */
function must<T>(what: string, reply: { data?: T; error?: unknown; response: Response }): T {
	if (reply.data !== undefined) return reply.data;
	if (reply.error === undefined) throw new Error(`${what}: status ${reply.response.status}`);
	const { code, message } = failure(reply.error);
	throw new Error(`${what}: ${reply.response.status} ${code}: ${message}`);
}

async function read(): Promise<void> {
	const events: Event[] = [];
	let total = 0;
	for (let page = 1, pages = 1; page <= pages; page++) {
		const reply = await api.GET("/events", {
			params: { query: { starts_after: "now", starts_before: "+6 weeks", per_page: 20, page, ml_language: "en" } },
		});
		const list = must("list", reply);
		check(reply.response.headers.get("X-TEC-Total") === String(list.total), "the header has another total");
		({ total, total_pages: pages } = list);
		events.push(...list.events);
	}
	check(events.length === total, `${events.length} events on all pages, ${total} announced`);
	for (const event of events.slice(0, 5)) {
		console.log(`${event.start_date.slice(0, 16)}  ${plain(event.title)}${place(event)}`);
	}
	console.log(`${total} events within six weeks.`);
	const [first] = events;
	if (!first) return;
	const one = must("read", await api.GET("/events/{id}", { params: { path: { id: first.id } } }));
	check(one.id === first.id && one.json_ld !== undefined, "another event, or not all of it");
	console.log(`The first of them: ${one.url}`);

	const category = first.categories[0];
	if (category) {
		const some = must("filter", await api.GET("/events", {
			params: { query: { categories: [category.slug, category.id], status: ["publish"], per_page: 1 } },
		}));
		check(some.total > 0, `no event in ${category.slug}`);
		console.log(`${some.total} events in ${plain(category.name)}.`);
	}
}

async function meetErrors(): Promise<void> {
	const missing = await api.GET("/events/{id}", { params: { path: { id: 999_999_999 }, query: { ml_language: "es" } } });
	check(missing.response.status === 404 && failure(missing.error).code === "rest-event-not-found", "an unknown event was found");
	console.log(`Not found, in Spanish too: ${failure(missing.error).message}`);

	const wrong = await api.GET("/events", { params: { query: { page: 0 } } });
	const { code, data } = failure(wrong.error);
	check(wrong.response.status === 400 && code === "rest_invalid_param", `page 0: ${wrong.response.status} ${code}`);
	check(!!data.details && !Array.isArray(data.details), "page 0: no details");
	check(data.details["page"]?.code === "rest_out_of_bounds", "page 0: another reason");
	console.log(`Refused: page: ${data.details["page"].message}`);
}

async function write(): Promise<void> {
	const event = must("create", await api.POST("/events", {
		body: {
			title: "Types & friends", start_date: "tomorrow 18:00", end_date: "tomorrow 20:00", timezone: "Europe/Warsaw",
			cost: [5, 8], categories: ["Example"], venue: { venue: "Old Mill", city: "Łódź", country: "Poland" },
		},
	}));
	const path = { id: event.id };
	try {
		console.log(`Created ${event.rest_url}, ${event.start_date}, ${event.cost}`);
		check(event.title === "Types &amp; friends" && place(event) === ", Old Mill", `got ${event.title}${place(event)}`);
		// Only what is sent changes; null clears.
		const updated = must("update", await api.PATCH("/events/{id}", {
			params: { path }, body: { title: "Types & more friends", end_date: "tomorrow 21:00", cost: null },
		}));
		check(updated.start_date === event.start_date && updated.end_date !== event.end_date && updated.cost === "", "other fields changed");
		console.log(`Updated: ${plain(updated.title)}, until ${updated.end_date}`);
	} finally {
		const deleted = must("delete", await api.DELETE("/events/{id}", { params: { path } }));
		check(deleted.status === "trash", `deleted, and ${deleted.status}`);
		if (!Array.isArray(event.venue)) {
			must("delete the venue", await api.DELETE("/venues/{id}", { params: { path: { id: event.venue.id } } }));
		}
	}
	const again = await api.DELETE("/events/{id}", { params: { path } });
	check(again.response.status === 410, `deleted again: ${again.response.status}`);
	console.log("Deleted: it is in the trash.");
}

try {
	await read();
	await meetErrors();
	if (token) await write();
	else console.log("Nothing is written without a token.");
} catch (error) {
	console.error("error:", error instanceof Error ? error.message : error);
	process.exitCode = 1;
}
