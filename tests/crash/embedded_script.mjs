// What the embedded server is made to do while its system calls fail: a short sale whose calls are always the same ones.
import { statSync } from 'node:fs';

// One loop, so that it is always the same thread that answers.
export const EMBEDDED = { FCFS_SEATS: '40', THREADS: '1' };
export const ROOM_FOR_A_CHECKPOINT = { FCFS_SEATS: '300', THREADS: '1' };

// SQLite copies the log into the database when the log has a thousand pages; each has a head of 24 bytes.
const CHECKPOINT_PAGES = 1000, NEAR = 4, PAGE = 4096 + 24;
const PARALLEL = 3;

/** Sells in every way: one after the other, several in one commit, given back, bought again. */
export async function buy(office, rounds, prefix = 'buyer') {
  for (let round = 0; round < rounds; round++) {
    const name = `${prefix}-${round}`;
    await office.claim(`${name}-a`);
    await Promise.all(['b', 'c', 'd'].map((who) => office.claim(`${name}-${who}`)));
    await office.giveBack(`${name}-a`);
  }
}

export async function buyOneByOne(office, count, prefix = 'single') {
  for (let i = 0; i < count; i++) await office.claim(`${prefix}-${i}`);
}

/** The checkpoint then comes with the next purchase. */
export async function buyUntilCheckpointIsNear(office) {
  const pages = () => Math.floor(statSync(`${office.file}-wal`).size / PAGE);
  for (let i = 0; pages() < CHECKPOINT_PAGES - NEAR; i++) await office.claim(`early-${i}`);
}

/** Runs `work` for each of the items, some at a time. */
export async function atOnce(items, work) {
  const waiting = [...items];
  const workers = Array.from({ length: PARALLEL }, async () => {
    while (waiting.length) await work(waiting.shift());
  });
  await Promise.all(workers);
}
