// Signing in with Google: the way to Google's page and back. Google is played here, its keys and tokens are real.
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { openPage, shows, useBrowser } from './browser.mjs';
import { newPerson, startWithAccounts, who } from './people.mjs';

const CLIENT_ID = 'tickettock-tests.apps.googleusercontent.com';
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

function idToken(claims) {
  const now = Math.floor(Date.now() / 1000);
  const body = `${encode({ alg: 'RS256', kid: 'test', typ: 'JWT' })}.${encode({
    iss: 'https://accounts.google.com', aud: CLIENT_ID, sub: '1234567890', email: 'minji@gmail.example', email_verified: true,
    name: 'Minji of Google', iat: now, exp: now + 3600, ...claims,
  })}`;
  return `${body}.${createSign('RSA-SHA256').update(body).sign(privateKey, 'base64url')}`;
}

// answer(question): what Google's page says to the page that asked, as it stands behind the #.
const playGoogle = (page, answer) => page.route('https://accounts.google.com/**', (route) => {
  const question = Object.fromEntries(new URL(route.request().url()).searchParams);
  const hash = new URLSearchParams(answer(question));
  return route.fulfill({ status: 302, headers: { Location: `${question.redirect_uri}#${hash}` } });
});

const button = (page) => page.getByRole('button', { name: 'Continue with Google' });
const message = (page) => page.locator('form .message').innerText();

describe('signing in with Google', () => {
  let server;
  let keys;
  useBrowser();
  before(async () => {
    keys = createServer((request, response) => {
      const key = { ...publicKey.export({ format: 'jwk' }), kid: 'test', use: 'sig', alg: 'RS256' };
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys: [key] }));
    }).listen(0, '127.0.0.1');
    await once(keys, 'listening');
    server = await startWithAccounts({ GOOGLE_CLIENT_ID: CLIENT_ID, GOOGLE_JWKS_URL: `http://127.0.0.1:${keys.address().port}/certs` });
  });
  after(() => {
    keys.close();
    return server.stop();
  });

  test('goes to Google, and comes back signed in', async () => {
    const page = await openPage(server, { path: '/signin?next=%2Faccount' });
    let asked;
    await playGoogle(page, (question) => {
      asked = question;
      return { state: question.state, id_token: idToken({ nonce: question.nonce }) };
    });
    await button(page).click();
    await page.waitForURL(`${server.url}/account`);
    await who(page, 'Minji of Google').waitFor();
    await page.getByText('There is no password to change.').waitFor();
    await page.getByText('Signed in with Google').waitFor();
    assert.match(asked.state, /^[0-9a-f]{32}$/);
    assert.match(asked.nonce, /^[0-9a-f]{32}$/);
    assert.deepEqual({ ...asked, state: '', nonce: '' }, {
      client_id: CLIENT_ID, redirect_uri: `${server.url}/signin`, response_type: 'id_token', scope: 'openid email profile', state: '', nonce: '',
    });
    assert.doesNotMatch(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage })), /eyJ/);
  });

  test('takes no answer to a question that this browser did not ask', async () => {
    for (const answer of [
      ({ nonce }) => ({ state: 'another', id_token: idToken({ nonce }) }),
      ({ state }) => ({ state, id_token: idToken({ nonce: 'another' }) }),
      ({ state }) => ({ state, id_token: 'no token at all' }),
      ({ state }) => ({ state, error: 'access_denied' }),
    ]) {
      const page = await openPage(server, { path: '/signup?next=%2Faccount' });
      const sent = [];
      page.on('request', (request) => sent.push(new URL(request.url()).pathname));
      await playGoogle(page, answer);
      await button(page).click();
      await page.waitForURL(`${server.url}/signin?next=%2Faccount`);
      await shows('the message', () => message(page), 'Signing in with Google did not work. Please try again.');
      assert.ok(!sent.includes('/api/v1/auth/google'));
    }
    const page = await openPage(server, { path: `/signin#state=undefined&id_token=${idToken({})}` });
    await shows('the message', () => message(page), 'Signing in with Google did not work. Please try again.');
    assert.equal(page.url(), `${server.url}/signin`);
  });

  test('says when the server does not believe the token, or knows the e-mail already', async () => {
    const person = await newPerson(server);
    for (const [claims, words] of [
      [{ aud: 'somebody else' }, 'Signing in with Google did not work. Please try again.'],
      [{ sub: '99', email: person.email }, 'There is an account with this e-mail already. Please sign in with its password.'],
    ]) {
      const page = await openPage(server, { path: '/signin' });
      await playGoogle(page, ({ state, nonce }) => ({ state, id_token: idToken({ nonce, ...claims }) }));
      await button(page).click();
      await shows('the message', () => message(page), words);
    }
  });

  test('is not offered, and Google is asked nothing, without a client id', async () => {
    const other = await startWithAccounts();
    const page = await openPage(other, { path: '/healthz' });
    const asked = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`${other.url}/signin`, { waitUntil: 'networkidle' });
    assert.ok(asked.includes(`${other.url}/signin/options`));
    assert.equal(await button(page).count(), 0);
    assert.deepEqual(asked.filter((url) => !url.startsWith(other.url)), []);
    await other.stop();
  });
});
