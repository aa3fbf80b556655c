// Who a buyer without an account is: a guest by a signed cookie. And who nobody is: whoever writes a name into a header,
// unless the server can know that this is its own machine or its gateway.
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { AUTH, cookieHeader, cookiesOf, send, somebody } from './accounts.mjs';
import { FCFS, PRD, anotherAddress, inBothWays, openEmbedded } from './box_office.mjs';
import { ask } from './client.mjs';
import { ADMIN_TOKEN, startServer } from './support.mjs';
import { JWT_SECRET, accessToken, bearer } from './tokens.mjs';

const GUEST = `${AUTH}/guest`;
const GATEWAY_TOKEN = 'the-secret-of-the-gateway';
const PII_HASH_KEY = Buffer.alloc(32, 'a key that two servers have').toString('base64');
const OURS = { 'Sec-Fetch-Site': 'same-origin' };

/** As an operator has it who has only opened the bind: nothing of what the tests set otherwise. */
const PUBLIC = { BIND_ADDRESS: '0.0.0.0', FCFS_TRUST_USER_HEADER: undefined, TRUSTED_PROXIES: undefined };
/** The same behind a proxy, so that guests come from many addresses. */
const BEHIND_PROXY = { ...PUBLIC, TRUSTED_PROXIES: '127.0.0.1' };

const said = ({ status, json }) => (json.reason ? `${status} ${json.reason}` : `${status}`);

const newGuest = (server, headers = {}) => ask(server, { method: 'POST', path: GUEST, headers: { ...OURS, ...headers } });

/** A browser that has been given a guest's cookie: { id, headers } */
async function guest(server, headers = {}) {
  const answer = await newGuest(server, headers);
  assert.equal(answer.status, 200, answer.text);
  return { id: answer.json.guest.id, headers: { ...headers, ...OURS, ...cookieHeader(answer) } };
}

const claim = (server, headers) => ask(server, { method: 'POST', path: FCFS, headers });

inBothWays(({ name, open }) => describe(`${name}: on a public bind, with the default settings`, () => {
  let office;
  before(async () => {
    office = await open({ ...BEHIND_PROXY, GATEWAY_TOKEN, JWT_SECRET, FCFS_SEATS: '9' });
  });

  test('a plain header makes nobody a buyer', async () => {
    for (let i = 0; i < 30; i++) assert.equal(said(await office.ask({ method: 'POST', path: FCFS, user: `user-${i}` })), '400 missing_user');
    assert.equal(said(await office.ask({ path: PRD, user: 'user-1' })), '400 missing_user');
    assert.equal(said(await office.ask({ method: 'DELETE', path: PRD, user: 'user-1' })), '400 missing_user');
    assert.equal((await office.ask({ method: 'POST', path: PRD, user: 'user-1' })).status, 400);
    assert.deepEqual(await office.taken(), []);
  });

  test('a guest has one seat, at every server', async () => {
    const [first, last] = [office.servers[0], office.servers.at(-1)];
    const from = () => ({ 'X-Forwarded-For': anotherAddress() });
    const alice = await guest(first, from()), bob = await guest(last, from());
    assert.notEqual(alice.id, bob.id);
    const seats = [];
    for (const { id, headers } of [alice, bob]) {
      const claimed = await claim(last, { ...headers, 'X-User-Id': 'somebody-else' });
      assert.equal(claimed.status, 200, claimed.text);
      assert.equal(claimed.json.reserved_by, id);
      seats.push(claimed.json.seat_id);
      assert.equal(said(await claim(first, headers)), '409 already_reserved');
      assert.equal((await ask(first, { path: PRD, headers })).json.seat_id, claimed.json.seat_id);
    }
    assert.notEqual(seats[0], seats[1]);
    assert.equal((await ask(first, { method: 'DELETE', path: PRD, headers: alice.headers })).status, 200);
    assert.equal(said(await ask(last, { method: 'DELETE', path: PRD, headers: alice.headers })), '409 not_reserved');
  });

  test('the gateway may name the user, and nobody may name a guest', async () => {
    const vouched = { 'X-Gateway-Token': GATEWAY_TOKEN };
    assert.equal(said(await office.ask({ method: 'POST', path: FCFS, user: 'u', headers: { 'X-Gateway-Token': `${GATEWAY_TOKEN}!` } })), '400 missing_user');
    const claimed = await office.ask({ method: 'POST', path: FCFS, user: 'vouched', headers: vouched });
    assert.equal(claimed.json.reserved_by, 'vouched', claimed.text);
    assert.equal((await office.ask({ path: PRD, user: 'vouched', headers: vouched })).json.seat_id, claimed.json.seat_id);
    const { id } = await guest(office.servers[0]);
    assert.equal(said(await office.ask({ path: PRD, user: id, headers: vouched })), '400 missing_user');
    assert.equal(said(await office.ask({ path: PRD, headers: bearer(accessToken(id)) })), '400 missing_user');
  });
}));

describe('one connection on a public bind', () => {
  let server;
  before(async () => {
    server = await startServer({ ...PUBLIC, FCFS_SEATS: '9', RATE_LIMIT_GUESTS: '5' });
  });
  after(() => server.stop());

  test('takes no seat with names, and no more than it is given guests', async () => {
    for (let i = 0; i < 50; i++) assert.equal((await claim(server, { 'X-User-Id': `name-${i}` })).status, 400);
    const answers = [];
    for (let i = 0; i < 8; i++) answers.push(await newGuest(server));
    assert.deepEqual(answers.map(said), [...Array(5).fill('200'), ...Array(3).fill('429 rate_limited')]);
    assert.ok(Number(answers.at(-1).headers['retry-after']) >= 1);
    for (const answer of answers.slice(0, 5)) assert.equal((await claim(server, { ...OURS, ...cookieHeader(answer) })).status, 200);
    const seats = (await ask(server, { path: '/api/v1/seats' })).json.seats;
    assert.equal(seats.filter((seat) => seat.status).length, 5);

    const again = await newGuest(server, cookieHeader(answers[0]));
    assert.equal(again.json.guest.id, answers[0].json.guest.id, 'who has a cookie is no new guest');
  });

  test('is told so at start when the header is believed all the same', async () => {
    assert.doesNotMatch(server.output, /FCFS_TRUST_USER_HEADER/);
    const open = await startServer({ BIND_ADDRESS: '0.0.0.0', FCFS_TRUST_USER_HEADER: 'true' });
    assert.match(open.output, /"level":"warn".*FCFS_TRUST_USER_HEADER/);
    assert.equal((await claim(open, { 'X-User-Id': 'alice' })).status, 200);
    await open.stop();
    const local = await startServer({ FCFS_TRUST_USER_HEADER: '1' });
    assert.doesNotMatch(local.output, /FCFS_TRUST_USER_HEADER/);
    await local.stop();
  });
});

describe('on a loopback bind', () => {
  let server;
  before(async () => {
    server = await startServer({ BIND_ADDRESS: undefined, JWT_SECRET, FCFS_SEATS: '20' });
  });
  after(() => server.stop());

  test('the header names the user', async () => {
    const claimed = await claim(server, { 'X-User-Id': 'alice' });
    assert.deepEqual([claimed.status, claimed.json.reserved_by], [200, 'alice']);
    assert.equal((await claim(server, { 'X-User-Id': 'x', ...bearer(accessToken('bob')) })).json.reserved_by, 'bob');
  });

  test('but not of those whom a proxy on this machine brings, nor a page that calls this machine by its own name', async () => {
    for (const headers of [
      { 'X-Forwarded-For': '203.0.113.5' }, { Forwarded: 'for=203.0.113.5' }, { Via: '1.1 proxy' }, { 'X-Real-IP': '203.0.113.5' },
      { 'X-Forwarded-Proto': 'https' }, { 'X-Forwarded-Host': 'tickets.example.org' },
      { Host: 'tickets.example.org' }, { Host: 'localhost.example.org' }, { Host: '127.0.0.1.example.org' },
    ]) assert.equal(said(await claim(server, { 'X-User-Id': 'mallory', ...headers })), '400 missing_user', JSON.stringify(headers));
    for (const host of ['localhost', 'localhost:5800', '127.0.0.1', '127.9.9.9:80', '[::1]:5800', '[::1]', 'LocalHost'])
      assert.equal((await ask(server, { path: PRD, headers: { Host: host, 'X-User-Id': 'alice' } })).json.reserved_by, 'alice', host);
  });

  test('not of those whom a proxy may have brought without a word, where there are proxies', async () => {
    const office = await openEmbedded({ FCFS_TRUST_USER_HEADER: 'auto' }); // TRUSTED_PROXIES is set
    assert.equal(said(await claim(office.servers[0], { 'X-User-Id': 'alice' })), '400 missing_user');
  });

  test('FCFS_TRUST_USER_HEADER=0 believes nobody, nor the gateway', async () => {
    const strict = await startServer({ FCFS_TRUST_USER_HEADER: '0', GATEWAY_TOKEN });
    assert.equal(said(await claim(strict, { 'X-User-Id': 'alice' })), '400 missing_user');
    assert.equal(said(await claim(strict, { 'X-User-Id': 'alice', 'X-Gateway-Token': GATEWAY_TOKEN })), '400 missing_user');
    assert.equal((await claim(strict, (await guest(strict)).headers)).status, 200);
    await strict.stop();
  });
});

describe('a guest', () => {
  let server;
  before(async () => {
    server = await startServer({ ...BEHIND_PROXY, JWT_SECRET, PII_HASH_KEY, FCFS_SEATS: '20' });
  });
  after(() => server.stop());

  test('has a cookie that no script reads, for long', async () => {
    const answer = await newGuest(server);
    const cookie = cookiesOf(answer).guest;
    assert.equal(cookie.httponly, true);
    assert.equal(cookie.samesite, 'Lax');
    assert.equal(cookie.path, '/');
    assert.equal(cookie.secure, undefined);
    assert.ok(Number(cookie['max-age']) >= 180 * 24 * 3600);
    assert.equal(answer.headers['cache-control'], 'no-store');
    assert.match(answer.json.guest.id, /^guest:[\w-]{22}$/);
    const overTls = await newGuest(server, { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '10.0.0.9' });
    assert.equal(cookiesOf(overTls).guest.secure, true);
  });

  test('cannot be made up', async () => {
    const { value } = cookiesOf(await newGuest(server)).guest;
    const other = cookiesOf(await newGuest(server)).guest.value;
    const [version, id, signature] = value.split('.');
    const changed = (text) => text.slice(0, -2) + (text.endsWith('AA') ? 'BB' : 'AA');
    for (const bad of [
      '', 'x', id, `${id}.${signature}`, `${version}.${id}`, `${version}.${id}.`, `2.${id}.${signature}`, `${version}.${changed(id)}.${signature}`,
      `${version}.${id}.${changed(signature)}`, `${version}.${other.split('.')[1]}.${signature}`, `${value}.`, `${value}A`, ` ${value.slice(1)}`,
      `${version}.${id}.${signature}.${signature}`, 'a'.repeat(value.length),
    ]) assert.equal(said(await claim(server, { ...OURS, Cookie: `guest=${bad}` })), '400 missing_user', bad);
    assert.equal((await claim(server, { ...OURS, Cookie: `guest=${value}` })).status, 200);
  });

  test('is known after a restart', async () => {
    const { id, headers } = await guest(server);
    await server.stop();
    await server.start();
    assert.equal((await claim(server, headers)).json.reserved_by, id);
  });

  test('is not for other sites’ pages to use, nor to replace', async () => {
    const { headers: { Cookie } } = await guest(server);
    for (const from of [{}, { Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }]) {
      assert.equal(said(await claim(server, { Cookie, ...from })), '403 csrf');
      assert.equal(said(await ask(server, { method: 'DELETE', path: PRD, headers: { Cookie, ...from } })), '403 csrf');
    }
    // A browser sends no SameSite cookie with a form of another site, but would take one from the answer.
    for (const from of [{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }]) {
      const answer = await ask(server, { method: 'POST', path: GUEST, headers: from });
      assert.equal(said(answer), '403 csrf');
      assert.equal(answer.headers['set-cookie'], undefined);
    }
    assert.equal((await claim(server, { Cookie, Origin: server.url })).status, 200);
  });

  test('who has an account is never taken for one, also when the token has expired', async () => {
    const { id, headers } = await guest(server);
    const { user, refreshToken, headers: signedIn } = await somebody(server);
    assert.equal((await claim(server, { ...headers, ...signedIn })).json.reserved_by, user.id);
    for (const stale of [bearer('expired'), { Cookie: `${headers.Cookie}; access_token=expired` }, { Cookie: `${headers.Cookie}; refresh_token=${refreshToken}` }])
      assert.equal(said(await ask(server, { path: PRD, headers: { ...headers, ...stale } })), '400 missing_user', JSON.stringify(stale));
    assert.equal((await newGuest(server, { ...signedIn, Cookie: headers.Cookie })).json.guest.id, id, 'and finds the guest again after signing out');
  });

  test('is nobody where only people with accounts may buy', async () => {
    const { Cookie } = (await guest(server)).headers;
    const closed = await startServer({ ...PUBLIC, JWT_SECRET, PII_HASH_KEY, FCFS_GUESTS: '0' });
    const refused = await newGuest(closed);
    assert.equal(said(refused), '401 unauthorized');
    assert.equal(refused.headers['set-cookie'], undefined);
    for (const headers of [{}, { 'X-User-Id': 'alice' }, { ...OURS, Cookie }]) assert.equal(said(await claim(closed, headers)), '401 unauthorized');
    assert.equal((await claim(closed, bearer(accessToken('alice')))).status, 200);
    await closed.stop();
  });

  test('has nothing of an account', async () => {
    const { headers } = await guest(server);
    assert.equal((await ask(server, { path: '/api/v1/users/me', headers })).status, 401);
    assert.equal((await send(server, 'POST', '/api/v1/seats/reset', { seatCount: 1 }, headers)).status, 403);
    assert.equal((await ask(server, { path: '/api/v1/admin/overview', headers: { 'X-Admin-Token': ADMIN_TOKEN } })).status, 200);
  });
});
