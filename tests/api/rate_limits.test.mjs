// How often one may come, over real HTTP: exact under concurrency, by one server and by several, and not without any limit
// while Redis is gone.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { FCFS, inBothWays, openFleet } from './box_office.mjs';
import { ask } from './client.mjs';
import { privateServer } from './programs.mjs';
import { ADMIN_TOKEN, eventually } from './support.mjs';
import { JWT_SECRET, accessToken, bearer } from './tokens.mjs';

const SEATS = '/api/v1/seats/reservation';
const OVERVIEW = '/api/v1/admin/overview';

/** { passed, limited, other } of many answers. */
function count(answers) {
  const limited = answers.filter((answer) => answer.status === 429);
  for (const { json, headers } of limited) {
    assert.equal(json.reason, 'rate_limited');
    assert.ok(json.retryAfter >= 1 && json.retryAfter <= 60, String(json.retryAfter));
    assert.equal(headers['retry-after'], String(json.retryAfter));
  }
  const passed = answers.filter((answer) => answer.status === 200).length;
  return { passed, limited: limited.length, other: answers.length - passed - limited.length };
}

inBothWays(({ name, open }) => describe(`${name}: rate limits`, () => {
  const LIMIT = 40;
  let office;
  before(async () => {
    office = await open({ JWT_SECRET, RATE_LIMIT_FCFS: String(LIMIT) });
  });

  const crowd = (size, options) => Promise.all(Array.from({ length: size }, () => office.ask({ path: SEATS, ...options })));

  test('of many requests at once exactly as many pass as may', async () => {
    const byUser = await crowd(200, { headers: bearer(accessToken('alice')) }); // from an address of its own each time
    assert.deepEqual(count(byUser), { passed: LIMIT, limited: 200 - LIMIT, other: 0 });
    const byAddress = await crowd(200, { user: 'bob', from: '10.200.0.1' });
    assert.deepEqual(count(byAddress), { passed: LIMIT, limited: 200 - LIMIT, other: 0 });
  });

  test('one caller does not use up what another may', async () => {
    assert.deepEqual(count(await crowd(LIMIT, { headers: bearer(accessToken('carol')) })), { passed: LIMIT, limited: 0, other: 0 });
    assert.deepEqual(count(await crowd(LIMIT, { user: 'dave', from: '10.200.0.2' })), { passed: LIMIT, limited: 0, other: 0 });
    const claim = await office.ask({ method: 'POST', path: FCFS, headers: bearer(accessToken('carol')), from: '10.200.0.3' });
    assert.equal(claim.status, 429, 'one category, whatever the address is');
  });

  test('health, metrics and pages are exempt', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics', '/', '/openapi.json'])
      assert.deepEqual(count(await crowd(LIMIT + 5, { path, from: '10.200.0.4' })), { passed: LIMIT + 5, limited: 0, other: 0 }, path);
  });
}));

inBothWays(({ name, open }) => describe(`${name}: limits of an address`, () => {
  const LIMIT = 8;
  let office;
  before(async () => {
    office = await open({ JWT_SECRET, RATE_LIMIT_AUTH: String(LIMIT) });
  });

  const inTurn = async (size, options) => {
    const answers = [];
    for (let i = 0; i < size; i++) answers.push(await office.ask(options(i)));
    return answers;
  };
  const limited = (answers) => answers.map(({ status }) => status === 429);
  const firstPass = (size) => Array.from({ length: size }, (_, i) => i >= LIMIT);

  // Made up: who has such a token need not have got it here.
  const withTokens = (method, path, from) => (i) => ({ method, path, from, headers: bearer(accessToken(`${path}-${i}`)), body: '{}' });

  for (const [number, path] of ['register', 'signup', 'login', 'refresh', 'google'].map((word) => `/api/v1/auth/${word}`).entries()) {
    test(`${path} counts by address, also of those who bring tokens`, async () => {
      const from = `10.201.0.${number}`;
      assert.deepEqual(limited(await inTurn(LIMIT + 4, withTokens('POST', path, from))), firstPass(LIMIT + 4));
      assert.equal((await office.ask({ method: 'POST', path, from, body: '{}' })).status, 429, 'without one as well');
    });
  }

  test('and by user, from whatever address', async () => {
    const headers = bearer(accessToken('a traveller'));
    const answers = await inTurn(LIMIT + 4, (i) => ({ method: 'POST', path: '/api/v1/auth/login', from: `10.202.0.${i}`, headers, body: '{}' }));
    assert.deepEqual(limited(answers), firstPass(LIMIT + 4));
  });

  test('wrong operator’s tokens are counted, whoever is signed in, and told in the log without a word of them', async () => {
    const guess = (i) => ({ path: OVERVIEW, from: '10.203.0.1', headers: { ...bearer(accessToken(`guesser-${i}`)), 'X-Admin-Token': `a-wrong-token-${i}` } });
    const answers = await inTurn(LIMIT + 4, guess);
    assert.deepEqual(answers.map(({ status }) => status), firstPass(LIMIT + 4).map((late) => (late ? 429 : 403)));
    assert.ok(Number(answers.at(-1).headers['retry-after']) >= 1);
    const right = { path: OVERVIEW, headers: { 'X-Admin-Token': ADMIN_TOKEN } };
    assert.equal((await office.ask({ ...right, from: '10.203.0.1' })).status, 429, 'whether one is right is not told any more');
    assert.equal((await office.ask({ ...right, from: '10.203.0.2' })).status, 200);
    const logged = office.servers.flatMap(({ output }) => output.split('\n').filter((line) => /X-Admin-Token/.test(line)));
    assert.ok(logged.length >= 1 && logged.length <= office.servers.length, logged.join('\n'));
    for (const line of logged) assert.match(line, /"level":"warn"/);
    assert.doesNotMatch(office.servers.map(({ output }) => output).join(), /a-wrong-token/);
  });
}));

describe('without Redis', () => {
  const LIMIT = 20;
  let fleet;
  before(async () => {
    fleet = await openFleet({ JWT_SECRET, RATE_LIMIT_GENERAL: String(LIMIT) });
  });

  const crowd = (size, user) => Promise.all(Array.from({ length: size }, () =>
    fleet.ask({ path: OVERVIEW, headers: bearer(accessToken(user, { role: 'ADMIN' })) })));
  const ready = async (status) => {
    for (const server of fleet.servers) await eventually(`readiness is ${status}`, async () => (await ask(server, { path: '/readyz' })).status === status);
  };

  test('each server lets twice as many pass, and no more', async () => {
    assert.deepEqual(count(await crowd(LIMIT * 2, 'alice')), { passed: LIMIT, limited: LIMIT, other: 0 });
    await privateServer('kill', fleet.redis.folder);
    await ready(503);
    const answers = count(await crowd(LIMIT * 2 * 3, 'alice')); // spread over two servers
    assert.deepEqual(answers, { passed: LIMIT * 2 * 2, limited: LIMIT * 2, other: 0 });
    assert.equal((await crowd(1, 'bob'))[0].status, 200);
    await fleet.redis.start();
    await ready(200);
    assert.deepEqual(count(await crowd(LIMIT * 2, 'carol')), { passed: LIMIT, limited: LIMIT, other: 0 });
  });
});
