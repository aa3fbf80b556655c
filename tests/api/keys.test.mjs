// The database knows its keys: a server or command with wrong, missing or swapped ones does not start, and says which.
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ACCOUNT_SETTINGS, accountRows, login, register } from './accounts.mjs';
import { FCFS, inBothWays, openEmbedded } from './box_office.mjs';
import { buyers } from './personal.mjs';
import { start } from './programs.mjs';
import { TICKETTOCK, startServer } from './support.mjs';

const key = () => randomBytes(32).toString('base64');
const PERSON = { email: 'keeper@example.com', name: 'Keeper', phone: '010-1234-5678' };

const claim = (office, user) =>
  office.ask({ method: 'POST', path: FCFS, user, body: JSON.stringify({ userName: `Name of ${user}`, phone: '+821012345678' }) });

/** Somebody with an account and somebody with a seat. */
async function fill(office) {
  assert.equal((await register(office.servers[0], PERSON)).status, 201);
  assert.equal((await claim(office, 'alice')).status, 200);
}

/** Neither the server nor a command works with these settings; gives what each said. */
async function refused(office, env = {}) {
  const settings = { ...office.env, ...env };
  const said = [];
  await assert.rejects(startServer(settings), (error) => said.push(error.message) > 0);
  for (const words of [['pii', 'rotate'], ['admin', 'create', 'boss@example.com'], ['account', 'reset', PERSON.email]]) {
    const command = start(TICKETTOCK, words, { PATH: process.env.PATH, LOG_FORMAT: 'json', ...settings });
    command.stdin.end('a password that is long enough\n');
    assert.equal(await command.ended, 1, `${words}: ${command.text}`);
    said.push(command.text);
  }
  return said;
}

async function refusedWith(office, env, ...patterns) {
  for (const text of await refused(office, env)) for (const pattern of patterns) assert.match(text, pattern);
}

async function reopen(office, env = {}) {
  Object.assign(office.env, env);
  await office.addServer();
}

async function stillKnows(office) {
  assert.equal((await login(office.servers[0], PERSON.email)).status, 200);
  assert.ok((await buyers(office)).some(([user, name]) => user === 'alice' && name === 'Name of alice'));
}

const recorded = async (office) => [
  ...(await office.rows('SELECT key_number FROM key_checks ORDER BY key_number')).map(({ key_number }) => Number(key_number)),
  ...(await accountRows(office, 'SELECT key_number FROM key_checks ORDER BY key_number')).map(({ key_number }) => Number(key_number)),
];

inBothWays((way) => describe(`keys, ${way.name}`, () => {
  const hash = key(), [first, second] = [key(), key()];
  const given = { ...ACCOUNT_SETTINGS, PII_KEYS: `1:${first}`, PII_HASH_KEY: hash };

  test('wrong and swapped ones are named, and change nothing', async () => {
    const office = await way.open(given);
    await fill(office);
    await office.close();
    await refusedWith(office, { PII_KEYS: `1:${second}` }, /not the key that the database was sealed with/, /"key":"key 1 of PII_KEYS/);
    await refusedWith(office, { PII_HASH_KEY: key() }, /not the key that the database was sealed with/, /"key":"PII_HASH_KEY/);
    await refusedWith(office, { PII_KEYS: `1:${hash}`, PII_HASH_KEY: first }, /has the place of another/, /"found":"PII_HASH_KEY, [^"]*","belongs":"key 1 of PII_KEYS/);
    await refusedWith(office, { PII_KEYS: `2:${first},1:${second}` }, /has the place of another/, /"found":"key 2 of PII_KEYS, [^"]*","belongs":"key 1 of PII_KEYS/);
    await refusedWith(office, { PII_KEYS: `2:${second}` }, /sealed with a key that is not given/, /"key":1/);
    assert.deepEqual(await recorded(office), [0, 1, 0, 1]);
    await reopen(office, { JWT_SECRET: key() }); // which may change
    await stillKnows(office);
    await office.close();
  });

  test('those of a database without checks are tried on what it has, then recorded', async () => {
    const office = await way.open(given);
    await fill(office);
    const before = async (statement) => {
      await office.execute(statement);
      await accountRows(office, statement);
    };
    await office.close();
    await before('DELETE FROM key_checks');
    await refusedWith(office, { PII_KEYS: `1:${second}` }, /not the key that the database was sealed with/);
    await refusedWith(office, { PII_HASH_KEY: key() }, /"key":"PII_HASH_KEY/);
    await refusedWith(office, { PII_KEYS: `2:${second}` }, /sealed with a key that is not given/);
    assert.deepEqual(await recorded(office), [], 'nothing wrong is recorded');
    await reopen(office);
    assert.deepEqual(await recorded(office), [0, 1, 0, 1]);
    await stillKnows(office);
    await office.close();
  });

  test('an old one can go when nothing is sealed with it, not before', async () => {
    const office = await way.open(given);
    await fill(office);
    await office.close();
    const both = { PII_KEYS: `2:${second},1:${first}` };
    await reopen(office, both);
    await office.close();
    await refusedWith(office, { PII_KEYS: `2:${second}` }, /sealed with a key that is not given/, /"key":1/);
    const rotation = start(TICKETTOCK, ['pii', 'rotate'], { PATH: process.env.PATH, ...office.env });
    assert.equal(await rotation.ended, 0, rotation.text);
    await reopen(office, { PII_KEYS: `2:${second}` });
    await stillKnows(office);
    assert.deepEqual(await recorded(office), [0, 2, 0, 2]);
    await office.close();
    await reopen(office, both); // an old backup, say
    await office.close();
  });

  test('an account that cannot be opened is no account without a name', async () => {
    const office = await way.open(given);
    await fill(office);
    const other = { ...PERSON, email: 'other@example.com', name: 'Other' };
    assert.equal((await register(office.servers[0], other)).status, 201);
    await accountRows(office, 'UPDATE users SET name = (SELECT min(name) FROM users)');
    const answers = await Promise.all([PERSON, other].map(({ email }) => login(office.servers[0], email)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 503], answers.map(({ text }) => text).join());
    await office.close();
  });
}));

describe('key files', () => {
  test('are not made beside a database that has data or checks', async () => {
    const office = await openEmbedded(ACCOUNT_SETTINGS);
    const folder = dirname(office.file);
    await fill(office);
    await office.close();
    for (const name of ['pii.key', 'pii-hash.key']) {
      const file = join(folder, name), aside = `${file}.aside`;
      renameSync(file, aside);
      await refusedWith(office, {}, /a key is missing/, new RegExp(name.replace('.', '\\.')));
      assert.equal(existsSync(file), false, 'no new one');
      renameSync(aside, file);
    }
    const swap = () => {
      for (const [from, to] of [['pii.key', 'aside'], ['pii-hash.key', 'pii.key'], ['aside', 'pii-hash.key']])
        renameSync(join(folder, from), join(folder, to));
    };
    swap();
    await refusedWith(office, {}, /has the place of another/, /"found":"key 1 of PII_KEYS, else DATA_DIR\/pii.key","belongs":"PII_HASH_KEY/);
    swap();
    const before = readFileSync(join(folder, 'pii.key'), 'utf8').trim();
    await refusedWith(office, { PII_KEYS: `1:${key()}` }, /not the key that the database was sealed with/);
    await refusedWith(office, { PII_HASH_KEY: before }, /has the place of another|must be another key/);

    for (const file of ['pii.key', 'pii-hash.key']) rmSync(join(folder, file));
    await office.execute('DELETE FROM key_checks');
    await accountRows(office, 'DELETE FROM key_checks');
    await refusedWith(office, {}, /a key is missing/); // by what it has sealed
    assert.equal(existsSync(join(folder, 'pii.key')), false);
  });

  test('move into the settings', async () => {
    const office = await openEmbedded(ACCOUNT_SETTINGS);
    await fill(office);
    await office.close();
    const text = (name) => readFileSync(join(dirname(office.file), name), 'utf8').trim();
    await reopen(office, { PII_KEYS: `1:${text('pii.key')}`, PII_HASH_KEY: text('pii-hash.key') });
    await stillKnows(office);
    await office.close();
  });
});
