// Makes web/static from the packages that package-lock.json names:
//
//   node build.mjs MODULES [--check]
//
// MODULES is a node_modules folder that npm ci has filled; bash .ci/web does both. The bundle is kept compressed only,
// in the two forms that browsers take: the program unpacks the rare reply to a client that takes neither. Names hold
// a hash of the content, so that browsers may keep them for ever.
//
// With --check nothing is written: what is there has to be what would be written. Compressed files are compared by
// their content, as two releases of a compressor seldom agree on the bytes.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';

const [modules, flag] = process.argv.slice(2);
if (!modules || (flag && flag !== '--check')) {
	console.error('usage: node build.mjs MODULES [--check]');
	process.exit(2);
}
const target = join(dirname(fileURLToPath(import.meta.url)), 'static');
const from = (name) => readFileSync(join(modules, 'swagger-ui-dist', name));
// The package has no source maps for us to serve: browsers would look for them, and find nothing.
const withoutMap = (data) => Buffer.from(data.toString('utf8').replace(/\n?(\/\/|\/\*)# sourceMappingURL=[^\n*]*(\*\/)?\s*$/, '\n'));

const rule = Buffer.from('\n' + '-'.repeat(80) + '\n\n');
const files = {
	'swagger-ui.js': { data: withoutMap(from('swagger-ui-bundle.js')), packed: true },
	'swagger-ui.css': { data: withoutMap(from('swagger-ui.css')), packed: true },
	'swagger-ui.txt': {
		data: Buffer.concat([from('NOTICE'), rule, from('LICENSE'), rule, from('swagger-ui-bundle.js.LICENSE.txt')]),
	},
};

const forms = {
	'.br': {
		pack: (data) => brotliCompressSync(data, {
			params: {
				[constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
				[constants.BROTLI_PARAM_SIZE_HINT]: data.length,
			},
		}),
		unpack: brotliDecompressSync,
	},
	'.gz': { pack: (data) => gzipSync(data, { level: constants.Z_BEST_COMPRESSION }), unpack: gunzipSync },
	'': { pack: (data) => data, unpack: (data) => data },
};

const wanted = new Map(); // file name: what it holds, and how
for (const [name, { data, packed }] of Object.entries(files)) {
	const hash = createHash('sha256').update(data).digest('hex').slice(0, 12);
	const ext = extname(name);
	for (const form of packed ? ['.br', '.gz'] : ['']) {
		wanted.set(`${name.slice(0, -ext.length)}.${hash}${ext}${form}`, { data, form });
	}
}

if (flag) {
	const there = readdirSync(target).sort();
	const names = [...wanted.keys()].sort();
	const wrong = [
		...names.filter((name) => !there.includes(name)).map((name) => `${name} is missing`),
		...there.filter((name) => !names.includes(name)).map((name) => `${name} does not belong there`),
		...names.filter((name) => there.includes(name)).filter((name) => {
			const { data, form } = wanted.get(name);
			return !forms[form].unpack(readFileSync(join(target, name))).equals(data);
		}).map((name) => `${name} holds something else`),
	];
	if (wrong.length > 0) {
		console.error(['web/static is not what the lock file gives; bash .ci/web writes it:', ...wrong].join('\n  '));
		process.exit(1);
	}
	console.log(`${names.length} files are what the lock file gives`);
} else {
	rmSync(target, { recursive: true, force: true });
	mkdirSync(target, { recursive: true });
	for (const [name, { data, form }] of wanted) {
		const out = forms[form].pack(data);
		writeFileSync(join(target, name), out);
		console.log(`${name}: ${out.length} bytes of ${data.length}`);
	}
}
