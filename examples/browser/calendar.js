// What the page knows about the calendar, without the page: tests run it by itself.
"use strict";

const calendar = (() => {
	const languages = ["en", "pl", "es"];

	const words = {
		en: {
			title: "What is on", search: "Search", category: "Category", all: "All", language: "Language", pages: "Pages",
			previous: "Earlier", next: "Later", loading: "One moment…", none: "Nothing was found.", allDay: "all day",
			failed: "The calendar does not answer.", again: "Try again", untitled: "Untitled",
			page: (page, pages) => `${page} of ${pages}`,
			found: { one: "1 event", other: "# events" },
		},
		pl: {
			title: "Co się dzieje", search: "Szukaj", category: "Kategoria", all: "Wszystkie", language: "Język", pages: "Strony",
			previous: "Wcześniejsze", next: "Późniejsze", loading: "Chwileczkę…", none: "Nic nie znaleziono.", allDay: "cały dzień",
			failed: "Kalendarz nie odpowiada.", again: "Spróbuj ponownie", untitled: "Bez tytułu",
			page: (page, pages) => `${page} z ${pages}`,
			found: { one: "1 wydarzenie", few: "# wydarzenia", many: "# wydarzeń", other: "# wydarzenia" },
		},
		es: {
			title: "Qué hay", search: "Buscar", category: "Categoría", all: "Todas", language: "Idioma", pages: "Páginas",
			previous: "Anteriores", next: "Siguientes", loading: "Un momento…", none: "No se encontró nada.", allDay: "todo el día",
			failed: "El calendario no responde.", again: "Reintentar", untitled: "Sin título",
			page: (page, pages) => `${page} de ${pages}`,
			found: { one: "1 evento", other: "# eventos" },
		},
	};

	/** How many events there are, in a language with its own plurals. */
	function found(count, lang) {
		const forms = words[lang].found;
		return (forms[new Intl.PluralRules(lang).select(count)] ?? forms.other).replace("#", count.toLocaleString(lang));
	}

	/** What the page shows, from what stands after # in its address. Whatever else stands there is ignored. */
	function stateOf(hash, preferred = []) {
		const given = new URLSearchParams(hash.replace(/^#/, ""));
		const wished = [given.get("lang"), ...preferred.map((tag) => tag.slice(0, 2).toLowerCase())];
		return {
			search: given.get("search") ?? "",
			category: given.get("category") ?? "",
			lang: wished.find((lang) => languages.includes(lang)) ?? "en",
			page: /^[1-9]\d{0,8}$/.test(given.get("page") ?? "") ? Number(given.get("page")) : 1,
		};
	}

	/** The other way round. */
	function hashOf(state) {
		const out = new URLSearchParams();
		for (const name of ["search", "category", "lang"]) if (state[name]) out.set(name, state[name]);
		if (state.page > 1) out.set("page", state.page);
		return `#${out}`;
	}

	function address(api, path, parameters) {
		const out = new URLSearchParams();
		for (const [name, value] of Object.entries(parameters)) if (value !== "" && value !== undefined) out.set(name, value);
		return `${api.replace(/\/+$/, "")}${path}?${out}`;
	}

	function eventsAddress(api, state) {
		return address(api, "/events", {
			starts_after: "now", strict_dates: true, per_page: 10, page: state.page > 1 ? state.page : undefined,
			search: state.search, categories: state.category, ml_language: state.lang,
			_fields: ["id", "url", "title", "excerpt", "description", "all_day", "start_date", "end_date", "timezone_abbr",
				"cost", "image", "categories", "venue"].map((name) => `events.${name}`).join(","),
		});
	}

	function categoriesAddress(api, lang) {
		return address(api, "/categories", { per_page: 50, orderby: "name", hide_empty: true, ml_language: lang, _fields: "categories.name,categories.slug" });
	}

	/** The pages that a Link header names: {next: 3, prev: 1}. */
	function pagesOf(link) {
		const out = {};
		for (const [, url, rel] of (link ?? "").matchAll(/<([^>]*)>\s*;\s*rel="?([\w-]+)"?/g)) {
			if (URL.canParse(url)) out[rel] = Number(new URL(url).searchParams.get("page") ?? 1);
		}
		return out;
	}

	/** A wall time as the calendar writes it, 2026-12-05 18:00:00, taken for UTC: so it is shown as it is everywhere. */
	function wall(text) {
		return new Date(`${text.replace(" ", "T")}Z`);
	}

	/** When an event is, in two parts. */
	function when(event, lang) {
		const [start, end] = [wall(event.start_date), wall(event.end_date)];
		const day = new Intl.DateTimeFormat(lang, { timeZone: "UTC", weekday: "short", day: "numeric", month: "short" });
		const time = new Intl.DateTimeFormat(lang, { timeZone: "UTC", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
		const isOneDay = event.start_date.slice(0, 10) === event.end_date.slice(0, 10);
		if (event.all_day) {
			return [isOneDay ? day.format(start) : day.formatRange(start, end), words[lang].allDay];
		}
		const until = isOneDay ? time.format(end) : `${day.format(end)}, ${time.format(end)}`;
		const hours = event.start_date === event.end_date ? time.format(start) : `${time.format(start)} – ${until}`;
		return [day.format(start), `${hours} ${event.timezone_abbr}`];
	}

	/** The venues of an event: there may be one, several in a list, or none, which is an empty list. */
	function venuesOf(event) {
		return Array.isArray(event.venue) ? event.venue : event.venue ? [event.venue] : [];
	}

	/** An address to link to, or undefined for one that is no web page. */
	function safe(url) {
		return URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol) ? url : undefined;
	}

	function shorten(text, length) {
		const one = text.replace(/\s+/g, " ").trim();
		if (one.length <= length) return one;
		return `${one.slice(0, length).replace(/\s+\S*$/, "")}…`;
	}

	return { languages, words, found, stateOf, hashOf, eventsAddress, categoriesAddress, pagesOf, when, venuesOf, safe, shorten };
})();

if (typeof module !== "undefined") module.exports = calendar;
