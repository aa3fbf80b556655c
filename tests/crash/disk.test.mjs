// The disk of the built-in database is full: clear refusals, reads go on, and selling again when there is room.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { DEFAULT_TIMES, openEmbedded, users } from '../api/box_office.mjs';
import { ask, sleep } from '../api/client.mjs';
import { eventually } from '../api/support.mjs';
import { assertRefusedSoon, Crowd, recovered, settleAndSellTheRest, Watch } from './crowd.mjs';
import { mountSmallDisk } from './small_disk.mjs';

const disk = mountSmallDisk(6);

describe('embedded, on a small disk', { skip: !disk && 'cannot mount a small file system here' }, () => {
  let office;
  before(async () => {
    office = await openEmbedded({ ...DEFAULT_TIMES, FCFS_SEATS: '3000', DATA_DIR: disk.folder });
  });

  test('full, and then not', async () => {
    const [server] = office.servers;
    await Promise.all(users(50).map((user) => office.claim(user)));
    const crowd = new Crowd(office), watch = new Watch(office.servers);
    await sleep(200);
    disk.fill();
    const full = performance.now();
    await eventually('the server notices', () => crowd.since(full).some((answer) => answer.status === 503), 10);
    await sleep(500);
    assertRefusedSoon(crowd.since(full), ['service_unavailable']);
    assert.equal((await office.seats(server)).length, 3000, 'reads go on');
    assert.equal((await ask(server, { path: '/readyz' })).status, 503);
    disk.empty();
    await recovered(office);
    await crowd.stop();
    await watch.stop();
    await office.settle();
    await office.audit();
  });

  test('killed while the disk is full', async () => {
    const [server] = office.servers;
    disk.fill();
    await eventually('it is full', async () => (await office.claim(`full-${Math.random()}`)).status === 503, 10);
    await server.stop('SIGKILL');
    disk.empty();
    await server.start();
    await settleAndSellTheRest(office);
  });
});
