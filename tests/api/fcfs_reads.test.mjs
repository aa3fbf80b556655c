// Reading the house, the operator's reset, schedules, the gateway's sequence, the PRD's endpoint; in both ways to run.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { FCFS, PRD, inBothWays, openEmbedded, users } from './box_office.mjs';
import { ADMIN_TOKEN, eventually } from './support.mjs';

const GATEWAY_TOKEN = 'the-gateways-secret';
const RESET = '/api/v1/seats/reset';

inBothWays((way) => describe(way.name, () => {
  let office;
  before(async () => {
    office = await way.open({ GATEWAY_TOKEN });
  });

  const get = (path, headers = {}, server = office.servers[0]) => office.ask({ path, headers, server });
  const post = (path, user, headers = {}, body) => office.ask({ method: 'POST', path, user, headers, body });

  test('the house as a list, with its version', async () => {
    await office.reset(3);
    await office.claim('alice', { server: office.servers[0] });
    const answer = await get('/api/v1/seats');
    const seats = [
      { id: 1, name: 'A-1', status: true },
      { id: 2, name: 'A-2', status: false },
      { id: 3, name: 'A-3', status: false },
    ];
    assert.deepEqual(answer.json, { success: true, seats });
    assert.equal(answer.headers['cache-control'], 'public, max-age=1');
    const { etag } = answer.headers;
    assert.match(etag, /^"[^"]+"$/);

    const array = await get('/api/v1/seats?format=array');
    assert.deepEqual(array.json, seats);
    assert.notEqual(array.headers.etag, etag, 'another representation, another tag');

    for (const unknown of ['', 'xml', 'Array', 'array,']) {
      const refused = await get(`/api/v1/seats?format=${unknown}`);
      assert.deepEqual([refused.status, refused.json.reason], [400, 'validation'], unknown);
      assert.match(refused.json.message, /^format /);
    }

    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const same = await get('/api/v1/seats', { 'If-None-Match': known });
      assert.deepEqual([same.status, same.text, same.headers.etag], [304, '', etag], known);
    }
    assert.equal((await get('/api/v1/seats', { 'If-None-Match': '"other"' })).status, 200);

    await office.claim('bob', { server: office.servers[0] });
    const changed = await get('/api/v1/seats', { 'If-None-Match': etag });
    assert.equal(changed.status, 200);
    assert.notEqual(changed.headers.etag, etag);
    assert.deepEqual(changed.json.seats.map((seat) => seat.status), [true, true, false]);
  });

  test('one seat', async () => {
    await office.reset(12);
    assert.deepEqual((await get('/api/v1/seats/12')).json, { success: true, seat: { id: 12, name: 'B-2', status: false } });
    for (const id of ['0', '13', '-1', '999999999999']) {
      const answer = await get(`/api/v1/seats/${id}`);
      assert.deepEqual([answer.status, answer.json.reason], [404, 'not_found'], id);
    }
    for (const id of ['x', '1x', '1.5', '99999999999999999999', '%31x', "1'"]) {
      const answer = await get(`/api/v1/seats/${id}`);
      assert.deepEqual([answer.status, answer.json.reason], [400, 'validation'], id);
    }
  });

  test('only the operator resets, and every server sees it', async () => {
    await office.reset(3);
    await office.claim('alice');
    for (const [token, status] of [[undefined, 403], ['', 403], ['wrong', 403], [`${ADMIN_TOKEN}x`, 403], [ADMIN_TOKEN.slice(1), 403]]) {
      const answer = await post(RESET, undefined, token === undefined ? {} : { 'X-Admin-Token': token }, '{"seatCount":5}');
      assert.deepEqual([answer.status, answer.json.reason], [status, 'forbidden'], token);
    }
    const wrong = ['', '{}', '{"seatCount":-1}', '{"seatCount":1000001}', '{"seatCount":"9"}', '{"seatCount":1.5}', 'x',
      '{"seatCount":5,"generation":-1}', '{"seatCount":5,"generation":"1"}'];
    for (const body of wrong) {
      const answer = await post(`${RESET}?scheduleId=demo`, undefined, { 'X-Admin-Token': ADMIN_TOKEN }, body);
      assert.deepEqual([answer.status, answer.json.reason], [400, 'validation'], body);
    }
    assert.equal((await office.audit()).sold, 1, 'nothing has happened');

    const { generation } = (await get('/api/v1/admin/overview', { 'X-Admin-Token': ADMIN_TOKEN })).json;
    const answer = await office.resetSchedule('demo', 5);
    assert.deepEqual(answer.json, { success: true, scheduleId: 'demo', seats: 5, generation: generation + 1 });
    const began = performance.now();
    for (const server of office.servers) {
      await eventually('an empty house of five', async () => {
        const seats = await office.seats(server);
        return seats.length === 5 && seats.every((seat) => !seat.status);
      }, 2);
    }
    assert.ok(performance.now() - began < 1000);
    office.forget();
    assert.equal((await office.claim('alice')).json.seat_id, 1, 'who had a seat in the old house may buy in the new one');
    await office.sellTheRest();
  });

  test('a reset in the middle of a sale: old answers are gone, new ones hold', async () => {
    await office.reset(200);
    const selling = users(150, 'crowd').map((user) => office.ask({ method: 'POST', path: FCFS, user }));
    const reset = office.resetSchedule('demo', 100);
    const answers = await Promise.all(selling);
    assert.equal((await reset).status, 200);
    const claims = await office.rows('SELECT user_id, seat_id FROM claims');
    assert.ok(claims.length <= 100);
    for (const { user_id, seat_id } of claims) {
      const { json } = answers[Number(user_id.split('-')[1]) - 1];
      assert.deepEqual([json.success, json.seat_id], [true, seat_id]);
      office.told.set(user_id, { seat: seat_id, sequence: json.sequence });
    }
    await office.sellTheRest();
  });

  test('a schedule of its own', async () => {
    await office.reset(2);
    const evening = '?scheduleId=evening';
    for (const [method, path] of [['GET', '/api/v1/seats'], ['POST', FCFS], ['DELETE', PRD], ['GET', '/api/v1/seats/1'], ['GET', '/api/v1/seats/stream'], ['GET', '/api/v1/show']]) {
      const answer = await office.ask({ method, path: `${path}?scheduleId=nowhere`, user: 'alice' });
      assert.deepEqual([answer.status, answer.json.reason], [404, 'not_found'], path);
    }
    for (const bad of ['', 'x'.repeat(65)]) {
      const answer = await get(`/api/v1/seats?scheduleId=${bad}`);
      assert.deepEqual([answer.status, answer.json.reason], [400, 'validation']);
      assert.match(answer.json.message, /scheduleId/);
    }
    const opened = await office.resetSchedule('evening', 3);
    assert.equal(opened.status, 200, opened.text);

    assert.equal((await office.claim('alice')).json.seat_id, 1);
    const other = await Promise.all(['alice', 'bob', 'carol'].map((user) => post(`${FCFS}${evening}`, user)));
    assert.deepEqual(other.map((answer) => answer.json.seat_id).sort(), [1, 2, 3], 'a user may have a seat in each');
    assert.equal((await post(`${FCFS}${evening}`, 'dave')).json.reason, 'sold_out');
    assert.equal((await office.claim('dave')).json.seat_id, 2);
    for (const server of office.servers) {
      const taken = async (schedule) => (await get(`/api/v1/seats${schedule}`, {}, server)).json.seats.filter((seat) => seat.status);
      await eventually('two seats are taken', async () => (await taken('')).length === 2);
      await eventually('and three in the evening', async () => (await taken(evening)).length === 3);
      assert.equal((await get(`/api/v1/show${evening}`, {}, server)).json.show.scheduleId, 'evening');
    }
    const empty = await office.resetSchedule('empty', 0);
    assert.equal(empty.status, 200, empty.text);
    assert.equal((await post(`${FCFS}?scheduleId=empty`, 'alice')).json.reason, 'sold_out');
    await office.sellTheRest();
  });

  test("the gateway's sequence is believed only with its secret", async () => {
    await office.reset(9);
    const claim = (user, headers) => office.claim(user, { headers });
    assert.equal((await claim('alice', { 'X-Fcfs-Seq': '500' })).json.sequence, 1);
    assert.equal((await claim('bob', { 'X-Fcfs-Seq': '500', 'X-Gateway-Token': 'wrong' })).json.sequence, 2);
    assert.equal((await claim('carol', { 'X-Gateway-Token': GATEWAY_TOKEN })).json.sequence, 3);
    const told = await claim('dave', { 'X-Fcfs-Seq': '500', 'X-Gateway-Token': GATEWAY_TOKEN });
    assert.deepEqual([told.json.sequence, told.json.seat_id], [500, 4], 'the number orders; it strands no seat');
    assert.ok((await claim('erin', {})).json.sequence > 500, 'our own go on behind it');
    for (const bad of ['', '0', '-3', 'x', '1.5', '99999999999999999999', '9223372036854775807', '0x10', '5 5']) {
      const answer = await claim('fay', { 'X-Fcfs-Seq': bad, 'X-Gateway-Token': GATEWAY_TOKEN });
      assert.deepEqual([answer.status, answer.json.reason], [503, 'sequence_unavailable'], `"${bad}": ${answer.text}`);
      const plain = await post(PRD, 'fay', { 'X-Fcfs-Seq': bad, 'X-Gateway-Token': GATEWAY_TOKEN });
      assert.deepEqual([plain.status, plain.json], [500, { success: false, error: 'internal error' }]);
    }
    assert.equal((await claim('gus', {})).status, 200);
    await office.sellTheRest();
  });

  test("the PRD's endpoint: sequence n tries seat n", async () => {
    await office.reset(3);
    const gateway = (number) => ({ 'X-Fcfs-Seq': `${number}`, 'X-Gateway-Token': GATEWAY_TOKEN });
    const attempt = async (user, headers, body) => {
      const answer = await post(PRD, user, headers, body);
      return [answer.status, answer.json];
    };
    assert.deepEqual(await attempt('alice'), [200, { success: true, seat: 1 }]);
    assert.deepEqual(await attempt('alice'), [200, { success: false, reason: 'already reserved', seat: 1 }]);
    assert.deepEqual(await attempt('bob', gateway(1)), [200, { success: false, reason: 'already reserved', seat: 1 }]);
    assert.deepEqual(await attempt('bob', gateway(3)), [200, { success: true, seat: 3 }]);
    assert.deepEqual(await attempt('carol'), [200, { success: false, reason: 'sold out' }], 'the sequence is at 4');
    assert.deepEqual(await attempt(undefined), [400, { success: false, error: 'bad request' }]);
    assert.deepEqual(await attempt('dave', {}, '{"phone":"1"}'), [400, { success: false, error: 'bad request' }]);

    const letGo = await office.holdHouse();
    const from = '198.51.100.7';
    const first = office.ask({ method: 'POST', path: PRD, user: 'erin', from });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const second = await office.ask({ method: 'POST', path: PRD, user: 'erin', from });
    assert.deepEqual([second.status, second.json], [409, { success: false, reason: 'duplicate request' }]);
    await letGo();
    assert.equal((await first).status, 200);

    const left = await office.claim('fay');
    assert.equal(left.json.seat_id, 2, 'what this order leaves behind is sold by /fcfs');
  });

  test("every buyer's own number through the PRD's endpoint, all at once", async () => {
    await office.reset(50);
    const answers = await Promise.all(users(60).map((user) => post(PRD, user)));
    const seats = answers.filter((answer) => answer.json.success).map((answer) => answer.json.seat);
    assert.deepEqual([...seats].sort((a, b) => a - b), Array.from({ length: 50 }, (_, i) => i + 1));
    assert.equal(answers.filter((answer) => answer.json.reason === 'sold out').length, 10);
  });
}));

test('without ADMIN_TOKEN there is no operator, and without GATEWAY_TOKEN no gateway', async () => {
  const office = await openEmbedded({ ADMIN_TOKEN: '', GATEWAY_TOKEN: '' });
  for (const headers of [{}, { 'X-Admin-Token': '' }, { 'X-Admin-Token': ADMIN_TOKEN }]) {
    const answer = await office.ask({ method: 'POST', path: RESET, headers, body: '{"seatCount":1}' });
    assert.deepEqual([answer.status, answer.json.reason], [404, 'not_found']);
  }
  for (const token of ['', GATEWAY_TOKEN]) {
    const headers = { 'X-Fcfs-Seq': '77', 'X-Gateway-Token': token };
    assert.ok((await office.claim(`user-${token}`, { headers })).json.sequence < 5);
  }
});
