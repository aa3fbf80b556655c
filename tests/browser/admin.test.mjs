// The operator's page on the real server: the token, the figures, and a new house.
import { after, before, beforeEach, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { ADMIN_TOKEN, startServer } from '../api/support.mjs';
import { openHouse, openPage, shows, showsSeat, useBrowser } from './browser.mjs';
import { makeAdmin, newPerson, openAs } from './people.mjs';

async function enter(page, token = ADMIN_TOKEN) {
  await page.getByLabel('Admin token').fill(token);
  await page.getByRole('button', { name: 'Open' }).click();
}

async function openBoard(server, options) {
  const page = await openPage(server, { path: '/admin', ...options });
  await enter(page);
  await page.getByRole('heading', { name: 'Seats left' }).waitFor();
  return page;
}

const free = (page) => page.locator('[data-figure=free]').innerText();
const total = (page, outcome) => page.locator(`[data-total=${outcome}]`).innerText().then(Number);
const history = (page) => page.locator('.history tbody tr').allInnerTexts();

describe('the operator’s page', () => {
  let server;
  useBrowser();
  before(async () => {
    server = await startServer();
  });
  beforeEach(() => server.reset(9));
  after(() => server.stop());

  test('opens with the token only', async () => {
    const page = await openPage(server, { path: '/admin' });
    await enter(page, 'a guess');
    await page.getByText('This is not the admin token.').waitFor();
    assert.equal(await page.getByLabel('Admin token').getAttribute('aria-invalid'), 'true');
    assert.equal(await page.getByText('Latest attempts').count(), 0);
    await enter(page);
    await page.getByText('Latest attempts').waitFor();
  });

  test('keeps the token for this tab, and forgets it on request', async () => {
    const page = await openBoard(server);
    await page.reload();
    await page.getByRole('heading', { name: 'Seats left' }).waitFor();
    const stored = await page.evaluate(() => JSON.stringify(localStorage) + document.cookie);
    assert.ok(!stored.includes(ADMIN_TOKEN));
    const other = await page.context().newPage();
    await other.goto(`${server.url}/admin`);
    await other.getByLabel('Admin token').waitFor();
    await page.getByRole('button', { name: 'Forget the token' }).click();
    await page.getByLabel('Admin token').waitFor();
    await page.reload();
    await page.getByLabel('Admin token').waitFor();
  });

  test('shows seats left, attempts by outcome and the latest history', async () => {
    const page = await openBoard(server);
    await shows('seats left', () => free(page), '9');
    const claimed = await total(page, 'claimed');
    const already = await total(page, 'already_reserved');
    await server.reserve('first-user');
    await server.reserve('first-user');
    await server.reserve('second-user');
    await server.giveBack('second-user');
    await shows('seats left', () => free(page), '8');
    await shows('claimed', () => total(page, 'claimed'), claimed + 2);
    await shows('already reserved', () => total(page, 'already_reserved'), already + 1);
    await shows('the history', async () => (await history(page)).filter((line) => /(first|second)-user/.test(line)).length, 4);
    const lines = await history(page);
    assert.ok(lines.some((line) => /second-user\s+2\s+Seat claimed\s+\d+/.test(line)), lines.join('\n'));
    assert.ok(lines.some((line) => /second-user\s+2\s+Given back/.test(line)), lines.join('\n'));
    assert.ok(lines.some((line) => /first-user.*Had a seat already/s.test(line)), lines.join('\n'));
    assert.ok(lines.some((line) => /operator\s+–\s+House emptied/.test(line)), lines.join('\n'));
    assert.match(await page.locator('.outcome-claimed .line').getAttribute('points'), /\d/);
  });

  test('shows the rate of a steady sale', async () => {
    await server.reset(500);
    const page = await openBoard(server);
    let selling = true;
    const sale = (async () => {
      for (let user = 0; selling && user < 400; user++) {
        await server.reserve(`rate-${user}`);
        await new Promise((done) => setTimeout(done, 50));
      }
    })();
    const rate = () => page.locator('.attempts .outcome-claimed td').first().innerText().then(Number);
    await shows('a rate between 2 and 25 per second', async () => (await rate()) > 2 && (await rate()) < 25, true);
    selling = false;
    await sale;
    await shows('the rate is zero again', rate, 0);
  });

  test('empties the house after a typed word, and buyers see it', async () => {
    await server.reserve('someone');
    const buyer = await openHouse(server);
    await showsSeat(buyer, 'A-1', 'taken');
    const page = await openBoard(server);
    const count = page.getByLabel('Number of seats');
    const word = page.getByLabel('Type “reset” to confirm');
    const button = page.getByRole('button', { name: 'Empty the house' });
    assert.equal(await count.inputValue(), '9');
    await count.fill('12');
    await button.click();
    await page.getByText('Please type the word exactly.').waitFor();
    await word.fill('reset');
    await count.fill('12.5');
    await button.click();
    await page.getByText('Please give a whole number').waitFor();
    await showsSeat(buyer, 'A-1', 'taken');
    await count.fill('12');
    await button.click();
    await page.getByText('The house is new and empty, with 12 seats.').waitFor();
    assert.equal(await word.inputValue(), '', 'a second reset needs the word again');
    await shows('seats left', () => free(page), '12');
    await showsSeat(buyer, 'B-2', 'free');
    await showsSeat(buyer, 'A-1', 'free');
  });

  test('releases one seat after a question, and buyers see it', async () => {
    await server.reserve('someone');
    const buyer = await openHouse(server);
    await showsSeat(buyer, 'A-1', 'taken');
    const page = await openBoard(server);
    const questions = [];
    let yes = false;
    page.on('dialog', (dialog) => {
      questions.push(dialog.message());
      return yes ? dialog.accept() : dialog.dismiss();
    });
    const seat = page.getByLabel('Seat number');
    const button = page.getByRole('button', { name: 'Release the seat' });
    await seat.fill('10');
    await button.click();
    await page.getByText('There is no seat of this number.').waitFor();
    await seat.fill('1');
    await button.click();
    await shows('the question', () => questions.length, 1);
    assert.match(questions[0], /seat 1 of the schedule “demo”/);
    await showsSeat(buyer, 'A-1', 'taken');
    yes = true;
    await button.click();
    await page.getByText('Seat A-1 is free again.').waitFor();
    await showsSeat(buyer, 'A-1', 'free');
    await shows('the history', async () => (await history(page)).some((line) => /someone\s+1\s+Released by an operator/.test(line)), true);
    await seat.fill('1');
    await button.click();
    await page.getByText('Nobody has this seat.').waitFor();
  });

  test('does not empty a house that another operator has just opened, and says so', async () => {
    const page = await openBoard(server);
    await page.getByText('Every reservation of the schedule “demo” ends.').waitFor();
    const word = page.getByLabel('Type “reset” to confirm');
    await word.fill('res');
    await server.reset(20); // while the word is being typed
    await server.reserve('a-buyer-of-the-new-house');
    await shows('seats left', () => free(page), '19');
    await word.fill('reset');
    await page.getByRole('button', { name: 'Empty the house' }).click();
    await page.getByText('Nothing has changed: another operator emptied or opened this house meanwhile.').waitFor();
    assert.equal(await word.inputValue(), '');
    assert.equal(await free(page), '19');
    await word.fill('reset');
    await page.getByRole('button', { name: 'Empty the house' }).click();
    await page.getByText('The house is new and empty, with 9 seats.').waitFor();
    await shows('seats left', () => free(page), '9');
  });

  test('says when the server does not answer, and goes on afterwards', async () => {
    const page = await openBoard(server);
    await server.stop();
    await page.getByText('The server does not answer').waitFor();
    await server.start();
    await shows('the banner', () => page.locator('.banner').innerText(), '');
    await server.reserve('after-restart');
    await shows('seats left', () => free(page), '8');
  });

  test('says that it is switched off when the server has no token', async () => {
    const silent = await startServer({ ADMIN_TOKEN: '' });
    const page = await openPage(silent, { path: '/admin' });
    await enter(page);
    await page.getByText('The operator’s page is switched off').waitFor();
    await silent.stop();
  });

  test('opens for an administrator who is signed in, with or without a token on the server', async () => {
    const silent = await startServer({ ADMIN_TOKEN: '' });
    for (const house of [server, silent]) {
      const person = await newPerson(house);
      const before = await openAs(house, person, '/admin');
      await before.getByText('You are signed in, but not as an administrator.').waitFor();
      makeAdmin(house, person); // which signs everybody out
      const page = await openAs(house, person, '/admin');
      await page.getByRole('heading', { name: 'Seats left' }).waitFor();
      await page.context().clearCookies({ name: 'access_token' });
      await page.getByLabel('Type “reset” to confirm').fill('reset');
      await page.getByLabel('Number of seats').fill('7');
      await page.getByRole('button', { name: 'Empty the house' }).click();
      await page.getByText('The house is new and empty, with 7 seats.').waitFor();
      await shows('seats left', () => free(page), '7');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Admin token').waitFor();
      assert.equal(await page.getByText('Latest attempts').count(), 0);
    }
    await silent.stop();
  });
});
