// Sessions: how they begin, go on and end, by token and by cookie, on one server and on several.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { ACCOUNT_SETTINGS, AUTH, ME, PASSWORD, accountRows, anotherEmail, bearer, cookieHeader, cookiesOf, letUsedTokensAge, login, register, send, somebody } from './accounts.mjs';
import { inBothWays, openFleet } from './box_office.mjs';
import { sleep } from './client.mjs';
import { eventually, startServer } from './support.mjs';

const REFRESH = `${AUTH}/refresh`;
const reasonOf = ({ status, text }) => `${status} ${text ? JSON.parse(text).reason ?? '' : ''}`.trim();
const claimsOf = (token) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url'));

inBothWays((way) => {
  describe(`sessions, ${way.name}`, () => {
    let office, server, other;
    before(async () => {
      office = await way.open(ACCOUNT_SETTINGS);
      [server, other = server] = office.servers;
    });

    const refresh = (refreshToken, to = server) => send(to, 'POST', REFRESH, { refreshToken });
    const me = (accessToken, to = server) => send(to, 'GET', ME, undefined, bearer(accessToken)).then(({ status }) => status);
    /** A server learns from another within a moment that a token was taken back. */
    const refusedEverywhere = (accessToken) => eventually('the token is refused everywhere', async () =>
      (await Promise.all(office.servers.map((one) => me(accessToken, one)))).every((status) => status === 401), 5);

    test('signing in gives tokens, cookies and the user', async () => {
      const { json: { user } } = await register(server);
      const answer = await login(server, user.email);
      const { accessToken, refreshToken, expiresIn, tokenType, user: same } = answer.json;
      assert.deepEqual([answer.status, expiresIn, tokenType, same.id, answer.headers['cache-control']], [200, 3600, 'Bearer', user.id, 'no-store']);
      const { sub, role, exp, iat, jti, fam } = claimsOf(accessToken);
      assert.deepEqual([sub, role, exp - iat], [user.id, 'USER', 3600]);
      assert.ok(jti && fam);
      const { access_token: access, refresh_token: stored } = cookiesOf(answer);
      assert.deepEqual(access, { value: accessToken, path: '/', 'max-age': '3600', httponly: true, samesite: 'Lax' });
      assert.deepEqual(stored, { value: refreshToken, path: '/api', 'max-age': '604800', httponly: true, samesite: 'Lax' });
      assert.equal((await send(other, 'GET', ME, undefined, cookieHeader(answer))).status, 200, 'cookies do as well');
    });

    test('every sign-in is a session of its own, whatever the client brings along', async () => {
      const victim = await somebody(server);
      const planted = { Cookie: `access_token=${victim.accessToken}; refresh_token=${victim.refreshToken}`, ...bearer(victim.accessToken) };
      const answer = await login(server, victim.email, PASSWORD, { ...planted, 'Sec-Fetch-Site': 'same-origin' });
      assert.equal(answer.status, 200, answer.text);
      const [old, fresh] = [victim.accessToken, answer.json.accessToken].map(claimsOf);
      assert.notEqual(old.fam, fresh.fam);
      assert.notEqual(old.jti, fresh.jti);
      assert.notEqual(victim.refreshToken, answer.json.refreshToken);
    });

    test('a refresh token works once, and gives the next', async () => {
      let { refreshToken, accessToken, user } = await somebody(server);
      const family = claimsOf(accessToken).fam;
      for (let i = 0; i < 4; i++) {
        const { status, json } = await refresh(refreshToken, [server, other][i % 2]);
        assert.equal(status, 200, JSON.stringify(json));
        assert.notEqual(json.refreshToken, refreshToken);
        assert.deepEqual([claimsOf(json.accessToken).fam, json.user.id], [family, user.id]);
        ({ refreshToken } = json);
      }
      assert.equal(await me(accessToken), 200, 'the first access token is good until it expires');
    });

    test('a refresh whose answer was lost is given again, by any server, also by one that has started anew', async () => {
      const { refreshToken, accessToken } = await somebody(server);
      const lost = (await refresh(refreshToken)).json;
      if (office.file) await office.close();
      await office.addServer(); // beside the others, or instead of the only one
      [server, other = server] = office.servers;
      for (const one of office.servers) {
        const again = await refresh(refreshToken, one);
        assert.equal(again.status, 200, again.text);
        assert.deepEqual([again.json.refreshToken, again.json.accessToken], [lost.refreshToken, lost.accessToken]);
        assert.equal(cookiesOf(again).refresh_token.value, lost.refreshToken);
      }
      assert.equal(await me(accessToken), 200);
      const rows = await accountRows(office, `SELECT count(*) AS n FROM refresh_tokens WHERE session_id = '${claimsOf(accessToken).fam}'`);
      assert.equal(Number(rows[0].n), 2, 'asking again makes nothing new');
      assert.equal((await refresh(lost.refreshToken)).status, 200, 'and the session goes on');
    });

    test('of many who come at once with one token, all get the same', async () => {
      for (let round = 0; round < 3; round++) {
        const { refreshToken } = await somebody(server);
        const answers = await Promise.all(Array.from({ length: 16 }, (_, i) => refresh(refreshToken, office.servers[i % office.servers.length])));
        assert.deepEqual([...new Set(answers.map(reasonOf))], ['200']);
        const tokens = new Set(answers.map(({ json }) => `${json.refreshToken} ${json.accessToken}`));
        assert.equal(tokens.size, 1);
        assert.equal((await refresh(answers[0].json.refreshToken)).status, 200);
      }
    });

    test('a token that comes again after half a minute ends the session for both who have it', async () => {
      const { refreshToken, accessToken } = await somebody(server);
      const { json: thief } = await refresh(refreshToken);
      await letUsedTokensAge(office, 31);
      assert.equal(reasonOf(await refresh(refreshToken, other)), '401 token_reused');
      assert.equal(reasonOf(await refresh(refreshToken, other)), '401 unauthorized');
      assert.equal(reasonOf(await refresh(thief.refreshToken)), '401 unauthorized');
      await refusedEverywhere(thief.accessToken);
      await refusedEverywhere(accessToken);
    });

    test('a token that comes again after its successor was used ends the session, however soon', async () => {
      const { refreshToken } = await somebody(server);
      const { json: second } = await refresh(refreshToken);
      const { json: third } = await refresh(second.refreshToken, other);
      assert.equal(reasonOf(await refresh(refreshToken)), '401 token_reused');
      assert.equal(reasonOf(await refresh(third.refreshToken)), '401 unauthorized');
      await refusedEverywhere(third.accessToken);
    });

    test('a session that was ended is not given again', async () => {
      const { refreshToken } = await somebody(server);
      const { json } = await refresh(refreshToken);
      assert.equal((await send(other, 'POST', `${AUTH}/logout`, undefined, bearer(json.accessToken))).status, 204);
      assert.equal(reasonOf(await refresh(refreshToken)), '401 unauthorized');
    });

    test('tokens that are none are refused, and cookies cleared', async () => {
      for (const token of ['nonsense', 'a'.repeat(43), 'x'.repeat(4096)]) assert.equal(reasonOf(await refresh(token)), '401 unauthorized');
      const answer = await send(server, 'POST', REFRESH, undefined, { Cookie: 'refresh_token=nonsense', 'Sec-Fetch-Site': 'same-origin' });
      assert.equal(reasonOf(answer), '401 unauthorized');
      assert.deepEqual(Object.values(cookiesOf(answer)).map((cookie) => cookie['max-age']), ['0', '0']);
      assert.equal(reasonOf(await send(server, 'POST', REFRESH)), '401 unauthorized');
    });

    test('a browser refreshes and signs out by its cookies', async () => {
      const { json: { user } } = await register(server);
      const first = await login(server, user.email);
      const page = { 'Sec-Fetch-Site': 'same-origin' };
      const second = await send(server, 'POST', REFRESH, undefined, { ...cookieHeader(first), ...page });
      assert.equal(second.status, 200, second.text);
      const out = await send(other, 'POST', `${AUTH}/logout`, undefined, { ...cookieHeader(second), ...page });
      assert.equal(out.status, 204);
      assert.deepEqual(Object.entries(cookiesOf(out)).map(([name, { value, path, 'max-age': age }]) => [name, value, path, age]),
        [['access_token', '', '/', '0'], ['refresh_token', '', '/api', '0']]);
      await refusedEverywhere(second.json.accessToken);
      await refusedEverywhere(first.json.accessToken);
      assert.equal((await refresh(second.json.refreshToken)).status, 401);
    });

    test('signing out ends this session only, also when just the refresh token is left', async () => {
      const { email, ...here } = await somebody(server);
      const there = (await login(server, email)).json;
      assert.equal((await send(server, 'POST', `${AUTH}/logout`, undefined, here.headers)).status, 204);
      assert.deepEqual([await me(here.accessToken), await me(there.accessToken)], [401, 200]);
      assert.equal((await send(server, 'POST', `${AUTH}/logout`, { refreshToken: there.refreshToken })).status, 204);
      assert.equal(await me(there.accessToken), 401);
      assert.equal((await send(server, 'POST', `${AUTH}/logout`, { refreshToken: there.refreshToken })).status, 204, 'again is fine');
    });

    test('sessions are listed, ended one by one, and all at once', async () => {
      const person = await somebody(server);
      const stranger = await somebody(server);
      const phone = (await login(other, person.email, PASSWORD, { 'User-Agent': 'A phone', 'X-Forwarded-For': '203.0.113.9' })).json;
      const list = async (headers = person.headers) => (await send(server, 'GET', `${ME}/sessions`, undefined, headers)).json.sessions;
      const sessions = await list();
      assert.deepEqual(sessions.map(({ current, userAgent, ip, method }) => [current, userAgent, ip, method]),
        [[false, 'A phone', '203.0.113.9', 'EMAIL'], [true, '', '127.0.0.1', 'EMAIL']]);
      const end = (id, headers) => send(server, 'DELETE', `${ME}/sessions/${id}`, undefined, headers).then(({ status }) => status);
      assert.equal(await end(sessions[0].id, stranger.headers), 404, 'not somebody else’s');
      assert.equal(await me(phone.accessToken), 200);
      assert.equal(await end(sessions[0].id, person.headers), 204);
      assert.equal(await end(sessions[0].id, person.headers), 404);
      await refusedEverywhere(phone.accessToken);
      assert.equal((await list()).length, 1);

      const third = (await login(other, person.email)).json;
      assert.equal((await send(server, 'DELETE', `${ME}/sessions`, undefined, person.headers)).status, 204);
      for (const token of [third.accessToken, person.accessToken]) await refusedEverywhere(token);
      assert.equal((await refresh(third.refreshToken)).status, 401);
      assert.equal(await me(stranger.accessToken), 200);
    });

    test('a token can be verified by whoever was handed it', async () => {
      const { accessToken, headers, user } = await somebody(server);
      const verify = (body, more) => send(other, 'POST', `${AUTH}/verify-token`, body, more).then(({ json: { valid, user: found } }) => [valid, found?.id]);
      assert.deepEqual(await verify({ token: accessToken }), [true, user.id]);
      assert.deepEqual(await verify(undefined, headers), [true, user.id]);
      assert.deepEqual(await verify(), [false, undefined]);
      assert.deepEqual(await verify({ token: `${accessToken}x` }, headers), [false, undefined]);
      await send(server, 'POST', `${AUTH}/logout`, undefined, headers);
      await refusedEverywhere(accessToken);
      assert.deepEqual(await verify({ token: accessToken }), [false, undefined]);
    });

    test('long and broken user agents are cut', async () => {
      const { json: { user: { email } } } = await register(server);
      const { json } = await login(server, email, PASSWORD, { 'User-Agent': `${'a'.repeat(255)}é` });
      assert.equal(json.success, true);
      const [{ userAgent }] = (await send(server, 'GET', `${ME}/sessions`, undefined, bearer(json.accessToken))).json.sessions;
      assert.ok(userAgent.length <= 256);
    });
  });
});

describe('short lives', () => {
  test('access and refresh tokens expire, and what has expired is dropped', async () => {
    const server = await startServer({ ...ACCOUNT_SETTINGS, JWT_ACCESS_TTL: '1', JWT_REFRESH_TTL: '2' });
    const { accessToken, refreshToken, expiresIn } = await somebody(server);
    assert.equal(expiresIn, 1);
    await sleep(1100);
    assert.equal((await send(server, 'GET', ME, undefined, bearer(accessToken))).status, 401);
    await sleep(1100);
    assert.equal(reasonOf(await send(server, 'POST', REFRESH, { refreshToken })), '401 unauthorized');
    const office = { file: `${server.settings.DATA_DIR}/reservation_service.db` };
    await eventually('the session is dropped', async () => (await accountRows(office, 'SELECT id FROM sessions')).length === 0);
    assert.deepEqual(await accountRows(office, 'SELECT token_hash FROM refresh_tokens'), []);
    await server.stop();
  });
});

describe('cookies behind TLS', () => {
  const PROXY = { TRUSTED_PROXIES: '127.0.0.1' };
  const rows = [
    [{ ...PROXY }, { 'X-Forwarded-Proto': 'https' }, true],
    [{ ...PROXY }, { 'X-Forwarded-Proto': 'http' }, false],
    [{ ...PROXY }, {}, false],
    [{}, { 'X-Forwarded-Proto': 'https' }, false], // said by nobody whom we trust
    [{ COOKIE_SECURE: 'always' }, {}, true],
    [{ ...PROXY, COOKIE_SECURE: 'never' }, { 'X-Forwarded-Proto': 'https' }, false],
  ];
  test('are Secure when the sign-in came over TLS, or as the setting says', async () => {
    for (const [settings, headers, secure] of rows) {
      const server = await startServer({ ...ACCOUNT_SETTINGS, ...settings });
      const email = anotherEmail();
      await register(server, { email });
      const answer = await login(server, email, PASSWORD, headers);
      assert.deepEqual(Object.values(cookiesOf(answer)).map((cookie) => cookie.secure ?? false), [secure, secure], JSON.stringify([settings, headers]));
      await server.stop();
    }
  });
});

describe('a fleet without a key', () => {
  test('has nobody signed in, and says so', async () => {
    const office = await openFleet({}, { servers: 1 });
    const answer = await login(office.servers[0], anotherEmail());
    assert.equal(reasonOf(answer), '503 service_unavailable');
    assert.match(answer.json.message, /JWT_SECRET/);
  });
});
