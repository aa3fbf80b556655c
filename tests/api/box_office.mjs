// A box office in one of the two ways to run it: embedded (one server, SQLite) or as a fleet (two servers on one
// PostgreSQL and one Redis; requests are spread over both). It keeps a ledger of what buyers were told, and its auditor
// compares that with the database.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { ask, forgetConnections } from './client.mjs';
import { atEnd, command, start, startPrivate } from './programs.mjs';
import { ADMIN_TOKEN, eventually, startServer, temporaryFolder } from './support.mjs';

export const FCFS = '/api/v1/seats/reservation/fcfs';
export const PRD = '/api/v1/seats/reservation';
// Every request comes from an address of its own, as a proxy would say, and a header names its user; and thousands may
// come at once. Nobody gives up because this machine is slow today.
const SETTINGS = {
  FCFS_SEATS: '9', TRUSTED_PROXIES: '127.0.0.1', FCFS_TRUST_USER_HEADER: '1', MAX_TASKS: '8192',
  DATABASE_STATEMENT_TIMEOUT_MS: '8000', REDIS_TIMEOUT_MS: '8000', REQUEST_TIMEOUT_MS: '60000',
};
/** For tests of when a server gives up: as an operator has it who sets none of them. */
export const DEFAULT_TIMES = { DATABASE_STATEMENT_TIMEOUT_MS: undefined, REDIS_TIMEOUT_MS: undefined, REQUEST_TIMEOUT_MS: undefined };

const WAVE = 200;

/** Runs `body(way)` for both ways; each has a name and open(env, {durable}). */
export function inBothWays(body) {
  for (const way of [{ name: 'embedded', open: openEmbedded }, { name: 'fleet', open: openFleet }]) body(way);
}

let opened = 0, fleetParts;

export async function openEmbedded(env = {}) {
  const folder = env.DATA_DIR ?? temporaryFolder();
  const office = new Office({ ...SETTINGS, DATA_DIR: folder, ...env });
  office.file = join(folder, 'reservation_service.db');
  await office.addServer();
  return office;
}

/** A database of its own each time; PostgreSQL and Redis are started once per test file. */
export async function openFleet(env = {}, { durable = false, servers = 2, postgres: given } = {}) {
  fleetParts ??= Promise.all([given ?? startPrivate('postgres', { durable }), startPrivate('redis')]);
  const [postgres, redis] = await fleetParts;
  const database = `office_${opened++}`;
  await command('psql', '-qAt', '-c', `CREATE DATABASE ${database}`, postgres.url);
  await command('redis-cli', '-u', redis.url, 'flushall');
  const url = postgres.url.replace(/postgres$/, database);
  const office = new Office({ ...SETTINGS, DATABASE_URL: url, REDIS_URL: redis.url, ...env });
  Object.assign(office, { postgres, redis, url });
  for (let i = 0; i < servers; i++) await office.addServer();
  return office;
}

let addresses = 0;
/** Of a network that the tests own: by default every request comes from an address of its own. */
export function anotherAddress() {
  addresses++;
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

class Office {
  constructor(env) {
    this.env = env;
    this.servers = [];
    this.turn = 0;
    this.forget();
    atEnd(() => this.close());
  }

  forget() {
    this.told = new Map(); // user → { seat, sequence }, as the last answer said
    this.unsure = new Set(); // users whose last request had no clear answer
    this.attempts = 0;
  }

  async addServer(env = {}) {
    this.servers.push(await startServer({ ...this.env, ...env }));
  }

  /** A server that is told to stop ends by itself, without a complaint. */
  async close() {
    for (const server of this.servers.splice(0)) {
      forgetConnections(server);
      assert.equal(await server.stop(), 0, server.output);
    }
  }

  // ---- Buyers -------------------------------------------------------------------------------------------

  /** Each request goes to the next server. */
  ask({ user, from = anotherAddress(), headers = {}, server = this.servers[this.turn++ % this.servers.length], ...rest }) {
    const own = { 'X-Forwarded-For': from, ...(user !== undefined && { 'X-User-Id': user }) };
    return ask(server, { ...rest, headers: { ...own, ...headers } });
  }

  /** An attempt that the ledger remembers. No answer at all is { status: 0 }. */
  async claim(user, options = {}) {
    this.attempts++;
    const answer = await this.ask({ method: 'POST', path: FCFS, user, ...options }).catch((error) => ({ status: 0, error }));
    if (answer.status === 200) this.told.set(user, { seat: answer.json.seat_id, sequence: answer.json.sequence });
    else if (answer.status === 0 || answer.status >= 500) this.unsure.add(user);
    return answer;
  }

  async giveBack(user, options = {}) {
    this.attempts++;
    const answer = await this.ask({ method: 'DELETE', path: PRD, user, ...options }).catch((error) => ({ status: 0, error }));
    if (answer.status === 200) this.told.delete(user);
    else if (answer.status === 0 || answer.status >= 500) this.unsure.add(user);
    return answer;
  }

  /** Those who had no clear answer ask again, and then know. */
  async settle() {
    const unsure = [...this.unsure];
    this.unsure.clear();
    await Promise.all(unsure.map(async (user) => {
      const { json } = await this.claim(user);
      assert.ok(json.success || ['already_reserved', 'sold_out'].includes(json.reason), JSON.stringify(json));
      if (json.reason === 'already_reserved') this.told.set(user, { seat: json.seat_id });
      if (json.reason === 'sold_out') this.told.delete(user);
    }));
  }

  async seats(server = this.servers[0]) {
    const answer = await ask(server, { path: '/api/v1/seats' });
    assert.equal(answer.status, 200, answer.text);
    return answer.json.seats;
  }

  async taken(server) {
    return (await this.seats(server)).filter((seat) => seat.status).map((seat) => seat.id);
  }

  /** An empty house with so many seats, seen by every server; and an empty ledger. */
  async reset(seatCount) {
    await eventually('the house is reset', async () => {
      const { status, text } = await this.resetSchedule('demo', seatCount);
      // A database that is slow today looks as if it were away, and another server may show an older house for a moment.
      assert.ok([200, 409, 503].includes(status), text);
      return status === 200;
    });
    for (const server of this.servers)
      await eventually('the reset is seen', async () => {
        const seats = await this.seats(server);
        return seats.length === seatCount && !seats.some((seat) => seat.status);
      });
    this.forget();
  }

  /** As an operator does: looks at the house that there is, if any, and replaces it. The answer of the reset. */
  async resetSchedule(scheduleId, seatCount) {
    const headers = { 'X-Admin-Token': ADMIN_TOKEN };
    const { json } = await this.ask({ path: `/api/v1/admin/overview?scheduleId=${scheduleId}`, headers });
    const body = JSON.stringify({ scheduleId, seatCount, generation: json.generation ?? 0 });
    return this.ask({ method: 'POST', path: '/api/v1/seats/reset', headers, body });
  }

  // ---- The database -------------------------------------------------------------------------------------

  async rows(sql) {
    const text = this.file
      ? await command('sqlite3', '-cmd', '.timeout 5000', '-json', this.file, sql)
      : await command('psql', '-qAt', '-c', 'SET search_path = reservation_service',
        '-c', `SELECT coalesce(json_agg(t), '[]') FROM (${sql}) t`, this.url);
    return text ? JSON.parse(text) : [];
  }

  /** A statement that changes something behind the servers' backs. */
  execute(sql) {
    return this.file
      ? command('sqlite3', '-cmd', '.timeout 5000', this.file, sql)
      : command('psql', '-qAt', '-c', 'SET search_path = reservation_service', '-c', sql, this.url);
  }

  /** A key or channel of this fleet, as Redis knows it. */
  async inRedis(name) {
    return `tickettock:${(await this.rows('SELECT id FROM installation'))[0].id}:${name}`;
  }

  /** For an INSERT INTO claims: the columns that say which seat, and what they are for this one. */
  placeOf(house, seat) {
    return this.file ? ['place', `(${house} << 20) + ${seat}`] : ['house_id, seat_id', `${house}, ${seat}`];
  }

  /** What the history has of users whose names begin so; some lines are written a moment after the answer. */
  history(prefix, count) {
    const sql = `SELECT * FROM reservation_history WHERE user_id LIKE '${prefix}%' ORDER BY id`;
    return eventually(`${count} lines of history`, async () => {
      const lines = await this.rows(sql);
      assert.ok(lines.length <= count, `${lines.length} lines of history instead of ${count}`);
      return lines.length === count && lines;
    });
  }

  /** Holds the lock that every change of the house needs; answers a function that lets go. */
  async holdHouse() {
    const client = this.file ? start('sqlite3', ['-cmd', '.timeout 5000', this.file]) : start('psql', ['-qAt', this.url]);
    const lock = this.file ? 'BEGIN IMMEDIATE;' : 'BEGIN; SELECT id FROM reservation_service.houses FOR UPDATE;';
    client.stdin.write(`${lock} SELECT 'held';\n`);
    await eventually('the lock is held', () => client.text.includes('held'));
    return async () => {
      client.stdin.end('ROLLBACK;\n');
      if (await client.ended !== 0) throw new Error(client.text);
    };
  }

  // ---- The auditor --------------------------------------------------------------------------------------

  /** What must be true at any time, however the last minutes went. */
  async audit({ schedule = 'demo' } = {}) {
    const which = `houses WHERE schedule = '${schedule}'`;
    const [[house], claims] = await Promise.all([
      this.rows(`SELECT * FROM ${which}`),
      this.rows(`SELECT * FROM claims WHERE house_id = (SELECT id FROM ${which}) ORDER BY seat_id`),
    ]);
    const owners = new Map(claims.map((claim) => [claim.seat_id, claim.user_id]));
    assert.equal(owners.size, claims.length, 'a seat has one owner');
    assert.equal(new Set(owners.values()).size, claims.length, 'a user has one seat');
    assert.ok(claims.every((claim) => claim.seat_id >= 1 && claim.seat_id <= house.seats), 'every seat exists');

    for (const [user, { seat, sequence }] of this.told) {
      if (this.unsure.has(user)) continue;
      const claim = claims.find((one) => one.user_id === user);
      assert.ok(claim, `${user} was told seat ${seat}, and has none`);
      assert.deepEqual([claim.seat_id, claim.sequence], [seat, sequence ?? claim.sequence], `${user} has what was told`);
    }
    for (const user of owners.values())
      assert.ok(this.told.has(user) || this.unsure.has(user), `${user} has a seat and was not told`);

    const free = house.seats - claims.length;
    for (const server of this.servers) await this.auditReads(server, house.seats, owners);
    return { seats: house.seats, sold: claims.length, free, claims };
  }

  /** Sold + free = N on every server, and they are the right ones. */
  async auditReads(server, total, owners) {
    const expected = [...owners.keys()].join();
    await eventually(`port ${server.port} shows seats ${expected || 'none'}`, async () => {
      const seats = await this.seats(server);
      assert.equal(seats.length, total);
      return seats.filter((seat) => seat.status).map((seat) => seat.id).join() === expected;
    });
  }

  /** Nothing is stranded: sells seat by seat to strangers until the house is sold out, and audits again. */
  async sellTheRest() {
    const { seats, free } = await this.audit();
    for (let left = free; left > 0; left -= WAVE) {
      const wave = users(Math.min(left, WAVE), `last-${left}`).map((user) => this.claim(user));
      for (const answer of await Promise.all(wave)) assert.equal(answer.status, 200, answer.text ?? answer.error);
    }
    const late = await this.claim(`late-${this.attempts}`);
    assert.equal(late.json.reason, 'sold_out');
    assert.equal((await this.audit()).sold, seats, 'sold to the last seat');
  }
}

/** Among winners, an earlier number is an earlier seat. */
export function assertSeatsFollowSequence(answers) {
  const won = answers.filter((answer) => answer.status === 200).map((answer) => answer.json);
  won.sort((a, b) => a.sequence - b.sequence);
  assert.equal(new Set(won.map((answer) => answer.sequence)).size, won.length, 'a number is given once');
  assert.deepEqual(won.map((answer) => answer.seat_id), won.map((answer) => answer.seat_id).sort((a, b) => a - b));
}

/** How many answers of each kind: { claimed: 9, sold_out: 1 }. */
export function tally(answers) {
  const counts = {};
  for (const answer of answers) {
    const kind = answer.status === 0 ? 'no_answer' : answer.json.success ? 'claimed' : answer.json.reason;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

export function users(count, prefix = 'user') {
  return Array.from({ length: count }, (_, i) => `${prefix}-${i + 1}`);
}
