// Redis is killed, emptied, paused, while a fleet sells: clear refusals, soon; recovery by itself; nothing lost.
import { before, beforeEach, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { DEFAULT_TIMES, openFleet } from '../api/box_office.mjs';
import { sleep } from '../api/client.mjs';
import { privateServer } from '../api/programs.mjs';
import { assertRefusedSoon, Crowd, recovered, settleAndSellTheRest, Watch } from './crowd.mjs';

const SEATS = 3000;

describe('a fleet and its Redis', () => {
  let office, redis;
  before(async () => {
    office = await openFleet({ ...DEFAULT_TIMES, FCFS_SEATS: `${SEATS}`, FCFS_DUP_TTL: '2' });
    ({ redis } = office);
  });
  beforeEach(async () => {
    await privateServer('resume', redis.folder); // in case the test before has failed in the middle
    await redis.start();
    await office.reset(SEATS);
  });

  test('killed and started again, empty', async () => {
    const crowd = new Crowd(office), watch = new Watch(office.servers);
    await sleep(500);
    await privateServer('kill', redis.folder);
    const away = performance.now();
    await sleep(2000);
    assertRefusedSoon(crowd.since(away), ['service_unavailable']);
    assert.equal(crowd.since(away + 300).filter((answer) => answer.status === 200).length, 0, 'no lock, no sale');
    await redis.start();
    await recovered(office);
    await crowd.stop();
    await watch.stop();
    await settleAndSellTheRest(office);
  });

  test('emptied in the middle of a sale', async () => {
    const crowd = new Crowd(office), watch = new Watch(office.servers);
    for (let i = 0; i < 3; i++) {
      await sleep(400);
      await privateServer('wipe', redis.folder);
    }
    await recovered(office);
    await crowd.stop();
    await watch.stop();
    await settleAndSellTheRest(office);
  });

  test('paused: no answer is not waited for', async () => {
    const crowd = new Crowd(office), watch = new Watch(office.servers);
    await sleep(500);
    await privateServer('pause', redis.folder);
    const away = performance.now();
    await sleep(3000);
    assertRefusedSoon(crowd.since(away), ['service_unavailable']);
    await privateServer('resume', redis.folder);
    await recovered(office);
    await crowd.stop();
    await watch.stop();
    await sleep(2100); // locks that Redis had not yet read when we gave up were taken all the same; they end by their time
    await settleAndSellTheRest(office);
  });

  test('a change made while Redis is away is seen by both afterwards', async () => {
    await office.claim('alice', { server: office.servers[0] });
    await privateServer('kill', redis.folder);
    await sleep(200);
    for (const server of office.servers) assert.deepEqual(await office.taken(server), [1], 'reads go on');
    await redis.start();
    await recovered(office);
    await settleAndSellTheRest(office);
  });
});
