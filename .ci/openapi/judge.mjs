// Compares recorded replies with an OpenAPI document:  node judge.mjs DOCUMENT REPLIES
// REPLIES has a line of JSON for each reply: operation, status, type, body.
import { readFileSync } from 'node:fs';
import Ajv from 'ajv';
import formats from 'ajv-formats';

const [, , documentFile, repliesFile] = process.argv;
const api = JSON.parse(readFileSync(documentFile, 'utf8'));
// Ajv reads `nullable` of OpenAPI 3.0. It knows no other keyword of OpenAPI, and those do not constrain a value.
const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true });
formats(ajv);
ajv.addSchema({ $id: 'api', components: api.components });

const resolve = (part) => {
	while (part?.$ref) {
		part = part.$ref.slice(2).split('/').reduce((at, key) => at[key.replace(/~1/g, '/').replace(/~0/g, '~')], api);
	}
	return part;
};
// Refs of the document start at its root, which has an id here.
const rooted = (schema) => JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/'));

const validators = new Map();
const faults = new Map();
let judged = 0;
let violations = 0;
for (const line of readFileSync(repliesFile, 'utf8').split('\n').filter(Boolean)) {
	const { operation, status, type, body } = JSON.parse(line);
	const key = [operation, status, type].join(' ');
	if (!validators.has(key)) {
		const [method, path] = operation.split(' ');
		const response = resolve(api.paths[path]?.[method.toLowerCase()]?.responses?.[status]);
		const content = response?.content?.[type];
		validators.set(key, content ? ajv.compile(rooted(content.schema)) : null);
	}
	const validate = validators.get(key);
	judged++;
	const errors = validate === null ? [{ instancePath: '', message: 'is not described' }] : validate(body) ? [] : validate.errors;
	violations += errors.length;
	for (const e of errors) {
		const where = `${key} ${e.instancePath.replace(/\/\d+/g, '/N')} ${e.message}`;
		faults.set(where, (faults.get(where) ?? 0) + 1);
	}
}
for (const [where, n] of [...faults].slice(0, 40)) console.log(`${n} x ${where}`);
console.log(`${judged} replies of ${validators.size} operations and statuses, ${violations} violations`);
if (judged === 0 || violations > 0) process.exit(1);
