// Looks at the pages of the calendar of a running service: node calendar.mjs URL FOLDER
//
// CHROMIUM names the browser. The service is a demo; ALMANAC_TOKEN is its token, with which an event with a password is made.
// Pictures of what was seen go to FOLDER. Ends with status 1 when anything is wrong, after having named all of it.
import { mkdirSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { HtmlValidate } from 'html-validate';
import puppeteer from 'puppeteer-core';

const [base, folder] = [process.argv[2]?.replace(/\/+$/, ''), process.argv[3]];
if (!base || !folder) {
	console.error('usage: node calendar.mjs URL FOLDER');
	process.exit(2);
}
mkdirSync(folder, { recursive: true });

const wrong = [];
let checks = 0;
const expect = (holds, what) => {
	checks++;
	if (!holds) {
		wrong.push(what);
		console.log(`WRONG  ${what}`);
	}
};

const api = async (path) => (await fetch(`${base}/cal/events/v1${path}`)).json();
const local = (address) => new URL(address).pathname;

// allEvents yields the events from today on, page by page.
const allEvents = async function* () {
	for (let page = 1, pages = 1; page <= pages; page++) {
		const { events, total_pages } = await api(`/events?per_page=50&page=${page}`);
		pages = total_pages;
		yield* events;
	}
};

// What the demo has: an event of a series with a picture, its venue and organizer. Whether one is protected depends on the
// day, so one is made.
let event;
for await (const e of allEvents()) {
	if (e.image && e.series && e.organizer.length > 0 && !Array.isArray(e.venue)) {
		event = e;
		break;
	}
}
const secret = await (await fetch(`${base}/cal/events/v1/events`, {
	method: 'POST',
	headers: { Authorization: `Bearer ${process.env.ALMANAC_TOKEN}`, 'Content-Type': 'application/json' },
	body: JSON.stringify({
		title: 'Members only', start_date: 'tomorrow 18:00', end_date: 'tomorrow 20:00', password: 'certainly right', status: 'publish',
	}),
})).json();
for (const [what, found] of Object.entries({ 'an event to look at': event?.url, 'an event with a password': secret.url })) {
	if (!found) {
		console.error(`there is not ${what}: ${JSON.stringify(secret)}`);
		process.exit(1);
	}
}
const searched = event.title.match(/[A-Za-z]{4,}/)[0];
const { categories } = await api('/categories?orderby=count&order=desc&per_page=1');
const { tags } = await api('/tags?orderby=count&order=desc&per_page=1');
const series = await api(`/series/${event.series.id}`);
const day = event.start_date.slice(0, 10);

const paths = {
	home: '/', list: '/events/', past: '/events/?eventDisplay=past', second: '/events/page/2/', month: '/events/month/',
	empty: '/events/month/1999-12/', day: `/events/${day}/`, event: local(event.url), series: local(series.url),
	venue: local(event.venue.url), organizer: local(event.organizer[0].url), category: local(categories[0].url),
	'month-of-category': `${local(categories[0].url)}month/`, tag: local(tags[0].url), protected: local(secret.url),
	search: `/events/list/?search=${searched}`, nothing: '/events/list/?search=qqqqqq', invalid: '/events/list/?start_date=never',
	missing: '/event/there-is-none/',
};
const languages = ['en', 'pl', 'es'];
const failing = { invalid: 400, missing: 404 };

// Every pair of theme, width and colours is among these.
const looks = [
	{ scheme: 'light', width: 1280, forced: 'none' }, { scheme: 'dark', width: 360, forced: 'none' },
	{ scheme: 'light', width: 360, forced: 'active' }, { scheme: 'dark', width: 1280, forced: 'active' },
	{ scheme: 'dark', width: 768, forced: 'none' },
];

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const browser = await puppeteer.launch({
	executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true,
	args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking'],
});

// open shows an address, and watches what goes wrong.
const open = async (path, { scheme = 'light', width = 1280, forced = 'none' } = {}, { script = true, status = 200 } = {}) => {
	const page = await browser.newPage();
	const label = `${path} ${scheme} ${width} ${forced}`;
	page.setDefaultTimeout(120_000); // on a machine that has other things to do
	page.on('console', (message) => {
		const expected = status !== 200 && /Failed to load resource|does not conform/.test(message.text());
		expect(expected, `${label}: console: ${message.text()}`);
	});
	page.on('pageerror', (error) => expect(false, `${label}: ${error.message}`));
	page.on('request', (request) => {
		const { protocol, host } = new URL(request.url());
		expect(protocol === 'data:' || host === new URL(base).host, `${label}: another host: ${request.url()}`);
	});
	await page.setJavaScriptEnabled(script);
	await page.emulateMediaFeatures([
		{ name: 'prefers-color-scheme', value: scheme }, { name: 'prefers-reduced-motion', value: 'reduce' },
	]);
	const session = await page.createCDPSession();
	if (forced === 'active') {
		await session.send('Emulation.setEmulatedMedia', { features: [
			{ name: 'prefers-color-scheme', value: scheme }, { name: 'forced-colors', value: 'active' },
		] });
	}
	await session.send('Audits.enable');
	session.on('Audits.issueAdded', ({ issue }) => {
		expect(issue.code !== 'ContentSecurityPolicyIssue', `${label}: policy: ${JSON.stringify(issue.details).slice(0, 300)}`);
	});
	await page.setViewport({ width, height: width < 600 ? 780 : 900, isMobile: width < 600, hasTouch: width < 600 });
	const reply = await page.goto(base + path, { waitUntil: 'load' });
	expect(reply.status() === status || status === 200 && reply.status() === 304, `${label}: status ${reply.status()}`);
	return { page, session, label };
};

// accessible runs axe in a world of its own, so that the policy of the page stays on.
const accessible = async ({ page, session, label }) => {
	await page.bringToFront();
	const { frameTree } = await session.send('Page.getFrameTree');
	const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id });
	await session.send('Runtime.evaluate', { expression: axe, contextId: executionContextId });
	const { result } = await session.send('Runtime.evaluate', {
		expression: `axe.run(document, { resultTypes: ['violations'] }).then((r) => JSON.stringify(r.violations.map((v) =>
			v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.target.join(' ') + ' ' + n.failureSummary.slice(0, 200)).join(' | '))))`,
		contextId: executionContextId, awaitPromise: true, returnByValue: true,
	});
	const found = JSON.parse(result.value);
	expect(found.length === 0, `${label}: axe: ${found.join('\n\t')}`);
};

const look = async (name, path, which, status) => {
	const it = await open(path, which, { status });
	const wide = await it.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
	expect(wide <= 0, `${it.label}: ${wide} px wider than the window`);
	await accessible(it);
	await it.page.screenshot({ path: join(folder, `${name}-${which.scheme}-${which.width}-${which.forced}.png`) });
	await it.page.close();
};

// bytes returns how many bytes a browser receives.
const bytes = (path) => new Promise((resolve, reject) => {
	get(base + path, { headers: { 'Accept-Encoding': 'br, gzip' } }, (reply) => {
		let size = 0;
		reply.on('data', (chunk) => { size += chunk.length; });
		reply.on('end', () => resolve(size));
	}).on('error', reject);
});

const validator = new HtmlValidate({
	extends: ['html-validate:recommended', 'html-validate:a11y'],
	rules: { 'long-title': 'off', 'no-trailing-whitespace': 'off', 'tel-non-breaking': 'off', 'void-style': 'off', 'doctype-style': 'off' },
});

const jobs = [];
let turn = 0;
for (const [name, path] of Object.entries(paths)) {
	for (const language of languages) {
		const which = looks[turn++ % looks.length];
		jobs.push(async () => {
			const full = (language === 'en' ? '' : `/${language}`) + path; // the main language has no segment
			const reply = await fetch(base + full, { redirect: 'follow' });
			const html = await reply.text();
			const report = await validator.validateString(html);
			for (const { messages } of report.results) {
				for (const m of messages) {
					expect(false, `${full}: html-validate: ${m.ruleId}: ${m.message} (${m.line}:${m.column})`);
				}
			}
			checks++;
			const size = await bytes(local(reply.url) + new URL(reply.url).search);
			expect(size <= 30 * 1024, `${full}: ${size} bytes`);
			if (language === 'en') {
				console.log(`${full}: ${size} bytes`);
			}
			await look(`${name}-${language}`, full, which, failing[name] ?? 200);
		});
	}
}
for (const job of jobs) {
	await job(); // one after the other: Chromium draws the page in front only
}

// What pages load.
const html = await (await fetch(`${base}/events/month/`)).text();
const assets = [...html.matchAll(/(?:href|src)="([^"]*\/assets\/calendar[^"]*)"/g)].map((m) => m[1]);
const sizes = await Promise.all(assets.map(bytes));
expect(assets.length === 2 && sizes.reduce((a, b) => a + b, 0) <= 30 * 1024, `styles and script: ${sizes}`);
expect(sizes[assets.findIndex((a) => a.endsWith('.js'))] <= 6 * 1024, `script: ${sizes}`);
console.log(`styles and script: ${sizes} bytes`);

// Without JavaScript: by forms and links.
const without = async (path) => open(path, {}, { script: false });
const submit = (page, selector) => Promise.all([page.waitForNavigation(), page.$eval(selector, (e) => e.click())]);

const search = await without('/');
await search.page.type('#find', searched);
await submit(search.page, '.find button');
expect(new URL(search.page.url()).search === `?search=${searched}` && await search.page.$('.rows h3 a'), `search: ${search.page.url()}`);
await search.page.close();

const filter = await without('/events/');
await filter.page.$eval('.filter summary', (e) => e.click());
await filter.page.select('#f-categories', categories[0].slug);
await submit(filter.page, '.filter button');
expect(filter.page.url().includes(`categories=${categories[0].slug}`) && await filter.page.$('.chips a'), `filter: ${filter.page.url()}`);
await submit(filter.page, '.chips .clear');
expect(new URL(filter.page.url()).search === '', `without filters: ${filter.page.url()}`);
await filter.page.close();

const month = await without('/events/month/');
const title = await month.page.$eval('h1', (e) => e.textContent);
await submit(month.page, '#month a[rel="next"]');
expect(await month.page.$eval('h1', (e) => e.textContent) !== title, 'the next month is the same');
const last = await month.page.$eval('#g-month option:last-child', (e) => e.value);
await month.page.select('#g-month', last);
await submit(month.page, '.goto button');
expect((await month.page.$eval('link[rel="canonical"]', (e) => e.href)).endsWith(`/${last}/`), `month: ${month.page.url()}`);
await month.page.close();

const guarded = await open(paths.protected, {}, { script: false });
await guarded.page.type('#password', 'certainly wrong');
guarded.page.removeAllListeners('console');
const [answer] = await submit(guarded.page, '.password button');
expect(answer.status() === 403 && await guarded.page.$('#e-password'), `wrong password: ${answer.status()}`);
await guarded.page.close();
const refused = await open(paths.protected);
await refused.page.type('#password', 'certainly wrong');
refused.page.removeAllListeners('console');
await submit(refused.page, '.password button');
await accessible(refused);
await refused.page.close();

// With it: a month changes without a new page.
const swift = await open('/events/month/');
await swift.page.evaluate(() => { window.same = true; });
const before = await swift.page.$eval('h1', (e) => e.textContent);
await swift.page.click('#month a[rel="next"]');
await swift.page.waitForFunction((text) => document.querySelector('h1').textContent !== text, {}, before);
expect(await swift.page.evaluate(() => window.same), 'the month was loaded as a new page');
await accessible(swift);
await swift.page.goBack();
await swift.page.waitForFunction((text) => document.querySelector('h1').textContent === text, {}, before);
await swift.page.close();
await browser.close();

// A crawl ends. Pages of other languages are linked from each and are the same.
const seen = new Set(['/']);
const queue = ['/'];
const most = 8000;
const unescaped = (text) => text.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(code)).replaceAll('&amp;', '&');
const visit = async (path) => {
	const reply = await fetch(base + path, { redirect: 'manual' });
	expect([200, 301, 302].includes(reply.status), `crawl: ${path}: ${reply.status}`);
	const links = reply.status === 200 ? [...(await reply.text()).matchAll(/<a [^>]*href="([^"]+)"/g)].map((m) => m[1])
		: [reply.headers.get('location') ?? '/'];
	for (const link of links) {
		const { origin, pathname, search } = new URL(unescaped(link), base + path);
		const next = pathname + search;
		if (origin === base && !seen.has(next) && !/^\/(en|pl|es|cal|media|assets|docs)(\/|$)|\.(ics|atom|rss|json)$/.test(pathname)) {
			seen.add(next);
			queue.push(next);
		}
	}
};
const pending = new Set();
for (let at = 0; at < queue.length || pending.size > 0;) {
	if (at < queue.length && pending.size < 8 && at < most) {
		const one = visit(queue[at++]).finally(() => pending.delete(one));
		pending.add(one);
	} else if (pending.size > 0) {
		await Promise.race(pending);
	} else {
		break;
	}
}
expect(seen.size < most, `a crawl does not end: ${queue.slice(-3)}`);
console.log(`crawl: ${seen.size} addresses`);

console.log(`${checks - wrong.length} passed, ${wrong.length} failed; pictures in ${folder}`);
process.exit(wrong.length > 0 ? 1 : 0);
