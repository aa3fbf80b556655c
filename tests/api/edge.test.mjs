// The edge of deploy/openresty/, for real. See edge_support.mjs for what runs.
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as support from './edge_support.mjs';
import { key, locks, postgresDir, privateServer, randomPort, redis, redisDir, scratch, stop } from './edge_support.mjs';
import { ROOT, eventually, startServer } from './support.mjs';
import { JWT_SECRET, accessToken, bearer } from './tokens.mjs';

const FCFS = '/api/v1/seats/reservation/fcfs';
const PRD = '/api/v1/seats/reservation';

let servers, edge;
const startEdge = (settings) => support.startEdge(servers, settings);
const toEdge = (attempt) => ({ port: edge.port, path: FCFS, ...attempt });
const ask = (attempt) => support.ask(toEdge(attempt));
const whileInFlight = (attempt, look) => support.whileInFlight(toEdge(attempt), look);

before(async () => {
  servers = await support.startServers({ JWT_SECRET });
  edge = await startEdge();
});

after(async () => {
  await support.stopEverything();
  await Promise.all(servers.map((server) => server.stop()));
});

function assertRefused(answer, status, reason) {
  assert.equal(answer.status, status, answer.text);
  assert.deepEqual([answer.json.success, answer.json.reason], [false, reason]);
  assert.ok(answer.json.message.length > 10);
  assert.match(answer.json.traceId, /^[0-9a-f]{32}$/);
  assert.equal(answer.headers['x-trace-id'], answer.json.traceId);
}

let addresses = 0;
function anotherAddress() {
  addresses++;
  return `127.1.${addresses >> 8}.${addresses & 255}`;
}

describe('sequence', () => {
  test('seats are handed out in the order of the sequence, over both servers', async () => {
    redis('set', key('{demo}:fcfs:seq'), '20'); // a server that does not believe the edge would count from 1
    const claims = [];
    for (let i = 0; i < 10; i++) {
      const answer = await ask({ user: `in-order-${i}` });
      assert.equal(answer.status, 200, answer.text);
      claims.push(answer.json);
    }
    assert.equal(claims[0].sequence, 21);
    for (let i = 1; i < claims.length; i++) {
      assert.equal(claims[i].sequence, claims[i - 1].sequence + 1);
      assert.equal(claims[i].seat_id, claims[i - 1].seat_id + 1);
    }
    assert.equal(Number(redis('get', key('{demo}:fcfs:seq'))), claims.at(-1).sequence);
    await eventually('both servers are in the log', () => {
      const log = readFileSync(edge.log, 'utf8');
      return servers.every((server) => log.includes(`${server.url.replace('http://', '')} `));
    });
  });

  test('a burst gets different numbers and different seats', async () => {
    const asked = Array.from({ length: 100 }, (_, i) => ask({ user: `burst-${i}`, from: anotherAddress() }));
    const claims = (await Promise.all(asked)).map((answer) => answer.json);
    assert.ok(claims.every((claim) => claim.success), JSON.stringify(claims.find((claim) => !claim.success)));
    assert.equal(new Set(claims.map((claim) => claim.sequence)).size, 100);
    assert.equal(new Set(claims.map((claim) => claim.seat_id)).size, 100);
    assert.deepEqual(locks(), []);
  });

  test("a client's X-Fcfs-Seq and X-Gateway-Token are ignored, even with the right secret", async () => {
    const before = Number(redis('get', key('{demo}:fcfs:seq')));
    const headers = { 'X-Fcfs-Seq': '777777', 'X-Gateway-Token': support.TOKEN };
    assert.equal((await ask({ user: 'liar', headers })).json.sequence, before + 1);
    const prd = await ask({ user: 'liar-2', path: PRD, headers });
    assert.deepEqual([prd.status, prd.json.seat], [200, before + 2], prd.text);
  });

  test('a schedule that does not exist leaves nothing in Redis', async () => {
    assert.equal((await ask({ user: 'lost', path: `${FCFS}?scheduleId=nowhere` })).status, 404);
    assert.deepEqual(redis('keys', '*nowhere*'), '');
    assertRefused(await ask({ user: 'lost', path: `${FCFS}?scheduleId=%7Bdemo%7D` }), 400, 'validation');
  });
});

describe('duplicates', () => {
  test("a user's second attempt is refused while the first is in flight, from anywhere", async () => {
    const first = await whileInFlight({ user: 'eager', from: '127.0.0.7' }, async () => {
      for (const path of [FCFS, '/fcfs/join', '/api/seats/reservation/fcfs'])
        assertRefused(await ask({ user: 'eager', from: '127.0.0.8', path }), 409, 'duplicate');
      const prd = await ask({ user: 'eager', from: '127.0.0.8', path: PRD });
      assert.deepEqual([prd.status, prd.json], [409, { success: false, reason: 'duplicate request' }]);
    });
    assert.equal(first.status, 200, first.text);
  });

  test("an address's second attempt is refused, whatever X-Forwarded-For it sends", async () => {
    const first = await whileInFlight({ user: 'one', from: '127.0.0.9' }, async () => {
      const headers = { 'X-Forwarded-For': '203.0.113.5' };
      assertRefused(await ask({ user: 'two', from: '127.0.0.9', headers }), 409, 'duplicate');
    });
    assert.equal(first.status, 200, first.text);
  });

  test('IPv6: the attempts of a /64 are those of one address', async () => {
    const trusting = await startEdge({ EDGE_TRUSTED_PROXIES: '127.0.0.1' });
    const from = (address) => ({ port: trusting.port, headers: { 'X-Forwarded-For': address } });
    const first = await whileInFlight({ user: 'six-1', ...from('2001:db8::1') }, async () => {
      assertRefused(await ask({ user: 'six-2', ...from('2001:db8::2') }), 409, 'duplicate');
      assert.ok(locks().includes(key('edge:dup:{demo}:ip:20010db800000000')), locks().join());
    });
    assert.equal(first.status, 200, first.text);
    await stop(trusting.child);
  });

  test('whoever asks again right after the answer is not a duplicate', async () => {
    for (let i = 0; i < 100; i++) {
      const answer = await ask({ user: 'again' });
      if (i > 0) assert.deepEqual([answer.status, answer.json.reason], [409, 'already_reserved']);
    }
  });

  test('the locks have an end, and are gone when the answer is there', async () => {
    await whileInFlight({ user: 'careful' }, () => {
      assert.deepEqual(locks().sort(), [key('edge:dup:{demo}:ip:127.0.0.1'), key('edge:dup:{demo}:user:careful')]);
      for (const key of locks()) {
        const ttl = Number(redis('pttl', key));
        assert.ok(ttl > 0 && ttl <= 30000, `${key} lives ${ttl} ms`);
      }
    });
    assert.deepEqual(locks(), []);
  });

  test('a client that goes away keeps its locks until the server has finished, not longer', async () => {
    const leaving = new AbortController();
    const answer = whileInFlight({ user: 'leaver', signal: leaving.signal }, async () => {
      leaving.abort();
      await sleep(300);
      assert.equal(locks().length, 2);
    });
    await assert.rejects(answer, { name: 'AbortError' });
    await eventually('the locks are gone', () => locks().length === 0, 2);
    assert.equal((await ask({ user: 'leaver' })).json.reason, 'already_reserved');
  });

  test('FCFS_IP_CONCURRENCY and FCFS_DUP_POLICY', async () => {
    const two = await startEdge({ FCFS_IP_CONCURRENCY: '2' });
    const byUser = await startEdge({ FCFS_DUP_POLICY: 'user' });
    const from = '127.0.0.10';
    const others = [];
    await whileInFlight({ port: two.port, user: 'flat-1', from }, async () => {
      others.push(ask({ port: two.port, user: 'flat-2', from }));
      await eventually('two attempts of the address', () => redis('zcard', key(`edge:dup:{demo}:ip:${from}`)) === '2');
      assertRefused(await ask({ port: two.port, user: 'flat-3', from }), 409, 'duplicate');
      others.push(ask({ port: byUser.port, user: 'flat-4', from }));
      await eventually("the user's lock", () => redis('exists', key('edge:dup:{demo}:user:flat-4')) === '1');
      assertRefused(await ask({ port: byUser.port, user: 'flat-4', from: '127.0.0.11' }), 409, 'duplicate');
    });
    for (const answer of await Promise.all(others)) assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(locks(), []);
    await Promise.all([stop(two.child), stop(byUser.child)]);
  });
});

describe('who is not believed by name', () => {
  let strict;
  before(async () => {
    strict = await startEdge({ EDGE_TRUST_USER_HEADER: '' });
  });
  after(() => stop(strict.child));

  const here = (attempt) => ({ port: strict.port, ...attempt });
  const ours = { 'Sec-Fetch-Site': 'same-origin' };
  async function newGuest() {
    const answer = await ask(here({ path: '/api/v1/auth/guest' }));
    assert.equal(answer.status, 200, answer.text);
    return { id: answer.json.guest.id, headers: { ...ours, Cookie: answer.headers['set-cookie'][0].split(';')[0] } };
  }

  test('a plain header makes nobody a buyer, with whatever else comes', async () => {
    assertRefused(await ask(here({ user: 'mallory' })), 400, 'missing_user');
    for (const headers of [{ Cookie: 'guest=1.x.y', ...ours }, { Authorization: 'Bearer junk' }, { 'X-Gateway-Token': support.TOKEN, Authorization: 'Bearer junk' }]) {
      const claimed = await ask(here({ user: 'mallory', headers }));
      assert.deepEqual([claimed.status, claimed.json.reason], [400, 'missing_user'], claimed.text);
    }
    const headers = { 'X-Gateway-Token': support.TOKEN };
    for (const method of ['GET', 'DELETE']) assert.equal((await ask(here({ method, path: PRD, user: 'in-order-1', headers }))).status, 400, method);
    assert.deepEqual(locks(), []);
  });

  test('a guest has one seat and one attempt at a time, from anywhere', async () => {
    const { id, headers } = await newGuest();
    const first = await whileInFlight(here({ headers, from: '127.0.0.12', user: 'in-order-1' }), async () => {
      assertRefused(await ask(here({ headers, from: '127.0.0.13' })), 409, 'duplicate');
      assertRefused(await ask(here({ headers: { ...headers, Authorization: 'Basic eDp5' }, from: '127.0.0.13' })), 409, 'duplicate');
      assertRefused(await ask(here({ headers: (await newGuest()).headers, from: '127.0.0.12' })), 409, 'duplicate');
      const secret = headers.Cookie.split('=')[1];
      for (const name of locks()) assert.ok(!name.includes(secret) && !name.includes(id.split(':')[1]), name);
    });
    assert.deepEqual([first.status, first.json.reserved_by], [200, id], first.text);
    assert.equal((await ask(here({ method: 'GET', path: PRD, headers }))).json.seat_id, first.json.seat_id);
    assert.equal((await ask(here({ method: 'DELETE', path: PRD, headers }))).status, 200);
    assert.deepEqual(locks(), []);
  });

  test('who is signed in is known by the token, in the header or the cookie', async () => {
    const token = accessToken('edge-user');
    const first = await whileInFlight(here({ headers: bearer(token), from: '127.0.0.14' }), async () => {
      assertRefused(await ask(here({ headers: { Cookie: `access_token=${token}`, ...ours }, from: '127.0.0.15' })), 409, 'duplicate');
    });
    assert.deepEqual([first.status, first.json.reserved_by], [200, 'edge-user'], first.text);
  });
});

describe('answers of the edge', () => {
  test('no user, an empty one, one too long, two', async () => {
    for (const headers of [{}, { 'X-User-Id': '' }, { 'X-User-Id': 'x'.repeat(129) }, { 'X-User-Id': ['a', 'b'] }])
      assertRefused(await ask({ headers }), 400, 'missing_user');
    assert.equal((await ask({ user: 'x'.repeat(128) })).status, 200);
    const prd = await ask({ path: PRD });
    assert.deepEqual([prd.status, prd.json.success, prd.json.error], [400, false, 'bad request']);
  });

  test("?wrap=1 wraps the server's answer once, and the edge's own", async () => {
    const claimed = await ask({ user: 'wrapped', path: `${FCFS}?wrap=1` });
    assert.equal(claimed.status, 200);
    assert.deepEqual(Object.keys(claimed.json), ['gatewayWrapped', 'status', 'body']);
    assert.deepEqual([claimed.json.status, claimed.json.body.success], [200, true]);
    const refused = await ask({ path: `${FCFS}?wrap=1` });
    assert.deepEqual(Object.keys(refused.json), ['gatewayWrapped', 'status', 'body']);
    assert.deepEqual([refused.json.status, refused.json.body.reason], [400, 'missing_user']);
  });

  test("the client's trace id is kept", async () => {
    const id = '0af7651916cd43dd8448eb211c80319c';
    for (const headers of [{ traceparent: `00-${id}-b7ad6b7169203331-01` }, { b3: `${id}-b7ad6b7169203331-1` }]) {
      assert.equal((await ask({ headers })).json.traceId, id);
      assert.equal((await ask({ user: 'traced', headers })).headers['x-trace-id'], id);
    }
  });

  test('pages of other origins may read them when the setting says so', async () => {
    const open = await startEdge({ CORS_ORIGINS: 'https://shop.example,https://www.example' });
    const allowed = async (port, origin) => {
      const { headers } = await ask({ port, headers: { Origin: origin } });
      return headers['access-control-allow-origin'];
    };
    assert.equal(await allowed(open.port, 'https://www.example'), 'https://www.example');
    assert.equal(await allowed(open.port, 'https://evil.example'), undefined);
    assert.equal(await allowed(edge.port, 'https://www.example'), undefined);
    await stop(open.child);
  });

  test('a body that is too large, and no server at all', async () => {
    assertRefused(await ask({ user: 'long', body: 'x'.repeat(70000) }), 413, 'body_too_large');
    const alone = await startEdge({ EDGE_SERVERS: '127.0.0.1:1' });
    assertRefused(await ask({ port: alone.port, user: 'nobody-there' }), 503, 'service_unavailable');
    assertRefused(await ask({ port: alone.port, method: 'GET', path: '/api/v1/seats' }), 503, 'service_unavailable');
    assert.deepEqual(locks(), []);
    await stop(alone.child);
  });

  test('it does not start with a wrong setting', async () => {
    for (const [name, value] of [
      ['GATEWAY_TOKEN', ''], ['GATEWAY_TOKEN', 'fifteen-bytes-x'], ['EDGE_TRUST_USER_HEADER', 'yes'],
      ['FCFS_DUP_POLICY', 'sometimes'], ['FCFS_DUP_TTL', '0'], ['EDGE_SERVERS', 'a;b'],
    ]) {
      const child = support.runEdge(randomPort(), { [name]: value });
      assert.notEqual(await child.ended, 0);
      assert.match(child.output, new RegExp(name));
    }
  });
});

describe('when Redis fails', () => {
  test('a failing script is redis_error', async () => {
    redis('set', key('edge:dup:{demo}:user:wrong-type'), 'not a sorted set');
    assertRefused(await ask({ user: 'wrong-type' }), 503, 'redis_error');
    redis('del', key('edge:dup:{demo}:user:wrong-type'));
    redis('acl', 'setuser', 'default', '-evalsha', '-eval');
    try {
      assertRefused(await ask({ user: 'not-allowed' }), 503, 'redis_error');
    } finally {
      redis('acl', 'setuser', 'default', '+evalsha', '+eval');
    }
    assert.equal((await ask({ user: 'not-allowed' })).status, 200);
  });

  test('a sequence that cannot be drawn is sequence_unavailable, and leaves no lock', async () => {
    const sequence = redis('get', key('{demo}:fcfs:seq'));
    redis('set', key('{demo}:fcfs:seq'), 'not a number');
    assertRefused(await ask({ user: 'unnumbered' }), 503, 'sequence_unavailable');
    assert.deepEqual(locks(), []);
    redis('set', key('{demo}:fcfs:seq'), sequence);
    assert.equal((await ask({ user: 'unnumbered' })).status, 200);
  });

  test('a script that Redis has forgotten is sent again', async () => {
    redis('script', 'flush');
    assert.equal((await ask({ user: 'after-flush' })).status, 200);
  });

  test('silent or down: service_unavailable within a second, reads go on, recovery by itself', async () => {
    const refusedQuickly = async () => {
      const began = Date.now();
      const answer = await ask({ user: 'waiting' });
      assertRefused(answer, 503, 'service_unavailable');
      assert.ok(Date.now() - began < 1500, `took ${Date.now() - began} ms`);
      assert.match(answer.headers['retry-after'], /^[1-3]$/);
    };
    privateServer('pause', redisDir);
    try {
      await refusedQuickly();
    } finally {
      privateServer('resume', redisDir);
    }
    await eventually('what was asked in vain, but taken, is given back', () => locks().length === 0, 3);
    privateServer('kill', redisDir);
    await refusedQuickly();
    assert.equal((await ask({ method: 'GET', path: '/api/v1/seats' })).status, 200);
    privateServer('redis', 'start', redisDir);
    assert.equal((await ask({ user: 'waiting' })).status, 200);
  });
});

describe('everything else', () => {
  test('is passed on: reads, giving back, streams; not what is internal', async () => {
    const seats = await ask({ method: 'GET', path: '/api/v1/seats' });
    assert.equal(seats.json.seats.length, support.SEATS);
    await ask({ user: 'giver' });
    assert.equal((await ask({ method: 'DELETE', path: PRD, user: 'giver' })).status, 200);
    assert.equal((await ask({ method: 'GET', path: '/internal/users' })).status, 404);
  });

  test('a seat that is sold reaches a listener of the stream at once', async () => {
    const events = http.get({ host: '127.0.0.1', port: edge.port, path: '/api/v1/seats/stream', agent: false });
    events.on('error', () => {}); // ended below
    let text = '';
    events.on('response', (response) => response.setEncoding('utf8').on('data', (part) => { text += part; }));
    await eventually('the snapshot', () => text.includes('event: snapshot'), 5);
    await ask({ user: 'seen' });
    await eventually('the seat', () => text.includes('event: seat'), 5);
    events.destroy();
  });
});

// The example as it is, but for the addresses, and with a certificate of its own.
function renderTlsExample(prefix, port, upstreamPort) {
  mkdirSync(prefix);
  const names = ['-subj', '/CN=localhost', '-keyout', `${prefix}/privkey.pem`, '-out', `${prefix}/fullchain.pem`];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  execFileSync('openssl', ['req', '-x509', '-days', '1', ...key, ...names], { stdio: 'ignore' });
  const example = readFileSync(join(ROOT, 'deploy/nginx/tickettock.conf'), 'utf8')
    .replaceAll('/etc/ssl/tickettock', prefix)
    .replace(/^ *listen \[::\].*\n/gm, '')
    .replace('listen 80;', `listen 127.0.0.1:${randomPort()};`)
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace('tickettock_streams 512', 'tickettock_streams 2')
    .replace(/^ *server 127.*5801.*\n/m, '')
    .replace('127.0.0.1:5800', `127.0.0.1:${upstreamPort}`);
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
  const rest = `access_log off; ${folders.join(' ')}`;
  writeFileSync(join(prefix, 'nginx.conf'), `pid pid; worker_processes 1; events {} http { ${rest}\n${example} }`);
}

test('deploy/nginx: TLS by plain nginx, before the edge', async () => {
  const trusting = await startEdge({ EDGE_TRUSTED_PROXIES: '127.0.0.1' });
  const prefix = join(scratch, 'tls');
  const port = randomPort();
  renderTlsExample(prefix, port, trusting.port);
  const words = ['-p', prefix, '-c', join(prefix, 'nginx.conf'), '-e', 'stderr'];
  const check = support.start('nginx', [...words, '-t']);
  assert.equal(await check.ended, 0, check.output);

  const nginx = support.start('nginx', [...words, '-g', 'daemon off;']);
  await eventually('nginx answers', () => support.answers({ port, path: '/', tls: true }));
  const guest = await ask({ port, tls: true, path: '/api/v1/auth/guest' });
  const [cookie, ...marks] = guest.headers['set-cookie'][0].split('; ');
  assert.ok(marks.includes('Secure'), marks.join());
  const headers = { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' };
  // Also to an edge that believes the header: nginx has dropped it.
  const claimed = await whileInFlight({ port, tls: true, user: 'over-tls', headers, from: '127.0.0.77' }, () => {
    assert.ok(locks().includes(key('edge:dup:{demo}:ip:127.0.0.77')), "the buyer's own address, not the proxy's");
  });
  assert.deepEqual([claimed.status, claimed.json.reserved_by], [200, guest.json.guest.id], claimed.text);

  const open = [];
  const listen = (from) => new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/api/v1/seats/stream', localAddress: from, rejectUnauthorized: false, agent: false };
    open.push(https.get(options, (response) => resolve(response.on('error', () => {}).statusCode)).on('error', reject));
  });
  const statuses = [];
  for (const from of ['127.0.0.78', '127.0.0.78', '127.0.0.78', '127.0.0.79']) statuses.push(await listen(from));
  assert.deepEqual(statuses, [200, 200, 429, 200], 'so many streams of one client');
  for (const one of open) one.on('error', () => {}).destroy();
  await Promise.all([stop(nginx), stop(trusting.child)]);
});

test('an nginx that is told nothing but proxy_pass makes nobody this machine’s own', async () => {
  const server = await startServer();
  const prefix = join(scratch, 'bare');
  const port = randomPort();
  mkdirSync(prefix);
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
  writeFileSync(join(prefix, 'nginx.conf'), `pid pid; worker_processes 1; events {} http { access_log off; ${folders.join(' ')}
    server { listen 127.0.0.1:${port}; location / { proxy_pass ${server.url}; } } }`);
  const nginx = support.start('nginx', ['-p', prefix, '-c', join(prefix, 'nginx.conf'), '-e', 'stderr', '-g', 'daemon off;']);
  await eventually('nginx answers', () => support.answers({ port, path: '/healthz' }));
  assert.equal((await ask({ port: server.port, user: 'here' })).status, 200);
  assertRefused(await ask({ port, user: 'from-anywhere' }), 400, 'missing_user');
  await Promise.all([stop(nginx), server.stop()]);
});
