// What a session is made of: cookies that no script reads, renewed when they expire, of no use to other sites.
import { after, before, beforeEach, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { openHouse, openPage, reserve, reserveButton, shows, showsMessage, showsSeat, useBrowser } from './browser.mjs';
import { fillSignIn, newPerson, openAs, press, startWithAccounts, who } from './people.mjs';

// Counts the page's requests to a path.
function countRequests(page, path) {
  const seen = { count: 0 };
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === path) seen.count++;
  });
  return seen;
}

// Another server's page with a form that posts to ours: the same site by the browser's rules when it has the same host
// (a port makes no difference, so cookies do travel), another site else.
async function strangersForm(action, inputs = '') {
  const stranger = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html').end(`
      <form method="post" enctype="text/plain" action="${action}">${inputs}<button>A gift</button></form>`);
  }).listen(0, '127.0.0.1');
  await once(stranger, 'listening');
  return { port: stranger.address().port, close: () => stranger.close() };
}

const forgetAccess = (page) => page.context().clearCookies({ name: 'access_token' });

describe('a session', () => {
  let server;
  useBrowser();
  before(async () => {
    server = await startWithAccounts();
  });
  beforeEach(() => server.reset(9));
  after(() => server.stop());

  test('is in cookies that scripts cannot read, and nowhere else', async () => {
    const page = await openAs(server, await newPerson(server));
    const cookies = await page.context().cookies([server.url, `${server.url}/api/v1/auth/refresh`]);
    assert.deepEqual(cookies.map(({ name, path, httpOnly, sameSite }) => [name, path, httpOnly, sameSite]).sort(), [
      ['access_token', '/', true, 'Lax'], ['refresh_token', '/api', true, 'Lax'],
    ]);
    const readable = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie);
    for (const { value } of cookies) assert.ok(value.length > 20 && !readable.includes(value));
    assert.doesNotMatch(readable, /eyJ/);
  });

  test('is renewed once, for everything that waits, when the access token has expired', async () => {
    const person = await newPerson(server);
    const page = await openAs(server, person, '/account');
    await forgetAccess(page);
    const refreshes = countRequests(page, '/api/v1/auth/refresh');
    await page.reload();
    await shows('sessions', () => page.locator('.sessions li').count(), 1);
    await who(page, person.name).waitFor();
    assert.equal(refreshes.count, 1);
    await forgetAccess(page);
    await page.evaluate(() => Promise.all(['sessions', 'logins', ''].map((path) => fetch(`/api/v1/users/me/${path}`))));
    await page.getByLabel('Name', { exact: true }).fill('Another Name');
    await press(page, 'Save');
    await who(page, 'Another Name').waitFor();
    assert.equal(refreshes.count, 2);
  });

  test('two windows that come back together do not spend the same refresh token', async () => {
    const person = await newPerson(server);
    const page = await openAs(server, person, '/account');
    const other = await page.context().newPage();
    await other.goto(`${server.url}/account`);
    await who(other, person.name).waitFor();
    for (let round = 0; round < 3; round++) {
      await forgetAccess(page);
      await Promise.all([page.reload(), other.reload()]);
      for (const window of [page, other]) await who(window, person.name).waitFor();
    }
    assert.equal(page.url(), `${server.url}/account`);
  });

  test('reserves for who is signed in, also after the access token has expired', async () => {
    const person = await newPerson(server);
    const page = await openAs(server, person);
    await reserveButton(page).waitFor();
    await forgetAccess(page);
    await reserve(page);
    await showsMessage(page, 'Seat A-1 is yours.');
    const elsewhere = await openAs(server, person);
    await showsSeat(elsewhere, 'A-1', 'yours');
  });

  test('that was ended elsewhere leaves a guest behind', async () => {
    const person = await newPerson(server);
    const page = await openAs(server, person);
    const other = await openAs(server, person, '/account');
    await press(other, 'Sign out everywhere');
    await other.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    await reserveButton(page).click();
    await showsMessage(page, 'Please sign in to reserve a seat.');
    await page.locator('.who').getByRole('link', { name: 'Sign in' }).waitFor();
    await reserve(page);
  });

  test('ends in all windows of a browser', async () => {
    const person = await newPerson(server);
    const page = await openAs(server, person);
    const other = await page.context().newPage();
    await other.goto(server.url);
    await who(other, person.name).waitFor();
    await press(page, 'Sign out');
    await other.getByRole('link', { name: 'Sign in' }).waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await fillSignIn(page, person);
    await who(other, person.name).waitFor();
  });

  test('is of no use to another site’s form', async () => {
    const person = await newPerson(server);
    const page = await openAs(server, person);
    await reserve(page);
    const { port, close } = await strangersForm(`${server.url}/api/v1/auth/logout`);
    for (const [host, status] of [['127.0.0.1', 403], ['localhost', 204]]) {
      await page.goto(`http://${host}:${port}/`);
      const answered = page.waitForResponse(`${server.url}/api/v1/auth/logout`);
      await page.getByRole('button').click();
      assert.equal((await answered).status(), status);
    }
    await page.goto(server.url);
    await who(page, person.name).waitFor();
    await showsSeat(page, 'A-1', 'yours');
    close();
  });

  test('does not begin with another site’s form', async () => {
    const { email, password } = await newPerson(server);
    const body = JSON.stringify({ email, password, padding: '' }).replaceAll('"', '&quot;');
    const [name, value] = body.split('padding&quot;:'); // the browser puts an = between them
    const { port, close } = await strangersForm(
      `${server.url}/api/v1/auth/login`, `<input type="hidden" name="${name}padding" value="&quot;:${value}">`);
    for (const host of ['127.0.0.1', 'localhost']) {
      const page = await openPage({ url: `http://${host}:${port}` });
      const answered = page.waitForResponse(`${server.url}/api/v1/auth/login`);
      await page.getByRole('button').click();
      assert.equal((await answered).status(), 200, 'what the form says is right');
      assert.deepEqual(await page.context().cookies(server.url), []);
    }
    close();
  });
});

describe('a server that sells to those who are signed in only', () => {
  let server;
  useBrowser();
  before(async () => {
    server = await startWithAccounts({ FCFS_GUESTS: '0' });
  });
  after(() => server.stop());

  test('says so, and leads to the door and back', async () => {
    const person = await newPerson(server);
    const page = await openHouse(server);
    await reserveButton(page).click();
    await showsMessage(page, 'Please sign in to reserve a seat.');
    await page.locator('.ticket').getByRole('link', { name: 'Sign in' }).click();
    await fillSignIn(page, person);
    await page.waitForURL(`${server.url}/`);
    await reserve(page);
  });
});
