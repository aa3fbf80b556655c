// The filters that every request passes, over real HTTP: who somebody is, what cannot be forged, what other sites' pages
// cannot do, how the waiting room guards a house, and what other services see.
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign as signWith } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AUTH, ME, PASSWORD, cookieHeader, freePort, login, register, send, somebody } from './accounts.mjs';
import { FCFS, PRD, inBothWays } from './box_office.mjs';
import { ask } from './client.mjs';
import { command } from './programs.mjs';
import { ADMIN_TOKEN, Server, eventually, startServer } from './support.mjs';
import { HEADER, JWT_SECRET, QUEUE_ENTRY_KEY, accessClaims, accessToken, bearer, entryToken, now, sign } from './tokens.mjs';

const OVERVIEW = '/api/v1/admin/overview'; // for administrators only
const cookie = (token, more = {}) => ({ Cookie: `theme=dark; access_token=${token}`, ...more });

describe('one server', () => {
  let server;
  before(async () => {
    server = await startServer({
      JWT_SECRET, QUEUE_ENTRY_KEY, WAITING_ROOM_SCHEDULES: 'premiere, gala', CLOUDFRONT_SECRET: 'the-secret-of-the-cdn',
    });
  });
  after(() => server.stop());

  const admin = () => accessClaims('root', { role: 'ADMIN' });
  const look = async (headers) => (await ask(server, { path: OVERVIEW, headers })).status;
  const mine = async (headers) => (await ask(server, { path: PRD, headers })).json;

  test('an administrator’s token opens the operator’s addresses, another role’s does not', async () => {
    assert.equal(await look(bearer(sign(HEADER, admin()))), 200);
    assert.equal(await look(cookie(sign(HEADER, admin()))), 200);
    assert.equal(await look(bearer(accessToken('alice'))), 403);
    assert.equal(await look(bearer(accessToken('alice', { role: 'STAFF' }))), 403);
    assert.equal(await look({ 'X-Admin-Token': ADMIN_TOKEN, ...bearer('nonsense') }), 200);
    assert.equal(await look({}), 403);
  });

  // Each would be an administrator, were it believed.
  const forgeries = {
    'alg none': () => sign({ alg: 'none' }, admin()),
    'alg none without a signature': () => `${sign({ alg: 'none' }, admin()).split('.').slice(0, 2).join('.')}.`,
    'alg None': () => sign({ alg: 'None', typ: 'JWT' }, admin()),
    'alg HS384': () => sign({ alg: 'HS384' }, admin(), { digest: 'sha384' }),
    'alg HS512': () => sign({ alg: 'HS512' }, admin(), { digest: 'sha512' }),
    'HS384 in HS256’s clothes': () => sign(HEADER, admin(), { digest: 'sha384' }),
    'RS256 with a key of one’s own': () => {
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const text = sign({ alg: 'RS256', typ: 'JWT' }, admin()).split('.').slice(0, 2).join('.');
      return `${text}.${signWith('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
    },
    'RS256 named, HS256 used': () => sign({ alg: 'RS256' }, admin()),
    'a key inside the header': () => sign({ alg: 'HS256', jwk: { kty: 'oct', k: 'AAAA' } }, admin(), { key: Buffer.alloc(3) }),
    'a kid that names a file': () => sign({ alg: 'HS256', kid: '/dev/null' }, admin(), { key: '' }),
    'no alg': () => sign({ typ: 'JWT' }, admin()),
    'alg twice': () => sign('{"alg":"HS256","alg":"none"}', admin()),
    'a critical header': () => sign({ ...HEADER, crit: ['exp'] }, admin()),
    'another type': () => sign({ ...HEADER, typ: 'at+jwt' }, admin()),
    'another key': () => sign(HEADER, admin(), { key: `${JWT_SECRET}!` }),
    'an empty key': () => sign(HEADER, admin(), { key: '' }),
    'the key of entry tokens': () => sign(HEADER, admin(), { key: QUEUE_ENTRY_KEY }),
    'an entry token': () => entryToken('premiere', 'root'),
    'an entry token with a role': () => entryToken('premiere', 'root', { role: 'ADMIN' }),
    'an altered payload': () => {
      const [h, , s] = accessToken('root').split('.');
      return [h, sign(HEADER, admin()).split('.')[1], s].join('.');
    },
    'a truncated signature': () => sign(HEADER, admin()).slice(0, -4),
    'no signature': () => sign(HEADER, admin()).replace(/[^.]*$/, ''),
    'padding': () => `${sign(HEADER, admin())}=`,
    'base64 instead of base64url': () => sign(HEADER, { ...admin(), x: '???>>>' }).split('.').map((part, i) => (i === 1 ? Buffer.from(part, 'base64url').toString('base64') : part)).join('.'),
    'one more part': () => `${sign(HEADER, admin())}.e30`,
    'expired': () => sign(HEADER, { ...admin(), exp: now() - 1 }),
    'no exp': () => sign(HEADER, { ...admin(), exp: undefined }),
    'exp as text': () => sign(HEADER, { ...admin(), exp: String(now() + 900) }),
    'exp beyond 64 bits': () => sign(HEADER, JSON.stringify(admin()).replace(/"exp":\d+/, '"exp":18446744073709551616')),
    'exp as a fraction': () => sign(HEADER, { ...admin(), exp: now() + 900.5 }),
    'not yet valid': () => sign(HEADER, { ...admin(), nbf: now() + 60 }),
    'another issuer': () => sign(HEADER, { ...admin(), iss: 'somebody' }),
    'no issuer': () => sign(HEADER, { ...admin(), iss: undefined }),
    'another audience': () => sign(HEADER, { ...admin(), aud: 'somebody' }),
    'a list of audiences': () => sign(HEADER, { ...admin(), aud: ['somebody', 'tickettock'] }),
    'no subject': () => sign(HEADER, { ...admin(), sub: undefined }),
    'no id to revoke it by': () => sign(HEADER, { ...admin(), jti: undefined }),
    'an unknown role': () => sign(HEADER, { ...admin(), role: 'ROOT' }),
    'role twice': () => sign(HEADER, JSON.stringify(admin()).replace('{', '{"role":"USER",')),
    'a NUL': () => sign(HEADER, `${JSON.stringify(admin())}\0`),
    'not UTF-8': () => sign(HEADER, Buffer.concat([Buffer.from(JSON.stringify(admin()).replace('}', ',"x":"')), Buffer.from([0xff]), Buffer.from('"}')])),
    'huge': () => sign(HEADER, { ...admin(), x: 'x'.repeat(8000) }),
    'not a token': () => 'let-me-in',
    'nothing': () => '',
  };
  for (const [what, forge] of Object.entries(forgeries)) {
    test(`a forgery is not believed: ${what}`, async () => {
      const token = forge();
      const answer = await ask(server, { path: OVERVIEW, headers: bearer(token) });
      assert.equal(answer.status, token ? 401 : 403); // nothing is not even a bad token
      if (token) assert.match(answer.headers['www-authenticate'], /^Bearer error="invalid_token"$/);
      assert.equal((await ask(server, { path: OVERVIEW, headers: cookie(token) })).status, 401);
      assert.equal((await mine({ ...bearer(token), 'X-User-Id': 'bob' })).reserved_by, 'bob', 'on a public route it is ignored');
    });
  }
  test('there are enough of them', () => assert.ok(Object.keys(forgeries).length >= 25));

  test('a signed-in user needs no header, and no header makes somebody another', async () => {
    const claim = await ask(server, { method: 'POST', path: FCFS, headers: { ...bearer(accessToken('alice')), 'X-User-Id': 'mallory' } });
    assert.equal(claim.json.reserved_by, 'alice');
    assert.equal((await mine(bearer(accessToken('alice')))).seat_id, claim.json.seat_id);
    assert.equal((await mine({ ...bearer(accessToken('bob')), 'X-User-Id': 'alice' })).seat_id, null);
    assert.equal((await mine({ 'X-User-Id': 'alice' })).seat_id, claim.json.seat_id, 'on the loopback the plain header is believed');
    const headers = { 'X-User-Id': 'root', 'X-User-Role': 'ADMIN', 'X-User-Email': 'root@example.com' };
    assert.equal(await look(headers), 403);
  });

  test('a page of another site cannot use the cookie', async () => {
    const token = accessToken('carol');
    const change = async (headers) => {
      const { status, json } = await ask(server, { method: 'DELETE', path: PRD, headers: cookie(token, headers) });
      return `${status} ${json.reason}`;
    };
    assert.equal(await change({}), '403 csrf');
    assert.equal(await change({ Origin: 'https://evil.example' }), '403 csrf');
    assert.equal(await change({ 'Sec-Fetch-Site': 'cross-site' }), '403 csrf');
    assert.equal(await change({ Origin: server.url }), '409 not_reserved');
    assert.equal(await change({ 'Sec-Fetch-Site': 'same-origin' }), '409 not_reserved');
    assert.equal((await mine(cookie(token))).reserved_by, 'carol', 'looking is free');
  });

  test('who was refused is counted, by the filter', async () => {
    const counted = async (filter) => Number(new RegExp(`^gateway_refusals_total\\{filter="${filter}"\\} (\\d+)$`, 'm').exec((await ask(server, { path: '/metrics' })).text)?.[1] ?? 0);
    for (const [filter, request] of [
      ['cookie', { method: 'DELETE', path: PRD, headers: cookie('x') }],
      ['identity', { path: ME }],
      ['entry_token', { method: 'POST', path: `${FCFS}?scheduleId=gala` }],
      ['access', { path: OVERVIEW, headers: bearer(accessToken('alice')) }],
    ]) {
      const before = await counted(filter);
      await ask(server, request);
      assert.equal(await counted(filter), before + 1, filter);
    }
  });

  test('a caller’s trace goes on', async () => {
    const id = '4bf92f3577b34da6a3ce929d0e0e4736', span = '00f067aa0ba902b7';
    const traceOf = async (headers, path = '/healthz') => (await ask(server, { path, headers })).headers['x-trace-id'];
    assert.equal(await traceOf({ traceparent: `00-${id}-${span}-01` }), id);
    assert.equal(await traceOf({ b3: `${id}-${span}-1` }), id);
    assert.equal(await traceOf({ 'X-B3-TraceId': id, 'X-B3-SpanId': span }, '/nowhere'), id);
    assert.equal((await ask(server, { path: OVERVIEW, headers: { b3: `${id}-${span}` } })).json.traceId, id);
    assert.notEqual(await traceOf({ traceparent: 'nonsense' }), await traceOf({ traceparent: 'nonsense' }));
  });

  describe('a house with a waiting room', () => {
    before(async () => {
      for (const schedule of ['premiere', 'gala']) await server.reset(20, schedule);
    });
    const enter = async (headers, { path = FCFS, schedule = 'premiere', method = 'POST' } = {}) => {
      const { status, json } = await ask(server, { method, path: `${path}?scheduleId=${schedule}`, headers });
      return json.redirectTo ? `${status} ${json.reason} ${json.redirectTo}` : `${status}`;
    };
    const REFUSED = '403 queue_token_required /queue';

    test('lets in who has its token', async () => {
      const user = (name) => ({ 'X-User-Id': name });
      assert.equal(await enter(user('nora')), REFUSED);
      assert.equal(await enter(user('nora'), { path: '/fcfs/join' }), REFUSED);
      assert.equal(await enter(user('nora'), { path: PRD }), REFUSED);
      assert.equal(await enter({ ...user('nora'), 'X-Queue-Entry-Token': entryToken('premiere', 'nora') }), '200');
      assert.equal(await enter({ ...user('olga'), 'X-Queue-Token': entryToken('premiere', 'olga') }), '200');
      assert.equal(await enter({ ...user('paul'), Cookie: `queue_entry_token=${entryToken('premiere', 'paul')}` }), '200');
      assert.equal(await enter({ ...bearer(accessToken('rosa')), 'X-Queue-Entry-Token': entryToken('premiere', 'rosa') }), '200');
      assert.equal(await enter({ ...user('nora') }, { method: 'DELETE', path: PRD }), '200', 'the way out is open');
    });

    test('and nobody else', async () => {
      const bad = [
        entryToken('gala', 'sam'), entryToken('premiere', 'tom'), entryToken('premiere', 'sam', { exp: now() }),
        entryToken('premiere', 'sam', {}, JWT_SECRET), accessToken('sam'), entryToken('premiere', 'sam', { iss: 'tickettock' }),
        entryToken('premiere', 'sam', { uid: undefined }), 'x', '',
      ];
      for (const token of bad) assert.equal(await enter({ 'X-User-Id': 'sam', 'X-Queue-Entry-Token': token }), REFUSED, token);
      const stolen = { ...bearer(accessToken('mallory')), 'X-User-Id': 'sam', 'X-Queue-Entry-Token': entryToken('premiere', 'sam') };
      assert.equal(await enter(stolen), REFUSED);
    });

    test('believes its CDN', async () => {
      assert.equal(await enter({ 'X-User-Id': 'uma', 'X-CloudFront-Verified': 'the-secret-of-the-cdn' }), '200');
      assert.equal(await enter({ 'X-User-Id': 'vera', 'X-CloudFront-Verified': 'true' }), REFUSED);
    });

    test('does not concern the others', async () => {
      assert.equal((await ask(server, { method: 'POST', path: FCFS, headers: { 'X-User-Id': 'walt' } })).status, 200);
    });
  });
});

describe('settings', () => {
  const refusal = async (settings) => {
    try {
      await (await startServer(settings)).stop();
      return 'it started';
    } catch (error) {
      return error.message;
    }
  };

  test('weak and missing secrets are refused at start', async () => {
    assert.match(await refusal({ JWT_SECRET: 'x'.repeat(31) }), /JWT_SECRET must have at least 32 bytes/);
    assert.match(await refusal({ ADMIN_TOKEN: 'x'.repeat(15) }), /ADMIN_TOKEN must have at least 16 bytes/);
    assert.match(await refusal({ GATEWAY_TOKEN: 'x'.repeat(15) }), /GATEWAY_TOKEN must have at least 16 bytes/);
    assert.match(await refusal({ QUEUE_ENTRY_KEY: 'short' }), /QUEUE_ENTRY_KEY must have at least 32 bytes/);
    assert.match(await refusal({ JWT_SECRET, QUEUE_ENTRY_KEY: JWT_SECRET }), /must be another key than JWT_SECRET/);
    assert.match(await refusal({ INTERNAL_PORT: '9' }), /INTERNAL_API_TOKEN is not/);
    assert.doesNotMatch(await refusal({ JWT_SECRET: 'secret-that-is-short' }), /secret-that-is-short/);
  });

  test('a server that is alone makes its own key, once', async () => {
    const server = await startServer();
    const file = join(server.settings.DATA_DIR, 'jwt.key');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const key = Buffer.from(readFileSync(file, 'utf8'), 'base64');
    const headers = bearer(accessToken('root', { role: 'ADMIN' }, { key }));
    assert.equal((await ask(server, { path: OVERVIEW, headers })).status, 200);
    await server.stop();
    await server.start();
    assert.equal((await ask(server, { path: OVERVIEW, headers })).status, 200, 'also after a restart');
    await server.stop();
  });
});

describe('the listener of other services', () => {
  const TOKEN = 'the-token-of-other-services';
  let server, inside;
  before(async () => {
    inside = { port: await freePort() };
    server = await startServer({ JWT_SECRET, INTERNAL_PORT: inside.port, INTERNAL_API_TOKEN: TOKEN });
  });
  after(() => server.stop());

  test('has none of the public addresses', async () => {
    for (const path of ['/', '/healthz', '/api/v1/seats', '/metrics', '/internal/nothing'])
      assert.equal((await ask(inside, { path, headers: bearer(TOKEN) })).status, 404, path);
  });

  const BATCH = '/internal/users/batch';
  const batch = (to, headers, method = 'POST', path = BATCH) => send(to, method, path, { ids: [] }, headers);

  test('knows other services by their token', async () => {
    assert.equal((await batch(inside, bearer(TOKEN))).status, 200);
    for (const [headers, expected] of [
      [{}, '401 unauthorized'], [{ Authorization: TOKEN }, '401 unauthorized'], [bearer(`${TOKEN}!`), '403 forbidden'],
      [bearer(accessToken('root', { role: 'ADMIN' })), '403 forbidden'], [{ 'X-Admin-Token': ADMIN_TOKEN }, '401 unauthorized'],
    ]) {
      const { status, json } = await batch(inside, headers);
      assert.equal(`${status} ${json.reason}`, expected);
    }
    assert.equal((await batch(inside, bearer(TOKEN), 'PUT')).status, 405);
  });

  test('does not exist for the public', async () => {
    for (const headers of [{}, bearer(TOKEN), bearer(accessToken('root', { role: 'ADMIN' })), { 'X-Admin-Token': ADMIN_TOKEN }])
      for (const path of [BATCH, '/internal/nothing', '/api/internal/users/batch', '//internal/users/batch', '/internal/users/batch/', '/%69nternal/users/batch'])
        for (const method of ['POST', 'GET', 'OPTIONS', 'DELETE']) {
          const answer = await batch(server, headers, method, path);
          assert.equal(answer.status, 404, `${method} ${path}`);
          assert.equal(answer.headers.allow, undefined);
        }
    const { text } = await ask(server, { path: '/metrics' });
    const counted = text.split('\n').filter((line) => line.includes('path="/internal/users/batch"') && line.startsWith('http_requests_total'));
    assert.ok(counted.every((line) => !line.includes('method="GET"')), counted.join('\n'));
  });

  test('is not to be had without a port', async () => {
    const closed = await startServer({ INTERNAL_API_TOKEN: TOKEN });
    await assert.rejects(ask({ port: await freePort() }, { path: '/' }));
    await closed.stop();
  });

  test('a port in use is told at start', async () => {
    const taken = new Server({ INTERNAL_PORT: inside.port, INTERNAL_API_TOKEN: TOKEN });
    await assert.rejects(taken.start(), /the port is in use.*INTERNAL_PORT/);
  });
});

describe('somebody who has really signed in', () => {
  let server;
  before(async () => {
    server = await startServer({ JWT_SECRET });
  });
  after(() => server.stop());

  test('is known by token and by cookie, until signing out', async () => {
    const { json: { user } } = await register(server);
    const signedIn = await login(server, user.email, PASSWORD);
    const cookies = cookieHeader(signedIn), token = bearer(signedIn.json.accessToken);
    assert.equal((await ask(server, { path: ME, headers: cookies })).json.user.email, user.email);
    const claim = await ask(server, { method: 'POST', path: FCFS, headers: { ...cookies, Origin: server.url } });
    assert.equal(claim.json.reserved_by, user.id);
    assert.equal((await ask(server, { path: PRD, headers: token })).json.seat_id, claim.json.seat_id);

    assert.equal((await send(server, 'POST', `${AUTH}/refresh`, undefined, cookies)).json.reason, 'csrf', 'the refresh token is a cookie, too');
    assert.equal((await send(server, 'POST', `${AUTH}/logout`, undefined, { ...cookies, Origin: server.url })).status, 204);
    for (const headers of [cookies, token]) assert.equal((await ask(server, { path: ME, headers })).json.reason, 'unauthorized');
    assert.equal((await ask(server, { path: PRD, headers: token })).json.reason, 'missing_user', 'and nobody where everybody may come');
  });

  test('may come so often', async () => {
    const strict = await startServer({ JWT_SECRET, RATE_LIMIT_AUTH: '5', RATE_LIMIT_GENERAL: '3' });
    const { headers } = await somebody(strict); // two of the address’s five
    const statuses = async (path, count) => {
      const seen = [];
      for (let i = 0; i < count; i++) seen.push((await ask(strict, { path, headers })).status);
      return seen;
    };
    assert.deepEqual(await statuses(ME, 4), [200, 200, 200, 429]);
    assert.deepEqual(await statuses(`${AUTH}/me`, 6), Array(6).fill(200), 'asking who one is costs nothing');
    const attempts = [];
    for (let i = 0; i < 5; i++) attempts.push((await login(strict, 'nobody@example.com')).status);
    assert.deepEqual(attempts, [401, 401, 401, 429, 429]);
    await strict.stop();
  });
});

inBothWays(({ name, open }) => describe(`${name}: tokens that were taken back`, () => {
  let office;
  before(async () => {
    office = await open({ JWT_SECRET });
  });

  const expiry = now() + 900;
  const writeRow = (id) => {
    const sql = `INSERT INTO revoked_tokens (token_id, expires_at, revoked_at) VALUES ('${id}', ${expiry}, ${Date.now()})`;
    return office.file
      ? command('sqlite3', '-cmd', '.timeout 5000', join(office.env.DATA_DIR, 'auth_service.db'), sql)
      : command('psql', '-qAt', '-c', 'SET search_path = auth_service', '-c', sql, office.url);
  };
  const looks = (jti) => Promise.all(office.servers.map(async (server) =>
    (await ask(server, { path: OVERVIEW, headers: bearer(accessToken('root', { role: 'ADMIN', jti })) })).status));
  const isRefused = async (jti) => (await looks(jti)).every((status) => status === 401);

  test('are not believed by any server, also one that was started later', async () => {
    assert.ok((await looks('old')).every((status) => status === 200));
    await writeRow('old');
    await eventually('the table was read', () => isRefused('old'));
    assert.ok((await looks('another')).every((status) => status === 200));
    await office.servers[0].stop();
    await office.servers[0].start();
    await eventually('the table was read', () => isRefused('old'), 2);
  });

  if (name === 'fleet')
    test('are announced to all servers at once', async () => {
      const { headers } = await somebody(office.servers[0]);
      const seen = () => Promise.all(office.servers.map(async (server) => (await ask(server, { path: ME, headers })).status));
      assert.deepEqual(await seen(), [200, 200]);
      assert.equal((await send(office.servers[0], 'POST', `${AUTH}/logout`, undefined, headers)).status, 204);
      assert.equal((await seen())[0], 401, 'the one who was told knows at once');
      await eventually('the other has heard', async () => (await seen())[1] === 401, 1);

      const channel = await office.inRedis('revoked');
      assert.ok((await looks('told')).every((status) => status === 200));
      await command('redis-cli', '-u', office.redis.url, 'publish', channel, `told ${expiry}`);
      await eventually('all were told', () => isRefused('told'), 2);
      await command('redis-cli', '-u', office.redis.url, 'publish', channel, 'nonsense');
      await command('redis-cli', '-u', office.redis.url, 'publish', channel, `${'x'.repeat(1000)} 5`);
      assert.ok((await looks('another')).every((status) => status === 200));
    });
}));
