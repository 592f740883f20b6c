// Compares what main.go writes, line by line of the standard input, with Node's Intl. Writes nothing but what differs.
import { createInterface } from "node:readline";

const styles = {
	long: { dateStyle: "long" },
	full: { dateStyle: "full" },
	medium: { dateStyle: "medium" },
	day: { month: "long", day: "numeric" },
	"weekday-day": { weekday: "long", month: "long", day: "numeric" },
	"short-day": { month: "short", day: "numeric" },
	"short-weekday-day": { weekday: "short", month: "short", day: "numeric" },
	month: { month: "long", year: "numeric" },
};

const made = new Map();

// once makes a formatter the first time it is asked for.
function once(key, make) {
	if (!made.has(key)) made.set(key, make());
	return made.get(key);
}

// twoDigits reports whether hours have two digits: in English only on a clock of 24 hours, in Spanish never.
const twoDigits = (language, hourCycle) =>
	language === "en" ? hourCycle === "h23" : language !== "es" && hourCycle !== "h12";

const cycles = { time12: "h12", time24: "h23" };

function formatter(language, style, timed, hourCycle) {
	return once([language, style, timed, hourCycle].join(), () => {
		const options = { timeZone: "UTC", ...styles[style] };
		// The short style keeps the two digits of a clock of 24 hours when it has another one.
		if (timed && hourCycle !== "h12" && (!style || options.dateStyle)) options.timeStyle = "short";
		// Hours have two digits where the short style of times has them, which is not so with "numeric".
		else if (timed) Object.assign(options, { hour: twoDigits(language, hourCycle) ? "2-digit" : "numeric", minute: "2-digit" });
		if (hourCycle) options.hourCycle = hourCycle;
		return new Intl.DateTimeFormat(language, options);
	});
}

// instant reads a wall time as if it were UTC.
const instant = (wall) => new Date(wall.replace(" ", "T") + "Z");

// The nouns of the message event-count by their plural categories.
const nouns = {
	en: { one: "event", other: "events" },
	pl: { one: "wydarzenie", few: "wydarzenia", many: "wydarzeń", other: "wydarzenia" },
	es: { one: "evento", many: "eventos", other: "eventos" },
};

function expected(language, what, style, of) {
	switch (what) {
		case "date":
		case "time":
		case "time12":
		case "time24":
		case "datetime": {
			const f = formatter(language, style, what !== "date", cycles[what]);
			const [first, last] = of.map(instant);
			return +first === +last ? f.format(first) : f.formatRange(first, last);
		}
		case "relative":
			return once([language, what].join(), () => new Intl.RelativeTimeFormat(language, { numeric: "auto" })).format(of[0], "day");
		case "number":
			return once([language, what].join(), () => new Intl.NumberFormat(language)).format(of[0]);
		case "plural": {
			const category = once([language, what].join(), () => new Intl.PluralRules(language)).select(of[0]);
			return expected(language, "number", "", of) + " " + nouns[language.slice(0, 2)][category];
		}
	}
	throw new Error(`unknown: ${what}`);
}

// Node writes a plain space before AM and PM where CLDR has a narrow one.
const plain = (text) => text.replaceAll("\u202f", " ");

const release = "48";
if (!process.versions.cldr?.startsWith(release)) {
	console.log(`skipped: this Node has CLDR ${process.versions.cldr}, the dates are those of ${release}`);
	process.exit(0);
}
let compared = 0;
let wrong = 0;
for await (const line of createInterface({ input: process.stdin })) {
	const [language, what, style, of, text] = JSON.parse(line);
	const want = expected(language, what, style, of);
	compared++;
	if (plain(text) !== plain(want) && ++wrong <= 20) {
		console.error(`${language} ${what} ${style} ${of.join(" to ")}: ${JSON.stringify(text)}, want ${JSON.stringify(want)}`);
	}
}
if (compared === 0 || wrong > 0) {
	console.error(`${wrong} of ${compared} texts differ from those of Node ${process.version}`);
	process.exit(1);
}
console.log(`${compared} dates, times and numbers are those of CLDR ${process.versions.cldr}`);
