// Takes the pictures of the README and of the manual: node pictures.mjs URL FOLDER MONTH
//
// CHROMIUM names the browser. URL is a service that has sample events in MONTH, such as 2027-05. Each page is taken in light
// and in dark. Ends with status 1 if a picture is larger than a README should carry.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import puppeteer from 'puppeteer-core';

const [base, folder, month] = [process.argv[2]?.replace(/\/+$/, ''), process.argv[3], process.argv[4]];
if (!base || !folder || !month) {
	console.error('usage: node pictures.mjs URL FOLDER MONTH');
	process.exit(2);
}
mkdirSync(folder, { recursive: true });

const largest = 150_000; // bytes

// The event to show has a time, a picture, a price and a venue.
const list = await (await fetch(`${base}/cal/events/v1/events?start_date=${month}-01&per_page=50&series=none`)).json();
const shown = list.events.find((e) => e.image && e.cost && e.venue?.venue && !e.all_day);
if (!shown) {
	console.error(`${base} has no event with a time, a picture, a price and a venue in ${month}`);
	process.exit(1);
}

const pages = [
	{ name: 'month', path: `/events/month/${month}/`, height: 1000, scale: 1, until: 'table.month' }, // all weeks
	{ name: 'event', path: new URL(shown.url).pathname, height: 860, scale: 1.5 },
	{ name: 'subscribe', path: `/events/month/${month}/`, height: 1000, scale: 1.5, element: 'details.subscribe' },
];

const browser = await puppeteer.launch({
	executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
	headless: true,
	args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking', '--hide-scrollbars'],
});
let tooLarge = 0;
for (const { name, path, height, scale, until, element } of pages) {
	for (const scheme of ['light', 'dark']) {
		const page = await browser.newPage();
		page.setDefaultTimeout(120_000);
		await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
		await page.setViewport({ width: 1200, height, deviceScaleFactor: scale });
		await page.goto(base + path, { waitUntil: 'networkidle0' });
		const file = join(folder, `${name}-${scheme}.webp`);
		let shot = page;
		if (element) {
			shot = await page.waitForSelector(element);
			await shot.evaluate((details) => { details.open = true; });
		}
		let clip; // undefined takes what the window shows
		if (until) {
			const box = await (await page.waitForSelector(until)).boundingBox();
			clip = { x: 0, y: 0, width: 1200, height: Math.ceil(box.y + box.height) + 12 };
		}
		const { length } = await shot.screenshot({ path: file, type: 'webp', quality: 78, clip });
		console.log(`${file} ${length} bytes`);
		if (length > largest) {
			tooLarge++;
			console.error(`${file}: larger than ${largest} bytes`);
		}
		await page.close();
	}
}
await browser.close();
process.exit(tooLarge ? 1 : 0);
