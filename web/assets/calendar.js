// Makes pages of the calendar more convenient. All of them work without it.
const main = document.querySelector('main');

// Another month without loading the rest of the page. The last one that was asked for counts, whichever comes first.
let asked;
const load = async (address, push) => {
	const month = document.getElementById('month');
	month.setAttribute('aria-busy', 'true');
	asked?.abort();
	const mine = asked = new AbortController();
	try {
		const reply = await fetch(address, { headers: { Accept: 'text/html' }, signal: mine.signal });
		const page = new DOMParser().parseFromString(await reply.text(), 'text/html');
		const next = page.getElementById('month');
		if (!reply.ok || !next) {
			throw new Error(reply.statusText);
		}
		if (push) {
			history.pushState({ month: true }, '', reply.url);
		}
		document.title = page.title;
		const rel = document.activeElement?.closest('#month a')?.rel;
		month.replaceWith(document.adoptNode(next));
		// Links of the frame follow the month: languages and views.
		for (const part of ['header.site .lang', 'header.site .views', '.subscribe']) {
			const [here, there] = [document.querySelector(part), page.querySelector(part)];
			if (here && there) {
				here.replaceWith(document.adoptNode(there));
			}
		}
		(rel && document.querySelector(`#month a[rel="${rel}"]`) || main).focus({ preventScroll: true });
	} catch {
		if (!mine.signal.aborted) {
			location.assign(address);
		}
	}
};

document.addEventListener('click', (event) => {
	const link = event.target.closest?.('#month a[rel]');
	if (link && !event.defaultPrevented && event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey) {
		event.preventDefault();
		load(link.href, true);
	}
});

if (document.getElementById('month')) {
	history.replaceState({ month: true }, '');
	addEventListener('popstate', (event) => {
		if (event.state?.month) {
			load(location.href, false);
		}
	});
}

// The visitor's own time beside that of the event, where the clocks differ.
for (const time of document.querySelectorAll('time[data-yours]')) {
	const [start, end] = [time.dateTime, time.dataset.end];
	const offset = (text) => {
		const [, sign, hours, minutes] = text.match(/([+-])(\d\d):(\d\d)$/) ?? [];
		return sign ? Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) : 0;
	};
	const from = new Date(start);
	if (offset(start) !== -from.getTimezoneOffset()) {
		const format = new Intl.DateTimeFormat(document.documentElement.lang, {
			weekday: 'short', day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit', timeZoneName: 'short',
			hourCycle: 'hour12' in time.dataset ? 'h12' : 'h23',
		});
		const yours = document.createElement('span');
		yours.className = 'yours';
		yours.textContent = `${time.dataset.yours} ${format.formatRange(from, new Date(end))}`;
		time.parentElement.append(yours);
	}
}

const copy = async (element, text) => {
	await navigator.clipboard.writeText(text);
	const before = element.textContent;
	element.setAttribute('role', 'status');
	element.textContent = element.dataset.copied;
	setTimeout(() => {
		element.textContent = before;
		element.removeAttribute('role');
	}, 2000);
};

// Share, where the browser can, or copy the address.
for (const button of document.querySelectorAll('button[data-share]')) {
	if (!navigator.share && !navigator.clipboard) {
		continue;
	}
	button.closest('[hidden]').hidden = false;
	button.addEventListener('click', async () => {
		const { share: url, title } = button.dataset;
		if (!navigator.share) {
			await copy(button, url);
			return;
		}
		try {
			await navigator.share({ url, title });
		} catch (error) {
			if (error.name !== 'AbortError') {
				await copy(button, url);
			}
		}
	});
}

for (const link of document.querySelectorAll('a[data-copy]')) {
	if (navigator.clipboard) {
		const button = document.createElement('button');
		button.type = 'button';
		button.textContent = link.dataset.copy;
		button.dataset.copied = link.dataset.copied;
		button.addEventListener('click', () => copy(button, link.href));
		link.after(' ', button);
	}
}
