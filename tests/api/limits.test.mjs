// Every limit and every time-out is kept, is told in the right words, and is forgotten when the cause has gone.
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { FCFS, PRD, openEmbedded } from './box_office.mjs';
import { EventStream } from './client.mjs';
import { start, startPrivate } from './programs.mjs';
import { eventually, startServer } from './support.mjs';
import { CRLF, Wire, exchange, get, post, request } from './wire.mjs';

const HEALTH = get('/healthz'), READY = get('/readyz'), SEATS = get('/api/v1/seats'), STREAM = '/api/v1/seats/stream';

function assertRefused(answer, status, reason) {
  assert.equal(answer.status, status, answer.body);
  assert.deepEqual([answer.json.success, answer.json.reason], [false, reason]);
  assert.match(answer.headers['x-trace-id'], /^[0-9a-f]{32}$/);
  if (status === 503) assert.match(answer.headers['retry-after'], /^[1-9]\d*$/);
}

/** How many connections the server has, the one that asks not counted. */
async function connectionsOf(server) {
  const { body } = await exchange(server, get('/metrics'));
  return Number(/^http_connections (\d+)$/m.exec(body)[1]) - 1;
}

describe('the size of a head', () => {
  let server;
  before(async () => {
    server = await startServer({ THREADS: '1', MAX_REQUEST_LINE_BYTES: '300', MAX_HEADER_BYTES: '2000' });
  });
  after(() => server.stop());

  async function assertCut(bytes, status, reason) {
    const wire = await Wire.open(server);
    const answer = await wire.send(bytes).answer();
    assertRefused(answer, status, reason);
    assert.equal(answer.headers.connection, 'close');
    assert.equal(await wire.ended(), '');
  }
  const path = (length) => `/healthz?${'x'.repeat(length - 'GET /healthz? HTTP/1.1'.length)}`;
  const lines = (count) => Object.fromEntries(Array.from({ length: count - 1 }, (_, i) => [`X-${i}`, 'value']));

  test('a request line', async () => {
    assert.equal((await exchange(server, get(path(300)))).status, 200);
    await assertCut(get(path(301)), 414, 'uri_too_long');
    await assertCut(`GET /${'x'.repeat(100_000)}`, 414, 'uri_too_long');
  });

  test('all headers together', async () => {
    const padding = 2000 - get('/healthz', { 'X-Padding': '' }).length;
    assert.equal((await exchange(server, get('/healthz', { 'X-Padding': 'x'.repeat(padding) }))).status, 200);
    await assertCut(get('/healthz', { 'X-Padding': 'x'.repeat(padding + 1) }), 431, 'headers_too_large');
    await assertCut(`GET /healthz HTTP/1.1${CRLF}X-Endless: ${'x'.repeat(100_000)}`, 431, 'headers_too_large');
  });

  test('the number of headers', async () => {
    assert.equal((await exchange(server, get('/healthz', lines(64)))).status, 200); // Host is one of them
    await assertCut(get('/healthz', lines(65)), 431, 'headers_too_large');
  });
});

describe('connections', () => {
  const CUSTOMER = '127.0.0.2', OTHER = '127.0.0.3', PROXY = '127.0.0.4';
  const opened = []; // by one thread, so in this order
  const open = async (server, count, from) => {
    for (let i = 0; i < count; i++) opened.push(await Wire.open(server, { from }));
    assert.equal((await exchange(server, HEALTH, { from: OTHER })).status, 200);
  };
  const assertTurnedAway = async (server, from, bytes) => {
    const wire = await Wire.open(server, { from });
    const answer = await (bytes ? wire.send(bytes) : wire).answer();
    assert.equal(answer.line, 'HTTP/1.1 503 Service Unavailable');
    assert.equal(answer.headers.connection, 'close');
    assert.match(answer.headers['retry-after'], /^[1-5]$/);
    if (bytes) assertRefused(answer, 503, 'overloaded');
    assert.equal(await wire.ended(), '');
    wire.close();
  };
  /** Over a limit one still learns how the server is, and nothing else. */
  const assertOnlyHealth = async (server, from) => {
    for (const bytes of [HEALTH, READY]) {
      const answer = await exchange(server, bytes, { from });
      assert.deepEqual([answer.status, answer.headers.connection], [200, 'close'], answer.body);
    }
    for (const bytes of [SEATS, get('/nothing'), post(FCFS, '{"userName":"Alice"}', { 'X-User-Id': 'alice' })])
      await assertTurnedAway(server, from, bytes);
  };
  after(() => opened.forEach((wire) => wire.close()));

  test('so many from one address, from a proxy of ours more', async () => {
    const server = await startServer({ THREADS: '1', MAX_CONNECTIONS_PER_ADDRESS: '5', TRUSTED_PROXIES: PROXY });
    await open(server, 5, CUSTOMER);
    await open(server, 9, PROXY);
    for (let i = 0; i < 5; i++) await assertOnlyHealth(server, CUSTOMER);
    await assertTurnedAway(server, CUSTOMER, '');
    assert.equal((await exchange(server, HEALTH, { from: OTHER })).status, 200, 'others come in');

    opened.shift().close();
    const again = await eventually('a place is free again', async () => {
      const wire = await Wire.open(server, { from: CUSTOMER });
      if ((await wire.send(SEATS).answer()).status === 200) return wire;
      return wire.close();
    });
    await assertTurnedAway(server, CUSTOMER, SEATS);
    again.close();
    opened.splice(0).forEach((wire) => wire.close());
    assert.equal(await server.stop(), 0);
  });

  test('so many in all', async () => {
    // Whoever has asked before is sent away soon; who has not asked yet may stay.
    const times = { IDLE_TIMEOUT_MS: '100', HEADER_TIMEOUT_MS: '60000' };
    const server = await startServer({ THREADS: '1', MAX_CONNECTIONS: '12', ...times });
    await eventually('twelve have come to stay', async () => {
      const staying = opened.filter((wire) => !wire.hasEnded);
      if (staying.length < 12) opened.push(await Wire.open(server, { from: `127.0.1.${staying.length + 1}` }));
      return (await exchange(server, SEATS)).status === 503 && staying.length === 12;
    });
    opened.splice(0, Infinity, ...opened.filter((wire) => !wire.hasEnded));
    for (let i = 0; i < 5; i++) await assertOnlyHealth(server, `127.0.2.${i + 1}`);

    opened.splice(0, 2).forEach((wire) => wire.close());
    await eventually('places are free again', async () => (await exchange(server, SEATS)).status === 200);
    assert.equal((await opened[0].send(HEALTH).answer()).status, 200, 'who was in is served');
    opened.splice(0).forEach((wire) => wire.close());
    assert.equal(await server.stop(), 0);
  });

  test('a flood cannot take the places for those who watch', async () => {
    const server = await startServer({ MAX_CONNECTIONS: '16', RESERVED_CONNECTIONS: '8' });
    const flood = async (count) => {
      for (let i = 0; i < count; i++) opened.push(await Wire.open(server, { from: `127.0.3.${1 + opened.length % 50}` }));
    };
    await flood(100);
    for (let round = 0; round < 20; round++) {
      const [health, ready] = await Promise.all([exchange(server, HEALTH), exchange(server, READY), flood(20)]);
      assert.deepEqual([health.status, ready.status], [200, 200]);
    }
    assert.equal((await exchange(server, SEATS)).status, 503);
    opened.splice(0).forEach((wire) => wire.close());
    await eventually('places are free again', async () => (await exchange(server, SEATS)).status === 200);
    assert.equal(await server.stop(), 0);
  });
});

describe('streams', () => {
  const opened = [];
  after(() => opened.forEach((wire) => wire.close()));
  /** Asks for a stream as a client behind a proxy; one that was given stays open. */
  const listen = async (server, client) => {
    const wire = await Wire.open(server);
    const answer = await wire.send(get(STREAM, { 'X-Forwarded-For': client })).answer({ bodiless: true });
    if (answer.status === 200) opened.push(wire);
    else wire.close();
    return answer;
  };
  const listenAll = async (server, clients) => {
    const statuses = [];
    for (const client of clients) statuses.push((await listen(server, client)).status);
    return statuses;
  };

  test('so many of one client, as a proxy of ours tells, and an IPv6 network is one', async () => {
    const server = await startServer({ TRUSTED_PROXIES: '127.0.0.1', MAX_STREAMS_PER_ADDRESS: '3' });
    assert.deepEqual(await listenAll(server, ['10.0.0.1', '10.0.0.1', '10.0.0.1', '10.0.0.1']), [200, 200, 200, 429]);
    assert.deepEqual(await listenAll(server, ['2001:db8::1', '2001:db8::2', '2001:db8::3:1', '2001:db8::4']), [200, 200, 200, 429]);
    assert.deepEqual(await listenAll(server, ['10.0.0.2', '2001:db8:0:1::1']), [200, 200]);
    const refused = await exchange(server, get(STREAM, { 'X-Forwarded-For': '10.0.0.1' }));
    assertRefused(refused, 429, 'too_many_streams');
    assert.equal(refused.headers['retry-after'], '10');
    assert.equal((await exchange(server, request('HEAD', STREAM, { 'X-Forwarded-For': '10.0.0.1' }), { bodiless: true })).status, 200);
    opened.shift().close();
    await eventually('a place is free again', async () => (await listen(server, '10.0.0.1')).status === 200);
    assert.equal((await listen(server, '10.0.0.1')).status, 429);
    opened.splice(0).forEach((wire) => wire.close());
    await eventually('all are forgotten', async () => /^http_streams 0$/m.test((await exchange(server, get('/metrics'))).body));
    assert.equal(await server.stop(), 0);
  });

  test('so many of all connections; the others are for requests', async () => {
    const server = await startServer({ TRUSTED_PROXIES: '127.0.0.1', MAX_CONNECTIONS: '20', MAX_STREAMS_PERCENT: '50' });
    const clients = Array.from({ length: 12 }, (_, i) => `10.0.1.${i}`);
    assert.deepEqual(await listenAll(server, clients), clients.map((_, i) => (i < 10 ? 200 : 503)));
    assertRefused(await exchange(server, get(STREAM)), 503, 'overloaded');
    assert.equal((await exchange(server, SEATS)).status, 200);
    opened.splice(0).forEach((wire) => wire.close());
    assert.equal(await server.stop(), 0);
  });

  test('for so long; then one comes back for what was missed', async () => {
    const office = await openEmbedded({ STREAM_MAX_AGE_MS: '1500' });
    const [server] = office.servers;
    const stream = new EventStream(server);
    const snapshot = await stream.next();
    for (let ended = false; !ended; ) ended = !(await stream.next(10));
    assert.equal((await office.claim('alice', { server })).status, 200);
    const again = new EventStream(server, { headers: { 'Last-Event-ID': snapshot.id } });
    const missed = await again.next();
    assert.deepEqual([missed.event, missed.data.seats.map(({ id }) => id)], ['seat', [1]]);
    again.close();
  });
});

describe('more work than there is room for', () => {
  let postgres;
  const SETTINGS = { THREADS: '1', DATABASE_STATEMENT_TIMEOUT_MS: '60000', REQUEST_TIMEOUT_MS: '60000' };
  before(async () => {
    postgres = await startPrivate('postgres');
  });

  /** Holds what every look at a reservation needs; gives a function that lets go. */
  async function holdReservations() {
    const client = start('psql', ['-qAt', postgres.url]);
    client.stdin.write("BEGIN; LOCK TABLE reservation_service.claims IN ACCESS EXCLUSIVE MODE; SELECT 'held';\n");
    await eventually('the lock is held', () => client.text.includes('held'));
    return async () => {
      client.stdin.end('ROLLBACK;\n');
      assert.equal(await client.ended, 0, client.text);
    };
  }

  /** `count` clients ask at once while nothing can be read. All but `room` are refused at once, the others wait; then all
   *  are served, the refused ones over the same connection. */
  async function assertOverflow(server, count, room, reason) {
    const wires = await Promise.all(Array.from({ length: count }, () => Wire.open(server)));
    const letGo = await holdReservations();
    const refused = [], served = [];
    const asked = wires.map(async (wire, i) => {
      const answer = await wire.send(get(PRD, { 'X-User-Id': `user-${i}` })).answer({ seconds: 60 });
      (answer.status === 200 ? served : refused).push(answer);
    });
    await eventually('those without a place are refused', () => refused.length >= count - room);
    assert.equal(served.length, 0);
    for (const answer of refused) assertRefused(answer, 503, reason);
    assert.equal((await server.call('GET', '/healthz')).status, 200, 'a busy server is alive');
    await letGo();
    await Promise.all(asked);
    assert.equal(refused.length + served.length, count);
    assert.ok(served.length <= room && served.length >= room - 4, `${served.length} had a place`); // some work is its own
    for (const wire of wires) assert.equal((await wire.send(HEALTH).answer()).status, 200);
    for (const wire of wires) wire.close();
  }

  test('no task is left: overloaded', async () => {
    const server = await startServer({ ...SETTINGS, DATABASE_URL: postgres.url, MAX_TASKS: '16' });
    for (let round = 0; round < 2; round++) await assertOverflow(server, 40, 16, 'overloaded');
    assert.equal(await server.stop(), 0);
  });

  test("the database's queue is full: service_unavailable", async () => {
    const database = { DATABASE_URL: postgres.url, DATABASE_CONNECTIONS: '2', DATABASE_QUEUE: '16' };
    const server = await startServer({ ...SETTINGS, ...database });
    for (let round = 0; round < 2; round++) await assertOverflow(server, 60, 18, 'service_unavailable');
    assert.equal(await server.stop(), 0);
  });
});

describe('times', { concurrency: true }, () => {
  const TIMES = { HEADER_TIMEOUT_MS: '900', BODY_TIMEOUT_MS: '1200', IDLE_TIMEOUT_MS: '700' };
  const SLACK_MS = 5000; // of a machine with other things to do
  let server;
  before(async () => {
    server = await startServer(TIMES);
  });
  after(() => server.stop());

  /** `waited` is at least the time-out, give or take the server's coarse clock. */
  function assertCutAfter(began, name) {
    const waited = performance.now() - began, limit = Number(TIMES[name]);
    assert.ok(waited > limit - 60 && waited < limit + SLACK_MS, `${name}: cut after ${waited} ms`);
  }

  /** A byte each 100 ms, for as long as the server takes them. */
  function drip(wire, text) {
    let at = 0;
    const timer = setInterval(() => wire.send(text[at++ % text.length]), 100);
    return () => clearInterval(timer);
  }

  test('a head that drips: 408', async () => {
    const wire = await Wire.open(server);
    const began = performance.now();
    const stop = drip(wire, `GET /healthz HTTP/1.1${CRLF}Host: a${CRLF}X-Endless: ${'x'.repeat(500)}`);
    const answer = await wire.answer();
    stop();
    assertCutAfter(began, 'HEADER_TIMEOUT_MS');
    assertRefused(answer, 408, 'request_timeout');
    assert.equal(answer.headers.connection, 'close');
    assert.equal(await wire.ended(), '');
    wire.close();
  });

  test('a body that drips, counted or in chunks: 408', { concurrency: true }, async () => {
    for (const framing of [{ 'Content-Length': 4000 }, { 'Transfer-Encoding': 'chunked' }]) {
      const wire = await Wire.open(server);
      const began = performance.now();
      wire.send(request('POST', FCFS, framing, 'Content-Length' in framing ? '' : `fa0${CRLF}`));
      const stop = drip(wire, ' ');
      const answer = await wire.answer();
      stop();
      assertCutAfter(began, 'BODY_TIMEOUT_MS');
      assertRefused(answer, 408, 'request_timeout');
      assert.equal(await wire.ended(), '');
      wire.close();
    }
  });

  test('a connection that never asks, and one that asks no more, is closed without a word', async () => {
    const silent = await Wire.open(server);
    let began = performance.now();
    assert.equal(await silent.ended(), '');
    assertCutAfter(began, 'HEADER_TIMEOUT_MS');
    const idle = await Wire.open(server);
    await idle.send(HEALTH).answer();
    began = performance.now();
    assert.equal(await idle.ended(), '');
    assertCutAfter(began, 'IDLE_TIMEOUT_MS');
  });

  test('a connection that goes on asking stays', async () => {
    const wire = await Wire.open(server);
    for (const end = Date.now() + 2000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 200)))
      assert.equal((await wire.send(HEALTH).answer()).status, 200);
    wire.close();
  });
});

test('a client that does not take its answer is cut, and nothing is kept for it', async () => {
  const server = await startServer({ WRITE_TIMEOUT_MS: '2000', IDLE_TIMEOUT_MS: '1000', FCFS_SEATS: '300000' });
  await eventually('nobody is there', async () => (await connectionsOf(server)) === 0);
  const wire = await Wire.open(server);
  wire.stopReading().send(get('/api/v1/seats'));
  await eventually('it is there', async () => (await connectionsOf(server)) === 1);
  await eventually('the server has given up', async () => (await connectionsOf(server)) === 0);
  const port = Number(server.port).toString(16).toUpperCase().padStart(4, '0');
  const stillToSend = new RegExp(`^ *\\d+: 0100007F:${port} \\S+ 04 `, 'm'); // FIN_WAIT1
  assert.doesNotMatch(readFileSync('/proc/net/tcp', 'latin1'), stillToSend, 'the kernel holds nothing for it');
  const part = await wire.readOn().ended();

  const whole = await (await fetch(`${server.url}/api/v1/seats`)).text();
  assert.equal(JSON.parse(whole).seats.length, 300_000, 'who reads gets it all');
  assert.ok(part.length < whole.length, `${part.length} of ${whole.length} bytes came`);
  assert.equal(await server.stop(), 0);
});

describe('one attempt per client, as seen through our proxies', () => {
  // The proxies have 127.0.0.3 and .4. 5.5.5.x are clients that a proxy has seen, 6.6.6.x is made up by one of them.
  const PAST = '127.0.0.2', INNER = '127.0.0.3', OUTER = '127.0.0.4';
  const first = { from: INNER, forwarded: '5.5.5.5' };
  const cases = [
    ['no proxy: the header is not believed', { from: PAST, forwarded: '6.6.6.6' }, { from: PAST, forwarded: '6.6.6.7' }, true],
    ['no proxy: a proxy in the header is not believed either', { from: PAST }, { from: PAST, forwarded: `6.6.6.6, ${OUTER}` }, true],
    ['one proxy: two clients', first, { from: INNER, forwarded: '5.5.5.6' }, false],
    ['one proxy: one client', first, { from: INNER, forwarded: '5.5.5.5' }, true],
    ['one proxy: one client with other lies', first, { from: INNER, forwarded: '6.6.6.6, 5.5.5.5' }, true],
    ['one proxy: nobody locks out another by naming him', { from: INNER, forwarded: '5.5.5.5, 5.5.5.6' }, first, false],
    ['IPv6: a network is one client', { from: INNER, forwarded: '2001:db8::1' }, { from: INNER, forwarded: '2001:db8::ffff:2' }, true],
    ['IPv6: two networks', { from: INNER, forwarded: '2001:db8::1' }, { from: INNER, forwarded: '2001:db8:0:1::1' }, false],
    ['two proxies: one client', first, { from: INNER, forwarded: `6.6.6.6, 5.5.5.5, ${OUTER}` }, true],
    ['two proxies: two clients', first, { from: INNER, forwarded: `5.5.5.5, 5.5.5.6, ${OUTER}` }, false],
    ['two proxies, in two headers', first, { from: INNER, forwarded: `6.6.6.6, 5.5.5.5${CRLF}X-Forwarded-For: ${OUTER}` }, true],
    ['past the proxy: its client is not locked out', { from: PAST, forwarded: '5.5.5.5' }, first, false],
  ];
  let office, server, letGo;
  before(async () => {
    office = await openEmbedded({ THREADS: '1', TRUSTED_PROXIES: `${INNER},${OUTER}`, FCFS_SEATS: '1000' });
    [server] = office.servers;
  });

  const attempt = async (user, { from, forwarded }) => {
    const wire = await Wire.open(server, { from });
    wire.send(post(FCFS, '{}', { 'X-User-Id': user, ...(forwarded && { 'X-Forwarded-For': forwarded }) }));
    await exchange(server, HEALTH, { from: '127.0.0.8' }); // one thread: it has read what came before
    return wire;
  };

  for (const [index, [name, one, other, same]] of cases.entries()) {
    test(name, async () => {
      letGo = await office.holdHouse();
      const wires = [await attempt(`${index}-one`, one), await attempt(`${index}-other`, other)];
      const early = same && (await wires[1].answer());
      await letGo();
      assert.equal((await wires[0].answer()).status, 200);
      const answer = early || (await wires[1].answer());
      assert.equal(answer.json.reason, same ? 'duplicate' : null, answer.body);
      wires.forEach((wire) => wire.close());
    });
  }
});
