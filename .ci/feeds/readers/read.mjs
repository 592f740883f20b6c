// Reads feeds with libraries of others, and writes what each finds beside them:
//   node read.mjs FOLDER
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import Ajv from "ajv";
import ICAL from "ical.js";
import nodeICal from "node-ical";
import Parser from "rss-parser";

const folder = process.argv[2];
const oneLine = (s) => (s ?? "").replaceAll("\n", "\\n").replaceAll("\t", " ");
const instant = (date) => date.toISOString().replace(".000Z", "Z");
const single = (line) => !line.includes(":series:");
const bytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const write = (file, lines) => writeFileSync(`${folder}/${file}`, `${lines.sort(bytes).join("\n")}\n`);

function withICALjs(text) {
	const calendar = new ICAL.Component(ICAL.parse(text));
	ICAL.TimezoneService.reset();
	for (const zone of calendar.getAllSubcomponents("vtimezone")) {
		ICAL.TimezoneService.register(new ICAL.Timezone(zone), zone.getFirstPropertyValue("tzid"));
	}
	return calendar.getAllSubcomponents("vevent").map((component) => {
		const e = new ICAL.Event(component);
		const time = (t) => (t.isDate ? t.toString() : instant(t.toJSDate()));
		return [e.uid, time(e.startDate), time(e.endDate), ...[e.summary, e.location, e.description].map(oneLine)].join("\t");
	});
}

function withNodeICal(text) {
	const events = Object.values(nodeICal.sync.parseICS(text)).filter((c) => c.type === "VEVENT");
	const time = (t) => (t.dateOnly ? instant(t).slice(0, 10) : instant(t));
	return events.map((e) =>
		[e.uid, time(e.start), time(e.end ?? e.start), ...[e.summary, e.location, e.description].map(oneLine)].join("\t"),
	);
}

const valid = new Ajv({ allowUnionTypes: true }).compile(JSON.parse(readFileSync(`${import.meta.dirname}/jsonfeed.schema.json`, "utf8")));

for (const file of readdirSync(folder).filter((name) => name.endsWith(".ics"))) {
	const name = file.slice(0, -".ics".length);
	const read = (suffix) => readFileSync(`${folder}/${name}${suffix}`, "utf8");
	write(`${name}.tsv.ical.js`, withICALjs(read(".ics")).filter(single));
	write(`${name}.tsv.node-ical`, withNodeICal(read(".ics")).filter(single));
	for (const kind of ["atom", "rss"]) {
		const { items } = await new Parser().parseString(read(`.${kind}`));
		write(`${name}.items.rss-parser-${kind}`, items.map((i) => [i.id ?? i.guid, oneLine(i.title), i.link].join("\t")));
	}
	const json = JSON.parse(read(".json"));
	if (!valid(json)) throw new Error(`${name}.json: ${JSON.stringify(valid.errors)}`);
	write(`${name}.items.json`, json.items.map((i) => [i.id, oneLine(i.title), i.url].join("\t")));
}
