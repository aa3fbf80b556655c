// `tickettock backup` while people buy, and `tickettock restore` into a fresh place.
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFileSync, cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACCOUNT_SETTINGS, ME, accountRows, bearer, login, register, send } from './accounts.mjs';
import { inBothWays, openEmbedded, users } from './box_office.mjs';
import { command, start } from './programs.mjs';
import { Server, TICKETTOCK, eventually, temporaryFolder } from './support.mjs';

const SEATS = 2000, BUYERS = 8;
const KEYS = ['PII_KEYS', 'PII_HASH_KEY', 'JWT_SECRET'];
const mode = (path) => statSync(path).mode & 0o777;
const manifestOf = (folder) => JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));

/** A command of an operator, with the settings that the office's servers have. */
function operate(office, words, env = {}) {
  const settings = { ...new Server(office.env).settings, ...env };
  return start(TICKETTOCK, words, Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)));
}

async function backUp(office, words = [], folder = join(temporaryFolder(), 'backup')) {
  const backup = operate(office, ['backup', folder, ...words]);
  assert.equal(await backup.ended, 0, backup.text);
  return folder;
}

let places = 0;
/** Settings of an empty database of the same kind. */
async function freshPlace(office) {
  if (office.file) return { DATA_DIR: temporaryFolder() };
  const name = `restored_${places++}`;
  await command('psql', '-qAt', '-c', `CREATE DATABASE ${name}`, office.postgres.url);
  return { DATABASE_URL: office.postgres.url.replace(/postgres$/, name) };
}

/** The office goes on with its servers there. */
async function moveTo(office, place) {
  const count = office.servers.length || (office.file ? 1 : 2);
  await office.close();
  Object.assign(office.env, place);
  if (office.file) office.file = join(place.DATA_DIR, 'reservation_service.db');
  else office.url = place.DATABASE_URL;
  for (let i = 0; i < count; i++) await office.addServer();
}

/** What there is of ours: names of files, or tables. */
async function contents({ DATA_DIR, DATABASE_URL }) {
  if (DATA_DIR) return readdirSync(DATA_DIR).filter((name) => !name.endsWith('.lock'));
  const sql = "SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname LIKE '%_service'";
  return (await command('psql', '-qAt', '-c', sql, DATABASE_URL)).split('\n').filter(Boolean);
}

async function assertRefused(office, words, env, reason) {
  const refused = operate(office, words, env);
  assert.equal(await refused.ended, 1, refused.text);
  assert.match(refused.text, reason);
}

/** People who buy one after the other, until they are told to stop. */
function crowd(office) {
  let buying = true, failed;
  const people = Array.from({ length: BUYERS }, async (_, i) => {
    for (let n = 0; buying; n++) {
      const answer = await office.claim(`crowd-${i}-${n}`);
      if (answer.status !== 200) failed ??= answer.text ?? answer.error;
    }
  });
  return async () => {
    buying = false;
    await Promise.all(people);
    assert.equal(failed, undefined, 'everybody got a seat, also during the backup');
  };
}

inBothWays((way) => describe(`backup and restore, ${way.name}`, () => {
  test('what was sold before the backup began is there after a restore, and everything goes on', async () => {
    const office = await way.open(ACCOUNT_SETTINGS);
    await office.reset(SEATS);
    const person = { email: 'guest@example.com', name: 'Somebody', phone: '010-1234-5678' };
    assert.equal((await register(office.servers[0], person)).status, 201);
    const stop = crowd(office);
    await eventually('people buy', () => office.told.size > 100);

    const before = new Map(office.told);
    const folder = await backUp(office, ['--with-keys']);
    const during = new Map(office.told);
    await eventually('people still buy', () => office.told.size > during.size + 20);
    await stop();

    const place = await freshPlace(office);
    const restored = operate(office, ['restore', folder], place);
    assert.equal(await restored.ended, 0, restored.text);
    const lines = (await office.rows('SELECT max(id) AS last FROM reservation_history'))[0].last;
    await moveTo(office, place);

    // Those who were told meanwhile may be in it; those who were told later cannot be.
    const claims = new Map((await office.rows('SELECT user_id, seat_id FROM claims')).map((claim) => [claim.user_id, claim.seat_id]));
    for (const [user, { seat }] of before) assert.equal(claims.get(user), seat, `${user} had seat ${seat}`);
    assert.ok(claims.size < SEATS && claims.size <= office.told.size, `${claims.size} claims`);
    for (const user of [...office.told.keys()]) if (!claims.has(user)) office.told.delete(user);
    for (const user of claims.keys()) if (!office.told.has(user)) office.unsure.add(user);

    const moment = await office.rows("SELECT version, (SELECT max(version) FROM reservation_history h WHERE house_id = houses.id) AS last, (SELECT count(*) FROM claims WHERE house_id = houses.id) AS sold, (SELECT count(*) FROM reservation_history h WHERE house_id = houses.id AND outcome = 'claimed') AS lines FROM houses WHERE schedule = 'demo'");
    assert.deepEqual([moment[0].last, moment[0].lines], [moment[0].version, moment[0].sold], 'all tables are of one moment');
    const history = await office.rows('SELECT max(id) AS last FROM reservation_history');
    assert.ok(history[0].last > 100 && history[0].last <= lines, `${history[0].last} of ${lines} lines`);
    await office.sellTheRest(); // new ids, sequences and lines of history go on where they were
    const [ids] = await office.rows('SELECT count(*) AS all_of_them, count(DISTINCT id) AS different FROM reservation_history');
    assert.equal(ids.all_of_them, ids.different);

    const { json, status, text } = await login(office.servers[0], person.email);
    assert.equal(status, 200, text);
    const me = await send(office.servers[0], 'GET', ME, undefined, bearer(json.accessToken));
    assert.deepEqual([me.json.user?.email, me.json.user?.name], [person.email, person.name], 'the keys open what is sealed');
    assert.equal((await register(office.servers[0], person)).status, 409, 'and find it');
    assert.ok((await accountRows(office, 'SELECT id FROM login_history')).length > 0);
    await office.close();
  });

  test('the folder is private, says what is in it, and has keys only when asked to', async () => {
    const office = await way.open(ACCOUNT_SETTINGS);
    assert.equal((await register(office.servers[0])).status, 201);
    assert.equal((await office.claim('mina')).status, 200);
    const [plain, whole] = [await backUp(office), await backUp(office, ['--with-keys'])];
    for (const folder of [plain, whole]) {
      const { format, program, takenAt, database, services, files, keys } = manifestOf(folder);
      assert.deepEqual([format, database], [1, office.file ? 'sqlite' : 'postgres']);
      assert.match(program, /^\d+\.\d+/);
      assert.ok(Math.abs(new Date(takenAt) - Date.now()) < 600_000, takenAt);
      assert.deepEqual(services.map(({ name }) => name), ['reservation_service', 'auth_service']);
      assert.ok(services.every(({ schemaVersion, migrations }) => schemaVersion > 0 && migrations.length === schemaVersion));
      assert.deepEqual(files.map(({ name }) => name).concat('manifest.json').sort(), readdirSync(folder).sort());
      for (const { name, size, sha256 } of files) {
        const bytes = readFileSync(join(folder, name));
        assert.deepEqual([size, sha256], [bytes.length, createHash('sha256').update(bytes).digest('hex')], name);
      }
      assert.equal(mode(folder), 0o700);
      for (const name of readdirSync(folder)) assert.equal(mode(join(folder, name)), 0o600, name);
      assert.equal(keys.length > 0, folder === whole);
    }

    const settings = office.servers[0].settings;
    const secrets = KEYS.map((name) => settings[name]).filter(Boolean);
    if (office.file) for (const name of ['pii.key', 'pii-hash.key']) secrets.push(readFileSync(join(settings.DATA_DIR, name), 'utf8').trim());
    const everything = (folder) => readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1')).join();
    for (const secret of secrets) {
      assert.ok(!everything(plain).includes(secret));
      assert.ok(everything(whole).includes(secret));
    }
    await office.close();
  });

  test('the keys of the settings can be read back as settings', async () => {
    const office = await way.open({ ...ACCOUNT_SETTINGS, PII_KEYS: `7:${Buffer.alloc(32, 'seven').toString('base64')}` });
    const folder = await backUp(office, ['--with-keys']);
    const config = start(TICKETTOCK, ['config', '--config', join(folder, 'keys.conf')], { PATH: process.env.PATH });
    assert.equal(await config.ended, 0, config.text);
    assert.match(config.text, /# PII_KEYS is set/);
    assert.match(config.text, /# JWT_SECRET is set/);

    // With keys that are not those of the data there is no backup of keys.
    const wrong = join(temporaryFolder(), 'backup');
    await assertRefused(office, ['backup', wrong, '--with-keys'], { PII_HASH_KEY: Buffer.alloc(32, 'wrong').toString('base64') }, /PII_HASH_KEY/);
    assert.throws(() => statSync(wrong), /ENOENT/);
    await office.close();
  });

  test('a backup that is not whole, or not ours, is refused, and the target stays as it was', async () => {
    const office = await way.open(ACCOUNT_SETTINGS);
    await office.reset(50);
    for (const user of users(20)) assert.equal((await office.claim(user)).status, 200);
    const good = await backUp(office);
    const data = join(office.file ? 'reservation_service.db' : 'reservation_service.claims.copy');
    const edit = (folder, change) => {
      const manifest = manifestOf(folder);
      change(manifest);
      writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
    };
    const place = await freshPlace(office), before = await contents(place);
    const cases = [
      ['a changed byte', (folder) => {
        const bytes = readFileSync(join(folder, data));
        bytes[bytes.length >> 1] ^= 1;
        writeFileSync(join(folder, data), bytes);
      }, /SHA-256 differs/],
      ['a longer file', (folder) => appendFileSync(join(folder, data), 'x'), /another size/],
      ['a shorter file', (folder) => truncateSync(join(folder, data), 100), /another size/],
      ['a missing file', (folder) => rmSync(join(folder, data)), /cannot be read/],
      ['no manifest', (folder) => rmSync(join(folder, 'manifest.json')), /no whole backup/],
      ['half a manifest', (folder) => truncateSync(join(folder, 'manifest.json'), 200), /manifest\.json is damaged/],
      ['a newer format', (folder) => edit(folder, (manifest) => { manifest.format = 2; }), /format that this version does not know/],
      ['a newer schema', (folder) => edit(folder, ({ services }) => services[0].migrations.push('0'.repeat(64))), /newer version/],
      ['another schema', (folder) => edit(folder, ({ services }) => { services[0].migrations[0] = '0'.repeat(64); }), /has changed since/],
      ['an unknown service', (folder) => edit(folder, ({ services }) => { services[0].name = 'queue_service'; }), /does not know/],
      ['a file outside', (folder) => edit(folder, ({ files }) => { files[0].name = '../../etc/passwd'; }), /outside/],
      ['the other kind', (folder) => edit(folder, (manifest) => { manifest.database = office.file ? 'postgres' : 'sqlite'; }), /kind of database/],
    ];
    for (const [what, harm, reason] of cases) {
      const folder = join(temporaryFolder(), 'harmed');
      cpSync(good, folder, { recursive: true });
      harm(folder);
      await assertRefused(office, ['restore', folder], place, reason);
      assert.deepEqual(await contents(place), before, what);
    }
    const restored = operate(office, ['restore', good], place);
    assert.equal(await restored.ended, 0, restored.text);
    assert.match(restored.text, /has no keys/);
    await office.close();
  });

  test('a target with data, or with a server, is refused; so is a folder that is not empty', async () => {
    const office = await way.open(ACCOUNT_SETTINGS);
    assert.equal((await office.claim('mina')).status, 200);
    const folder = await backUp(office), before = manifestOf(folder);
    await assertRefused(office, ['backup', folder], {}, /not empty/);
    assert.deepEqual(manifestOf(folder), before);
    await assertRefused(office, ['restore', folder], {}, /another server is using|servers are connected/);
    await office.close();
    await assertRefused(office, ['restore', folder], {}, /has data|there is a database already/);
    await office.addServer();
    assert.equal((await office.claim('mina')).json.reason, 'already_reserved');
    await office.close();
  });

  test('a backup that fails leaves nothing that looks like one', async () => {
    const office = await way.open(ACCOUNT_SETTINGS);
    const empty = await freshPlace(office), parent = temporaryFolder();
    const failed = operate(office, ['backup', join(parent, 'backup')], empty);
    assert.equal(await failed.ended, 1, failed.text);
    assert.deepEqual(readdirSync(parent), []);
    mkdirSync(join(parent, 'backup'));
    await backUp(office, [], join(parent, 'backup/')); // an empty folder is as good as none
    assert.ok(manifestOf(join(parent, 'backup')));
    await office.close();
  });
}));

test('a restore that was cut off keeps servers from starting, and can be done again', async () => {
  const office = await openEmbedded(ACCOUNT_SETTINGS);
  assert.equal((await office.claim('mina')).status, 200);
  const folder = await backUp(office, ['--with-keys']), place = await freshPlace(office);
  mkdirSync(join(place.DATA_DIR, 'restore.unfinished'));
  writeFileSync(join(place.DATA_DIR, 'restore.unfinished', 'auth_service.db'), 'half of it');
  await assertRefused(office, ['serve'], place, /cut off/);
  assert.deepEqual(readdirSync(place.DATA_DIR).filter((name) => name.endsWith('.db')), []);

  const restored = operate(office, ['restore', folder], place);
  assert.equal(await restored.ended, 0, restored.text);
  await moveTo(office, place);
  assert.equal((await office.claim('mina')).json.reason, 'already_reserved');
});

test('another key in DATA_DIR is not overwritten', async () => {
  const office = await openEmbedded();
  const folder = await backUp(office, ['--with-keys']), place = await freshPlace(office);
  const other = `${Buffer.alloc(32, 'other').toString('base64')}\n`;
  writeFileSync(join(place.DATA_DIR, 'pii.key'), other, { mode: 0o600 });
  await assertRefused(office, ['restore', folder], place, /another key/);
  assert.deepEqual(await contents(place), ['pii.key']);
  assert.equal(readFileSync(join(place.DATA_DIR, 'pii.key'), 'utf8'), other);
});
