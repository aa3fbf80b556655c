// What must never be readable: personal data and secrets, in what the databases write to disk and in every log, after a
// busy run with errors in it.
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { ACCOUNT_SETTINGS, AUTH, Issuer, ME, bearer, cookieHeader, freePort, login, register, send } from './accounts.mjs';
import { FCFS, inBothWays } from './box_office.mjs';
import { command } from './programs.mjs';
import { ADMIN_TOKEN, TICKETTOCK, temporaryFolder } from './support.mjs';

const secret = (name) => `${name}-${randomBytes(12).toString('hex')}`;
/** Eight digits that stand nowhere by chance; as people write them, the database and the log could have them. */
const digits = () => String(10000000 + (randomBytes(4).readUInt32BE() % 90000000));

/** Which of the words stand in files below the folders, and where. */
function findWords(words, folders) {
  const list = join(temporaryFolder(), 'words');
  writeFileSync(list, words.join('\n'));
  const { status, stdout, stderr } = spawnSync('grep', ['-raoF', '--exclude=*.key', '-f', list, ...folders], { encoding: 'utf8', maxBuffer: 64 << 20 });
  assert.ok(status < 2 || /No such file/.test(stderr), stderr); // files of a running database come and go
  return [...new Set(stdout.split('\n').filter(Boolean))];
}

/** Everything that a person or an operator keeps to himself, collected while it is used. */
class Secrets {
  words = new Set();

  add(...words) {
    for (const word of words) this.words.add(word);
    return words[0];
  }

  phone() {
    const number = digits();
    this.add(number, `${number.slice(0, 4)}-${number.slice(4)}`);
    return `010-${number.slice(0, 4)}-${number.slice(4)}`;
  }

  email() {
    return `${this.add(secret('mail'))}@example.com`;
  }

  tokens({ json }) {
    for (const token of [json.accessToken, json.refreshToken]) this.add(token, ...token.split('.').slice(-1));
    return json;
  }
}

async function signUpAndOut(server, secrets, issuer, internal) {
  const email = secrets.email(), password = secrets.add(secret('password')), verification = secret('verification');
  const identity = await send(internal.server, 'POST', '/internal/verified-identities', { id: verification, ci: secrets.add(secret('ci')) }, internal.headers);
  assert.equal(identity.status, 204, identity.text);
  const person = { email, password, name: secrets.add(secret('이름')), phone: secrets.phone() };
  assert.equal((await register(server, { ...person, identityVerificationId: verification })).status, 201);
  assert.equal((await register(server, person)).status, 409);
  assert.equal((await register(server, { ...person, email: secrets.email(), password: 'short' })).status, 400);
  assert.equal((await login(server, email, secrets.add(secret('wrong')))).status, 401);
  const entered = await login(server, email, password);
  const { accessToken, refreshToken } = secrets.tokens(entered);
  const refreshed = await send(server, 'POST', `${AUTH}/refresh`, { refreshToken });
  const { accessToken: second, refreshToken: successor } = secrets.tokens(refreshed);
  assert.equal((await send(server, 'PATCH', ME, { name: secrets.add(secret('name')), phone: secrets.phone() }, bearer(second))).status, 200);
  const newPassword = secrets.add(secret('password'));
  assert.equal((await send(server, 'PUT', `${ME}/password`, { currentPassword: password, newPassword }, bearer(second))).status, 204);
  const third = secrets.tokens(await login(server, email, newPassword));
  secrets.tokens(await send(server, 'POST', `${AUTH}/refresh`, { refreshToken: successor }));
  assert.equal((await send(server, 'POST', `${AUTH}/refresh`, { refreshToken })).status, 401);
  assert.equal((await send(server, 'GET', ME, undefined, bearer(`${accessToken}x`))).status, 401);
  assert.equal((await send(server, 'POST', `${AUTH}/logout`, {}, { ...cookieHeader(entered), Origin: 'https://evil.example' })).status, 403);
  const google = issuer.claims({ email: secrets.email(), name: secrets.add(secret('name')), sub: secrets.add(secret('subject')) });
  const credential = secrets.add(issuer.token(google));
  secrets.add(issuer.secret);
  secrets.tokens(await send(server, 'POST', `${AUTH}/google`, { credential }, issuer.asked));
  assert.equal((await send(server, 'POST', `${AUTH}/google`, { credential: `${credential}x` }, issuer.asked)).status, 401);
  return { user: third.user.id, accessToken: secrets.tokens(await login(server, email, newPassword)).accessToken, newPassword };
}

async function buySeats(office, secrets, accessToken) {
  const claim = (options) => office.ask({ method: 'POST', path: FCFS, ...options });
  const body = () => JSON.stringify({ userName: secrets.add(secret('buyer')), phone: secrets.phone() });
  for (const user of ['visible-buyer-1', 'visible-buyer-2']) assert.equal((await claim({ user, body: body() })).status, 200);
  assert.equal((await claim({ user: 'visible-buyer-1', body: body() })).status, 409);
  assert.equal((await claim({ headers: bearer(accessToken), body: body() })).status, 200);
  assert.equal((await claim({ user: 'broken', body: `${body()}x` })).status, 400);
  assert.equal((await claim({ user: 'broken', body: JSON.stringify({ phone: `${secrets.phone()}x` }) })).status, 400);
  assert.equal((await claim({ user: 'numbered', headers: { 'X-Fcfs-Seq': 'x', 'X-Gateway-Token': office.env.GATEWAY_TOKEN }, body: body() })).status, 503);
  assert.equal((await office.ask({ method: 'POST', path: '/api/v1/seats/reset', headers: { 'X-Admin-Token': secrets.add(secret('guess')) }, body: '{}' })).status, 403);
}

/** The database refuses what it is asked; what was asked must not be in the log. */
async function failStatements(office, secrets) {
  const rename = (service, from, to) => office.file
    ? command('sqlite3', '-cmd', '.timeout 5000', office.file.replace('reservation_service', service), `ALTER TABLE ${from} RENAME TO ${to}`)
    : command('psql', '-qAt', '-c', `ALTER TABLE ${service}.${from} RENAME TO ${to}`, office.url);
  await rename('auth_service', 'users', 'elsewhere');
  await rename('reservation_service', 'claims', 'elsewhere');
  const body = JSON.stringify({ userName: secrets.add(secret('unlucky')), phone: secrets.phone() });
  assert.equal((await office.ask({ method: 'POST', path: FCFS, user: 'visible-unlucky', body })).status, 503);
  const [server] = office.servers;
  const failed = await register(server, { email: secrets.email(), password: secrets.add(secret('password')), name: secrets.add(secret('name')) });
  assert.equal(failed.status, 503);
  await rename('auth_service', 'elsewhere', 'users');
  await rename('reservation_service', 'elsewhere', 'claims');
}

inBothWays((way) => describe(`nothing is readable, ${way.name}`, () => {
  test('in the databases on disk, nor in the logs', async () => {
    const secrets = new Secrets();
    const settings = {
      ...ACCOUNT_SETTINGS,
      JWT_SECRET: secrets.add(secret('signing')),
      INTERNAL_API_TOKEN: secrets.add(secret('internal')),
      GATEWAY_TOKEN: secrets.add(secret('gateway')),
      PII_KEYS: `1:${secrets.add(randomBytes(32).toString('base64'))}`,
      PII_HASH_KEY: secrets.add(randomBytes(32).toString('base64')),
      LOG_LEVEL: 'debug',
    };
    secrets.add(ADMIN_TOKEN);
    const issuer = await new Issuer().start();
    const internal = { server: { port: await freePort() }, headers: bearer(settings.INTERNAL_API_TOKEN) };
    const office = await way.open({ ...settings, ...issuer.settings, INTERNAL_PORT: internal.server.port }, { servers: 1 });
    const [server] = office.servers;

    const person = await signUpAndOut(server, secrets, issuer, internal);
    await buySeats(office, secrets, person.accessToken);
    await failStatements(office, secrets);

    const folders = office.file ? [server.settings.DATA_DIR] : [office.postgres.folder, office.redis.folder];
    if (office.postgres) await command('psql', '-qAt', '-c', 'CHECKPOINT', office.url);
    const words = [...secrets.words];
    assert.ok(words.length > 35, 'there is something to look for');
    assert.deepEqual(findWords(words, folders), [], 'while it runs');
    assert.notDeepEqual(findWords(['visible-buyer-2'], folders), [], 'one would be found');
    if (office.postgres) {
      const dump = await command('pg_dump', office.url);
      assert.ok(dump.includes('visible-buyer-2') && dump.includes(person.user));
      for (const word of words) assert.ok(!dump.includes(word), `${word} is in the dump`);
    } else {
      const files = readdirSync(folders[0]);
      for (const name of ['reservation_service.db', 'reservation_service.db-wal', 'auth_service.db', 'auth_service.db-wal'])
        assert.ok(files.includes(name), name);
    }

    // Who leaves takes everything along, sealed values too.
    const erased = await send(server, 'DELETE', ME, { password: person.newPassword }, bearer(person.accessToken));
    assert.equal(erased.status, 204, erased.text);
    const [{ user_name: name, phone }] = await office.rows(`SELECT user_name, phone FROM claims WHERE user_id = '${person.user}'`);
    assert.deepEqual([name, phone], [null, null], 'also with the seat');
    const rotate = spawnSync(TICKETTOCK, ['pii', 'rotate'], { env: { ...server.settings, LOG_LEVEL: 'debug' }, encoding: 'utf8' });
    assert.equal(rotate.status, 0, rotate.stdout + rotate.stderr);
    assert.match(rotate.stdout, /auth_service\.users: 2 rows, 0 written\n {2}email: 1 with key 1/);

    await office.close();
    assert.deepEqual(findWords(words, folders), [], 'when it has stopped');
    const log = server.output + rotate.stdout + rotate.stderr;
    assert.match(log, /"level":"error"/, 'failures are logged');
    assert.match(log, /"level":"debug"/);
    for (const word of words) assert.ok(!log.includes(word), `${word} is in the log:\n${log}`);
    assert.ok(!/\$1\$[A-Za-z0-9_-]{30}/.test(log), 'nor are sealed values');
  });
}));
