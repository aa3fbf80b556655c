// The disk of the built-in database is full: clear refusals, reads go on, and selling again when there is room.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openEmbedded, users } from '../api/box_office.mjs';
import { ask, sleep } from '../api/client.mjs';
import { eventually, temporaryFolder } from '../api/support.mjs';
import { assertRefusedSoon, Crowd, recovered, settleAndSellTheRest, Watch } from './crowd.mjs';

const folder = temporaryFolder();
const ballast = join(folder, 'ballast');

function mount() {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', folder], { stdio: 'pipe' });
    return true;
  } catch {
    return false; // only root may, and not in every container
  }
}

function fillTheDisk() {
  const file = openSync(ballast, 'a');
  for (let size = 1 << 20; size >= 512; ) {
    try {
      writeSync(file, Buffer.alloc(size));
    } catch (error) {
      assert.equal(error.code, 'ENOSPC');
      size >>= 1;
    }
  }
  closeSync(file);
}

let mounted = mount();

function unmount() {
  if (mounted) execFileSync('umount', ['-l', folder]);
  mounted = false;
}

process.prependListener('exit', unmount); // also when somebody stops the test; and before the folder is removed

describe('embedded, on a small disk', { skip: !mounted && 'cannot mount a small file system here' }, () => {
  let office;
  before(async () => {
    office = await openEmbedded({ FCFS_SEATS: '3000', DATA_DIR: folder });
  });

  test('full, and then not', async () => {
    const [server] = office.servers;
    await Promise.all(users(50).map((user) => office.claim(user)));
    const crowd = new Crowd(office), watch = new Watch(office.servers);
    await sleep(200);
    fillTheDisk();
    const full = performance.now();
    await eventually('the server notices', () => crowd.since(full).some((answer) => answer.status === 503), 10);
    await sleep(500);
    assertRefusedSoon(crowd.since(full), ['service_unavailable']);
    assert.equal((await office.seats(server)).length, 3000, 'reads go on');
    assert.equal((await ask(server, { path: '/readyz' })).status, 503);
    rmSync(ballast);
    await recovered(office);
    await crowd.stop();
    await watch.stop();
    await eventually('it says that it is ready', async () => (await ask(server, { path: '/readyz' })).status === 200, 5);
    await office.settle();
    await office.audit();
  });

  test('killed while the disk is full', async () => {
    const [server] = office.servers;
    fillTheDisk();
    await eventually('it is full', async () => (await office.claim(`full-${Math.random()}`)).status === 503, 10);
    await server.stop('SIGKILL');
    rmSync(ballast);
    await server.start();
    await settleAndSellTheRest(office);
  });
});

