// The part behind the question mark: what cannot be read, or is not known where something would change, is refused
// before anything happens. A parameter that is dropped silently would let a request mean another house.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { ask } from './client.mjs';
import { FCFS, PRD, inBothWays } from './box_office.mjs';
import { freePort } from './accounts.mjs';
import { ADMIN_TOKEN, TICKETTOCK } from './support.mjs';

const ROUTES = JSON.parse(execFileSync(TICKETTOCK, ['routes', '--json']));
const MANY = Array.from({ length: 65 }, (_, i) => `p${i}`).join('&');
const UNREADABLE = ['a=caf%E9', 'a=%00', '%00=a', 'a=1&a=2', 'a=1&%61=2', MANY];
const INTERNAL_API_TOKEN = 'the-secret-of-our-services';

inBothWays(({ name, open }) => describe(name, () => {
  let office, internal;
  before(async () => {
    internal = { port: await freePort() };
    office = await open({ FCFS_SEATS: '3', INTERNAL_PORT: internal.port, INTERNAL_API_TOKEN }, { servers: 1 });
  });
  const targetOf = ({ path }) => path.replace('{id}', '1').replace('{*}', 'none.js');
  const serverOf = ({ access }) => (access === 'internal' ? internal : office.servers[0]);
  const refused = ({ status, json, text }, what) => {
    assert.equal(status, 400, `${what}: ${status} ${text}`);
    assert.equal(json.reason, 'validation', what);
  };

  test('a query that cannot be read is refused by every route', async () => {
    assert.ok(ROUTES.length > 30);
    for (const route of ROUTES)
      for (const query of UNREADABLE)
        for (const method of route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]) {
          const answer = await ask(serverOf(route), { method, path: `${targetOf(route)}?${query}` });
          if (method === 'HEAD') assert.equal(answer.status, 400);
          else refused(answer, `${method} ${route.path}?${query}`);
        }
  });

  test('but where there is nothing, there is nothing', async () => {
    assert.equal((await ask(office.servers[0], { path: '/nothing/here?a=%E9' })).status, 404);
    assert.equal((await ask(office.servers[0], { method: 'PUT', path: '/healthz?a=%E9' })).status, 405);
  });

  test('reading takes names that it does not know', async () => {
    for (const path of ['/', '/admin', '/healthz', '/api/v1/seats'])
      assert.equal((await ask(office.servers[0], { path: `${path}?utm_source=mail&v=3` })).status, 200, path);
  });

  test('a route that changes something refuses them, and says what was meant', async () => {
    for (const route of ROUTES.filter(({ method }) => method !== 'GET')) {
      const answer = await ask(serverOf(route), { method: route.method, path: `${targetOf(route)}?colour=red` });
      refused(answer, `${route.method} ${route.path}`);
      assert.match(answer.json.message, /takes no parameter colour\.$/);
    }
    const { json } = await office.ask({ method: 'POST', path: `${FCFS}?scheduleID=demo`, user: 'alice' });
    assert.match(json.message, /takes no parameter scheduleID; did you mean scheduleId\?$/);
  });

  test('nothing has changed by any of them', async () => {
    const headers = { 'X-Admin-Token': ADMIN_TOKEN };
    assert.equal((await office.claim('alice')).status, 200);
    const wrong = ['scheduleId=friday&note=caf%E9', 'scheduleId=demo&scheduleId=friday', 'schedule=demo'];
    for (const query of wrong) {
      refused(await office.ask({ method: 'POST', path: `/api/v1/seats/reset?${query}`, headers, body: '{"seatCount":9}' }), query);
      refused(await office.ask({ method: 'POST', path: `${FCFS}?${query}`, user: 'bob' }), query);
      refused(await office.ask({ method: 'DELETE', path: `${PRD}?${query}`, user: 'alice' }), query);
    }
    assert.deepEqual((await office.seats()).map(({ status }) => status), [true, false, false]);
    assert.equal((await office.rows('SELECT count(*) AS n FROM houses'))[0].n, 1);
    await office.audit();
  });
}));
