// Many who read a large house: claims go on beside them, and the server does not grow by those who do not read.
import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { openEmbedded } from './box_office.mjs';
import { EventStream, sleep } from './client.mjs';
import { start } from './programs.mjs';
import { TICKETTOCK, eventually, isSlowBuild } from './support.mjs';
import { Wire, exchange, get } from './wire.mjs';

const BENCH_CLIENT = join(dirname(TICKETTOCK), '../tests/bench/bench_client');
const SEATS = 100_000, LIST = '/api/v1/seats', MIB = 1 << 20;

const metric = async (server, name) =>
  Number(new RegExp(`^${name} (\\S+)$`, 'm').exec((await exchange(server, get('/metrics'), { from: '127.0.0.9' })).body)[1]);
const memory = (server) => metric(server, 'process_resident_memory_bytes');

describe('a house of 100,000 seats', () => {
  const opened = [];
  after(() => opened.forEach((wire) => wire.close()));

  /** The median of claims, one after the other, as long as goesOn(), in milliseconds. */
  async function claimTime(office, goesOn) {
    const times = [];
    while (goesOn()) {
      const began = performance.now();
      const { status, text } = await office.claim(`buyer-${office.attempts}`);
      times.push(performance.now() - began);
      assert.equal(status, 200, text);
    }
    return times.sort((a, b) => a - b)[times.length >> 1];
  }

  // One loop, so that nobody buys beside it. Where each reader's list was rendered on it, a claim took more than half a
  // second here. What it takes exactly is measured by ./dev bench readers.
  test('readers do not hold up those who buy', async () => {
    const office = await openEmbedded({ FCFS_SEATS: `${SEATS}`, THREADS: '1' });
    const quiet = await claimTime(office, () => office.attempts < 40);
    const readers = start(BENCH_CLIENT, ['readers', office.servers[0].port, '60', '0', '5', LIST]);
    await sleep(1000);
    const busy = await claimTime(office, () => readers.exitCode === null);
    assert.equal(await readers.ended, 0, readers.text);
    const { answers, errors } = JSON.parse(readers.text);
    assert.ok(answers > 0 && errors === 0, readers.text);
    assert.ok(busy < (isSlowBuild ? 1000 : 200), `${busy} ms, ${quiet} ms when nobody reads`);
  });

  test('150 clients that do not read cost no more than a few, and what was for them is given back', async () => {
    const office = await openEmbedded({ FCFS_SEATS: `${SEATS}` });
    const [server] = office.servers;
    await exchange(server, get('/api/v1/seats/1'));
    const before = await memory(server);
    for (let i = 0; i < 150; i++) {
      opened.push((await Wire.open(server, { from: `127.0.2.${1 + i % 5}` })).stopReading().send(get(LIST)));
      if (i % 10 === 0) assert.equal((await office.claim(`buyer-${i}`)).status, 200); // so they read different editions
    }
    await eventually('all wait', async () => (await metric(server, 'http_unsent_bytes')) > 140 * 4 * MIB);
    const most = await memory(server);
    assert.ok(most - before < (isSlowBuild ? 300 : 60) * MIB, `from ${before} to ${most} bytes`);

    opened.splice(0).forEach((wire) => wire.close());
    if (isSlowBuild) return; // a sanitizer keeps what was freed
    await eventually('memory is given back', async () => (await memory(server)) - before < 4 * MIB, 60);
  });

  test('listeners who come one after the other share a snapshot, and get what changed since', async () => {
    const office = await openEmbedded({ FCFS_SEATS: '5000', THREADS: '1' });
    const [server] = office.servers;
    assert.equal((await office.claim('alice')).status, 200);
    const listen = async () => {
      const stream = new EventStream(server), snapshot = await stream.next();
      assert.equal(snapshot.event, 'snapshot');
      return { stream, snapshot };
    };
    const first = await listen();
    assert.deepEqual(first.snapshot.data.taken, [1]);
    assert.equal((await office.claim('bob')).status, 200);

    const second = await listen();
    assert.equal(second.snapshot.id, first.snapshot.id);
    const changes = await second.stream.next();
    assert.deepEqual([changes.event, changes.data.seats.map(({ id, status }) => [id, status]), changes.data.remainingSeats],
      ['seat', [[2, true]], 4998]);

    await office.reset(6000);
    const third = await listen();
    assert.deepEqual([third.snapshot.data.total, third.snapshot.data.taken], [6000, []]);
    for (const { stream } of [first, second, third]) stream.close();
  });
});
