// Shows the interface description as a reference to read and to try. It stands in the head, so that the colours are
// right from the start and the description is on its way while the bundle is.
(() => {
	'use strict';

	const settings = document.currentScript.dataset;

	const dark = matchMedia('(prefers-color-scheme: dark)');
	const colour = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
	colour();
	dark.addEventListener('change', colour);

	const load = async () => {
		const reply = await fetch(settings.document, { headers: { Accept: 'application/json' } });
		if (!reply.ok) {
			throw new Error(`the interface description: status ${reply.status}`);
		}
		return reply.json();
	};

	// The service is known under its base URL. Who came by another address tries operations on that one first: it
	// is sure to be within reach.
	const reachable = (description) => {
		const [server] = description.servers;
		const address = new URL(server.url);
		// A document without an origin of its own calls it "null".
		if (address.origin !== location.origin && location.origin !== "null") {
			description.servers.unshift({ url: location.origin + address.pathname });
		}
		return description;
	};

	// Reads that need no credentials are described by an empty requirement beside the others. The bundle takes that for
	// credentials that are there, and closes the lock.
	const openLocks = (description) => {
		for (const operations of Object.values(description.paths)) {
			for (const operation of Object.values(operations)) {
				operation.security = operation.security?.filter((schemes) => Object.keys(schemes).length > 0);
			}
		}
		return description;
	};

	// The bundle writes array<undefined> for a list whose items may be of several types.
	const typeLabel = (schema) => {
		const plain = schema?.toJS?.() ?? schema;
		if (!plain) {
			return 'any';
		}
		const several = plain.anyOf ?? plain.oneOf;
		if (several) {
			return [...new Set(several.map(typeLabel))].join(' | ');
		}
		if (plain.items) {
			return `array<${typeLabel(plain.items)}>`;
		}
		return plain.type ?? (plain.$ref ? 'object' : 'any');
	};

	// Replies and errors come in the language of the page. A parameter of the operation still decides, and what is
	// written is stored in the language of the site.
	const inLanguage = (request) => {
		request.headers ??= {};
		if (!Object.keys(request.headers).some((name) => name.toLowerCase() === 'accept-language')) {
			request.headers['Accept-Language'] = settings.language;
		}
		return request;
	};

	// The bundle speaks English. Its words are replaced where it writes them: in place, so that it finds its own
	// nodes again, and before they are painted. What comes from the description or from a reply is left alone.
	// Groups are named in the description: for programs in English, for people in the language of the page.
	const translate = (root, groups) => {
		const words = JSON.parse(settings.words);
		const names = new Map(groups.map((group) => [group.name, group['x-displayName'] ?? group.name]));
		const theirs = 'pre, code, textarea, .markdown, .renderedMarkdown, .opblock-tag, .opblock-summary, .parameter__name, .model';
		const ours = '.parameter__enum, .parameter__default, button, .authorization__btn'; // in them after all
		const left = (element) => element?.closest(theirs) && !element.closest(ours);
		const said = (text) => {
			const key = text.trim();
			return Object.hasOwn(words, key) ? text.replace(key, () => words[key]) : text;
		};
		const attributes = ['aria-label', 'placeholder', 'title'];
		const visit = (node) => {
			if (node.nodeType === Node.TEXT_NODE) {
				const isGroup = node.parentElement?.closest('.opblock-tag > a');
				if (isGroup || !left(node.parentElement)) {
					const text = isGroup ? names.get(node.nodeValue) ?? node.nodeValue : said(node.nodeValue);
					if (text !== node.nodeValue) {
						node.nodeValue = text;
					}
				}
				return;
			}
			if (node.nodeType !== Node.ELEMENT_NODE) {
				return;
			}
			for (const name of attributes) {
				const text = node.getAttribute(name);
				if (text && said(text) !== text) {
					node.setAttribute(name, said(text));
				}
			}
			node.childNodes.forEach(visit);
		};
		new MutationObserver((changes) => {
			for (const change of changes) {
				if (change.type === 'childList') {
					change.addedNodes.forEach(visit);
				} else {
					visit(change.target);
				}
			}
		}).observe(root, {
			subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: attributes,
		});
	};

	const description = load();
	description.catch(() => {}); // looked at below, when there is a place to say so

	document.addEventListener('DOMContentLoaded', async () => {
		const place = document.getElementById('reference');
		const loading = document.getElementById('loading');
		const failure = document.getElementById('failure');
		loading.hidden = false;
		try {
			const spec = openLocks(reachable(await description));
			const root = document.createElement('div');
			translate(root, spec.tags);
			SwaggerUIBundle({
				spec,
				domNode: root,
				deepLinking: true,
				displayRequestDuration: true,
				defaultModelsExpandDepth: 0,
				validatorUrl: null,
				presets: [SwaggerUIBundle.presets.apis],
				plugins: [() => ({ fn: { getSchemaObjectTypeLabel: typeLabel } })],
				layout: 'BaseLayout',
				requestInterceptor: inLanguage,
			});
			place.append(root);
		} catch (error) {
			console.error(error);
			failure.hidden = false;
		} finally {
			loading.hidden = true;
		}
	});
})();
