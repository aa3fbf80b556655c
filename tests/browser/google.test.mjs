// Signing in with Google: the way to Google's page and back. Google's part is played by an issuer that signs real tokens.
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { CLIENT_ID, Issuer } from '../api/accounts.mjs';
import { openPage, shows, useBrowser } from './browser.mjs';
import { makeAdmin, newPerson, press, startWithAccounts, who } from './people.mjs';

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
  let issuer;
  useBrowser();
  before(async () => {
    issuer = await new Issuer().start();
    server = await startWithAccounts(issuer.settings);
  });
  after(() => server.stop());

  const idToken = (claims) => issuer.token(issuer.claims({ name: 'Minji of Google', ...claims }));

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
    assert.match(asked.nonce, /^[0-9a-f]{64}$/);
    assert.deepEqual({ ...asked, state: '', nonce: '' }, {
      client_id: CLIENT_ID, redirect_uri: `${server.url}/signin`, response_type: 'id_token', scope: 'openid email profile', state: '', nonce: '',
    });
    assert.doesNotMatch(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage })), /eyJ/);
  });

  test('deletes the account a moment after a sign-in only, since there is no password to ask for', async () => {
    const claims = issuer.claims({ name: 'Forgetful of Google' });
    const comeIn = async () => {
      const page = await openPage(server, { path: '/signin?next=%2Faccount' });
      await playGoogle(page, ({ state, nonce }) => ({ state, id_token: issuer.token({ ...claims, nonce }) }));
      await button(page).click();
      await who(page, claims.name).waitFor();
      await page.getByLabel('Type “delete” to confirm').fill('delete');
      return page;
    };
    const page = await comeIn();
    execFileSync('sqlite3', ['-cmd', '.timeout 5000', join(server.settings.DATA_DIR, 'auth_service.db'), 'UPDATE sessions SET created_at = created_at - 301000']);
    await press(page, 'Delete my account');
    await page.getByText('sign in with Google again, and come back within five minutes.').waitFor();
    const again = await comeIn();
    await press(again, 'Delete my account');
    await again.getByRole('heading', { name: 'Your account is deleted.' }).waitFor();
  });

  test('takes no answer to a question that this browser did not ask', async () => {
    const FAILED = 'Signing in with Google did not work. Please try again.';
    for (const [answer, isSent] of [
      [({ nonce }) => ({ state: 'another', id_token: idToken({ nonce }) }), false],
      [({ state }) => ({ state, error: 'access_denied' }), false],
      [({ state }) => ({ state, id_token: 'no token at all' }), true],
      [({ state }) => ({ state, id_token: idToken({ nonce: 'another' }) }), true],
      [({ state }) => ({ state, id_token: idToken({ nonce: undefined }) }), true],
    ]) {
      const page = await openPage(server, { path: '/signup?next=%2Faccount' });
      const sent = [];
      page.on('request', (request) => sent.push(new URL(request.url()).pathname));
      await playGoogle(page, answer);
      await button(page).click();
      await page.waitForURL(`${server.url}/signin?next=%2Faccount`);
      await shows('the message', () => message(page), FAILED);
      assert.equal(sent.includes('/api/v1/auth/google'), isSent);
    }
    const page = await openPage(server, { path: `/signin#state=undefined&id_token=${idToken({})}` });
    await shows('the message', () => message(page), FAILED);
    assert.equal(page.url(), `${server.url}/signin`);
  });

  test('says when the server gives no question to take along', async () => {
    const page = await openPage(server, { path: '/signin' });
    await page.route('**/api/v1/auth/google/nonce', (route) => route.fulfill({
      status: 503, contentType: 'application/json', body: JSON.stringify({ success: false, reason: 'service_unavailable', message: 'Later.', traceId: 'none' }),
    }));
    const asked = [];
    page.on('request', (request) => asked.push(request.url()));
    await button(page).click();
    await shows('the message', () => page.getByRole('alert').innerText(), 'The server cannot do this at the moment. Please try again shortly.');
    await button(page).waitFor(); // to be pressed again
    assert.deepEqual(asked.filter((url) => !url.startsWith(server.url)), []);
  });

  test('says when the server does not believe the token, or knows the e-mail already', async () => {
    const person = await newPerson(server);
    makeAdmin(server, person); // an account that gives way to nobody
    for (const [claims, words] of [
      [{ aud: 'somebody else' }, 'Signing in with Google did not work. Please try again.'],
      [{ email: person.email }, 'There is an account with this e-mail already. Please sign in with its password.'],
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
    const answered = page.waitForResponse(`${other.url}/signin/options`);
    await page.goto(`${other.url}/signin`);
    assert.deepEqual(await (await answered).json(), { googleClientId: null });
    await page.waitForTimeout(200); // for a button to appear that must not
    assert.equal(await button(page).count(), 0);
    assert.deepEqual(asked.filter((url) => !url.startsWith(other.url)), []);
    await other.stop();
  });
});
