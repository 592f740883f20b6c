// The page: it shows what its address says after #, and every wish of the visitor changes that address. So the back
// button works, and any list can be kept as a bookmark.
"use strict";

(() => {
	const api = new URLSearchParams(location.search).get("api") ?? document.querySelector("meta[name=almanac-api]").content;
	const $ = (id) => document.getElementById(id);
	const form = $("filters");
	let state = calendar.stateOf(location.hash, navigator.languages);
	let asked = new AbortController();
	let categoriesIn = "";

	/**
	 * The text of markup. Titles come ready for HTML and descriptions as sanitised HTML. Here both become text, in a document
	 * where nothing runs and nothing loads, so that not even an API gone bad can put a script into this page.
	 */
	function textOf(markup) {
		const parsed = new DOMParser().parseFromString(markup.replace(/<\/(p|li|div|h\d)>|<br\s*\/?>/g, "$& "), "text/html");
		return parsed.body.textContent.trim();
	}

	async function ask(url, signal) {
		const reply = await fetch(url, { signal, headers: { Accept: "application/json" } });
		const body = await reply.json();
		// Past the end there is nothing: so it is when a bookmark is old.
		if (reply.status === 404 && body.code === "event-archive-page-not-found") return { body: { events: [] }, reply };
		if (!reply.ok) throw new Error(body.message);
		return { body, reply };
	}

	function say() {
		const words = calendar.words[state.lang];
		document.documentElement.lang = state.lang;
		document.title = words.title;
		for (const one of document.querySelectorAll("[data-say]")) one.textContent = words[one.dataset.say];
		for (const one of document.querySelectorAll("[data-label]")) one.setAttribute("aria-label", words[one.dataset.label]);
		if (document.activeElement !== form.elements.search) form.elements.search.value = state.search;
		form.elements.lang.value = state.lang;
	}

	function tell(text, isError = false) {
		$("status").className = isError ? "error" : "";
		$("status").textContent = text;
	}

	/** A category stands in the list even while the list is not there yet. */
	function choose(slug) {
		const select = form.elements.category;
		if (![...select.options].some((one) => one.value === slug)) select.add(new Option(slug, slug));
		select.value = slug;
	}

	async function loadCategories(signal) {
		if (categoriesIn === state.lang) return;
		const { body } = await ask(calendar.categoriesAddress(api, state.lang), signal);
		const select = form.elements.category;
		select.length = 1; // All
		for (const one of body.categories) select.add(new Option(textOf(one.name), one.slug));
		categoriesIn = state.lang;
	}

	function item(event) {
		const li = $("event").content.cloneNode(true).firstElementChild;
		const part = (selector) => li.querySelector(selector);
		const [day, hours] = calendar.when(event, state.lang);
		const strong = document.createElement("b");
		strong.textContent = day;
		part("time").append(strong, hours);
		part("time").dateTime = event.start_date.slice(0, 16);
		part("h2 a").textContent = textOf(event.title) || calendar.words[state.lang].untitled;
		const link = calendar.safe(event.url);
		if (link) part("h2 a").href = link;
		const places = calendar.venuesOf(event).map((one) => [textOf(one.venue ?? ""), one.city].filter(Boolean).join(", "));
		part(".where").textContent = [...places, event.cost].filter(Boolean).join(" · ");
		part(".text").textContent = calendar.shorten(textOf(event.excerpt || event.description), 180);
		for (const one of event.categories) {
			const a = document.createElement("a");
			a.href = calendar.hashOf({ ...state, category: one.slug, page: 1 });
			a.textContent = textOf(one.name);
			const entry = document.createElement("li");
			entry.append(a);
			part(".categories").append(entry);
		}
		const picture = event.image && calendar.safe(event.image.sizes?.thumbnail?.url ?? event.image.url);
		if (picture) {
			part("img").src = picture;
			part("img").hidden = false;
		}
		return li;
	}

	function showPages(link, pages) {
		const at = calendar.pagesOf(link);
		for (const [id, rel] of [["previous", "prev"], ["next", "next"]]) {
			if (at[rel]) $(id).href = calendar.hashOf({ ...state, page: at[rel] });
			else $(id).removeAttribute("href");
		}
		$("page").textContent = calendar.words[state.lang].page(state.page, pages);
		$("pages").hidden = pages < 2;
	}

	async function show() {
		state = calendar.stateOf(location.hash, navigator.languages);
		asked.abort(); // what was asked before no longer matters
		asked = new AbortController();
		const { signal } = asked;
		say();
		choose(state.category);
		tell(calendar.words[state.lang].loading);
		$("events").setAttribute("aria-busy", "true");
		try {
			const [{ body, reply }] = await Promise.all([ask(calendar.eventsAddress(api, state), signal), loadCategories(signal)]);
			choose(state.category);
			$("events").replaceChildren(...body.events.map(item));
			const total = Number(reply.headers.get("X-TEC-Total"));
			tell(total > 0 ? calendar.found(total, state.lang) : calendar.words[state.lang].none);
			showPages(reply.headers.get("Link"), Number(reply.headers.get("X-TEC-TotalPages")));
		} catch (error) {
			if (signal.aborted) return;
			$("events").replaceChildren();
			$("pages").hidden = true;
			// fetch itself fails with a TypeError, in words of the browser.
			tell(error instanceof TypeError ? calendar.words[state.lang].failed : error.message, true);
			const again = document.createElement("button");
			again.type = "button";
			again.textContent = calendar.words[state.lang].again;
			again.addEventListener("click", show);
			$("status").append(" ", again);
		}
		$("events").removeAttribute("aria-busy");
	}

	function wish(change) {
		const hash = calendar.hashOf({ ...state, page: 1, ...change });
		if (hash !== location.hash) location.hash = hash;
	}

	let pause;
	form.elements.search.addEventListener("input", () => {
		clearTimeout(pause);
		pause = setTimeout(() => wish({ search: form.elements.search.value.trim() }), 300);
	});
	form.elements.category.addEventListener("change", () => wish({ category: form.elements.category.value }));
	form.elements.lang.addEventListener("change", () => wish({ lang: form.elements.lang.value }));
	form.addEventListener("submit", (submitted) => {
		submitted.preventDefault();
		clearTimeout(pause);
		wish({ search: form.elements.search.value.trim() });
	});
	for (const id of ["previous", "next"]) $(id).addEventListener("click", () => $("status").scrollIntoView());
	addEventListener("hashchange", show);
	show();
})();
