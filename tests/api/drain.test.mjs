// SIGTERM: the server takes no new connections, finishes what it does, and ends by itself in time, whatever clients do.
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import net from 'node:net';
import { EventStream } from './client.mjs';
import { FCFS, openEmbedded } from './box_office.mjs';
import { Server, eventually, startServer } from './support.mjs';
import { Wire, exchange, get, post, request } from './wire.mjs';

const HEALTH = get('/healthz');

const isRefused = (port) => new Promise((resolve) => {
  const socket = net.connect(port, '127.0.0.1');
  socket.on('connect', () => { socket.destroy(); resolve(false); });
  socket.on('error', (error) => resolve(error.code === 'ECONNREFUSED'));
});

/** Ends the server; gives its exit status and how long that took. */
async function timedStop(server) {
  const began = performance.now();
  const status = await server.stop();
  return { status, milliseconds: performance.now() - began };
}

/** A server in the middle of a claim, with the other kinds of clients around it. */
async function openBusy(settings = {}) {
  const office = await openEmbedded({ THREADS: '1', ...settings });
  const [server] = office.servers;
  const letGo = await office.holdHouse();
  const running = await Wire.open(server);
  running.send(post(FCFS, '{}', { 'X-User-Id': 'in-the-middle' }) + HEALTH);
  await exchange(server, HEALTH); // one thread: it has read the claim
  return { office, server, letGo, running };
}

describe('SIGTERM', { concurrency: true }, () => {
  test('a server whose house has never opened ends as well', async () => {
    const server = new Server({ FCFS_SCHEDULE: 'no-such-schedule', THREADS: '1' });
    server.start().catch(() => {}); // it is never ready
    await eventually('it has looked for the house', () => server.output.includes('names a schedule that does not exist'));
    const { status, milliseconds } = await timedStop(server);
    assert.equal(status, 0);
    assert.ok(milliseconds < 8000, `it took ${milliseconds} ms`);
  });

  test('the running request finishes, the others go, the port is free at once', async () => {
    const { server, letGo, running } = await openBusy();
    const idle = await Wire.open(server), silent = await Wire.open(server);
    assert.equal((await idle.send(HEALTH).answer()).status, 200);
    const stream = new EventStream(server);
    await eventually('the stream is open', async () => (await stream.next()).event === 'snapshot');

    const stopped = server.stop();
    await eventually('no new connections', () => isRefused(server.port));
    assert.equal(await idle.ended(), '');
    assert.equal(await silent.ended(), '');
    assert.equal(await stream.next(), null, 'the stream is closed');
    assert.equal(running.waiting, 0, 'the claim still runs');
    const next = await startServer({ APP_PORT: server.port });
    assert.equal((await exchange(next, HEALTH)).status, 200);

    await letGo();
    const claimed = await running.answer();
    assert.deepEqual([claimed.status, claimed.headers.connection], [200, 'close'], claimed.body);
    assert.equal(await running.ended(), '', 'what waited behind it is not begun');
    assert.equal(await stopped, 0);
    assert.match(server.output, /"closed"/);
    assert.equal(await next.stop(), 0);
  });

  test('a second signal changes nothing', async () => {
    for (const second of ['SIGTERM', 'SIGINT']) {
      const { server, letGo, running } = await openBusy();
      const stopped = server.stop();
      await eventually('no new connections', () => isRefused(server.port));
      for (let i = 0; i < 3; i++) process.kill(server.pid, second);
      await letGo();
      assert.equal((await running.answer()).status, 200);
      assert.equal(await stopped, 0);
    }
  });

  test('a claim that was answered is there at the next start', async () => {
    const { server, letGo, running } = await openBusy();
    const stopped = server.stop('SIGINT');
    await letGo();
    const { seat_id: seat } = (await running.answer()).json;
    assert.equal(await stopped, 0);
    await server.start();
    const mine = await server.call('GET', '/api/v1/seats/reservation', { user: 'in-the-middle' });
    assert.equal(mine.body.seat_id, seat);
    assert.equal(await server.stop(), 0);
  });

  test('a request whose body is on its way may finish', async () => {
    const server = await startServer();
    const wire = await Wire.open(server);
    const body = '{"userName":"Kim"}';
    wire.send(post(FCFS, body, { 'X-User-Id': 'slow', Expect: '100-continue' }).slice(0, -body.length));
    assert.equal((await wire.answer()).status, 100);
    const stopped = server.stop();
    await eventually('no new connections', () => isRefused(server.port));
    const answer = await wire.send(body).answer();
    assert.deepEqual([answer.status, answer.headers.connection], [200, 'close'], answer.body);
    assert.equal(await stopped, 0);
  });

  test('with nothing to do it ends at once', async () => {
    const server = await startServer({ DRAIN_TIMEOUT_MS: '60000' });
    const wires = await Promise.all(Array.from({ length: 50 }, () => Wire.open(server)));
    for (const wire of wires) assert.equal((await wire.send(HEALTH).answer()).status, 200);
    const { status, milliseconds } = await timedStop(server);
    assert.equal(status, 0);
    assert.ok(milliseconds < 10_000, `${milliseconds} ms`);
  });

  test('clients that hang are left behind after DRAIN_TIMEOUT_MS', async () => {
    const server = await startServer({ DRAIN_TIMEOUT_MS: '1000', FCFS_SEATS: '300000' });
    const hang = async (bytes) => (await Wire.open(server)).stopReading().send(bytes);
    await hang(`GET /healthz HTTP/1.1\r\nHost: a`); // a head without an end
    await hang(request('POST', FCFS, { 'Content-Length': 100 }, '{"user'));
    await hang(get('/api/v1/seats')); // an answer that nobody reads
    await hang(get('/api/v1/seats/stream'));
    await exchange(server, HEALTH);
    const { status, milliseconds } = await timedStop(server);
    assert.equal(status, 0);
    assert.ok(milliseconds > 900 && milliseconds < 6000, `${milliseconds} ms`);
  });
});
