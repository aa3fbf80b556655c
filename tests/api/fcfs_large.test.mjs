// Reading a large house: one rendering for all readers, in all its forms; and readers that do not read.
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import http from 'node:http';
import { gunzipSync } from 'node:zlib';
import { inBothWays, users } from './box_office.mjs';
import { eventually, startServer } from './support.mjs';
import { Wire, exchange, get } from './wire.mjs';

const SEATS = 5000; // more than are rendered at once
const PATH = '/api/v1/seats', ARRAY = '/api/v1/seats?format=array';

/** An answer as it comes over the wire: { status, headers, body }. */
function fetchBytes(server, path, { method = 'GET', ...headers } = {}) {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port: server.port, path, method, headers, agent: false }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part)).on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) }));
    });
    request.on('error', reject).end();
  });
}

const PACKED = { 'Accept-Encoding': 'gzip' };
const textOf = ({ headers, body }) => (headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();

inBothWays((way) => describe(way.name, () => {
  let office, server;
  before(async () => {
    office = await way.open({ FCFS_SEATS: `${SEATS}` });
    [server] = office.servers;
    await office.claim('alice', { server });
  });

  test('every form is the same list', async () => {
    const expected = Array.from({ length: SEATS }, (_, i) => ({ id: i + 1, status: i === 0 }));
    for (const path of [PATH, ARRAY]) {
      const plain = await fetchBytes(server, path), packed = await fetchBytes(server, path, PACKED);
      const list = JSON.parse(textOf(plain));
      const seats = path === PATH ? list.seats : list;
      if (path === PATH) assert.equal(list.success, true);
      assert.deepEqual(seats.map(({ id, status }) => ({ id, status })), expected);
      assert.equal(new Set(seats.map(({ name }) => name)).size, SEATS);
      assert.equal(textOf(packed), textOf(plain));
      assert.equal(packed.headers['content-encoding'], 'gzip');
      assert.equal(plain.headers['content-encoding'], undefined);
      assert.ok(packed.body.length * 5 < plain.body.length, `${packed.body.length} of ${plain.body.length} bytes`);
    }
  });

  test('the tag of the compressed form is weak, and either form knows the other', async () => {
    for (const path of [PATH, ARRAY]) {
      const plain = await fetchBytes(server, path), packed = await fetchBytes(server, path, PACKED);
      assert.match(plain.headers.etag, /^"[^"]+"$/);
      assert.equal(packed.headers.etag, `W/${plain.headers.etag}`);
      for (const { headers } of [plain, packed]) assert.equal(headers.vary, 'Accept-Encoding');
      for (const [accepted, { headers }] of [[{}, plain], [PACKED, packed]]) {
        for (const known of [plain.headers.etag, packed.headers.etag, '*']) {
          const same = await fetchBytes(server, path, { ...accepted, 'If-None-Match': known });
          assert.deepEqual([same.status, same.body.length, same.headers.etag, same.headers.vary],
            [304, 0, headers.etag, 'Accept-Encoding'], known);
        }
        const head = await fetchBytes(server, path, { ...accepted, method: 'HEAD' });
        for (const name of ['etag', 'vary', 'content-length', 'content-type', 'content-encoding', 'cache-control'])
          assert.equal(head.headers[name], headers[name], name);
        assert.equal(head.body.length, 0);
      }
    }
  });

  test('whoever reads after being told "yours" sees it, while all others buy and read', async () => {
    const buy = async (user, i) => {
      const { json } = await office.claim(user, { server });
      assert.equal(json.success, true, JSON.stringify(json));
      const answer = await fetchBytes(server, ARRAY, i % 2 ? PACKED : {});
      assert.equal(answer.status, 200);
      assert.equal(JSON.parse(textOf(answer))[json.seat_id - 1].status, true, `seat ${json.seat_id}`);
    };
    for (let wave = 0; wave < 4; wave++) await Promise.all(users(40, `wave-${wave}`).map(buy));
    await office.giveBack('alice', { server });
    for (const headers of [{}, PACKED])
      assert.equal(JSON.parse(textOf(await fetchBytes(server, ARRAY, headers)))[0].status, false, 'given back');
    await office.audit();
  });

  test('a house that becomes small, empty, large', async () => {
    for (const count of [3, 0, 3000, 512, 513]) {
      await office.reset(count);
      for (const headers of [{}, PACKED]) assert.equal(JSON.parse(textOf(await fetchBytes(server, ARRAY, headers))).length, count);
    }
  });
}));

describe('clients that do not read', () => {
  const opened = [];
  after(() => opened.forEach((wire) => wire.close()));
  const stall = async (server, from) => {
    const wire = await Wire.open(server, { from });
    opened.push(wire.stopReading().send(get(PATH)));
  };
  const unsentOf = async (server) =>
    Number(/^http_unsent_bytes (\d+)$/m.exec((await exchange(server, get('/metrics'), { from: '127.0.0.9' })).body)[1]);
  const read = (server, from) => exchange(server, get(PATH), { from });
  const LENGTH = 42_000_000 / 10; // about what a hundred thousand seats take

  test('one address has so many bytes, others are served', async () => {
    const server = await startServer({ FCFS_SEATS: '100000', MAX_UNSENT_BYTES_PER_ADDRESS: `${LENGTH * 5}` });
    for (let i = 0; i < 4; i++) await stall(server, '127.0.0.2');
    await eventually('four answers wait', async () => (await unsentOf(server)) > LENGTH * 3.5);
    for (let i = 0; i < 10; i++) await stall(server, '127.0.0.2');
    const refused = await eventually('it gets no more', async () => {
      const answer = await read(server, '127.0.0.2');
      return answer.status === 503 && answer;
    });
    assert.equal(refused.json.reason, 'overloaded');
    assert.match(refused.headers['retry-after'], /^[1-5]$/);
    assert.equal(refused.headers.etag, undefined);
    assert.ok((await unsentOf(server)) <= LENGTH * 5);
    assert.equal((await read(server, '127.0.0.3')).json.seats.length, 100_000);
    opened.splice(0).forEach((wire) => wire.close());
    await eventually('all is forgotten', async () => (await unsentOf(server)) === 0);
    assert.equal((await read(server, '127.0.0.2')).status, 200);
    assert.equal(await server.stop(), 0);
  });

  test('lists that only they still hold are memory, which has a limit', async () => {
    const server = await startServer({ FCFS_SEATS: '100000', MAX_LIST_BYTES: `${1 << 20}` });
    for (const user of users(5)) { // the list itself is larger, and still there is always one
      assert.equal((await server.reserve(user)).status, 200);
      assert.equal((await read(server, '127.0.0.3')).status, 200);
    }
    await stall(server, '127.0.0.2');
    await eventually('it waits', async () => (await unsentOf(server)) > LENGTH / 2);
    assert.equal((await server.reserve('another')).status, 200);
    assert.deepEqual([(await read(server, '127.0.0.3')).json.reason], ['overloaded']);
    opened.splice(0).forEach((wire) => wire.close());
    await eventually('there is room again', async () => (await read(server, '127.0.0.3')).status === 200);
    assert.equal(await server.stop(), 0);
  });

  test('when they take all room there is, they are cut sooner', async () => {
    const settings = { MAX_UNSENT_BYTES: `${LENGTH * 8}`, WRITE_TIMEOUT_MS: '600000' };
    const server = await startServer({ FCFS_SEATS: '100000', ...settings });
    for (let i = 0; i < 12; i++) await stall(server, `127.0.1.${i + 1}`);
    await eventually('room is scarce', async () => (await unsentOf(server)) > LENGTH * 6);
    await eventually('others are served', async () => (await read(server, '127.0.0.3')).status === 200);
    assert.equal(await server.stop('SIGKILL'), 'SIGKILL');
  });
});
