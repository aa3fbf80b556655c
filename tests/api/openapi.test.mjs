// api/openapi.yaml tells the truth and all of it: it has the routes that the server has, and every answer that the server
// gives is one that it describes. See description.mjs for how strictly answers are read.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { ACCOUNT_SETTINGS, Issuer, bearer, freePort, somebody } from './accounts.mjs';
import { FCFS, PRD, openEmbedded, openFleet } from './box_office.mjs';
import { EventStream, ask, sleep } from './client.mjs';
import { Description } from './description.mjs';
import { BODIES, asGuest, forServices, goingOn, ownAccount, registering, signingIn } from './openapi_accounts.mjs';
import { command, privateServer } from './programs.mjs';
import { ADMIN_TOKEN, ROOT, TICKETTOCK, eventually, startServer } from './support.mjs';
import { exchange, get, post, request } from './wire.mjs';

const GATEWAY_TOKEN = 'the-secret-of-the-gateway';
const ADMIN = { 'X-Admin-Token': ADMIN_TOKEN };
const RESET = '/api/v1/seats/reset';
const OVERVIEW = '/api/v1/admin/overview';
const by = (user) => ({ 'X-User-Id': user });

const INTERNAL_API_TOKEN = 'the-secret-of-our-services';

let office, description, issuer, accountSettings, internal;
before(async () => {
  issuer = await new Issuer().start();
  accountSettings = { ...ACCOUNT_SETTINGS, ...issuer.settings, INTERNAL_API_TOKEN };
  internal = { server: { port: await freePort() }, headers: bearer(INTERNAL_API_TOKEN) };
  office = await openEmbedded({ FCFS_SEATS: '4', GATEWAY_TOKEN, ...accountSettings, INTERNAL_PORT: internal.server.port });
  description = new Description((await ask(office.servers[0], { path: '/openapi.json' })).json);
});

/** The column `access` of the route table, as the description says it. */
function accessOf({ security: [first, ...others] = [] }) {
  if (!first) return 'public';
  if ('internalToken' in first) return 'internal';
  if ('adminToken' in first) {
    assert.deepEqual(others, [{ bearerAuth: ['ADMIN'] }]);
    return 'admin';
  }
  assert.equal(others.length, 0);
  return first.bearerAuth[0]?.toLowerCase() ?? 'user';
}

/** The column `query`. */
const queryOf = ({ parameters = [] }) =>
  parameters.map((one) => description.resolve(one)).filter((one) => one.in === 'query').map((one) => one.name).sort();

/** Asks and checks; `expected` is "status" or "status reason". */
async function expect(expected, method, path, { headers, body, server = office.servers[0] } = {}) {
  const text = typeof body === 'object' ? JSON.stringify(body) : body;
  const length = text === undefined ? {} : { 'Content-Length': Buffer.byteLength(text) };
  const answer = await ask(server, { method, path, headers: { ...headers, ...length }, body: text });
  description.check(method, path, answer);
  const { reason, error, body: inner } = answer.headers['content-type'] === 'application/json' ? answer.json : {};
  const got = [answer.status, reason ?? error ?? inner?.reason].filter((part) => part !== undefined && part !== null);
  assert.equal(got.join(' '), expected, `${method} ${path}: ${answer.text}`);
  return answer;
}

async function expectRaw(expected, method, path, bytes, server = office.servers[0]) {
  const { status, headers, body } = await exchange(server, bytes);
  description.check(method, path, { status, headers, text: body });
  assert.equal(`${status} ${JSON.parse(body).reason}`, expected);
}

describe('the document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(description.document));
    assert.ok(valid, JSON.stringify(errors));
  });

  test('has the routes of the server, no more and no fewer', () => {
    const routes = JSON.parse(execFileSync(TICKETTOCK, ['routes', '--json'])).filter((route) => route.kind === 'api');
    assert.ok(routes.length > 10);
    const described = description.operations.map(({ path, method, operation }) => ({
      method, path, access: accessOf(operation), takesBody: '413' in operation.responses, query: queryOf(operation),
    }));
    const order = (a, b) => (`${a.path} ${a.method}` < `${b.path} ${b.method}` ? -1 : 1);
    const served = routes.map(({ method, path, access, bodyLimit, query }) =>
      ({ method, path, access, takesBody: bodyLimit > 0, query: query.sort() }));
    assert.deepEqual(described.sort(order), served.sort(order));
  });

  test('knows the reasons of the table of errors, each with its own status', () => {
    const table = readFileSync(join(ROOT, 'src/tables/errors.def'), 'utf8');
    const statuses = Object.fromEntries([...table.matchAll(/^ERR\(\w+, (\d+), "(\w+)"/gm)].map(([, status, reason]) => [reason, status]));
    assert.deepEqual([...description.document.components.schemas.Reason.enum].sort(), Object.keys(statuses).sort());
    for (const row of description.described) {
      const [, status, ...reason] = row.split(' ');
      if (reason.join(' ') in statuses) assert.equal(status, statuses[reason.join(' ')], row);
    }
  });

  test('has an example for every answer, and each is as its schema says', () => {
    let count = 0;
    for (const { where, schema, value } of description.examples()) {
      assert.equal(description.problem(schema, value), null, where);
      count++;
    }
    assert.ok(count > 60);
    const responses = [...description.operations.flatMap(({ operation }) => Object.values(operation.responses)), ...Object.values(description.strict['x-anywhere'])];
    for (const response of responses.map((one) => description.resolve(one))) {
      for (const { examples } of Object.values(response.content ?? {})) {
        const shown = Object.values(examples).map(({ value }) => value.reason ?? value.error);
        for (const reason of description.reasons(response)) assert.ok(reason === null || shown.includes(reason), `${response.description}: ${reason}`);
      }
    }
  });

  test('every operation is explained and named once', () => {
    const tags = description.document.tags.map((tag) => tag.name);
    const names = description.operations.map(({ operation }) => operation.operationId);
    assert.equal(new Set(names).size, names.length);
    for (const { operation } of description.operations) {
      assert.ok(operation.summary);
      assert.ok(operation.tags.length === 1 && tags.includes(operation.tags[0]), operation.operationId);
      for (const parameter of operation.parameters ?? []) assert.ok(description.resolve(parameter).description);
    }
  });

  test('an answer that is not described is noticed', () => {
    const headers = { 'content-type': 'application/json', 'x-trace-id': '0'.repeat(32) };
    const say = (status, body, more = {}) => () => description.check('GET', '/api/v1/seats/1', { status, headers: { ...headers, ...more }, text: JSON.stringify(body) });
    const seat = { id: 1, name: 'A-1', status: true };
    const failure = { success: false, reason: 'not_found', message: 'No.', traceId: '0'.repeat(32) };
    say(200, { success: true, seat })();
    say(404, failure)();
    assert.throws(say(418, { success: true, seat }), /no such status/);
    assert.throws(say(200, { success: true, seat: { ...seat, phone: '+821012345678' } }), /additional properties/);
    assert.throws(say(200, { success: true }), /required property 'seat'/);
    assert.throws(say(404, { ...failure, reason: 'sold_out' }), /allowed values/);
    assert.throws(say(200, { success: true, seat }, { 'content-type': 'text/plain' }), /type text\/plain/);
    assert.throws(say(200, { success: true, seat }, { 'x-trace-id': undefined }), /X-Trace-Id is missing/);
    assert.throws(say(503, { ...failure, reason: 'service_unavailable' }), /Retry-After is missing/);
    description.seen.clear();
  });
});

describe('answers', () => {
  test('of the show and the seats', async () => {
    await expect('200', 'GET', '/api/v1/show');
    await expect('200', 'GET', '/api/v1/seats?format=array');
    const { headers } = await expect('200', 'GET', '/api/v1/seats');
    await expect('304', 'GET', '/api/v1/seats', { headers: { 'If-None-Match': headers.etag } });
    await expect('200', 'GET', '/api/v1/seats/1');
    await expect('200', 'GET', '/api/seats/1');
    await expect('400 validation', 'GET', '/api/v1/seats/first');
    await expect('404 not_found', 'GET', '/api/v1/seats/5');
    for (const path of ['/api/v1/show', '/api/v1/seats', '/api/v1/seats/stream']) {
      await expect('400 validation', 'GET', `${path}?scheduleId=`);
      await expect('404 not_found', 'GET', `${path}?scheduleId=never`);
    }
  });

  test('of the stream', async () => {
    const stream = new EventStream(office.servers[0]);
    const { 'x-events': events } = description.find('GET', '/api/v1/seats/stream').responses[200].content['text/event-stream'].schema;
    const expectEvent = async (name) => {
      let event = await stream.next();
      if (!event.event) event = await stream.next(); // it was the hint when to come back
      assert.equal(event.event, name);
      assert.equal(description.problem(events[name], event.data), null);
      assert.equal(event.id, event.data.version);
    };
    await expectEvent('snapshot');
    description.check('GET', '/api/v1/seats/stream', { status: stream.status, headers: stream.headers, text: '' });
    await expect('200', 'POST', FCFS, { headers: by('listened-to') });
    await expectEvent('seat');
    await expect('200', 'DELETE', PRD, { headers: by('listened-to') });
    await expectEvent('seat');
    stream.close();
  });

  for (const path of [FCFS, '/fcfs/join']) {
    test(`of POST ${path}`, async () => {
      await office.reset(1);
      const body = { userName: 'Alice', phone: '010-1234-5678' };
      await expect('400 missing_user', 'POST', path, { body });
      await expect('400 validation', 'POST', path, { headers: by('alice'), body: { phone: 'none' } });
      await expect('400 validation', 'POST', `${path}?wrap=1`, { headers: by('alice'), body: '{' });
      await expect('404 not_found', 'POST', `${path}?scheduleId=never`, { headers: by('alice') });
      await expect('413 body_too_large', 'POST', path, { headers: by('alice'), body: { userName: 'a'.repeat(5000) } });
      const gateway = { ...by('alice'), 'X-Gateway-Token': GATEWAY_TOKEN, 'X-Fcfs-Seq': 'seven' };
      await expect('503 sequence_unavailable', 'POST', path, { headers: gateway });
      await expect('200', 'POST', path, { headers: { ...gateway, 'X-Fcfs-Seq': '7' }, body });
      await expect('409 already_reserved', 'POST', path, { headers: by('alice'), body });
      await expect('409 already_reserved', 'POST', `${path}?wrap=1`, { headers: by('alice'), body });
      await expect('409 sold_out', 'POST', path, { headers: by('bob') });
      await office.reset(2);
      await expect('200', 'POST', `${path}?wrap=1`, { headers: by('alice') });

      const letGo = await office.holdHouse();
      const first = expect('409 contention', 'POST', path, { headers: by('carol') });
      await sleep(100);
      await expect('409 duplicate', 'POST', path, { headers: by('carol') });
      await first;
      await letGo();
    });
  }

  test('of the seat of one’s turn', async () => {
    await office.reset(3); // the second is the turn of alice's second attempt
    await expect('400 bad request', 'POST', PRD);
    await expect('400 validation', 'POST', `${PRD}?scheduleId=`, { headers: by('alice') });
    await expect('404 not_found', 'POST', `${PRD}?scheduleId=never`, { headers: by('alice') });
    await expect('413 body_too_large', 'POST', PRD, { headers: by('alice'), body: 'a'.repeat(5000) });
    await expect('200', 'POST', PRD, { headers: by('alice') });
    await expect('200 already reserved', 'POST', PRD, { headers: by('alice') });
    await expect('200', 'POST', PRD, { headers: by('bob') });
    await expect('200 sold out', 'POST', PRD, { headers: by('carol') });
    const letGo = await office.holdHouse();
    const first = expect('500 internal error', 'POST', PRD, { headers: by('dave') });
    await sleep(100);
    await expect('409 duplicate request', 'POST', PRD, { headers: by('dave') });
    await first;
    await letGo();
  });

  test('of looking at one’s seat and giving it back', async () => {
    await office.reset(2);
    await expect('200', 'POST', FCFS, { headers: by('alice') });
    for (const method of ['GET', 'DELETE']) {
      await expect('400 missing_user', method, PRD);
      await expect('400 validation', method, `${PRD}?scheduleId=`, { headers: by('alice') });
      await expect('404 not_found', method, `${PRD}?scheduleId=never`, { headers: by('alice') });
    }
    await expect('200', 'GET', PRD, { headers: by('alice') });
    await expect('200', 'GET', PRD, { headers: by('bob') });
    await expect('413 body_too_large', 'DELETE', PRD, { headers: by('alice'), body: 'a'.repeat(5000) });
    const letGo = await office.holdHouse();
    const first = expect('409 contention', 'DELETE', PRD, { headers: by('alice') });
    await sleep(100);
    await expect('409 duplicate', 'DELETE', PRD, { headers: by('alice') });
    await first;
    await letGo();
    await expect('200', 'DELETE', PRD, { headers: by('alice') });
    await expect('409 not_reserved', 'DELETE', PRD, { headers: by('alice') });
  });

  test('for the operator', async () => {
    await expect('200', 'POST', `${RESET}?scheduleId=new`, { headers: ADMIN, body: { seatCount: 3 } });
    await expect('200', 'POST', RESET, { headers: ADMIN, body: { scheduleId: 'new', seatCount: 3, generation: 1 } });
    await expect('409 generation_changed', 'POST', RESET, { headers: ADMIN, body: { scheduleId: 'new', seatCount: 3, generation: 1 } });
    await expect('404 not_found', 'POST', RESET, { headers: ADMIN, body: { scheduleId: 'never', seatCount: 3, generation: 1 } });
    await expect('400 validation', 'POST', RESET, { headers: ADMIN, body: { seatCount: 3 } });
    await expect('413 body_too_large', 'POST', RESET, { headers: ADMIN, body: 'a'.repeat(5000) });
    await expect('403 forbidden', 'POST', RESET, { body: { seatCount: 3 } });
    await expect('200', 'GET', OVERVIEW, { headers: ADMIN });
    await expect('400 validation', 'GET', `${OVERVIEW}?scheduleId=`, { headers: ADMIN });
    await expect('404 not_found', 'GET', `${OVERVIEW}?scheduleId=never`, { headers: ADMIN });
    await expect('403 forbidden', 'GET', OVERVIEW, { headers: { 'X-Admin-Token': 'another' } });
    const seat = (id, query = '?scheduleId=demo') => `/api/v1/admin/seats/${id}${query}`;
    await office.reset(2);
    await expect('200', 'POST', FCFS, { headers: by('alice') });
    await expect('400 validation', 'DELETE', seat('x'), { headers: ADMIN });
    await expect('400 validation', 'DELETE', seat(1, ''), { headers: ADMIN });
    await expect('400 validation', 'DELETE', seat(1, '?scheduleId='), { headers: ADMIN });
    await expect('404 not_found', 'DELETE', seat(1, '?scheduleId=never'), { headers: ADMIN });
    await expect('404 not_found', 'DELETE', seat(3), { headers: ADMIN });
    await expect('404 not_found', 'DELETE', seat(0), { headers: ADMIN });
    await expect('403 forbidden', 'DELETE', seat(1), { headers: by('alice') });
    const letGo = await office.holdHouse();
    await expect('409 contention', 'DELETE', seat(1), { headers: ADMIN });
    await letGo();
    await expect('200', 'DELETE', seat(1), { headers: ADMIN });
    await expect('409 not_reserved', 'DELETE', seat(1), { headers: ADMIN });

    const server = await startServer({ ADMIN_TOKEN: '' });
    await expect('404 not_found', 'DELETE', seat(1), { headers: ADMIN, server });
    await expect('404 not_found', 'POST', RESET, { headers: ADMIN, body: { seatCount: 3 }, server });
    await expect('404 not_found', 'GET', OVERVIEW, { headers: ADMIN, server });
    await server.stop();
  });

  test('of registering', () => registering(expect, office.servers[0], internal));
  test('of signing in', () => signingIn(expect, office.servers[0], issuer));
  test('of staying signed in', () => goingOn(expect, office));
  test('of being a guest', async () => {
    const closed = await startServer({ FCFS_GUESTS: '0' });
    await asGuest(expect, closed);
    await closed.stop();
  });
  test('about one’s own account', () => ownAccount(expect, office, issuer));
  test('for other services', () => forServices(expect, office.servers[0], internal));

  test('where nobody signs in with Google', async () => {
    const server = await startServer();
    await expect('404 not_found', 'POST', '/api/v1/auth/google/nonce', { server });
    await expect('404 not_found', 'POST', '/api/v1/auth/google', { body: { credential: 'a.b.c' }, server });
    await server.stop();
  });

  test('of the server itself', async () => {
    await expect('200', 'GET', '/healthz');
    await expect('200', 'GET', '/readyz');
    await expect('200', 'GET', '/metrics');
    const { headers } = await expect('200', 'GET', '/openapi.json');
    await expect('304', 'GET', '/openapi.json', { headers: { 'If-None-Match': headers.etag } });
  });

  test('that any address may give', async () => {
    await expect('404 not_found', 'GET', '/nothing/here');
    await expect('405 method_not_allowed', 'PUT', '/api/v1/seats');
    await expect('400 validation', 'GET', '/healthz?a=%E9');
    await expectRaw('400 bad_request', 'GET', '/healthz', get('/healthz', { 'Content-Length': 'many' }));
    await expectRaw('413 body_too_large', 'GET', '/healthz', request('GET', '/healthz', { 'Content-Length': 1 }, '!'));
    await expectRaw('414 uri_too_long', 'GET', '/healthz', get(`/healthz?${'a'.repeat(9000)}`));
    await expectRaw('417 expectation_failed', 'POST', FCFS, post(FCFS, '{}', { Expect: 'a miracle' }));
    await expectRaw('431 headers_too_large', 'GET', '/healthz', get('/healthz', { 'X-Long': 'a'.repeat(20000) }));
    await expectRaw('501 method_not_implemented', 'BREW', '/healthz', request('BREW', '/healthz'));
    await expectRaw('505 version_not_supported', 'GET', '/healthz', 'GET /healthz HTTP/3.0\r\nHost: test\r\n\r\n');
  });

  test('that the gateway gives before an address is reached', async () => {
    const guarded = await openEmbedded({ WAITING_ROOM_SCHEDULES: '*', RATE_LIMIT_GENERAL: '1' });
    const [server] = guarded.servers;
    await expect('403 queue_token_required', 'POST', FCFS, { headers: by('alice'), server });
    await expect('403 csrf', 'DELETE', PRD, { headers: { Cookie: 'access_token=x' }, server });
    await expect('401 unauthorized', 'GET', OVERVIEW, { headers: { Authorization: 'Bearer x' }, server });
    await expect('429 rate_limited', 'GET', OVERVIEW, { headers: ADMIN, server });
  });

  test('to a client that listens already', async () => {
    const narrow = await openEmbedded({ MAX_STREAMS_PER_ADDRESS: '1' });
    const stream = new EventStream(narrow.servers[0]);
    await stream.next();
    await expect('429 too_many_streams', 'GET', '/api/v1/seats/stream', { server: narrow.servers[0] });
    stream.close();
  });

  test('of a server that is kept waiting, or has too much to do', async () => {
    const tight = await openEmbedded({ THREADS: '1', MAX_TASKS: '16', FCFS_DUP_POLICY: 'off', HEADER_TIMEOUT_MS: '200' });
    await expectRaw('408 request_timeout', 'GET', '/healthz', 'GET /healthz HTTP/1.1\r\n', tight.servers[0]);
    const letGo = await tight.holdHouse();
    const crowd = Array.from({ length: 40 }, (_, i) => ask(tight.servers[0], { method: 'POST', path: FCFS, headers: by(`user-${i}`) }));
    await eventually('a server that is busy', async () => (await ask(tight.servers[0], { path: '/metrics' })).status === 503);
    await expect('503 overloaded', 'GET', '/metrics', { server: tight.servers[0] });
    await letGo();
    for (const answer of await Promise.all(crowd)) description.check('POST', FCFS, answer);
  });
});

describe('answers of a fleet', () => {
  let fleet, server, services;
  before(async () => {
    services = { port: await freePort() };
    fleet = await openFleet({ THREADS: '1', ...accountSettings, INTERNAL_PORT: services.port }, { servers: 1 });
    server = fleet.servers[0];
  });

  const attempts = [['POST', FCFS], ['POST', '/fcfs/join'], ['DELETE', PRD]];

  test('whose Redis fails', async () => {
    const configure = (maxmemory) => command('redis-cli', '-u', fleet.redis.url, 'config', 'set', 'maxmemory', maxmemory);
    await configure('1');
    for (const [method, path] of attempts) await expect('503 redis_error', method, path, { headers: by('alice'), server });
    await configure('0');
    await expect('200', 'POST', FCFS, { headers: by('alice'), server });
  });

  test('whose Redis is gone', async () => {
    await privateServer('kill', fleet.redis.folder);
    for (const [method, path] of attempts) await expect('503 service_unavailable', method, path, { headers: by('alice'), server });
    await eventually('the trouble is known', async () => (await ask(server, { path: '/readyz' })).status === 503);
    await expect('503', 'GET', '/readyz', { server });
    await fleet.redis.start();
    await eventually('it works again', async () => (await ask(server, { path: '/readyz' })).status === 200);
  });

  test('whose PostgreSQL is gone', async () => {
    const { headers: user } = await somebody(server);
    await privateServer('kill', fleet.postgres.folder);
    for (const { method, path, operation } of description.operations) {
      if (!/^\/(api|fcfs|internal)\//.test(path) || ['becomeGuest', 'askForGoogle'].includes(operation.operationId)) continue; // kept in no database
      const target = path.replace('{id}', '1') + (queryOf(operation).includes('scheduleId') ? '?scheduleId=never' : '');
      const body = operation.operationId === 'resetHouse' ? { seatCount: 1 } : BODIES[operation.operationId]?.(issuer);
      const refusal = operation.operationId === 'tryNextSeat' ? '500 internal error' : '503 service_unavailable'; // the PRD's
      const [headers, to] = path.startsWith('/internal') ? [internal.headers, services] : [{ ...ADMIN, ...by('bob'), ...user, ...issuer.asked }, server];
      await expect(refusal, method, target, { headers, body, server: to });
    }
  });
});

// Last, for it looks at what all tests above have seen.
describe('taken together', () => {
  const NOT_PROVOKED = [
    'anywhere 500 internal_error', // there is no known way to it
  ];

  test('every answer that is described was really given', () => {
    const unseen = description.described.filter((row) => !description.seen.has(row));
    assert.deepEqual(unseen.filter((row) => !NOT_PROVOKED.includes(row)), []);
  });
});
