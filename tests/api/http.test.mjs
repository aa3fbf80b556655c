// HTTP/1.1 as the server speaks it: connections that are kept, requests in a row, bodies, methods, compression, caching,
// pages of other origins. What is refused as malformed is in malformed.test.mjs.
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { freePort } from './accounts.mjs';
import { FCFS, openEmbedded } from './box_office.mjs';
import { startServer } from './support.mjs';
import { CRLF, Wire, exchange, get, post, postChunked, request } from './wire.mjs';

const STREAM = '/api/v1/seats/stream';
const LIMIT = 4096; // of a reservation's body
const METHODS = 'GET, HEAD, POST, DELETE, OPTIONS'; // of /api/v1/seats/reservation

let server, office;
before(async () => {
  // A header names the user, whatever the version of HTTP.
  server = await startServer({ FCFS_SEATS: '1000', FCFS_IP_CONCURRENCY: '100', FCFS_TRUST_USER_HEADER: '1' });
  office = await openEmbedded({ FCFS_SEATS: '1000' });
});
after(() => server.stop());

function assertError(answer, status, reason) {
  assert.equal(answer.status, status, answer.body);
  assert.equal(answer.headers['content-type'], 'application/json');
  const { success, reason: code, message, traceId } = answer.json;
  assert.deepEqual([success, code], [false, reason]);
  assert.ok(message.length > 10);
  assert.equal(traceId, answer.headers['x-trace-id']);
}

describe('connections', () => {
  test('HTTP/1.1 keeps a connection until the client wants it closed', async () => {
    const wire = await Wire.open(server);
    for (let i = 0; i < 3; i++) {
      const answer = await wire.send(get('/healthz')).answer();
      assert.deepEqual([answer.line, answer.headers.connection], ['HTTP/1.1 200 OK', undefined]);
      assert.ok(Math.abs(Date.parse(answer.headers.date) - Date.now()) < 3000, answer.headers.date);
    }
    const last = await wire.send(get('/healthz', { Connection: 'close' })).answer();
    assert.deepEqual([last.status, last.headers.connection], [200, 'close']);
    assert.equal(await wire.ended(), '');
  });

  test('HTTP/1.0 closes a connection unless the client wants it kept', async () => {
    const wire = await Wire.open(server);
    const kept = await wire.send(`GET /healthz HTTP/1.0${CRLF}Connection: keep-alive${CRLF}${CRLF}`).answer();
    assert.deepEqual([kept.status, kept.headers.connection], [200, 'keep-alive']);
    const last = await wire.send(`GET /healthz HTTP/1.0${CRLF}${CRLF}`).answer();
    assert.deepEqual([last.status, last.headers.connection], [200, 'close']);
    assert.equal(await wire.ended(), '');
  });

  test('requests in a row are answered in their order, also when the first takes long', async () => {
    const letGo = await office.holdHouse();
    const wire = await Wire.open(office.servers[0]);
    wire.send([
      get('/api/v1/seats/7'),
      post(FCFS, '{}', { 'X-User-Id': 'pipelined' }),
      get('/healthz'),
      postChunked(FCFS, ['{"userN', 'ame":"A"}'], {}), // names no user
      get('/nowhere'),
      request('HEAD', '/openapi.json'),
      get('/api/v1/seats/reservation', { 'X-User-Id': 'pipelined', Connection: 'close' }),
    ].join(''));
    assert.equal((await wire.answer()).json.seat.id, 7);
    const other = await exchange(office.servers[0], get('/healthz'));
    assert.equal(other.status, 200, 'nobody else waits');
    assert.equal(wire.waiting, 0, 'the quick ones wait behind the slow one');
    await letGo();
    const claimed = await wire.answer();
    assert.equal(claimed.status, 200, claimed.body);
    assert.equal((await wire.answer()).json.status, 'ok');
    assertError(await wire.answer(), 400, 'missing_user');
    assertError(await wire.answer(), 404, 'not_found');
    assert.equal((await wire.answer({ bodiless: true })).headers['content-type'], 'application/json');
    assert.equal((await wire.answer()).json.seat_id, claimed.json.seat_id);
    assert.equal(await wire.ended(), '');
  });

  test('three hundred small requests in one go', async () => {
    const wire = await Wire.open(server);
    wire.send(Array.from({ length: 300 }, (_, i) => get(`/api/v1/seats/${i + 1}`)).join(''));
    for (let i = 0; i < 300; i++) assert.equal((await wire.answer()).json.seat.id, i + 1);
    wire.close();
  });
});

describe('bodies', () => {
  const body = JSON.stringify({ userName: 'Kim', phone: '010-1234-5678' });
  const claimed = (answer) => assert.equal(answer.status, 200, answer.body);

  test('with a length, in chunks, byte by byte', async () => {
    claimed(await exchange(server, post(FCFS, body, { 'X-User-Id': 'whole' })));
    claimed(await exchange(server, postChunked(FCFS, [...body], { 'X-User-Id': 'chunks' })));
    const extended = `4;name="value"${CRLF}{"us${CRLF}${(body.length - 4).toString(16)}${CRLF}${body.slice(4)}${CRLF}`;
    claimed(await exchange(server, request('POST', FCFS, { 'X-User-Id': 'extended', 'Transfer-Encoding': 'chunked' },
      `${extended}0${CRLF}X-Trailer: dropped${CRLF}${CRLF}`)));
    const wire = await Wire.open(server);
    for (const byte of postChunked(FCFS, [body], { 'X-User-Id': 'bytes' })) {
      wire.send(byte);
      await new Promise(setImmediate);
    }
    claimed(await wire.answer());
    wire.close();
  });

  test("up to the route's limit and not a byte more", async () => {
    const padded = (length) => body + ' '.repeat(length - body.length);
    claimed(await exchange(server, post(FCFS, padded(LIMIT), { 'X-User-Id': 'limit' })));
    claimed(await exchange(server, postChunked(FCFS, [padded(LIMIT)], { 'X-User-Id': 'limit-chunked' })));
    const parts = padded(LIMIT + 1).match(/.{1,100}/g);
    for (const bytes of [post(FCFS, padded(LIMIT + 1)), postChunked(FCFS, parts)]) {
      const wire = await Wire.open(server);
      const answer = await wire.send(bytes).answer();
      assertError(answer, 413, 'body_too_large');
      assert.equal(answer.headers.connection, 'close');
      assert.equal(await wire.ended(), '');
    }
    const endless = await Wire.open(server);
    endless.send(request('POST', FCFS, { 'Transfer-Encoding': 'chunked' }, `ffffff${CRLF}${'x'.repeat(LIMIT * 4)}`));
    assertError(await endless.answer(), 413, 'body_too_large');
    endless.close();
  });

  test('a route that takes no body, and none at all, refuse it unread', async () => {
    const huge = { 'Content-Length': '9999999999' };
    assertError(await exchange(server, request('GET', '/healthz', huge)), 413, 'body_too_large');
    assertError(await exchange(server, request('POST', '/nowhere', huge)), 404, 'not_found');
    const wrong = await exchange(server, request('POST', '/healthz', huge));
    assertError(wrong, 405, 'method_not_allowed');
    assert.equal(wrong.headers.allow, 'GET, HEAD, OPTIONS');
  });

  test('Expect: 100-continue is answered before the body, once', async () => {
    for (const framing of [{ 'Content-Length': body.length }, { 'Transfer-Encoding': 'chunked' }]) {
      const chunked = 'Transfer-Encoding' in framing;
      const wire = await Wire.open(server);
      const expecting = { 'X-User-Id': `patient-${chunked}`, Expect: '100-continue', ...framing };
      const first = await wire.send(request('POST', FCFS, expecting)).answer();
      assert.deepEqual([first.line, first.headers], ['HTTP/1.1 100 Continue', {}]);
      wire.send(chunked ? `${body.length.toString(16)}${CRLF}${body}${CRLF}0${CRLF}${CRLF}` : body);
      claimed(await wire.answer());
      assert.equal((await wire.send(get('/healthz')).answer()).status, 200);
      wire.close();
    }
  });

  test('a refusal comes instead of 100 Continue', async () => {
    const expect = { Expect: '100-continue' };
    const refusals = [
      [413, 'body_too_large', request('POST', FCFS, { ...expect, 'Content-Length': LIMIT + 1 })],
      [404, 'not_found', request('POST', '/nowhere', { ...expect, 'Content-Length': 5 })],
      [405, 'method_not_allowed', request('PUT', FCFS, { ...expect, 'Content-Length': 5 })],
      [417, 'expectation_failed', request('POST', FCFS, { Expect: 'the-unexpected', 'Content-Length': 5 })],
    ];
    for (const [status, reason, bytes] of refusals) {
      const wire = await Wire.open(server);
      assertError(await wire.send(bytes).answer(), status, reason);
      assert.equal(await wire.ended(), '');
    }
  });

  test('HTTP/1.0 knows no 100 Continue', async () => {
    const head = `POST ${FCFS} HTTP/1.0${CRLF}X-User-Id: old${CRLF}Expect: 100-continue${CRLF}`;
    claimed(await exchange(server, `${head}Content-Length: ${body.length}${CRLF}${CRLF}${body}`));
  });
});

describe('methods', () => {
  test('HEAD has the headers of GET and no body', async () => {
    const compare = ({ date, 'x-trace-id': trace, ...headers }) => headers;
    for (const path of ['/', '/healthz', '/api/v1/seats', '/api/v1/seats/1', '/openapi.json', '/nowhere', '/metrics']) {
      for (const encoding of ['identity', 'gzip']) {
        const wire = await Wire.open(server);
        const full = await wire.send(get(path, { 'Accept-Encoding': encoding })).answer();
        const bare = await wire.send(request('HEAD', path, { 'Accept-Encoding': encoding })).answer({ bodiless: true });
        assert.equal(bare.status, full.status);
        const [expected, found] = [compare(full.headers), compare(bare.headers)];
        if (path === '/metrics') delete expected['content-length'], delete found['content-length']; // they move
        assert.deepEqual(found, expected, path);
        assert.equal((await wire.send(get('/healthz')).answer()).json.status, 'ok', 'nothing came in between');
        wire.close();
      }
    }
  });

  test('HEAD of the stream has its headers and opens none', async () => {
    const wire = await Wire.open(server);
    const bare = await wire.send(request('HEAD', STREAM)).answer({ bodiless: true });
    const stream = await Wire.open(server);
    const open = await stream.send(get(STREAM)).answer({ bodiless: true });
    for (const name of ['content-type', 'cache-control', 'x-accel-buffering', 'content-length'])
      assert.equal(bare.headers[name], open.headers[name], name);
    assert.deepEqual([bare.status, open.headers['content-type']], [200, 'text/event-stream']);
    if (bare.headers.connection === 'close') assert.equal(await wire.ended(), '');
    else assert.equal((await wire.send(get('/healthz')).answer()).json.status, 'ok');
    wire.close();
    stream.close();
  });

  test('OPTIONS tells what an address takes', async () => {
    const allowed = { '/healthz': 'GET, HEAD, OPTIONS', [FCFS]: 'POST, OPTIONS', '/api/seats/reservation': METHODS };
    for (const [path, methods] of Object.entries(allowed)) {
      const answer = await exchange(server, request('OPTIONS', path));
      assert.deepEqual([answer.status, answer.headers.allow, answer.headers['content-length']], [204, methods, undefined]);
      assert.equal(answer.headers['access-control-allow-methods'], undefined);
    }
    assertError(await exchange(server, request('OPTIONS', '/nowhere')), 404, 'not_found');
  });

  test('OPTIONS * is about the server: every method that it knows an address for', async () => {
    const wire = await Wire.open(server);
    const answer = await wire.send(request('OPTIONS', '*')).answer({ bodiless: true });
    assert.deepEqual([answer.status, answer.headers.allow], [204, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS']);
    assert.equal((await wire.send(get('/healthz')).answer()).json.status, 'ok', 'the connection goes on');
    wire.close();
    const internal = await startServer({ INTERNAL_PORT: await freePort(), INTERNAL_API_TOKEN: 'the-secret-of-our-services', THREADS: '1' });
    const inside = await exchange({ port: internal.settings.INTERNAL_PORT }, request('OPTIONS', '*'));
    assert.deepEqual([inside.status, inside.headers.allow], [204, 'POST, OPTIONS']);
    await internal.stop();
  });

  test('404 and 405 say so in the envelope, and keep the connection', async () => {
    const wire = await Wire.open(server);
    for (const path of ['/nowhere', '/api/v1', '/api/v1/seats/', '/api/v2/seats', '/healthz/', '/static/nothing.js', '/static/'])
      assertError(await wire.send(get(path)).answer(), 404, 'not_found');
    for (const [method, path, allow] of [
      ['DELETE', '/healthz', 'GET, HEAD, OPTIONS'],
      ['PUT', '/api/v1/seats/reservation', METHODS],
      ['GET', FCFS, 'POST, OPTIONS'],
      ['PATCH', '/static/anything', 'GET, HEAD, OPTIONS'],
      ['TRACE', '/healthz', 'GET, HEAD, OPTIONS'],
    ]) {
      const answer = await wire.send(request(method, path)).answer();
      assertError(answer, 405, 'method_not_allowed');
      assert.equal(answer.headers.allow, allow);
    }
    wire.close();
  });

  test('a target may be a whole URL, as a proxy is asked', async () => {
    const absolute = await exchange(server, get('http://127.0.0.1/api/v1/seats/3'));
    assert.deepEqual([absolute.status, absolute.json.seat.id], [200, 3]);
    assertError(await exchange(server, get('http://127.0.0.1/nowhere')), 404, 'not_found');
    assertError(await exchange(server, request('TRACE', '/nowhere')), 404, 'not_found');
  });

  test('/api/x is /api/v1/x', async () => {
    assert.equal((await exchange(server, get('/api/seats/3'))).json.seat.id, 3);
    assert.equal((await exchange(server, get('/api/v1/seats/3'))).json.seat.id, 3);
  });
});

describe('traces', () => {
  const ID = '0af7651916cd43dd8448eb211c80319c';
  const traceOf = async (headers, path = '/healthz') => (await exchange(server, get(path, headers))).headers['x-trace-id'];

  test('each answer has an id of its own', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, (_, i) => traceOf({}, i % 2 ? '/nowhere' : '/healthz')));
    for (const id of ids) assert.match(id, /^[0-9a-f]{32}$/);
    assert.equal(new Set(ids).size, ids.length);
  });

  test('a good traceparent goes on, another does not', async () => {
    assert.equal(await traceOf({ traceparent: `00-${ID}-b7ad6b7169203331-01` }), ID);
    assert.equal(await traceOf({ TraceParent: `00-${ID}-b7ad6b7169203331-00` }, '/nowhere'), ID);
    for (const parent of [ID, `00-${ID.toUpperCase()}-b7ad6b7169203331-01`, `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
      `00-${ID}-b7ad6b7169203331-01-extra`, `00-${ID.slice(1)}"-b7ad6b7169203331-01`, ''])
      assert.notEqual(await traceOf({ traceparent: parent }), ID, parent);
  });
});

describe('compression', () => {
  const LARGE = '/api/v1/seats';

  test('a larger answer is compressed for those who take it', async () => {
    const plain = await exchange(server, get(LARGE));
    assert.deepEqual([plain.headers['content-encoding'], plain.headers.vary], [undefined, 'Accept-Encoding']);
    for (const accepts of ['gzip', 'GZip', 'br, gzip;q=0.5', 'deflate , gzip ; q=1']) {
      const packed = await exchange(server, get(LARGE, { 'Accept-Encoding': accepts }));
      assert.deepEqual([packed.headers['content-encoding'], packed.headers.vary], ['gzip', 'Accept-Encoding'], accepts);
      assert.ok(packed.bytes.length < plain.bytes.length / 5);
      assert.deepEqual(gunzipSync(packed.bytes), plain.bytes);
    }
  });

  test('not for those who do not', async () => {
    for (const accepts of ['', 'identity', 'br', 'gzip;q=0', 'gzip; q=0.0', 'gzip;q=0.000', 'gzip;Q=0', 'xgzip', 'gzipped']) {
      const answer = await exchange(server, get(LARGE, { 'Accept-Encoding': accepts }));
      assert.equal(answer.headers['content-encoding'], undefined, accepts);
      assert.equal(answer.json.success, true);
    }
  });

  test('a small answer is sent as it is', async () => {
    const answer = await exchange(server, get('/healthz', { 'Accept-Encoding': 'gzip' }));
    assert.deepEqual([answer.headers['content-encoding'], answer.headers.vary], [undefined, undefined]);
  });
});

describe('caching', () => {
  test('seats have an ETag that lasts until a seat is sold', async () => {
    const ask = (tag) => exchange(server, get('/api/v1/seats', tag ? { 'If-None-Match': tag } : {}));
    const first = await ask();
    const tag = first.headers.etag;
    assert.match(tag, /^"[^"]+"$/);
    assert.equal(first.headers['cache-control'], 'public, max-age=1');
    for (const same of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const again = await ask(same);
      assert.deepEqual([again.status, again.headers.etag, again.headers['content-length']], [304, tag, undefined], same);
    }
    assert.equal((await ask('"other"')).status, 200);
    assert.notEqual((await exchange(server, get('/api/v1/seats?format=array'))).headers.etag, tag);
    assert.equal((await server.reserve('etag')).status, 200);
    const after = await ask(tag);
    assert.equal(after.status, 200);
    assert.notEqual(after.headers.etag, tag);
  });

  test('a 304 leaves the connection as it was', async () => {
    const wire = await Wire.open(server);
    const { etag } = (await wire.send(get('/docs')).answer()).headers;
    assert.equal((await wire.send(get('/docs', { 'If-None-Match': etag })).answer()).status, 304);
    assert.equal((await wire.send(get('/healthz')).answer()).json.status, 'ok');
    wire.close();
  });
});

describe('pages and files', () => {
  const TYPES = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', svg: 'image/svg+xml' };
  const hashed = (html) => [...html.matchAll(/(?:src|href)="(\/static\/[^"]+)"/g)].map(([, path]) => path);

  test('pages are checked each time, and may load from here only', async () => {
    for (const path of ['/', '/docs', '/admin']) {
      const { status, headers, body } = await exchange(server, get(path));
      assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8']);
      assert.equal(headers['cache-control'], 'no-cache');
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['x-frame-options'], 'DENY');
      assert.equal(headers['referrer-policy'], 'same-origin');
      const policy = headers['content-security-policy'];
      for (const rule of ["default-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"])
        assert.ok(policy.includes(rule), rule);
      assert.doesNotMatch(policy, /unsafe-eval|script-src|https?:/);
      assert.match(body, /^<!doctype html>/i);
    }
  });

  test('what they load has the right type and may be kept for ever', async () => {
    const paths = new Set();
    for (const page of ['/', '/docs', '/admin'])
      for (const path of hashed((await exchange(server, get(page))).body)) paths.add(path);
    assert.ok(paths.size >= 3, [...paths].join());
    for (const path of paths) {
      const { status, headers, bytes } = await exchange(server, get(path));
      assert.equal(status, 200, path);
      assert.match(path, /\.[0-9a-f]{8}\.[a-z0-9]+$/, 'its address has a hash');
      assert.equal(headers['content-type'], TYPES[path.split('.').at(-1)], path);
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
      assert.equal(headers['x-content-type-options'], 'nosniff');

      const packed = await exchange(server, get(path, { 'Accept-Encoding': 'gzip' }));
      assert.equal(packed.headers.vary, headers.vary);
      if (packed.headers['content-encoding']) {
        assert.equal(headers.vary, 'Accept-Encoding');
        assert.notEqual(packed.headers.etag, headers.etag, 'other bytes, another tag');
        assert.deepEqual(gunzipSync(packed.bytes), bytes);
      }
      const plain = path.replace(/\.[0-9a-f]{8}(\.[a-z0-9]+)$/, '$1');
      const unhashed = await exchange(server, get(plain));
      assert.deepEqual([unhashed.status, unhashed.headers['cache-control']], [200, 'no-cache'], plain);
      assert.deepEqual(unhashed.bytes, bytes);
    }
  });

  test('a client that has a file is told so', async () => {
    for (const path of ['/', '/openapi.json', '/docs']) {
      for (const encoding of ['gzip', 'identity']) {
        const accept = { 'Accept-Encoding': encoding };
        const { etag, vary } = (await exchange(server, get(path, accept))).headers;
        const again = await exchange(server, get(path, { ...accept, 'If-None-Match': etag }));
        assert.deepEqual([again.status, again.headers.etag, again.headers.vary], [304, etag, vary]);
        assert.equal(again.headers['cache-control'], 'no-cache');
      }
    }
  });

  test('nothing outside the table is served', async () => {
    const outside = ['/static/../openapi.json', '/static/%2e%2e/etc/passwd', '/static//docs', '/static/..%2f..%2fetc%2fpasswd'];
    for (const path of outside) {
      const { status } = await exchange(server, get(path));
      assert.ok([400, 404].includes(status), `${path}: ${status}`);
    }
  });
});

describe('pages of other origins', () => {
  const SHOP = 'https://shop.example', OTHER = 'https://evil.example';
  let listed, open;
  before(async () => {
    listed = await startServer({ CORS_ORIGINS: `${SHOP}, http://localhost:3000`, THREADS: '1' });
    open = await startServer({ CORS_ORIGINS: '*', THREADS: '1' });
  });
  after(() => Promise.all([listed.stop(), open.stop()]));

  const preflight = (origin, headers = {}) => request('OPTIONS', FCFS, {
    Origin: origin, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'content-type,x-user-id', ...headers,
  });
  const allowedOrigin = (answer) => answer.headers['access-control-allow-origin'];

  test('a listed origin may ask and read', async () => {
    for (const origin of [SHOP, 'http://localhost:3000']) {
      const before = await exchange(listed, preflight(origin));
      assert.deepEqual([before.status, allowedOrigin(before)], [204, origin]);
      assert.equal(before.headers['access-control-allow-methods'], 'POST, OPTIONS');
      assert.equal(before.headers['access-control-allow-headers'], 'content-type,x-user-id');
      assert.ok(Number(before.headers['access-control-max-age']) > 0);
      for (const path of ['/api/v1/show', '/nowhere']) {
        const answer = await exchange(listed, get(path, { Origin: origin }));
        assert.equal(allowedOrigin(answer), origin);
        assert.match(answer.headers['access-control-expose-headers'], /X-Trace-Id/);
        assert.match(answer.headers.vary, /\bOrigin\b/);
      }
    }
  });

  test('another origin may not', async () => {
    for (const origin of [OTHER, `${SHOP}.evil.example`, 'https://shop', 'null', SHOP.toUpperCase(), `${SHOP}:8443`]) {
      assert.equal(allowedOrigin(await exchange(listed, preflight(origin))), undefined, origin);
      const answer = await exchange(listed, get('/api/v1/show', { Origin: origin }));
      assert.deepEqual([answer.status, allowedOrigin(answer)], [200, undefined], origin);
      assert.match(answer.headers.vary, /\bOrigin\b/, 'or a cache would give this answer to the shop');
    }
  });

  test('a cache can tell an answer for nobody from one for the shop', async () => {
    assert.match((await exchange(listed, get('/api/v1/seats'))).headers.vary, /\bOrigin\b/);
  });

  test('a refusal can be read by the page, too', async () => {
    const refused = await exchange(listed, request('POST', FCFS, { Origin: SHOP, 'Content-Length': LIMIT + 1 }));
    assert.deepEqual([refused.status, allowedOrigin(refused)], [413, SHOP]);
  });

  test('* lets everybody, without a setting nobody', async () => {
    assert.equal(allowedOrigin(await exchange(open, preflight(OTHER))), '*');
    assert.equal(allowedOrigin(await exchange(open, get('/api/v1/show', { Origin: OTHER }))), '*');
    const closed = await exchange(server, preflight(SHOP));
    assert.deepEqual([closed.status, allowedOrigin(closed), closed.headers.vary], [204, undefined, undefined]);
    assert.equal(allowedOrigin(await exchange(server, get('/api/v1/show', { Origin: SHOP }))), undefined);
  });

  test('a header of the page cannot break the answer apart', async () => {
    const long = await exchange(listed, preflight(SHOP, { 'Access-Control-Request-Headers': 'x-'.padEnd(7000, 'a') }));
    assert.equal(long.status, 204);
    assert.equal((await exchange(listed, get('/healthz'))).status, 200);
  });
});
