// Every single system call with which the embedded server writes its files fails once, and then again together with all
// that follow: no room on the disk (ENOSPC), a broken disk (EIO). Buyers are refused clearly or have their seat; the
// server goes on when the disk does; a server that cannot start says why.
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { openEmbedded } from '../api/box_office.mjs';
import { ask } from '../api/client.mjs';
import { eventually, Server, temporaryFolder } from '../api/support.mjs';
import {
  assertFilesAreWhole, atOnce, buy, buyOverACheckpoint, buyUntilCheckpointIsNear, EMBEDDED, ROOM_FOR_A_CHECKPOINT,
} from './embedded_script.mjs';
import { countFromBirth, countWhile, inject, injectFromBirth, nameOf, traceTrouble } from './strace.mjs';

const isLong = Boolean(process.env.TICKETTOCK_TEST_LONG);
const ERRORS = ['ENOSPC', 'EIO'];
const RECOVERY_SECONDS = 10;

/** Answers and wake-ups are no files; and no disk makes it fail to remove one. */
function touchesTheDisk({ name, text }) {
  return !/^(write|writev|sendto|sendmsg|unlink)$/.test(name) && !/^\w+\(2,/.test(text);
}

/** Refused clearly, or done. */
function assertClear({ status, text }) {
  if (status !== 200) assert.match(`${status} ${text}`, /^(503 .*"service_unavailable"|409 .*"not_reserved")/);
}

/** The office, but every answer is looked at. */
function watched(office) {
  return {
    async claim(user) {
      assertClear(await office.claim(user));
    },
    async giveBack(user) {
      assertClear(await office.giveBack(user));
    },
  };
}

let visits = 0;

async function sellsAgain(office) {
  await eventually('it sells again', async () => {
    const { status } = await office.claim(`again-${visits++}`);
    return status === 200;
  }, RECOVERY_SECONDS);
  const [server] = office.servers;
  await eventually('it is ready', async () => (await ask(server, { path: '/readyz' })).status === 200, RECOVERY_SECONDS);
}

/** One point: the call fails, buyers come, the disk is mended, buyers come again, and the books are right. */
async function failOnce(office, point, what, more, script) {
  const { detach, happened } = await inject(office.servers[0].pid, point, what, more);
  await script(watched(office));
  await detach();
  await sellsAgain(office);
  await office.settle();
  await office.audit();
  return happened();
}

async function crashAndSellTheRest(office) {
  await office.servers.pop().stop('SIGKILL');
  await assertFilesAreWhole(office.env.DATA_DIR);
  await office.addServer();
  await office.sellTheRest();
  await office.close();
}

function inWords(point, what, more) {
  return `${what}${more ? ' from then on' : ''} at ${nameOf(point)}`;
}

describe('the disk fails', { skip: traceTrouble() ?? false }, () => {
  for (const error of ERRORS) {
    for (const more of ['', '+']) {
      test(`${error} while selling${more && ', and goes on failing'}`, async (t) => {
        const office = await openEmbedded({ ...EMBEDDED, FCFS_SEATS: '3000' });
        const script = (buyers) => buy(buyers, isLong ? 8 : 1, `visit-${visits++}`);
        const points = (await countWhile(office.servers[0].pid, () => script(office))).filter(touchesTheDisk);
        const kinds = new Map(points.map((point) => [`${point.thread} ${point.name}`, point]));
        let happened = 0;
        for (const kind of kinds.values()) {
          // Concurrent purchases share a commit or not, so the number of calls differs a little: on until there is none.
          for (let number = 1, misses = 0; misses < 2; number++) {
            const point = { ...kind, number };
            const did = await failOnce(office, point, `error=${error}`, more, script).catch((cause) => {
              throw new Error(`${inWords(point, error, more)}: ${cause.message}`, { cause });
            });
            happened += did;
            misses = did ? 0 : misses + 1;
          }
        }
        assert.ok(happened >= points.length * 0.5, `${happened} of about ${points.length} calls failed`);
        t.diagnostic(`${happened} calls failed`);
        await crashAndSellTheRest(office);
      });
    }
  }

  test('during a checkpoint', async (t) => {
    const kinds = isLong ? ERRORS.flatMap((error) => [[error, ''], [error, '+']]) : [['ENOSPC', '+'], ['EIO', '']];
    const script = (buyers) => buyOverACheckpoint(buyers);
    const open = async () => {
      const office = await openEmbedded(ROOM_FOR_A_CHECKPOINT);
      await buyUntilCheckpointIsNear(office);
      return office;
    };
    const office = await open();
    const points = (await countWhile(office.servers[0].pid, () => script(office))).filter(touchesTheDisk);
    await office.close();
    let happened = 0;
    for (const [error, more] of kinds) {
      await atOnce(points, async (point) => {
        const one = await open();
        happened += await failOnce(one, point, `error=${error}`, more, script).catch((cause) => {
          throw new Error(`${inWords(point, error, more)}: ${cause.message}`, { cause });
        });
        await crashAndSellTheRest(one);
        rmSync(one.env.DATA_DIR, { recursive: true });
      });
    }
    t.diagnostic(`${happened} calls failed`);
  });

  test('a start after a crash says why it cannot, and works when the disk does', async (t) => {
    const crashed = temporaryFolder();
    const before = await openEmbedded({ ...EMBEDDED, DATA_DIR: crashed });
    await buy(before, 5);
    await before.servers.pop().stop('SIGKILL');
    const copy = () => {
      const folder = temporaryFolder();
      cpSync(crashed, folder, { recursive: true });
      return folder;
    };
    const server = new Server({ ...EMBEDDED, DATA_DIR: copy() });
    const { words, points } = countFromBirth();
    server.under = words;
    await server.start();
    await server.stop('SIGKILL');
    const cases = points().filter(touchesTheDisk).flatMap((point) => ERRORS.map((error) => ({ point, error })));
    let refused = 0;
    await atOnce(cases, async ({ point, error }) => {
      const folder = copy();
      const victim = new Server({ ...EMBEDDED, DATA_DIR: folder });
      victim.under = injectFromBirth(point, `error=${error}`);
      const started = await victim.start().catch(() => null);
      const ended = started ? await victim.stop('SIGKILL') : await victim.stop();
      const where = inWords(point, error);
      if (!started) {
        refused++;
        assert.equal(ended, 1, `${where}: ended by ${ended}`);
        assert.match(victim.output, /"level":"error"/, `${where}: no word about it`);
      }
      await assertFilesAreWhole(folder);
      const office = await openEmbedded({ ...EMBEDDED, DATA_DIR: folder });
      office.told = new Map(before.told);
      await office.sellTheRest().catch((cause) => {
        throw new Error(`${where}: ${cause.message}`, { cause });
      });
      await office.close();
      rmSync(folder, { recursive: true });
    });
    t.diagnostic(`${cases.length} calls failed, ${refused} starts refused`);
  });
});
