// PostgreSQL is killed and paused while a fleet sells: clear refusals within a second, recovery without a restart, and
// whoever was told a seat has it.
import { before, beforeEach, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { DEFAULT_TIMES, FCFS, openFleet } from '../api/box_office.mjs';
import { ask, sleep } from '../api/client.mjs';
import { privateServer } from '../api/programs.mjs';
import { assertRefusedSoon, Crowd, recovered, settleAndSellTheRest, Watch } from './crowd.mjs';

const SEATS = 3000;

describe('a fleet and its PostgreSQL', () => {
  let office, postgres;
  before(async () => {
    office = await openFleet({ ...DEFAULT_TIMES, FCFS_SEATS: `${SEATS}` }, { durable: true });
    ({ postgres } = office);
  });
  beforeEach(async () => {
    await privateServer('resume', postgres.folder); // in case the test before has failed in the middle
    await postgres.start();
    await office.reset(SEATS);
  });

  test('killed in the middle of a sale and started again', async () => {
    const crowd = new Crowd(office), watch = new Watch(office.servers);
    for (let i = 0; i < 2; i++) {
      await sleep(500);
      await privateServer('kill', postgres.folder);
      const away = performance.now();
      await sleep(1000);
      assertRefusedSoon(crowd.since(away), ['service_unavailable']);
      await postgres.start();
      await recovered(office);
    }
    await crowd.stop();
    await watch.stop();
    await settleAndSellTheRest(office);
  });

  test('paused: answers within a second, and the sale goes on afterwards', async () => {
    const crowd = new Crowd(office), watch = new Watch(office.servers);
    await sleep(500);
    await privateServer('pause', postgres.folder);
    const away = performance.now();
    await sleep(3500);
    assertRefusedSoon(crowd.since(away), ['service_unavailable']);
    for (const server of office.servers) assert.equal((await ask(server, { path: '/readyz' })).status, 503);
    await privateServer('resume', postgres.folder);
    await recovered(office);
    await crowd.stop();
    await watch.stop();
    await settleAndSellTheRest(office);
  });

  // In a house of its own: of the one that crowds have been refused in, only some refusals get lines.
  test('the history of what was refused meanwhile is written afterwards', async () => {
    assert.equal((await office.resetSchedule('quiet', 9)).status, 200);
    for (const server of office.servers) assert.equal((await ask(server, { path: '/api/v1/show?scheduleId=quiet' })).status, 200);
    await privateServer('kill', postgres.folder);
    const answers = await Promise.all(['x-ann', 'x-bob', 'x-cho'].map((user) =>
      office.ask({ method: 'POST', path: `${FCFS}?scheduleId=quiet`, user })));
    for (const answer of answers) assert.deepEqual([answer.status, answer.json.reason], [503, 'service_unavailable']);
    await postgres.start();
    await recovered(office);
    const lines = await office.history('x-', 3);
    assert.deepEqual(lines.map((line) => line.outcome), ['failed', 'failed', 'failed']);
    await settleAndSellTheRest(office);
  });
});
