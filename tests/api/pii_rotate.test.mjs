// `tickettock pii rotate`: keys change while servers sell, and what earlier versions stored in plain text is sealed.
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { ACCOUNT_SETTINGS, ME, bearer, login, register, send } from './accounts.mjs';
import { FCFS, PRD, inBothWays } from './box_office.mjs';
import { buyers } from './personal.mjs';
import { start } from './programs.mjs';
import { TICKETTOCK, eventually, isSlowBuild } from './support.mjs';

const key = () => randomBytes(32).toString('base64');
const PLAIN_ROWS = 1200; // several pages
const phoneOf = (n) => `+8210${String(n).padStart(8, '0')}`;

/** Runs the command with the office's settings; gives what it wrote. */
function rotate(office, env = {}, words = []) {
  const { PATH, DATA_DIR, DATABASE_URL, PII_KEYS, PII_HASH_KEY } = { ...office.servers[0]?.settings, ...office.env, ...env };
  const settings = Object.entries({ PATH, DATA_DIR, DATABASE_URL, PII_KEYS, PII_HASH_KEY }).filter(([, value]) => value);
  return start(TICKETTOCK, ['pii', 'rotate', ...words], Object.fromEntries(settings));
}

async function restart(office, PII_KEYS, meanwhile = async () => {}) {
  const count = office.servers.length;
  await office.close();
  await meanwhile(office);
  office.env.PII_KEYS = PII_KEYS;
  for (let i = 0; i < count; i++) await office.addServer();
}

const claim = (office, user, phone) =>
  office.ask({ method: 'POST', path: FCFS, user, body: JSON.stringify({ userName: `Name of ${user}`, phone }) });

/** As a version without encryption left them. */
function writePlainRows(office) {
  const numbers = office.file
    ? `(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${PLAIN_ROWS}) SELECT i FROM n)`
    : `(SELECT i FROM generate_series(1, ${PLAIN_ROWS}) i)`;
  const [columns, values] = office.placeOf('id', '5000 + i');
  return office.execute(`INSERT INTO claims (${columns}, user_id, user_name, phone, claimed_at, sequence)
    SELECT ${values}, 'old-' || i, 'Old name ' || i, '+8211' || (10000000 + i), 1, i
    FROM houses, ${numbers} numbers WHERE schedule = 'demo'`);
}

inBothWays((way) => describe(`pii rotate, ${way.name}`, () => {
  const hash = key(), [first, second] = [key(), key()];

  test('changes the key under load; then the old one can go', async () => {
    const office = await way.open({ ...ACCOUNT_SETTINGS, PII_KEYS: `1:${first}`, PII_HASH_KEY: hash });
    await office.reset(9000);
    const person = { email: 'before@example.com', name: 'Before Rotation', phone: '010-1234-5678' };
    assert.equal((await register(office.servers[0], person)).status, 201);
    const expected = new Map();
    for (let i = 0; i < 60; i++) {
      assert.equal((await claim(office, `user-${i}`, phoneOf(i))).status, 200);
      expected.set(`user-${i}`, phoneOf(i));
    }
    await restart(office, `2:${second},1:${first}`, writePlainRows);
    const warning = /not encrypted yet; run `tickettock pii rotate`/;
    await eventually('the server warns', () => office.servers.every(({ output }) => warning.test(output)));
    for (let i = 1; i <= PLAIN_ROWS; i++) expected.set(`old-${i}`, `+8211${10000000 + i}`);

    // People go on buying, and some give back and buy again with another phone.
    let selling = true, sold = 0;
    const sell = (async () => {
      for (let n = 1000; selling; n++) {
        const user = n % 3 ? `new-${n}` : `user-${n % 60}`;
        if (expected.has(user)) assert.equal((await office.ask({ method: 'DELETE', path: PRD, user })).status, 200);
        const answer = await claim(office, user, phoneOf(n));
        assert.equal(answer.status, 200, answer.text);
        expected.set(user, phoneOf(n));
        sold++;
      }
    })();
    await eventually('people buy', () => sold > 20);
    const command = rotate(office);
    assert.equal(await command.ended, 0, command.text);
    const during = sold;
    await eventually('people still buy', () => sold > during + 5);
    selling = false;
    await sell;

    assert.match(command.text, /reservation_service\.claims: \d+ rows, \d+ written/);
    assert.match(command.text, /phone: .*\b1200 in plain text/);
    assert.match(command.text, /phone: .*with key 1\b.*; now \d+ with key 2\n/);
    assert.match(command.text, /users: 1 rows, 1 written\n {2}email: 1 with key 1; now 1 with key 2\n/);
    assert.match(command.text, /Everything is sealed with key 2/);

    await restart(office, `2:${second}`);
    for (const { output } of office.servers) assert.doesNotMatch(output, warning);
    const { json: { accessToken } } = await login(office.servers[0], person.email);
    const { json: me } = await send(office.servers[0], 'GET', ME, undefined, bearer(accessToken));
    assert.deepEqual([me.user.email, me.user.name, me.user.phone], [person.email, person.name, '+821012345678']);
    const after = await buyers(office); // throws for a value with another key
    assert.equal(after.length, expected.size);
    for (const [user, name, phone] of after) {
      assert.equal(phone, expected.get(user), user);
      assert.match(name, /^(Name of|Old name) /);
    }
    const again = rotate(office);
    assert.equal(await again.ended, 0, again.text);
    assert.match(again.text, / rows, 0 written/);
    await office.close();
  });

  test('a row that changes meanwhile is not overwritten', async () => {
    const office = await way.open({ PII_KEYS: `1:${first}`, PII_HASH_KEY: hash });
    assert.equal((await claim(office, 'alice', phoneOf(1))).status, 200);
    // Somebody holds the row; the command has read it by then, and waits.
    const client = office.file ? start('sqlite3', ['-cmd', '.timeout 5000', office.file]) : start('psql', ['-qAt', office.url]);
    const table = office.file ? 'claims' : 'reservation_service.claims';
    client.stdin.write(office.file ? 'BEGIN IMMEDIATE;' : `BEGIN; SELECT seat_id FROM ${table} FOR UPDATE;`);
    client.stdin.write(" SELECT 'held';\n");
    await eventually('the row is held', () => client.text.includes('held'));
    const command = rotate(office, { PII_KEYS: `2:${second},1:${first}` });
    await new Promise((resolve) => setTimeout(resolve, isSlowBuild ? 3000 : 700));
    assert.equal(command.exitCode, null, command.text);
    client.stdin.end(`UPDATE ${table} SET phone = '+82109999'; COMMIT;\n`);
    assert.equal(await client.ended, 0, client.text);
    assert.equal(await command.ended, 0, command.text);
    office.servers[0].settings.PII_KEYS = `2:${second}`;
    assert.deepEqual(await buyers(office), [['alice', 'Name of alice', '+82109999']]);
    await office.close();
  });

  test('what it cannot read it leaves as it is, and says so', async () => {
    const office = await way.open({ PII_KEYS: `7:${first}`, PII_HASH_KEY: hash });
    for (const user of ['alice', 'bob', 'cho']) assert.equal((await claim(office, user, phoneOf(1))).status, 200);
    const before = await office.rows('SELECT user_id, user_name, phone FROM claims ORDER BY user_id');
    await office.execute(`UPDATE claims SET phone = '${before[0].phone}' WHERE user_id = 'bob'`);
    const wrong = rotate(office, { PII_KEYS: `8:${second}` });
    assert.equal(await wrong.ended, 1, wrong.text);
    assert.match(wrong.text, /sealed with a key that is not given/);
    const right = rotate(office, { PII_KEYS: `8:${second},7:${first}` });
    assert.equal(await right.ended, 1, right.text);
    assert.match(right.text, /phone: 3 with key 7; now .*1 cannot be read with these keys/);
    assert.doesNotMatch(right.text, /Everything/);
    const after = await office.rows('SELECT user_id, user_name, phone FROM claims ORDER BY user_id');
    assert.equal(after[1].phone, before[0].phone, 'left as it was');
    assert.deepEqual(after.map((row) => row.phone.slice(0, 3)), ['$8$', '$7$', '$8$']);
    await office.close();
  });
}));

describe('the command', () => {
  test('explains itself, and wants to be told what to do', async () => {
    const settings = { env: { PII_KEYS: `1:${key()}`, DATA_DIR: '/nonexistent/folder' }, servers: [] };
    const help = rotate(settings, {}, ['--help']);
    assert.equal(await help.ended, 0);
    assert.match(help.text, /pii rotate[^]*2:new,1:old/);
    const bare = start(TICKETTOCK, ['pii'], { PATH: process.env.PATH });
    assert.equal(await bare.ended, 2);
    const wrong = rotate(settings, { PII_KEYS: '1:c2VjcmV0' });
    assert.equal(await wrong.ended, 2);
    assert.match(wrong.text, /PII_KEYS: key 1/);
    assert.doesNotMatch(wrong.text, /c2VjcmV0/);
  });
});
