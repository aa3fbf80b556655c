// How often one may come, over real HTTP: exact under concurrency, by one server and by several, and not without any limit
// while Redis is gone.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { FCFS, inBothWays, openFleet } from './box_office.mjs';
import { ask } from './client.mjs';
import { privateServer } from './programs.mjs';
import { eventually } from './support.mjs';
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
