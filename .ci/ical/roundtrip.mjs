// Reads and writes calendar files with ical.js:
//   node roundtrip.mjs write FILE COPY       writes what it has read
//   node roundtrip.mjs compare FILE API      compares the events of two years with those that an API answers
//   node roundtrip.mjs read FILE             prints all occurrences as start, end and title, sorted
//   node roundtrip.mjs stored API            prints those that an API answers
import { readFileSync, writeFileSync } from "node:fs";
import ICAL from "ical.js";

const [command, file, target] = process.argv.slice(2);
const calendar = command === "stored" ? undefined : new ICAL.Component(ICAL.parse(readFileSync(file, "utf8")));

// expanded lists the events, each occurrence on its own, as title, UTC start and UTC end, or days.
function expanded(until) {
	ICAL.TimezoneService.reset();
	for (const zone of calendar.getAllSubcomponents("vtimezone")) {
		ICAL.TimezoneService.register(new ICAL.Timezone(zone), zone.getFirstPropertyValue("tzid"));
	}
	const byUID = new Map();
	for (const c of calendar.getAllSubcomponents("vevent")) {
		const uid = c.getFirstPropertyValue("uid");
		byUID.set(uid, [...(byUID.get(uid) ?? []), c]);
	}
	const events = [];
	let series = 0;
	for (const parts of byUID.values()) {
		const master = parts.find((c) => !c.hasProperty("recurrence-id"));
		const event = new ICAL.Event(master, { exceptions: parts.filter((c) => c !== master) });
		if (!event.isRecurring()) {
			events.push(line(event.summary, event.startDate, event.endDate));
			continue;
		}
		series++;
		const dates = event.iterator();
		for (let at = dates.next(); at && at.toJSDate() < until; at = dates.next()) {
			const { item, startDate, endDate } = event.getOccurrenceDetails(at);
			events.push(line(item.summary, startDate, endDate));
		}
	}
	return { events: events.filter((e) => e.start < until.toISOString()), series };
}

function line(title, start, end) {
	if (!start.isDate) return { title, start: start.toJSDate().toISOString(), end: end.toJSDate().toISOString() };
	const last = end.clone();
	last.adjust(-1, 0, 0, 0); // DTEND is the day after the last
	return { title, start: start.toString(), end: last.toString() };
}

async function answered(api, until) {
	const events = [];
	for (let page = 1, pages = 1; page <= pages; page++) {
		const query = `page=${page}&per_page=50&start_date=2000-01-01&end_date=${until.toISOString().slice(0, 10)}`;
		const reply = await fetch(`${api}/events?${query}`);
		if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`);
		const list = await reply.json();
		pages = list.total_pages;
		for (const e of list.events) {
			const instant = (s) => new Date(`${s.replace(" ", "T")}Z`).toISOString();
			const title = e.title.replace(/&#(\d+);/g, (_, n) => String.fromCodePoint(n)).replace(/&amp;/g, "&");
			events.push(
				e.all_day
					? { title, start: e.start_date.slice(0, 10), end: e.end_date.slice(0, 10) }
					: { title, start: instant(e.utc_start_date), end: instant(e.utc_end_date) },
			);
		}
	}
	return events.filter((e) => e.start < until.toISOString());
}

// print prints events without fractions of seconds.
function print(events) {
	const text = (s) => s.replace(".000Z", "Z");
	console.log(events.map((e) => `${text(e.start)} ${text(e.end)} ${e.title}`).sort().join("\n"));
}

if (command === "write") {
	writeFileSync(target, calendar.toString());
} else if (command === "read") {
	print(expanded(new Date("2028-01-01")).events);
} else if (command === "stored") {
	print(await answered(file, new Date("2028-01-01")));
} else {
	const until = new Date();
	until.setUTCFullYear(until.getUTCFullYear() + 2);
	const text = (e) => `${e.start}  ${e.end}  ${e.title}`;
	const { events, series } = expanded(until);
	const [want, got] = [events.map(text).sort(), (await answered(target, until)).map(text).sort()];
	const missing = want.filter((t) => !got.includes(t));
	const more = got.filter((t) => !want.includes(t));
	for (const t of missing.slice(0, 20)) console.error(`missing: ${t}`);
	for (const t of more.slice(0, 20)) console.error(`not in the file: ${t}`);
	if (missing.length + more.length > 0 || want.length !== got.length || series === 0) {
		throw new Error(`${want.length} events of ${series} series and single ones in the file, ${got.length} answered`);
	}
	console.log(`${want.length} events, ${series} series`);
}
