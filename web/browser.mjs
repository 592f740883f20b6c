// Looks at the pages of a running service in a browser: node browser.mjs URL FOLDER
//
// CHROMIUM names the browser. The service has to have events. Pictures of what was seen go to FOLDER. Ends with
// status 1 when anything is wrong, after having named all of it.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import puppeteer from 'puppeteer-core';

const [base, folder] = [process.argv[2]?.replace(/\/+$/, ''), process.argv[3]];
if (!base || !folder) {
	console.error('usage: node browser.mjs URL FOLDER');
	process.exit(2);
}
mkdirSync(folder, { recursive: true });

const languages = { en: 'Execute', pl: 'Wykonaj', es: 'Ejecutar' }; // and what the button says
const segment = (language) => (language === 'en' ? '' : `/${language}`); // the main language has none
const widths = [1280, 360];
const schemes = ['light', 'dark'];

const wrong = [];
let checks = 0;
const expect = (holds, what) => {
	checks++;
	if (!holds) {
		wrong.push(what);
		console.log(`WRONG  ${what}`);
	}
};

// contrast finds texts that stand out less than WCAG 2.2 asks for, level AA. It runs in the page. Text over pictures
// and disabled controls do not count.
const contrast = () => {
	const parse = (colour) => {
		const [r, g, b, a = 1] = colour.match(/[\d.]+/g).map(Number);
		return { r, g, b, a };
	};
	const over = (top, under) => ({
		r: top.r * top.a + under.r * (1 - top.a), g: top.g * top.a + under.g * (1 - top.a),
		b: top.b * top.a + under.b * (1 - top.a), a: 1,
	});
	const light = ({ r, g, b }) => {
		const [x, y, z] = [r, g, b].map((v) => (v / 255 <= .04045 ? v / 255 / 12.92 : ((v / 255 + .055) / 1.055) ** 2.4));
		return .2126 * x + .7152 * y + .0722 * z;
	};
	const found = new Map();
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		const element = texts.currentNode.parentElement;
		if (!texts.currentNode.nodeValue.trim() || !element.checkVisibility({ visibilityProperty: true }) ||
			element.closest('noscript, script, style, svg, option, [disabled]')) {
			continue;
		}
		const chain = [];
		let opacity = 1;
		for (let e = element; e; e = e.parentElement) {
			chain.push(parse(getComputedStyle(e).backgroundColor));
			opacity *= Number(getComputedStyle(e).opacity);
		}
		const dark = matchMedia('(prefers-color-scheme: dark)').matches;
		const under = chain.reverse().reduce((below, colour) => over(colour, below),
			dark ? { r: 18, g: 18, b: 18, a: 1 } : { r: 255, g: 255, b: 255, a: 1 });
		const style = getComputedStyle(element);
		const ink = parse(style.color);
		const [a, b] = [light(over({ ...ink, a: ink.a * opacity }, under)), light(under)].sort((x, y) => y - x);
		const size = parseFloat(style.fontSize);
		const large = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
		const ratio = (a + .05) / (b + .05);
		if (ratio < (large ? 3 : 4.5)) {
			const key = `${element.tagName.toLowerCase()}.${[...element.classList].join('.')} in ${element.parentElement.className}`;
			found.set(key, `${ratio.toFixed(2)} ${key}: ${texts.currentNode.nodeValue.trim().slice(0, 30)}`);
		}
	}
	return [...found.values()];
};

// wide names what sticks out of the page on the right.
const wide = () => {
	const page = document.documentElement;
	if (page.scrollWidth <= page.clientWidth) {
		return '';
	}
	const out = [...document.body.querySelectorAll('*')]
		.filter((e) => e.getBoundingClientRect().right > page.clientWidth + 1)
		.map((e) => `${e.tagName.toLowerCase()}.${e.getAttribute('class') ?? ''}`);
	return `${page.scrollWidth} px of ${page.clientWidth}: ${[...new Set(out)].slice(0, 12).join(', ')}`;
};

const browser = await puppeteer.launch({
	executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
	headless: true,
	args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking'],
});

// open shows an address in a window of its own, and watches what goes wrong.
const open = async (address, { scheme = 'light', width = 1280, script = true } = {}) => {
	const context = await browser.createBrowserContext();
	const page = await context.newPage();
	page.setDefaultTimeout(120_000); // on a machine that has other things to do
	const label = `${address} ${scheme} ${width}`;
	const seen = { requests: 0, bytes: 0, host: new URL(address).host };
	page.on('console', (message) => {
		if (['error', 'warn', 'warning', 'issue'].includes(message.type())) {
			expect(false, `${label}: console: ${message.text()}`);
		}
	});
	page.on('pageerror', (error) => expect(false, `${label}: ${error.message}`));
	page.on('requestfailed', (request) => expect(false, `${label}: ${request.url()}: ${request.failure()?.errorText}`));
	page.on('response', (response) => {
		seen.requests++;
		expect(response.status() < 400, `${label}: ${response.url()}: status ${response.status()}`);
		expect(response.url().startsWith('data:') || [seen.host, new URL(base).host].includes(new URL(response.url()).host),
			`${label}: another host: ${response.url()}`);
	});
	const session = await page.createCDPSession();
	await session.send('Network.enable');
	session.on('Network.loadingFinished', (event) => { seen.bytes += event.encodedDataLength; });
	await session.send('Audits.enable');
	session.on('Audits.issueAdded', ({ issue }) => {
		if (issue.code === 'ContentSecurityPolicyIssue') {
			expect(false, `${label}: policy: ${JSON.stringify(issue.details.contentSecurityPolicyIssueDetails).slice(0, 300)}`);
		}
	});
	await page.setJavaScriptEnabled(script);
	await page.setExtraHTTPHeaders({ 'Accept-Language': 'de, pl;q=0.5' }); // it chooses nothing
	await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
	await page.setViewport({ width, height: width < 600 ? 780 : 900, isMobile: width < 600, hasTouch: width < 600 });
	const began = performance.now();
	await page.goto(address, { waitUntil: 'load' });
	return { page, label, seen, began, close: () => context.close() };
};

const look = async ({ page, label }, name, fullPage = false) => {
	const over = await page.evaluate(wide);
	expect(over === '', `${label}: wider than the window: ${over}`);
	for (const fault of await page.evaluate(contrast)) {
		expect(false, `${label}: contrast ${fault}`);
	}
	await page.screenshot({ path: join(folder, `${name}.png`), fullPage });
};

const start = async (language, scheme, width) => {
	const it = await open(`${base}${segment(language)}/developers/`, { scheme, width });
	expect(await it.page.$eval('html', (e) => e.lang) === language, `${it.label}: not in ${language}`);
	expect(await it.page.$$eval('figure code', (list) => list.length) === 3, `${it.label}: not three lines to try`);
	// By keyboard: the name, the languages, the three ways.
	const reached = [];
	for (let i = 0; i < 7; i++) {
		await it.page.keyboard.press('Tab');
		reached.push(await it.page.evaluate(() => {
			const marked = [document.activeElement, document.activeElement.parentElement];
			return document.activeElement.tagName === 'A' && marked.some((e) => getComputedStyle(e).outlineStyle !== 'none');
		}));
	}
	expect(reached.every(Boolean), `${it.label}: by keyboard: ${reached}`);
	await look(it, `start-${language}-${scheme}-${width}`, true);
	await it.close();
};

const operations = async (language) => {
	const reply = await fetch(`${base}/cal/events/v1/doc?ml_language=${language}`);
	const { paths, info, tags } = await reply.json();
	const all = Object.values(paths).flatMap((path) => Object.values(path)).filter((it) => it.responses);
	return {
		count: all.length, locked: all.filter((it) => it.security?.length !== 0).length, title: info.title, summary: paths['/events'].get.summary,
		groups: tags.map((tag) => tag['x-displayName']), body: paths['/events'].post.requestBody.content['application/json'].example,
	};
};

const click = (page, selector) => page.$eval(selector, (e) => e.click());

// docs looks at the reference, and tries it.
const docs = async (language, scheme, width, from = base) => {
	const address = `${from}${segment(language)}/docs`;
	const it = await open(address, { scheme, width });
	const { page, label, seen } = it;
	const name = `docs-${language}-${scheme}-${width}`;
	const { count, locked, title, summary, groups, body } = await operations(language);
	await page.waitForFunction((n) => document.querySelectorAll('.opblock').length >= n, {}, count);
	const took = Math.round(performance.now() - it.began);
	const { bytes, requests } = seen;
	expect(await page.$$eval('.opblock', (list) => list.length) === count, `${label}: not ${count} operations`);
	const text = await page.$eval('body', (e) => e.innerText);
	expect(text.includes(title) && text.includes(summary), `${label}: not in ${language}`);
	const shown = await page.$$eval('.opblock-tag > a', (list) => list.map((e) => e.innerText.trim()));
	expect(shown.join() === groups.join(), `${label}: the groups are ${shown}, not ${groups}`);
	const unlocked = await page.$$eval('.opblock .authorization__btn .unlocked', (list) => list.length);
	expect(unlocked === locked, `${label}: ${unlocked} of ${locked} locks are open, and nobody has signed in`);
	await look(it, name);
	console.log(`${label} ${language}: ${count} operations after ${took} ms, ${requests} requests, ${bytes} bytes`);

	const list = '.opblock-get:has([data-path="/events"])';
	await click(page, `${list} .opblock-summary-control`);
	await page.waitForSelector(`${list} .try-out__btn`);
	expect(!(await page.$eval(list, (e) => e.innerText)).includes('undefined'), `${label}: a type is undefined`);
	await look(it, `${name}-open`);
	await click(page, `${list} .try-out__btn`);
	await page.waitForSelector(`${list} .btn.execute`);
	expect(await page.$eval(`${list} .btn.execute`, (e) => e.textContent.trim()) === languages[language],
		`${label}: the button says ${await page.$eval(`${list} .btn.execute`, (e) => e.textContent)}`);
	await click(page, `${list} .btn.execute`);
	await page.waitForSelector(`${list} .live-responses-table .response-col_status`);
	const status = await page.$eval(`${list} .live-responses-table tbody .response-col_status`, (e) => e.innerText);
	expect(status.trim().startsWith('200'), `${label}: tried, status ${status}`);
	const sent = await page.$eval(`${list} .request-url pre`, (e) => e.innerText);
	expect(sent.startsWith(new URL(address).origin), `${label}: tried on ${sent}`);
	await page.$eval(`${list} .responses-wrapper`, (e) => e.scrollIntoView());
	await look(it, `${name}-tried`);

	const create = '.opblock-post:has([data-path="/events"])';
	await click(page, `${create} .opblock-summary-control`);
	await page.waitForSelector(`${create} .try-out__btn`);
	await click(page, `${create} .try-out__btn`);
	await page.waitForSelector(`${create} textarea.body-param__text`);
	const offered = await page.$eval(`${create} textarea.body-param__text`, (e) => e.value);
	expect(JSON.stringify(JSON.parse(offered)) === JSON.stringify(body), `${label}: the body to try is ${offered}`);
	await page.$eval(`${create} textarea.body-param__text`, (e) => e.scrollIntoView());
	await look(it, `${name}-create`);

	await click(page, '.btn.authorize');
	await page.waitForSelector('.modal-ux');
	await look(it, `${name}-authorize`);
	await click(page, '.modal-ux .close-modal');
	await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
	await look(it, `${name}-end`);
	await it.close();
};

// Every language has every width and every scheme, and every width has every scheme, but not all three are combined.
for (const [i, language] of Object.keys(languages).entries()) {
	for (const [j, width] of widths.entries()) {
		const scheme = schemes[(i + j) % schemes.length];
		await start(language, scheme, width);
		await docs(language, scheme, width);
	}
}

// Under another name of the same machine.
const { protocol, hostname, port } = new URL(base);
if (hostname === '127.0.0.1') {
	await docs('pl', 'light', 1280, `${protocol}//localhost:${port}`);
}

// Without JavaScript the description is named.
const without = await open(`${base}/docs`, { script: false });
expect(await without.page.$eval('noscript', (e) => e.innerText.length > 20), 'without JavaScript: nothing is said');
await look(without, 'docs-without');
await without.close();

await browser.close();
console.log(`${checks - wrong.length} passed, ${wrong.length} failed; pictures in ${folder}`);
process.exit(wrong.length > 0 ? 1 : 0);
