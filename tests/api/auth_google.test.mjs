// Signing in with Google: its part is played by an issuer of ours that signs real tokens, and by some who forge them.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { ACCOUNT_SETTINGS, AUTH, CLIENT_ID, Issuer, ME, PASSWORD, accountRows, bearer, cookiesOf, login, nonceOf, register, send, somebody } from './accounts.mjs';
import { inBothWays, openEmbedded } from './box_office.mjs';
import { sleep } from './client.mjs';
import { eventually } from './support.mjs';

const MIN_INTERVAL_MS = 5000; // between two looks at the issuer's keys
const reasonOf = ({ status, text }) => `${status} ${text ? JSON.parse(text).reason ?? '' : ''}`.trim();

const comeWith = (headers) => (server, credential) => send(server, 'POST', `${AUTH}/google`, { credential }, headers);

inBothWays((way) => {
  describe(`with Google, ${way.name}`, () => {
    let issuer, office, server, other, come;
    before(async () => {
      issuer = await new Issuer().start();
      come = comeWith(issuer.asked);
      office = await way.open({ ...ACCOUNT_SETTINGS, ...issuer.settings });
      [server, other = server] = office.servers;
    });

    test('the first time makes an account, the next ones find it by Google’s number', async () => {
      const claims = issuer.claims({ name: 'Gil Dong 길동' });
      const first = await come(server, issuer.token(claims));
      assert.equal(first.status, 200, first.text);
      const { user } = first.json;
      assert.deepEqual([user.email, user.name, user.hasGoogle, user.hasPassword, user.role], [claims.email, 'Gil Dong 길동', true, false, 'USER']);
      assert.deepEqual(Object.keys(cookiesOf(first)).sort(), ['access_token', 'google_nonce', 'refresh_token']);
      const again = await come(other, issuer.token({ ...claims, email: 'another@example.com', name: 'Another' }));
      assert.deepEqual([again.json.user.id, again.json.user.email], [user.id, claims.email], 'the number counts, not the e-mail');
      assert.equal((await send(other, 'GET', ME, undefined, bearer(again.json.accessToken))).status, 200);
      const { json: { logins } } = await send(server, 'GET', `${ME}/logins`, undefined, bearer(again.json.accessToken));
      assert.deepEqual(logins.map(({ method, success }) => [method, success]), [['GOOGLE', true], ['GOOGLE', true]]);
      const [row] = await accountRows(office, `SELECT * FROM users WHERE id = '${user.id}'`);
      assert.ok(!JSON.stringify(row).includes(claims.sub) && !JSON.stringify(row).includes('Gil'));
    });

    test('a token answers the question of the browser that brings it', async () => {
      const asked = await send(server, 'POST', `${AUTH}/google/nonce`);
      const { google_nonce: { value, ...cookie } } = cookiesOf(asked), { nonce } = asked.json;
      assert.deepEqual(cookie, { path: '/api', 'max-age': '600', httponly: true, samesite: 'Lax' });
      assert.equal(asked.headers['cache-control'], 'no-store');
      assert.ok(!asked.text.includes(value) && nonce !== value, 'its secret half is in the cookie only');
      const another = await send(server, 'POST', `${AUTH}/google/nonce`);
      assert.notEqual(another.json.nonce, nonce);

      const token = (more) => issuer.token(issuer.claims({ nonce, ...more }));
      const by = (secret) => ({ Cookie: `google_nonce=${secret}` });
      for (const [what, credential, headers] of [
        ['no nonce', token({ nonce: undefined }), by(value)],
        ['an empty nonce', token({ nonce: '' }), by(value)],
        ['null', token({ nonce: null }), by(value)],
        ['a number', token({ nonce: 1 }), by(value)],
        ['another nonce', token({ nonce: nonce.replace(/./, (digit) => (digit === '0' ? '1' : '0')) }), by(value)],
        ['a part of it', token({ nonce: nonce.slice(1) }), by(value)],
        ['the secret', token({ nonce: value }), by(value)],
        ['no cookie', token(), {}],
        ['no cookie and no nonce', token({ nonce: undefined }), {}],
        ['an empty cookie', token({ nonce: nonceOf('') }), by('')],
        ['a short cookie', token({ nonce: nonceOf('guess') }), by('guess')],
        ['the cookie of another question', token(), by(cookiesOf(another).google_nonce.value)],
        ['the nonce as a cookie', token(), by(nonce)],
      ]) {
        const answer = await comeWith(headers)(server, credential);
        assert.equal(reasonOf(answer), '401 invalid_credentials', what);
        assert.deepEqual(cookiesOf(answer), {}, what);
      }
      const answer = await comeWith(by(value))(other, token());
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual([cookiesOf(answer).google_nonce.value, cookiesOf(answer).google_nonce['max-age']], ['', '0'], 'it is used up');
    });

    test('another site’s page gives a browser no question', async () => {
      const answer = await send(server, 'POST', `${AUTH}/google/nonce`, undefined, { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' });
      assert.deepEqual(cookiesOf(answer), {});
    });

    test('an account that never proved its e-mail gives way to whoever has it at Google', async () => {
      const squatter = await somebody(server, { name: 'Squatter', phone: '010-1234-5678' });
      const elsewhere = (await login(other, squatter.email)).json;
      const seat = await send(server, 'POST', '/api/v1/seats/reservation/fcfs', {}, squatter.headers);
      assert.equal(seat.status, 200, seat.text);
      for (let i = 0; i < 5; i++) await login(server, squatter.email, 'wrong'); // nobody is locked out of what was locked
      const claims = issuer.claims({ email: squatter.email, name: 'The Owner' });
      const { status, json: { user, accessToken } } = await come(server, issuer.token(claims));
      assert.equal(status, 200);
      assert.deepEqual([user.email, user.name, user.phone, user.hasGoogle, user.hasPassword], [squatter.email, 'The Owner', null, true, false]);
      assert.equal(user.id, squatter.user.id, 'what was sold to the account stays with it');

      for (const { accessToken: token, refreshToken } of [squatter, elsewhere]) {
        await eventually('the squatter is out everywhere', async () =>
          (await Promise.all(office.servers.map((one) => send(one, 'GET', ME, undefined, bearer(token))))).every((answer) => answer.status === 401));
        assert.equal((await send(other, 'POST', `${AUTH}/refresh`, { refreshToken })).status, 401);
      }
      const { json: { logins } } = await send(server, 'GET', `${ME}/logins`, undefined, bearer(accessToken));
      const { json: { sessions } } = await send(server, 'GET', `${ME}/sessions`, undefined, bearer(accessToken));
      assert.deepEqual([sessions.length, logins.filter(({ ip }) => ip !== '').length], [1, 1], 'nor does it tell from where the squatter came');
      assert.equal(reasonOf(await login(other, squatter.email)), '401 invalid_credentials');
      assert.equal((await come(other, issuer.token(claims))).json.user.id, user.id);
      assert.equal(reasonOf(await come(server, issuer.token(issuer.claims({ email: squatter.email })))), '409 email_taken', 'another number of Google’s');
    });

    test('of many who come at once for such an account, all of one person come in, and of two persons one', async () => {
      const { email } = await somebody(server);
      const numbers = ['1', '2'].map((end) => issuer.claims({ email, sub: `1176${Date.now()}${end}` }));
      const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => come(office.servers[i % office.servers.length], issuer.token(numbers[i >> 1 & 1]))));
      assert.deepEqual([...new Set(answers.map(reasonOf))].sort(), ['200', '409 email_taken']);
      assert.equal(answers.filter(({ status }) => status === 200).length, 6);
    });

    test('an account gives way to nobody that has a role, a verified identity, or the word of the operator', async () => {
      for (const proof of ["role = 'STAFF'", "role = 'ADMIN'", "ci_hash = 'of somebody'", 'email_verified_at = 1']) {
        const { email, user, headers } = await somebody(server);
        await accountRows(office, `UPDATE users SET ${proof} WHERE id = '${user.id}'`);
        assert.equal(reasonOf(await come(server, issuer.token(issuer.claims({ email })))), '409 email_taken', proof);
        assert.equal((await send(other, 'GET', ME, undefined, headers)).status, 200, proof);
        assert.equal((await login(other, email)).status, 200, proof);
      }
    });

    test('the e-mail of an account with Google is not to be had with a password', async () => {
      const claims = issuer.claims();
      await come(server, issuer.token(claims));
      assert.equal(reasonOf(await register(server, { email: claims.email })), '409 email_taken');
      assert.equal(reasonOf(await login(server, claims.email)), '401 invalid_credentials');
    });

    test('an account without a password is erased by somebody who has signed in a moment ago', async () => {
      const claims = issuer.claims();
      const { json: { accessToken, refreshToken, user } } = await come(server, issuer.token(claims));
      const age = (minutes) => accountRows(office, `UPDATE sessions SET created_at = ${Date.now() - minutes * 60_000} WHERE user_id = '${user.id}'`);
      const erase = async (token, body) => reasonOf(await send(other, 'DELETE', ME, body, bearer(token)));
      await age(5.1);
      assert.equal(await erase(accessToken), '403 signin_too_old');
      const { json: refreshed } = await send(server, 'POST', `${AUTH}/refresh`, { refreshToken });
      assert.equal(await erase(refreshed.accessToken), '403 signin_too_old', 'going on is no signing in');
      assert.equal(await erase(accessToken, { password: PASSWORD }), '409 no_password');
      const { json: again } = await come(server, issuer.token(claims));
      assert.equal(await erase(refreshed.accessToken), '403 signin_too_old', 'it counts for its own session');
      await age(4);
      assert.equal(await erase(again.accessToken, {}), '204');
      assert.notEqual((await come(server, issuer.token(claims))).json.user.id, user.id);
    });

    test('many at once for the first time are one account', async () => {
      const claims = issuer.claims();
      const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => come(office.servers[i % office.servers.length], issuer.token(claims))));
      assert.deepEqual([...new Set(answers.map(reasonOf))], ['200']);
      assert.equal(new Set(answers.map(({ json }) => json.user.id)).size, 1);
    });

    test('what Google did not sign for us, now, is refused', async () => {
      const stranger = { kid: issuer.keys[0].kid, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) };
      const now = Math.floor(Date.now() / 1000);
      const good = issuer.token();
      const [head, claims, signature] = good.split('.');
      const encode = (part) => Buffer.from(JSON.stringify(part)).toString('base64url');
      const hs256 = (key) => {
        const text = `${encode({ alg: 'HS256', typ: 'JWT', kid: issuer.keys[0].kid })}.${claims}`;
        return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
      };
      const forgeries = {
        'another key under the same name': issuer.token(undefined, { key: stranger }),
        'no algorithm': `${encode({ alg: 'none', kid: issuer.keys[0].kid })}.${claims}.`,
        'HS256 with the public key': hs256(issuer.keys[0].publicKey.export({ type: 'spki', format: 'pem' })),
        'another algorithm': issuer.token(undefined, { head: { alg: 'RS512' } }),
        'critical extension': issuer.token(undefined, { head: { crit: ['b64'], b64: false } }),
        'no key id': issuer.token(undefined, { head: { kid: undefined } }),
        'other claims': `${head}.${encode(issuer.claims({ sub: '1' }))}.${signature}`,
        'a byte changed': `${head}.${claims}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
        'cut off': `${head}.${claims}`,
        'four parts': `${good}.${signature}`,
        'another audience': issuer.token(issuer.claims({ aud: 'another.apps.googleusercontent.com' })),
        'a list of audiences': issuer.token(issuer.claims({ aud: [CLIENT_ID, 'another'] })),
        'another issuer': issuer.token(issuer.claims({ iss: 'https://accounts.example.com' })),
        'expired': issuer.token(issuer.claims({ iat: now - 4000, exp: now - 301 })),
        'not yet issued': issuer.token(issuer.claims({ iat: now + 400, exp: now + 4000 })),
        'not yet good': issuer.token(issuer.claims({ nbf: now + 400 })),
        'too long a life': issuer.token(issuer.claims({ exp: now + 86500 })),
        'e-mail not verified': issuer.token(issuer.claims({ email_verified: false })),
        'no e-mail': issuer.token(issuer.claims({ email: undefined })),
        'no number': issuer.token(issuer.claims({ sub: '' })),
      };
      const refused = async () => (await accountRows(office, "SELECT count(*) AS n FROM login_history WHERE method = 'GOOGLE' AND reason = 'invalid_credentials'"))[0].n;
      const earlier = await refused();
      for (const [what, token] of Object.entries(forgeries)) assert.equal(reasonOf(await come(server, token)), '401 invalid_credentials', what);
      for (const claims_ of [{ iss: 'accounts.google.com' }, { iat: now - 3600, exp: now - 200 }, { iat: now + 200 }, { name: undefined }])
        assert.equal((await come(server, issuer.token(issuer.claims(claims_)))).status, 200, JSON.stringify(claims_));
      assert.equal(await refused() - earlier, Object.keys(forgeries).length);
    });
  });
});

describe('the keys of the issuer', { concurrency: true }, () => { // they wait most of the time
  test('are fetched once for many, kept, fetched again for a new key but not too often; and without them nobody comes in', async () => {
    const issuer = await new Issuer().start(), come = comeWith(issuer.asked);
    issuer.down = true;
    const { servers: [server] } = await openEmbedded({ ...ACCOUNT_SETTINGS, ...issuer.settings });
    assert.equal(reasonOf(await come(server, issuer.token())), '503 service_unavailable');
    assert.equal(reasonOf(await come(server, issuer.token())), '503 service_unavailable');
    assert.equal(issuer.fetches, 1, 'an issuer in trouble is not asked by everybody');

    issuer.down = false;
    await sleep(MIN_INTERVAL_MS + 100);
    const crowd = await Promise.all(Array.from({ length: 20 }, () => come(server, issuer.token())));
    assert.deepEqual([...new Set(crowd.map(reasonOf))], ['200']);
    assert.equal(issuer.fetches, 2, 'one fetch for all');

    const old = issuer.token();
    issuer.rotate();
    assert.equal(reasonOf(await come(server, issuer.token())), '401 invalid_credentials', 'not asked again so soon');
    assert.equal(issuer.fetches, 2);
    await sleep(MIN_INTERVAL_MS + 100);
    assert.equal((await come(server, issuer.token())).status, 200);
    assert.equal(issuer.fetches, 3);
    assert.equal(reasonOf(await come(server, old)), '401 invalid_credentials', 'a key that is gone signs nothing any more');

    issuer.down = true;
    assert.equal((await come(server, issuer.token())).status, 200, 'what is known is enough');
    assert.equal(issuer.fetches, 3);
  });

  test('are forgotten when their time is over', async () => {
    const issuer = await new Issuer().start(), come = comeWith(issuer.asked);
    issuer.maxAge = 5;
    const { servers: [server] } = await openEmbedded({ ...ACCOUNT_SETTINGS, ...issuer.settings });
    assert.equal((await come(server, issuer.token())).status, 200);
    issuer.down = true;
    await sleep(MIN_INTERVAL_MS + 200);
    await eventually('it is asked again', async () => {
      assert.equal(reasonOf(await come(server, issuer.token())), '503 service_unavailable');
      return issuer.fetches === 2;
    });
  });
});
