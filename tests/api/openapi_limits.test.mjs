// What api/openapi.yaml says about requests: limits of text are bytes and are called that, and a value that an enum does
// not have is refused. Driven by the document, so that it holds for addresses that come later.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { ACCOUNT_SETTINGS, bearer, freePort, somebody } from './accounts.mjs';
import { openEmbedded } from './box_office.mjs';
import { ask } from './client.mjs';
import { Description } from './description.mjs';
import { ADMIN_TOKEN } from './support.mjs';

const INTERNAL_API_TOKEN = 'the-secret-of-our-services';
const SYLLABLE = '표'; // one character, three bytes

let office, description, identities;
before(async () => {
  const internal = { port: await freePort() };
  office = await openEmbedded({ FCFS_SEATS: '9', ...ACCOUNT_SETTINGS, INTERNAL_PORT: internal.port, INTERNAL_API_TOKEN });
  const [server] = office.servers;
  description = new Description((await ask(server, { path: '/openapi.json' })).json);
  const { headers } = await somebody(server);
  identities = {
    adminToken: { server, headers: { 'X-Admin-Token': ADMIN_TOKEN } },
    bearerAuth: { server, headers },
    internalToken: { server: internal, headers: bearer(INTERNAL_API_TOKEN) },
    undefined: { server, headers: { 'X-User-Id': 'somebody' } },
  };
});

/** So many bytes of UTF-8, as few characters as possible. */
const textOf = (bytes) => SYLLABLE.repeat(bytes / 3) + 'a'.repeat(bytes % 3);
const inHeader = (text) => Buffer.from(text).toString('latin1');

const parametersOf = ({ parameters = [] }) => parameters.map((one) => description.resolve(one));

/** { place, name, schema } of every text that an operation takes. */
function* textsOf(operation) {
  for (const { in: place, name, schema } of parametersOf(operation)) if (schema.type === 'string') yield { place, name, schema };
  const body = description.resolve(operation.requestBody?.content['application/json'].schema);
  for (const [name, member] of Object.entries(body?.properties ?? {})) {
    const schema = description.resolve(member);
    const text = schema.type === 'array' ? schema.items : schema;
    if ([text.type].flat().includes('string')) yield { place: schema.type === 'array' ? 'list' : 'body', name, schema: text };
  }
}

// A field may have two names: the answer tells one of them, and a body may have only one.
const plain = (text) => text.replaceAll('_', '').toLowerCase();

/** The first example of the operation, with one value changed. */
async function send({ path, method, operation }, { place, name }, value) {
  const { server, headers } = identities[Object.keys(operation.security?.[0] ?? { undefined: 0 })[0]];
  const shown = Object.values(operation.requestBody?.content['application/json'].examples ?? {})[0]?.value;
  const example = shown && Object.fromEntries(Object.entries(shown).filter(([key]) => plain(key) !== plain(name)));
  const isBody = place === 'body' || place === 'list';
  const body = isBody ? JSON.stringify({ ...example, [name]: place === 'list' ? [value] : value }) : example && JSON.stringify(example);
  return ask(server, {
    method,
    path: path.replace('{id}', '1') + (place === 'query' ? `?${name}=${encodeURIComponent(value)}` : ''),
    headers: { ...headers, ...(body && { 'Content-Length': Buffer.byteLength(body) }), ...(place === 'header' && { [name]: inHeader(value) }) },
    body,
  });
}

const saysBytes = ({ status, text }, name) => status === 400 && plain(text).includes(plain(name)) && /\d bytes/.test(text);

describe('the document on requests', () => {
  test('every limit of a text is said in bytes', () => {
    let count = 0;
    for (const { operation } of description.operations)
      for (const { name, schema } of textsOf(operation)) {
        const where = `${operation.operationId} ${name}`;
        if (schema.maxLength === undefined) continue;
        const isAscii = schema.format === 'email' || /0-9/.test(schema.pattern);
        assert.ok(isAscii || schema['x-maxBytes'] === schema.maxLength, where);
        // A character has one to four bytes: whatever the server takes, the schema must let pass.
        assert.ok((schema['x-minBytes'] ?? schema.minLength ?? 0) <= (schema.minLength ?? 0) * 4, where);
        count++;
      }
    assert.ok(count > 20);
  });

  test('and holds: one byte more is refused, and the answer says bytes', async () => {
    let count = 0;
    for (const one of description.operations)
      for (const text of textsOf(one.operation)) {
        const most = text.schema['x-maxBytes'];
        if (most === undefined) continue;
        const where = `${one.method} ${one.path} ${text.name}`;
        const [more, fits] = [await send(one, text, textOf(most + 1)), await send(one, text, textOf(most))];
        // The older contract answers in its own words, which are few.
        const refused = text.name === 'X-User-Id' || more.text.includes('bad request') ? more.status === 400 : saysBytes(more, text.name);
        assert.ok(refused, `${where}: ${more.text}`);
        assert.ok(!saysBytes(fits, text.name) && fits.status !== 413, `${where}: ${fits.text}`);
        description.check(one.method, one.path, more);
        count++;
      }
    assert.ok(count > 20);
  });

  test('and so does the least', async () => {
    for (const one of description.operations)
      for (const text of textsOf(one.operation)) {
        const least = text.schema['x-minBytes'];
        if (least === undefined) continue;
        const where = `${one.method} ${one.path} ${text.name}`;
        assert.ok(saysBytes(await send(one, text, textOf(least - 1)), text.name), where);
        assert.ok(!saysBytes(await send(one, text, textOf(least)), text.name), where);
      }
  });

  test('a value that an enum does not have is refused', async () => {
    const chosen = description.operations.flatMap((one) =>
      parametersOf(one.operation).filter(({ in: place, schema }) => place === 'query' && schema.enum).map((parameter) => [one, parameter]));
    assert.ok(chosen.length >= 3);
    for (const [one, { name, schema }] of chosen)
      for (const value of ['', '0', 'true', `${schema.enum[0]} `, schema.enum[0].repeat(2)]) {
        const answer = await send(one, { place: 'query', name }, value);
        assert.equal(answer.status, 400, `${one.method} ${one.path}?${name}=${value}: ${answer.text}`);
        assert.match(answer.text, new RegExp(`${name} must be `));
        description.check(one.method, one.path, answer);
      }
  });
});
