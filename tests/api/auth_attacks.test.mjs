// What attackers of accounts try beside guessing (auth_guessing.test.mjs): finding out who has one, planting a session,
// acting through a victim's browser, reading cookies on the way.
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ACCOUNT_SETTINGS, AUTH, Issuer, ME, PASSWORD, anotherEmail, bearer, cookieHeader, cookiesOf, login, register, send, somebody } from './accounts.mjs';
import { inBothWays } from './box_office.mjs';
import { TICKETTOCK, startServer } from './support.mjs';

const WRONG = 'not the password';
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const reasonOf = ({ status, text }) => `${status} ${text ? JSON.parse(text).reason ?? '' : ''}`.trim();

/** Milliseconds of a processor that a server has used, which other programs' load does not change much. */
function workOf({ pid }) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop().split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** What somebody can see of an answer, but for what differs each time. */
function visible({ status, headers, json }) {
  const { traceId, ...body } = json;
  return { status, headers: Object.keys(headers).sort(), body };
}

inBothWays((way) => describe(`${way.name}: attacks on accounts`, () => {
  let issuer, office, server, other;
  before(async () => {
    issuer = await new Issuer().start();
    office = await way.open({ ...ACCOUNT_SETTINGS, ...issuer.settings });
    [server, other = server] = office.servers;
  });

  const withGoogle = async (claims = issuer.claims()) =>
    (await send(server, 'POST', `${AUTH}/google`, { credential: issuer.token(claims) }, issuer.asked)).json;

  describe('finding out who has an account', () => {
    const ATTEMPTS = 4; // as many as are not throttled
    const PEOPLE = way.name === 'embedded' ? 4 : 2;
    const kinds = {
      'wrong password': async () => (await register(server)).json.user.email,
      'nobody': () => anotherEmail('nobody'),
      'Google only': async () => (await withGoogle()).user.email,
      'erased': async () => {
        const { email, headers } = await somebody(server);
        assert.equal((await send(server, 'DELETE', ME, { password: PASSWORD }, headers)).status, 204);
        return email;
      },
    };

    test('the answers tell nothing, and neither does their time', async () => {
      const seen = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, { times: [], work: 0 }]));
      let first;
      for (let person = 0; person < PEOPLE; person++) {
        const emails = {};
        for (const kind of Object.keys(kinds)) emails[kind] = await kinds[kind]();
        for (let attempt = 0; attempt < ATTEMPTS; attempt++)
          for (const [kind, { times }] of Object.entries(seen)) {
            const before = workOf(server);
            const answer = await login(server, emails[kind], WRONG);
            seen[kind].work += workOf(server) - before;
            first ??= visible(answer);
            assert.equal(reasonOf(answer), '401 invalid_credentials');
            assert.deepEqual(visible(answer), first, kind);
            times.push(answer.milliseconds);
          }
      }
      // They took turns, so whatever else the machine does slowed all of them alike. Comparing a hash is nearly all of the
      // work: without it a tenth would be left.
      const figures = Object.entries(seen).map(([kind, { times, work }]) => ({ kind, time: median(times), work }));
      const real = figures.find(({ kind }) => kind === 'wrong password');
      for (const { time, work } of figures) {
        assert.ok(work > 0.7 * real.work && work < 1.4 * real.work, `the work differs: ${JSON.stringify(figures)}`);
        assert.ok(time > 0.4 * real.time && time < 2.5 * real.time, `the time differs: ${JSON.stringify(figures)}`);
      }
      assert.ok(real.work > 15 * ATTEMPTS * PEOPLE, `a password was compared: ${JSON.stringify(figures)}`);
    });

    test('a refresh token that is no good tells nothing about its owner', async () => {
      const refresh = async (refreshToken) => visible(await send(server, 'POST', `${AUTH}/refresh`, { refreshToken }));
      const signedOut = await somebody(server), erased = await somebody(server);
      await send(server, 'POST', `${AUTH}/logout`, undefined, signedOut.headers);
      await send(server, 'DELETE', ME, { password: PASSWORD }, erased.headers);
      const unknown = await refresh('A'.repeat(43));
      assert.equal(unknown.status, 401);
      for (const { refreshToken } of [signedOut, erased]) assert.deepEqual(await refresh(refreshToken), unknown);
      assert.deepEqual(await refresh('x'), unknown);
    });
  });

  test('guessing a password locks nobody else out', async () => {
    const victim = await somebody(server), neighbour = await somebody(server);
    for (let i = 0; i < 5; i++) assert.equal((await login(i % 2 ? other : server, victim.email, WRONG)).status, 401);
    for (const one of office.servers) {
      const answer = await login(one, ` ${victim.email.toUpperCase()} `);
      assert.equal(reasonOf(answer), '429 too_many_logins', 'another spelling is the same account');
      assert.deepEqual(cookiesOf(answer), {});
      assert.equal((await login(one, neighbour.email)).status, 200, 'another account, from the same address');
    }
    assert.equal((await send(server, 'GET', ME, undefined, victim.headers)).status, 200, 'who is signed in stays so');
  });

  describe('planting a session', () => {
    const HOME = () => ({ Origin: server.url });
    const userOf = async (answer) => (await send(server, 'GET', `${AUTH}/me`, undefined, cookieHeader(answer))).json.user.id;

    test('a sign-in keeps nothing that the browser brought', async () => {
      const attacker = await somebody(server), victim = await somebody(server);
      const planted = { Cookie: `access_token=${attacker.accessToken}; refresh_token=${attacker.refreshToken}`, ...HOME() };
      const ways = {
        password: () => login(server, victim.email, PASSWORD, planted),
        google: () => send(server, 'POST', `${AUTH}/google`, { credential: issuer.token() }, { ...planted, Cookie: `${planted.Cookie}; ${issuer.asked.Cookie}` }),
      };
      for (const [what, signIn] of Object.entries(ways)) {
        const answer = await signIn();
        assert.equal(answer.status, 200, what);
        const cookies = cookiesOf(answer), { user, accessToken, refreshToken } = answer.json;
        assert.deepEqual([cookies.access_token.value, cookies.refresh_token.value], [accessToken, refreshToken]);
        assert.notEqual(accessToken, attacker.accessToken);
        assert.notEqual(refreshToken, attacker.refreshToken);
        assert.equal(await userOf(answer), user.id);
      }
      const { json } = await send(server, 'POST', `${AUTH}/refresh`, { refreshToken: attacker.refreshToken });
      assert.equal(json.user.id, attacker.user.id, 'the planted session is still the attacker’s');
    });

    test('a token of the attacker’s choice never becomes one', async () => {
      const victim = await somebody(server);
      const chosen = 'A'.repeat(43);
      const answer = await login(server, victim.email, PASSWORD, { Cookie: `refresh_token=${chosen}; access_token=${chosen}`, ...HOME() });
      assert.equal(answer.status, 200);
      assert.equal((await send(server, 'POST', `${AUTH}/refresh`, { refreshToken: chosen })).status, 401);
    });
  });
}));

describe('acting through a victim’s browser', () => {
  const routes = JSON.parse(execFileSync(TICKETTOCK, ['routes', '--json']));
  const changing = routes.filter(({ method, access }) => method !== 'GET' && access !== 'internal');
  let server, victim, own; // whose account some of these erase
  before(async () => {
    server = await startServer(ACCOUNT_SETTINGS);
    [victim, own] = [await somebody(server), await somebody(server)];
  });
  after(() => server.stop());

  const elsewhere = {
    'no word about where it comes from': {},
    'another origin': { Origin: 'https://evil.example' },
    'a sandboxed page': { Origin: 'null' },
    'another scheme’s page with our name inside': () => ({ Origin: `https://127.0.0.1.evil.example:${server.port}` }),
    'another port': () => ({ Origin: `http://127.0.0.1:${Number(server.port) + 1}` }),
    'another site': { 'Sec-Fetch-Site': 'cross-site' },
    'a sibling of our site': { 'Sec-Fetch-Site': 'same-site' },
    'two words that disagree': () => ({ 'Sec-Fetch-Site': 'cross-site', Origin: server.url }),
  };
  const cookies = ({ accessToken, refreshToken }) => ({
    'the access token': `access_token=${accessToken}`, 'the refresh token': `refresh_token=${refreshToken}`,
    'both': `theme=dark; access_token=${accessToken}; refresh_token=${refreshToken}`,
  });
  const tell = async ({ method, path, bodyLimit }, headers) => {
    const body = bodyLimit ? {} : undefined;
    return reasonOf(await send(server, method, path.replace(/\{.*?\}/, 'any'), body, headers));
  };

  test('there is something to protect', () => assert.ok(changing.length >= 15));

  for (const route of changing)
    test(`${route.method} ${route.path}`, async () => {
      for (const [where, headers] of Object.entries(elsewhere))
        for (const [which, Cookie] of Object.entries(cookies(victim)))
          assert.equal(await tell(route, { Cookie, ...(typeof headers === 'function' ? headers() : headers) }), '403 csrf', `${where}, ${which}`);
      for (const headers of [{ Origin: server.url }, { 'Sec-Fetch-Site': 'same-origin' }])
        for (const Cookie of Object.values(cookies(own)))
          assert.notEqual(await tell(route, { Cookie, ...headers }), '403 csrf', 'our own page');
      assert.notEqual(await tell(route, { ...bearer('any'), Cookie: 'theme=dark' }), '403 csrf', 'a program without our cookies');
    });

  test('nothing has happened to the victim', async () => {
    const { status, json } = await send(server, 'GET', `${ME}/sessions`, undefined, victim.headers);
    assert.deepEqual([status, json.sessions.length], [200, 1]);
    assert.equal((await send(server, 'POST', `${AUTH}/refresh`, { refreshToken: victim.refreshToken })).status, 200);
  });
});

test('behind TLS, cookies are for TLS: when they are set, renewed and taken away', async () => {
  const server = await startServer({ ...ACCOUNT_SETTINGS, TRUSTED_PROXIES: '127.0.0.1' });
  const { json: { user: { email } } } = await register(server);
  for (const [protocol, secure] of [['https', { secure: true }], ['http', {}]]) {
    const from = { 'X-Forwarded-Proto': protocol, 'Sec-Fetch-Site': 'same-origin' };
    const signedIn = await login(server, email, PASSWORD, from);
    const renewed = await send(server, 'POST', `${AUTH}/refresh`, undefined, { ...from, ...cookieHeader(signedIn) });
    const signedOut = await send(server, 'POST', `${AUTH}/logout`, undefined, { ...from, ...cookieHeader(renewed) });
    assert.deepEqual([signedIn.status, renewed.status, signedOut.status], [200, 200, 204]);
    for (const answer of [signedIn, renewed, signedOut])
      for (const [name, path] of [['access_token', '/'], ['refresh_token', '/api']]) {
        const { value, 'max-age': age, ...attributes } = cookiesOf(answer)[name];
        assert.deepEqual(attributes, { path, httponly: true, samesite: 'Lax', ...secure }, name);
        assert.equal(Boolean(value) && Number(age) > 0, answer !== signedOut);
      }
  }
  await server.stop();
});
