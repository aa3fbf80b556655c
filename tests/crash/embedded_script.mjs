// What the embedded server is made to do while its system calls fail: a short sale whose calls are always the same ones.
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { command } from '../api/programs.mjs';

// One loop, so that it is always the same thread that answers; few readers, because each opens files when it starts.
export const EMBEDDED = { FCFS_SEATS: '20', THREADS: '1', DATABASE_CONNECTIONS: '2' };
export const ROOM_FOR_A_CHECKPOINT = { ...EMBEDDED, FCFS_SEATS: '300' };

// The log is copied into the database in a quiet moment when it has a thousand pages; each has a head of 24 bytes.
const CHECKPOINT_PAGES = 1000, NEAR = 4, PAGE = 4096 + 24;
const QUIET_MS = 100, TIME_TO_COPY_MS = 200;
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

/** Two purchases, the quiet moment, and two more, which begin the log anew. */
export async function buyOverACheckpoint(office, prefix = 'single') {
  for (let i = 0; i < 2; i++) await office.claim(`${prefix}-${i}`);
  await setTimeout(QUIET_MS + TIME_TO_COPY_MS);
  for (let i = 2; i < 4; i++) await office.claim(`${prefix}-${i}`);
}

/** The checkpoint then comes when it is quiet after the next purchases. */
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

/** SQLite's own opinion of every database in the folder. */
export async function assertFilesAreWhole(folder) {
  const files = readdirSync(folder).filter((name) => name.endsWith('.db'));
  await Promise.all(files.map(async (file) => {
    assert.equal(await command('sqlite3', join(folder, file), 'PRAGMA integrity_check'), 'ok', file);
  }));
}
