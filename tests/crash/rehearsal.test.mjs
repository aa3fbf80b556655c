// A rehearsal of a sale while everything that can fail fails, one thing after the other; then the books are checked by
// `tickettock check-history`, and the seats that are left are sold. TICKETTOCK_TEST_SEED repeats the faults of another run.
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { DEFAULT_TIMES, openEmbedded, openFleet } from '../api/box_office.mjs';
import { start, startPrivate } from '../api/programs.mjs';
import { startServer, TICKETTOCK } from '../api/support.mjs';
import { RECOVERY_MS, runCampaign } from './campaign.mjs';
import { embeddedFaults, fleetFaults } from './faults.mjs';
import { HEALTH_MS } from './health.mjs';
import { MovingClock } from './moving_clock.mjs';
import { canCut } from './network.mjs';
import { mountSmallDisk } from './small_disk.mjs';

const isLong = Boolean(process.env.TICKETTOCK_TEST_LONG);
const seed = Number(process.env.TICKETTOCK_TEST_SEED || Math.floor(Math.random() * 2 ** 31));
const SIZE = isLong ? { count: 100, operations: 100_000, seats: 80_000 } : { count: 20, operations: 20_000, seats: 20_000 };
const RATE = 400;
const SETTINGS = { ...DEFAULT_TIMES, FCFS_DUP_TTL: '2', MAX_CONNECTIONS_PER_ADDRESS: '4096' };

function tell(t, { timeline, health, recoveries, ...result }) {
  for (const line of timeline.lines) t.diagnostic(line);
  const last = recoveries.reduce((a, b) => (a.ms > b.ms ? a : b));
  t.diagnostic(`seed ${seed}: ${result.faults} faults, ${result.operations} operations in ${result.seconds.toFixed(0)} s`);
  t.diagnostic(`/healthz: ${health.count} answers, the slowest after ${health.slowest.toFixed(0)} ms; from a server with nothing ` +
    `to do after ${health.slowestIdle.toFixed(0)} ms`);
  const worst = health.slow.sort((a, b) => b.own - a.own);
  if (worst.length) t.diagnostic(`  ${worst.length} took over ${HEALTH_MS} ms; without the time of waiting for a processor at most:`);
  for (const { at, server, ms, own } of worst.slice(0, 5))
    t.diagnostic(`  at ${((at - timeline.began) / 1000).toFixed(2)} s server ${server}: ${ms.toFixed(0)} ms, ${own.toFixed(0)} ms its own`);
  t.diagnostic(`slowest recovery: ${Math.round(last.ms)} ms after: ${last.name}`);
}

/** The time that a server waited for a processor is not its own. */
function assertHealthy({ failed, slow }) {
  assert.deepEqual(failed, [], '/healthz answers 200');
  assert.deepEqual(slow.filter(({ own }) => own > HEALTH_MS), [], `/healthz answers within ${HEALTH_MS} ms`);
}

// A server of a fleet that was stopped or cut off learns of changes afterwards, and a lock that Redis has read late is there
// for its time.
const FLEET_ALLOWANCES = ['--map-lag', '10000', '--duplicate-ttl', '10000'];

async function assertBooks(t, { file }, database, allowances) {
  const check = start(TICKETTOCK, ['check-history', file, '--against', database, ...allowances]);
  assert.equal(await check.ended, 0, `seed ${seed}:\n${check.text}`);
  t.diagnostic(check.text.trimEnd().split('\n').pop());
}

/** Sold + free = seats, and the rest can be sold to the last seat. */
async function drain(office, seats) {
  const path = '/api/v1/seats/reservation/fcfs?scheduleId=rehearsal';
  const soldOf = async () => {
    const house = `SELECT id FROM houses WHERE schedule = 'rehearsal'`;
    const [{ sold }] = await office.rows(`SELECT count(*) AS sold FROM claims WHERE house_id = (${house})`);
    return sold;
  };
  const before = await soldOf();
  const WAVE = 400;
  for (let left = seats - before; left > 0; left -= WAVE) {
    const wave = Array.from({ length: Math.min(left, WAVE) }, (_, i) => office.claim(`drain-${left}-${i}`, { path }));
    for (const answer of await Promise.all(wave)) assert.equal(answer.status, 200, answer.text ?? `${answer.error}`);
  }
  assert.equal((await office.claim('drain-late', { path })).json.reason, 'sold_out');
  assert.equal(await soldOf(), seats);
  return seats - before;
}

async function campaign(t, office, kinds, database, allowances = []) {
  const idle = await startServer();
  const result = await runCampaign({ ...SIZE, seed, rate: RATE, servers: office.servers, idle, kinds });
  tell(t, result);
  assert.equal(result.status, 0, result.report);
  assert.ok(result.operations >= SIZE.operations, `${result.operations} operations`);
  await assertBooks(t, result, database, allowances);
  assertHealthy(result.health);
  for (const { name, ms, own } of result.recoveries) assert.ok(own <= RECOVERY_MS, `sold again ${Math.round(ms)} ms after: ${name}`);
  t.diagnostic(`${await drain(office, SIZE.seats)} seats sold afterwards, to the last`);
  await idle.stop();
}

describe('everything fails while a rehearsal runs', () => {
  test('embedded', async (t) => {
    const disk = mountSmallDisk(isLong ? 200 : 64), clock = new MovingClock();
    if (!disk) t.diagnostic('cannot mount a small disk here: no full disk');
    const office = await openEmbedded({ ...SETTINGS, ...clock.settings, ...(disk && { DATA_DIR: disk.folder }) });
    const { servers } = office;
    await campaign(t, office, embeddedFaults({ servers, clocks: [clock], disk }), office.file);
  });

  test('fleet', async (t) => {
    const disk = mountSmallDisk(isLong ? 1000 : 300);
    if (!disk) t.diagnostic('cannot mount a small disk here: no full disk');
    if (!canCut()) t.diagnostic('may not use nftables here: the network is not cut');
    const postgres = await startPrivate('postgres', { durable: true, ...(disk && { folder: disk.folder }) });
    const office = await openFleet(SETTINGS, { postgres, servers: 0 });
    const { redis } = office, clocks = [], ways = [];
    for (const address of ['127.0.0.1', '127.0.0.2']) {
      const clock = new MovingClock(), at = (url) => ({ address, port: new URL(url).port });
      clocks.push(clock);
      ways.push({ postgres: at(postgres.url), redis: at(redis.url) });
      const [DATABASE_URL, REDIS_URL] = [office.url, redis.url].map((url) => url.replace('127.0.0.1', address));
      await office.addServer({ ...clock.settings, DATABASE_URL, REDIS_URL });
    }
    const { servers } = office;
    await campaign(t, office, fleetFaults({ servers, clocks, disk, postgres, redis, ways }), office.url, FLEET_ALLOWANCES);
  });
});
