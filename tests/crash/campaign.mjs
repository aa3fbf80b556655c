// A rehearsal while one fault after the other happens, and what came of it. Which faults, in which order and for how long,
// follows from the seed; only what the machine does in between does not.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { anotherAddress, FCFS } from '../api/box_office.mjs';
import { ask, sleep } from '../api/client.mjs';
import { start } from '../api/programs.mjs';
import { ADMIN_TOKEN, temporaryFolder, TICKETTOCK } from '../api/support.mjs';
import { HealthWatch, mostWaited, sharedNow, waited } from './health.mjs';

const PERSONAS = 'double-click=10%,retry=15%,give-up=5%,give-back=20%,check=10%,reader=5%,one-ip=2%,slow=2%';
const CALM_MS = [250, 600]; // between two faults
export const RECOVERY_MS = 10_000; // what is promised
const PATIENCE_MS = 4000;
const BACKLOG_MS = 1000; // in which a server that was away works off what came meanwhile
const FOR_EVER = '1h';

/** Numbers that follow from a seed (mulberry32): () → [0, 1). */
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

function between([least, most], random) {
  return least + random() * (most - least);
}

function shuffled(list, random) {
  const rest = [...list];
  return list.map(() => rest.splice(Math.floor(random() * rest.length), 1)[0]);
}

/** So many faults: each kind once in a random order, then each once again in another. */
function* plan(kinds, count, random) {
  for (let given = 0; given < count; )
    for (const fault of shuffled(kinds, random)) {
      if (given++ === count) return;
      yield { fault, holdMs: between(fault.holdMs, random), calmMs: between(CALM_MS, random) };
    }
}

class Timeline {
  began = sharedNow();
  lines = [];

  write(text) {
    this.lines.push(`${((sharedNow() - this.began) / 1000).toFixed(2).padStart(7)} s  ${text}`);
  }
}

/** Buys a seat at a server as soon as that is possible; every attempt is noted as `tickettock rehearse` would. */
async function buyOne(server, number, name, notes) {
  const giveUpAt = sharedNow() + 3 * RECOVERY_MS;
  for (let attempt = 0; ; attempt++) {
    const user = `${name}-${number}-${attempt}`, from = anotherAddress();
    const note = { op: 'claim', user, address: from, start: Number(process.hrtime.bigint()), end: null, status: null, server: number };
    const answer = await ask(server, {
      method: 'POST', path: `${FCFS}?scheduleId=rehearsal`, headers: { 'X-User-Id': user, 'X-Forwarded-For': from },
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).catch(() => null);
    if (answer) {
      const { reason, seat_id: seat, sequence: seq, remainingSeats: remaining } = answer.json;
      Object.assign(note, { end: Number(process.hrtime.bigint()), status: answer.status });
      Object.assign(note, answer.status === 200 ? { seat, seq, remaining } : { reason });
    }
    notes.push(note);
    if (answer?.status === 200) return;
    if (sharedNow() > giveUpAt) throw new Error(`${name}: no seat from ${server.url}`);
    await sleep(20);
  }
}

/** Lets one happen and mends it. Gives what was when: { name, away, from, healed, recovered }, and for how
 * long a server waited for a processor in order to recover: noise. */
async function happen({ fault, holdMs, calmMs }, number, { servers, health, timeline, notes }) {
  const event = { name: fault.name, away: fault.away, from: sharedNow() };
  timeline.write(fault.name);
  await fault.inject();
  await sleep(holdMs);
  await fault.heal();
  health.noticeProcesses();
  event.healed = sharedNow();
  const before = servers.map((server) => waited(server.pid));
  await Promise.all(servers.map((server, index) => buyOne(server, index, `after-${number}`, notes)));
  event.recovered = sharedNow();
  event.noise = Math.max(...servers.map((server, index) => mostWaited(before[index], waited(server.pid))));
  const [lasted, took] = [event.healed - event.from, event.recovered - event.healed].map(Math.round);
  timeline.write(`  mended after ${lasted} ms, selling ${took} ms later`);
  await sleep(calmMs);
  return event;
}

/** Puts our own requests into the history that was recorded. Gives how many requests it has then. */
async function addToHistory(file, notes) {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const last = JSON.parse(lines.pop());
  if (last.op !== 'end') throw new Error('the history has no end');
  const own = notes.map((note) => JSON.stringify(note));
  const count = last.count + own.length;
  await writeFile(file, `${[...lines, ...own, JSON.stringify({ op: 'end', count })].join('\n')}\n`);
  return count;
}

/** Runs a rehearsal on the servers' schedule "rehearsal" until all faults have happened and enough has been asked. */
export async function runCampaign({ servers, idle, kinds, count, operations, rate, seats, seed }) {
  const random = randomFrom(seed), timeline = new Timeline(), notes = [];
  const file = join(temporaryFolder(), 'history.jsonl');
  const health = new HealthWatch(servers, idle);
  const rehearsal = start(TICKETTOCK, [
    'rehearse', ...servers.map((server) => server.url), '--arrival', `poisson ${rate}/s`, '--duration', FOR_EVER,
    '--persona', PERSONAS, '--seats', `${seats}`, '--seed', `${seed}`, '--timeout', '4s', '--history', file, '--quiet',
  ], { ...process.env, ADMIN_TOKEN });
  await sleep(1000);
  const events = [];
  try {
    for (const fault of plan(kinds, count, random))
      events.push(await happen(fault, events.length, { servers, health, timeline, notes }));
    const usersNeeded = operations / 1.1; // most ask once, some twice
    await sleep(Math.max(500, (usersNeeded / rate) * 1000 - (sharedNow() - timeline.began)));
  } finally {
    rehearsal.kill('SIGINT'); // closes the doors
    await Promise.all([rehearsal.ended, health.stop()]);
  }
  const away = events.flatMap(({ away: numbers, from, recovered }) =>
    numbers.map((server) => ({ server, from, to: recovered + BACKLOG_MS })));
  return {
    status: await rehearsal.ended, report: rehearsal.text, file, timeline, faults: events.length,
    operations: await addToHistory(file, notes), seconds: (sharedNow() - timeline.began) / 1000, health: health.judge(away),
    recoveries: events.map(({ name, healed, recovered, noise }) => {
      const ms = recovered - healed;
      return { name, ms, own: ms - noise };
    }),
  };
}
