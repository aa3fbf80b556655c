// `tickettock check-history` on rehearsals of real servers: clean as they are, and with every mistake that is made in
// the database afterwards or in the answers on their way, it names the mistake.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inBothWays, openEmbedded } from './box_office.mjs';
import { startLyingProxy } from './lying_proxy.mjs';
import { command } from './programs.mjs';
import { ADMIN_TOKEN, TICKETTOCK, temporaryFolder } from './support.mjs';

const folder = temporaryFolder();
let files = 0;

const run = (...words) => new Promise((resolve) => {
  execFile(TICKETTOCK, words, { env: { ...process.env, ADMIN_TOKEN }, maxBuffer: 64 << 20 },
    (error, stdout, stderr) => resolve({ status: error ? error.code : 0, stdout, stderr }));
});

/** Plays a crowd against the addresses; gives the file with its history. */
async function rehearse(urls, { users = 300, seats = 120, persona }) {
  const file = join(folder, `history-${files++}`);
  const { status, stdout, stderr } = await run('rehearse', ...urls, '--users', users, '--seats', seats, '--arrival', 'spike 500ms',
    '--persona', persona, '--seed', '7', '--quiet', '--history', file);
  assert.equal(status, 0, stdout + stderr);
  return file;
}

async function check(file, ...words) {
  const { status, stdout, stderr } = await run('check-history', file, '--json', ...words);
  return { status, stderr, ...(stdout ? JSON.parse(stdout) : {}) };
}

async function expectClean(file, ...words) {
  const verdict = await check(file, ...words);
  assert.deepEqual([verdict.status, verdict.verdict, verdict.violations], [0, 'clean', []], JSON.stringify(verdict));
  return verdict;
}

async function expectFound(kind, file, ...words) {
  const verdict = await check(file, ...words);
  assert.equal(verdict.status, 1, JSON.stringify(verdict));
  assert.ok(verdict.counts[kind] > 0, `${kind} is not among ${JSON.stringify(verdict.counts)}`);
  return verdict.violations.filter((violation) => violation.kind === kind);
}

const eventsOf = (file) => readFileSync(file, 'utf8').trim().split('\n').slice(1, -1).map((line) => JSON.parse(line));

/** A winner of whom nothing else is known, and one who left with nothing. */
function choosePeople(file) {
  const events = eventsOf(file);
  const byUser = new Map();
  for (const event of events) byUser.set(event.user, [...byUser.get(event.user) ?? [], event]);
  const winners = [...byUser.values()].filter((list) => list.length === 1 && list[0].op === 'claim' && list[0].status === 200);
  const [backs] = [...byUser.values()].filter((list) => list.some((event) => event.op === 'release' && event.status === 200)
    && list.filter((event) => event.status === 200 && event.op === 'claim').length === 1);
  const [loser] = [...byUser.values()].filter((list) => list.length === 1 && list[0].reason === 'sold_out');
  assert.ok(winners.length > 1 && backs && loser, 'the crowd has everybody whom the test needs');
  return { winner: winners[0][0], second: winners[1][0], loser: loser[0], backs: backs.find((event) => event.op === 'release') };
}

const HOUSE = "(SELECT id FROM houses WHERE schedule = 'rehearsal')";
const rowIn = (office) => (seat, user, sequence) => {
  const [columns, values] = office.placeOf(HOUSE, seat);
  return `INSERT INTO claims (${columns}, user_id, claimed_at, sequence) VALUES (${values}, '${user}', 1, ${sequence});`;
};

/** What each does to a database, and what it is called. */
const TAMPERINGS = [
  ['an acknowledged claim is lost', 'lost_claim', ({ winner }) => `DELETE FROM claims WHERE user_id = '${winner.user}';`],
  ['an update is lost: another owns the seat', 'lost_claim',
    ({ winner, loser }) => `UPDATE claims SET user_id = '${loser.user}' WHERE user_id = '${winner.user}';`],
  ['the other one never got it', 'unearned_seat',
    ({ winner, loser }) => `UPDATE claims SET user_id = '${loser.user}' WHERE user_id = '${winner.user}';`],
  ['a seat that was given back is its old owner\'s again', 'resurrected_seat',
    ({ backs, row }) => `DELETE FROM claims WHERE seat_id = ${backs.seat}; ${row(backs.seat, backs.user, 1000001)}`],
  ['somebody whom nobody knows has a seat', 'unearned_seat',
    ({ winner }) => `UPDATE claims SET user_id = 'stranger' WHERE user_id = '${winner.user}';`],
  ['a claim has another number', 'sequence_differs',
    ({ winner }) => `UPDATE claims SET sequence = 1000002 WHERE user_id = '${winner.user}';`],
  ['two have each other\'s seat', 'wrong_seat', ({ winner, second, row }) => `DELETE FROM claims WHERE user_id IN ('${winner.user}', '${second.user}');
    ${row(winner.seat, second.user, second.seq)} ${row(second.seat, winner.user, winner.seq)}`],
  ['one user has two seats', 'double_claim', ({ winner, second, row }) => `DROP INDEX claims_user; DELETE FROM claims WHERE user_id = '${second.user}';
    ${row(second.seat, winner.user, second.seq)}`],
  ['there is a seat too many', 'no_such_seat', ({ loser, row }) => row(121, loser.user, 1000003)],
  ['sold + free is not the house', 'wrong_count', () => `UPDATE houses SET seats = 119 WHERE id = ${HOUSE};`],
];

/** A copy of the office's database, with its servers stopped, in which the statements have been run. */
async function tamper(office, sql) {
  if (office.file) {
    const copy = join(folder, `tampered-${files++}.db`);
    copyFileSync(office.file, copy);
    await command('sqlite3', copy, sql);
    return copy;
  }
  const database = `tampered_${files++}`;
  await command('psql', '-qAt', '-c', `CREATE DATABASE ${database} TEMPLATE ${new URL(office.url).pathname.slice(1)}`, office.postgres.url);
  const url = office.postgres.url.replace(/postgres$/, database);
  await command('psql', '-qAt', '-v', 'ON_ERROR_STOP=1', '-c', `SET search_path = reservation_service; ${sql}`, url);
  return url;
}

inBothWays((way) => {
  test(`${way.name}: a rehearsal is clean, and what is done to the database afterwards is found`, async (t) => {
    const office = await way.open();
    const file = await rehearse(office.servers.map((server) => server.url),
      { persona: 'double-click=10%,give-back=15%,check=15%,reader=10%,give-up=5%' });
    const database = () => (office.file ?? office.url);
    const { requests, maps } = await expectClean(file);
    assert.ok(requests > 300 && maps > 5);
    await expectClean(file, '--against', office.servers[0].url, '--admin-token', ADMIN_TOKEN);
    await expectClean(file, '--against', database());
    if (office.file) await expectClean(file, '--against', join(office.file, '..'));

    for (const server of office.servers) await server.stop();
    office.servers.length = 0;
    await expectClean(file, '--against', await tamper(office, 'SELECT 1;'));
    const people = { ...choosePeople(file), row: rowIn(office) };
    for (const [name, kind, sql] of TAMPERINGS)
      await t.test(name, async () => {
        await expectFound(kind, file, '--against', await tamper(office, sql(people)));
      });
    if (office.url)
      await t.test('one seat has two owners', async () => {
        const changed = await tamper(office, `ALTER TABLE claims DROP CONSTRAINT claims_pkey;
          ${people.row(people.winner.seat, people.loser.user, 1000004)}`);
        await expectFound('two_owners', file, '--against', changed);
      });
  });
});

const FCFS = '/api/v1/seats/reservation/fcfs';
const isClaim = ({ method, path }) => method === 'POST' && path.startsWith(FCFS);
const won = (call) => isClaim(call) && call.answer.status === 200;
const refusal = (reason) => ({ status: 409, json: { success: false, reason } });
/** Tells the truth `honest` times, then lies once in `every`. */
const nowAndThen = (honest, lie, every = 5) => {
  let calls = 0;
  return (call) => (++calls > honest && calls % every === 0 ? lie(call) : undefined);
};

/** Each makes a server with a mistake of an honest one: what it is called, and the lie; perhaps who comes, and flags. */
const LIES = {
  'no status guard: a seat is given again': ['two_owners', () => {
    let first;
    return (call) => {
      if (!won(call)) return undefined;
      first ??= call.answer.json;
      return { status: 200, json: { ...call.answer.json, seat_id: first.seat_id, seat: first.seat } };
    };
  }],
  'answer before commit: what was answered did not happen': ['lost_claim', () => nowAndThen(10, async (call) => {
    if (won(call)) await call.ask('DELETE', call.path.replace(FCFS, '/api/v1/seats/reservation'), call.user);
  })],
  'a seat out of order': ['seat_order', () => {
    let held;
    return nowAndThen(3, (call) => {
      if (!won(call)) return undefined;
      [held, call.answer.json.sequence] = [call.answer.json.sequence, held ?? call.answer.json.sequence + 100000];
      return call.answer;
    });
  }],
  'the duplicate lock is never released': ['false_duplicate', () => {
    const seen = new Set();
    return (call) => {
      if (!isClaim(call)) return undefined;
      const again = seen.has(call.user);
      seen.add(call.user);
      return again ? refusal('duplicate') : undefined;
    };
  }, 'double-click=20%,retry=10%', '--duplicate-ttl', '0', '--duplicate-policy', 'user'],
  'a stale map': ['stale_map', () => {
    let first;
    return (call) => {
      if (call.method !== 'GET' || !/seats(\?|$)/.test(call.path) || call.answer.status !== 200) return undefined;
      first ??= call.answer;
      return first;
    };
  }],
  'phantom sold out': ['false_sold_out', () => nowAndThen(5, (call) => {
    if (won(call)) return call.ask('DELETE', call.path.replace(FCFS, '/api/v1/seats/reservation'), call.user).then(() => refusal('sold_out'));
    return undefined;
  })],
  'a number is given twice': ['sequence_twice', () => {
    let last;
    return (call) => {
      if (!won(call)) return undefined;
      last ??= call.answer.json.sequence;
      return { status: 200, json: { ...call.answer.json, sequence: last } };
    };
  }],
  'the answer is for another user': ['foreign_answer', () => nowAndThen(5, (call) => (
    won(call) ? { status: 200, json: { ...call.answer.json, reserved_by: 'somebody-else' } } : undefined))],
  'what remains is wrong': ['wrong_count', () => nowAndThen(5, (call) => (
    won(call) ? { status: 200, json: { ...call.answer.json, remainingSeats: call.answer.json.remainingSeats + 50 } } : undefined))],
  'one user gets a second seat': ['double_claim', () => (call) => {
    if (!isClaim(call) || call.answer.json?.reason !== 'already_reserved') return undefined;
    const seat = call.answer.json.seat_id % 60 + 1;
    return { status: 200, json: { success: true, seat_id: seat, reserved_by: call.user, sequence: 500000 + seat } };
  }],
};

test('a server that lies is found out', async (t) => {
  const office = await openEmbedded({ FCFS_DUP_POLICY: 'off' });
  const crowd = { users: 120, seats: 60, persona: 'double-click=30%,check=20%,reader=10%' };
  const honest = await startLyingProxy(office.servers[0], () => undefined);
  await expectClean(await rehearse([honest.url], crowd));
  for (const [name, [kind, makeLie, persona, ...flags]] of Object.entries(LIES))
    await t.test(name, async () => {
      const proxy = await startLyingProxy(office.servers[0], makeLie());
      const file = await rehearse([proxy.url], { ...crowd, persona: persona ?? crowd.persona });
      const found = await expectFound(kind, file, ...flags, '--against', office.file);
      for (const { words, lines } of found) {
        assert.ok(words.length > 0);
        for (const { line, text } of lines)
          assert.equal(text, readFileSync(file, 'utf8').split('\n')[line - 1], 'the lines are those of the file');
      }
      await proxy.close();
    });
});

test('what cannot be read is told, with status 2', async () => {
  const file = join(folder, 'by-hand');
  const header = '{"tickettock":"history","version":1,"seats":2,"servers":1,"taken":""}\n';
  const claim = '{"op":"claim","user":"u","start":1,"end":2,"status":200,"seat":1,"seq":1}\n';
  const expectProblem = async (text, pattern, ...words) => {
    if (text !== null) writeFileSync(file, text);
    const { status, stderr } = await check(file, ...words);
    assert.equal(status, 2);
    assert.match(stderr, pattern);
  };
  await expectProblem('', /by-hand: the file is empty/);
  await expectProblem(`${header}${claim}nonsense\n${claim}`, /by-hand: line 3: /);
  await expectProblem(`${header}${claim}{"op":"end","count":1}\n`, /cannot be asked: SQLite: /, '--against', '/nowhere');
  await expectProblem(null, /cannot be asked: PostgreSQL: /, '--against', 'postgresql://127.0.0.1:1/none');
  await expectProblem(null, /cannot be asked: GET \/api\/v1\/show: /, '--against', 'http://127.0.0.1:1');
  await expectProblem(null, /there is no flag --dance/, '--dance', '1');
  await expectProblem(null, /the policy is both, user, ip or off/, '--duplicate-policy', 'maybe');

  writeFileSync(file, `${header}${claim}{"op":"cl`);
  const cut = await check(file);
  assert.deepEqual([cut.status, cut.verdict, cut.cutOff, cut.requests], [0, 'clean', true, 1]);
});

test('the report reads well', async () => {
  const file = join(folder, 'two-owners');
  const lines = [
    '{"tickettock":"history","version":1,"seats":2,"servers":1,"taken":""}',
    '{"op":"claim","user":"ann","start":1,"end":2,"status":200,"seat":1,"seq":1}',
    '{"op":"claim","user":"bob","start":3,"end":4,"status":200,"seat":1,"seq":2}',
    '{"op":"end","count":2}', '',
  ];
  writeFileSync(file, lines.join('\n'));
  const { status, stdout } = await run('check-history', file);
  assert.equal(status, 1);
  assert.match(stdout, /two_owners: Seat 1 was ann's and became bob's, while ann had not given it back\./);
  assert.ok(stdout.includes(`  line 2: ${lines[1]}\n  line 3: ${lines[2]}\n`));
  assert.match(stdout, /NOT CLEAN/);
});
