// The embedded server is killed right before every single system call that writes: while it makes its files, while it
// starts after a crash, while it sells (over a checkpoint), while it stops. Each time the file must be whole, whoever was
// told a seat must have it, and the next server must be able to sell every seat that is left.
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { openEmbedded } from '../api/box_office.mjs';
import { forgetConnections } from '../api/client.mjs';
import { Server, temporaryFolder } from '../api/support.mjs';
import {
  assertFilesAreWhole, atOnce, buy, buyOverACheckpoint, buyUntilCheckpointIsNear, EMBEDDED, ROOM_FOR_A_CHECKPOINT,
} from './embedded_script.mjs';
import { countFromBirth, countWhile, inject, injectFromBirth, nameOf, traceTrouble } from './strace.mjs';

const isLong = Boolean(process.env.TICKETTOCK_TEST_LONG);
const AT_LEAST = 10; // of calls that write; fewer, and the script does not do what it should
const KILL = 'signal=KILL';
const REACHED_AT_LEAST = 0.9; // of the points: a start may be over a call or two before the one that was counted was

/** The books after the crash: `before` is the office whose server died. */
async function assertNothingIsLost(folder, before) {
  await assertFilesAreWhole(folder);
  const office = await openEmbedded({ ...EMBEDDED, DATA_DIR: folder });
  if (before) Object.assign(office, { told: before.told, unsure: before.unsure, attempts: before.attempts });
  await office.settle();
  await office.sellTheRest(); // and compares with what was told, before and after
  await office.close();
}

async function killedWhile(points, run) {
  assert.ok(points.length >= AT_LEAST, `only ${points.length} calls that write`);
  const missed = [];
  await atOnce(points, async (point) => {
    const killed = await run(point).catch((error) => {
      throw new Error(`killed before ${nameOf(point)}: ${error.message}`, { cause: error });
    });
    if (!killed) missed.push(nameOf(point));
  });
  const kills = points.length - missed.length;
  assert.ok(kills >= points.length * REACHED_AT_LEAST, `not reached:\n${missed.join('\n')}`);
  return `${kills} kills`;
}

/** A server that dies before it is open. */
async function killStart(folder, point) {
  const server = new Server({ ...EMBEDDED, DATA_DIR: folder });
  server.under = injectFromBirth(point, KILL);
  const survived = await server.start().catch(() => null);
  if (survived) await server.stop('SIGKILL');
  return !survived;
}

async function pointsOfStart(folder) {
  const server = new Server({ ...EMBEDDED, DATA_DIR: folder });
  const { words, points } = countFromBirth();
  server.under = words;
  await server.start();
  await server.stop('SIGKILL');
  return points();
}

// Concurrent purchases share a commit or not, so a script may need fewer calls than it did when they were counted.
const RUNS_UNTIL_REACHED = 3;

/** Kills a server that is open, while a script runs; one that may be repeated is, until the server is dead. */
async function killDuring(folder, point, script) {
  const office = await openEmbedded({ ...script.settings, DATA_DIR: folder });
  await script.prepare(office);
  const [server] = office.servers;
  const { happened, detach } = await inject(server.pid, point, KILL);
  await script.run(office, 0);
  for (let i = 1; script.mayRepeat && i < RUNS_UNTIL_REACHED && !server.hasEnded; i++) await script.run(office, i);
  await detach();
  const killed = happened();
  await server.stop('SIGKILL');
  office.servers.length = 0; // it has ended, and not in order
  return { killed, office };
}

async function pointsDuring(folder, script) {
  const office = await openEmbedded({ ...script.settings, DATA_DIR: folder });
  await script.prepare(office);
  const points = await countWhile(office.servers[0].pid, () => script.run(office, 0));
  await office.servers[0].stop('SIGKILL');
  office.servers.length = 0;
  return points;
}

async function withFolder(work) {
  const folder = temporaryFolder();
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const SCRIPTS = {
  selling: {
    settings: isLong ? ROOM_FOR_A_CHECKPOINT : EMBEDDED,
    prepare() {},
    run: (office, i) => buy(office, isLong ? 8 : 2, `buyer-${i}`),
    mayRepeat: true,
  },
  'selling, over a checkpoint': {
    settings: ROOM_FOR_A_CHECKPOINT,
    prepare: buyUntilCheckpointIsNear,
    run: (office, i) => buyOverACheckpoint(office, `single-${i}`),
    mayRepeat: true,
  },
  'stopping in order': {
    settings: EMBEDDED,
    prepare: (office) => buy(office, 1),
    async run(office) {
      forgetConnections(office.servers[0]);
      await office.servers[0].stop('SIGTERM');
    },
  },
};

describe('killed before each system call that writes', { skip: traceTrouble() ?? false }, () => {
  test('the first start', async (t) => {
    const points = await withFolder(pointsOfStart);
    t.diagnostic(await killedWhile(points, (point) => withFolder(async (folder) => {
      const killed = await killStart(folder, point);
      await assertNothingIsLost(folder);
      return killed;
    })));
  });

  test('the start after a crash', async (t) => {
    const crashed = temporaryFolder();
    const before = await openEmbedded({ ...EMBEDDED, DATA_DIR: crashed });
    await buy(before, 5);
    await before.servers[0].stop('SIGKILL');
    before.servers.length = 0;
    const again = (work) => withFolder((folder) => {
      cpSync(crashed, folder, { recursive: true });
      return work(folder);
    });
    const points = await again(pointsOfStart);
    t.diagnostic(await killedWhile(points, (point) => again(async (folder) => {
      const killed = await killStart(folder, point);
      await assertNothingIsLost(folder, { told: new Map(before.told), unsure: new Set(), attempts: 0 });
      return killed;
    })));
  });

  for (const [what, script] of Object.entries(SCRIPTS)) {
    test(what, async (t) => {
      const points = await withFolder((folder) => pointsDuring(folder, script));
      t.diagnostic(await killedWhile(points, (point) => withFolder(async (folder) => {
        const { killed, office } = await killDuring(folder, point, script);
        await assertNothingIsLost(folder, office);
        return killed;
      })));
    });
  }
});
