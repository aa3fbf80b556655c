// The history: claims and releases always, refusals within a bounded rate; and servers that find it pruned.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { FCFS, PRD, inBothWays, openEmbedded, openFleet, tally, users } from './box_office.mjs';
import { ask, sleep } from './client.mjs';
import { ADMIN_TOKEN, eventually, temporaryFolder } from './support.mjs';

const BURST_OF_ADDRESS = 20, BURST_OF_HOUSE = 1000;

const metric = async (office, name) => {
  let sum = 0;
  for (const server of office.servers) {
    const { text } = await ask(server, { path: '/metrics' });
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    assert.ok(line, `there is a metric ${name}`);
    sum += Number(line.slice(name.length));
  }
  return sum;
};

inBothWays((way) => describe(way.name, () => {
  test('lines older than HISTORY_DAYS go, others stay, and the seats too', async () => {
    const env = { HISTORY_DAYS: '2', ...(way.name === 'embedded' && { DATA_DIR: temporaryFolder() }) };
    const old = await way.open(env);
    await old.claim('kept');
    const day = 24 * 3600 * 1000, lines = 5000;
    const numbers = old.file
      ? `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${lines}) SELECT i FROM n`
      : `SELECT i FROM generate_series(1, ${lines}) AS t (i)`;
    const insert = (house, at, user, from) => old.execute(`INSERT INTO reservation_history (house_id, at, user_id, outcome)
      SELECT ${house}, ${at}, '${user}', 'sold_out' FROM (${from}) AS n`);
    await insert(77, Date.now() - 3 * day, 'old', numbers); // a house that is not open, nor even there
    await insert(78, Date.now() - 3 * day, 'old', 'SELECT 1');
    await insert(78, Date.now() - day, 'young', 'SELECT 1');
    await insert('1000 + i', Date.now() - day, 'other', numbers); // many houses that have nothing to drop
    await insert(9000, Date.now() - 3 * day, 'old', 'SELECT 1');
    if (old.file) await old.close();
    else await old.addServer(); // it looks soon after its start
    const office = old.file ? await openEmbedded(env) : old;
    const left = async (user) => (await office.rows(`SELECT id FROM reservation_history WHERE user_id = '${user}'`)).length;
    await eventually('the old lines are gone', async () => await left('old') === 0, 60);
    assert.deepEqual([await left('young'), await left('kept'), await left('other')], [1, 1, lines]);
    assert.deepEqual(await office.taken(), [1]);
    await office.close();
  });

  test('the latest lines of a house are found by an index', async () => {
    const office = await way.open();
    const query = 'SELECT at FROM reservation_history WHERE house_id = 1 ORDER BY id DESC LIMIT 50';
    if (!office.file)
      await office.execute(`INSERT INTO reservation_history (house_id, at, user_id, outcome)
        SELECT i % 2 + 1, ${Date.now()}, 'many', 'sold_out' FROM generate_series(1, 20000) AS t (i); ANALYZE reservation_history`);
    const plan = await office.execute(`EXPLAIN ${office.file ? 'QUERY PLAN' : ''} ${query}`);
    assert.match(plan, office.file ? /USING INDEX reservation_history_house/ : /Index Scan Backward using reservation_history_pkey/);
    assert.doesNotMatch(plan, /TEMP B-TREE|Sort/);
    await office.close();
  });

  let office;
  before(async () => {
    office = await way.open({ FCFS_IP_CONCURRENCY: '100' });
  });
  const lines = async (where) => (await office.rows(`SELECT outcome FROM reservation_history WHERE ${where}`)).length;

  test('an address that is refused again and again gets a few lines, and is counted', async () => {
    await office.reset(2);
    const from = '198.51.100.7', rounds = 300, server = office.servers[0];
    assert.equal((await office.claim('greedy', { from, server })).status, 200);
    const [{ version }] = await office.rows("SELECT version FROM houses WHERE schedule = 'demo'");
    for (let i = 0; i < rounds; i++)
      assert.equal((await office.claim('greedy', { from, server })).json.reason, 'already_reserved');
    const counted = 'fcfs_attempts_total{outcome="already_reserved"}';
    assert.equal(await metric(office, counted), rounds);
    await eventually('its lines', async () => await lines("user_id = 'greedy' AND outcome <> 'claimed'") >= BURST_OF_ADDRESS);
    const leftOut = await metric(office, 'reservation_history_left_out_total');
    assert.ok(leftOut >= rounds - BURST_OF_ADDRESS - 20, `${leftOut} left out`);
    assert.equal(await lines("user_id = 'greedy' AND outcome <> 'claimed'"), rounds - leftOut, 'none is lost');
    const [after] = await office.rows("SELECT version FROM houses WHERE schedule = 'demo'");
    assert.equal(after.version, version, 'what changes no seat makes no version');
    assert.equal((await office.claim('other')).status, 200);
    assert.equal(await lines("user_id = 'other' AND outcome = 'claimed'"), 1, 'claims are always written');
  });

  test('a crowd before a house that is sold out gets a bounded number of lines', async () => {
    await office.reset(1);
    await office.claim('first');
    for (let wave = 0; wave < 15; wave++) {
      const answers = await Promise.all(users(200, `crowd-${wave}`).map((user) => office.claim(user)));
      assert.deepEqual(tally(answers), { sold_out: 200 });
    }
    const most = office.servers.length * (BURST_OF_HOUSE + 60);
    await eventually('some lines', async () => await lines("user_id LIKE 'crowd-%'") > 100);
    assert.ok(await lines("user_id LIKE 'crowd-%'") <= most);
    assert.equal(await metric(office, 'reservation_history_dropped_total'), 0);
    assert.ok(await metric(office, 'fcfs_attempts_total{outcome="sold_out"}') >= 3000);
  });
}));

describe('a fleet whose history was pruned', () => {
  const GATEWAY_TOKEN = 'gateway-secret-of-the-test';
  let office;
  before(async () => {
    office = await openFleet({ GATEWAY_TOKEN });
  });
  // What another server did, when nobody was told and its lines are gone already.
  const silently = (change, versions = 1) => office.execute(`BEGIN;
    UPDATE houses SET version = version + ${versions} WHERE schedule = 'demo'; ${change}; COMMIT`);
  const sellOut = async (seats) => {
    await office.reset(seats);
    for (const user of users(seats, 'owner')) assert.equal((await office.claim(user)).status, 200);
    for (const server of office.servers)
      await eventually('sold out', async () => (await office.taken(server)).length === seats);
  };

  test('every server loads the house anew, and sells what came back', async () => {
    await sellOut(3);
    await silently("DELETE FROM claims WHERE seat_id = 2", 3);
    for (const server of office.servers)
      await eventually('seat 2 is free', async () => `${await office.taken(server)}` === '1,3', 5);
    assert.equal((await office.claim('next', { server: office.servers[1] })).json.seat_id, 2);
  });

  test('a batch that finds another server was faster loads it anew', async () => {
    for (let round = 0; round < 3; round++) {
      await sellOut(3);
      await silently("DELETE FROM claims WHERE seat_id = 1");
      const answers = await Promise.all(office.servers.map((server, i) => office.ask({
        method: 'POST', path: PRD, user: `fast-${round}-${i}`, server,
        headers: { 'X-Gateway-Token': GATEWAY_TOKEN, 'X-Fcfs-Seq': '1' },
      })));
      assert.equal(answers.filter(({ json }) => json.success).length, 1, answers.map(({ text }) => text).join());
    }
  });

  test('a version of which only some lines are left is not believed', async () => {
    await sellOut(3);
    await silently(`DELETE FROM claims WHERE seat_id < 3;
      DELETE FROM reservation_history;
      INSERT INTO reservation_history (house_id, version, at, user_id, seat_id, outcome)
        SELECT id, version, 0, 'owner-2', 2, 'released' FROM houses WHERE schedule = 'demo'`);
    for (const server of office.servers)
      await eventually('seats 1 and 2 are free', async () => `${await office.taken(server)}` === '3', 5);
  });

  test('idle houses are compared with the database by one statement for all', async () => {
    const houses = 50, seconds = 3;
    for (let i = 0; i < houses; i++) {
      const answer = await office.resetSchedule(`idle-${i}`, 9);
      assert.equal(answer.status, 200, answer.text);
    }
    for (let i = 0; i < houses; i++)
      for (const server of office.servers)
        assert.equal((await ask(server, { path: `/api/v1/seats/1?scheduleId=idle-${i}` })).status, 200);
    const transactions = async () => { // readers end theirs by rolling back
      const [row] = await office.rows(
        'SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()');
      return Number(row.count);
    };
    // PostgreSQL tells of what was done before with some delay.
    await eventually(`few transactions for ${houses} houses and two servers`, async () => {
      const first = await transactions();
      await sleep(seconds * 1000);
      return (await transactions() - first) / seconds < 20;
    }, 40);
  });
});

// Reading a large house takes a while, in which claims are committed: what was read is old by then.
test('a reset that races claims never leaves the memory behind the database', async () => {
  const office = await openEmbedded({ FCFS_IP_CONCURRENCY: '1000' });
  const admin = { 'X-Admin-Token': ADMIN_TOKEN };
  for (let round = 0; round < 15; round++) {
    const resets = async () => {
      for (let i = 0; i < 3; i++) assert.equal((await office.resetSchedule('demo', 900_000)).status, 200);
    };
    const claims = users(12, `race-${round}`).map(async (user, i) => {
      await sleep(i * 4);
      return office.ask({ method: 'POST', path: FCFS, user });
    });
    await Promise.all([resets(), ...claims]);
    const { json } = await office.ask({ path: '/api/v1/admin/overview?scheduleId=demo', headers: admin });
    const [{ taken }] = await office.rows('SELECT count(*) AS taken FROM claims');
    assert.equal(json.seats.taken, taken, `round ${round}`);
  }
});
