// The buyer's page on the real server: reserving, giving back, sold out, and what others do meanwhile.
import { after, before, beforeEach, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { startServer } from '../api/support.mjs';
import {
  giveBack, newVisitor, openHouse, openPage, reserve, reserveButton, seatsLeft, shows, showsMessage, showsSeat, useBrowser,
} from './browser.mjs';

const FCFS = '/api/v1/seats/reservation/fcfs';
const RESERVE = `**${FCFS}`;

describe('the buyer’s page', () => {
  let server;
  useBrowser();
  before(async () => {
    server = await startServer();
  });
  beforeEach(() => server.reset(9));
  after(() => server.stop());

  test('reserves the lowest free seat and marks it as mine', async () => {
    await server.reserve('someone');
    const page = await openHouse(server);
    await showsSeat(page, 'A-1', 'taken');
    assert.equal(await seatsLeft(page), '8');
    await reserve(page);
    assert.match(await page.getByRole('heading', { name: /^Your seat/ }).innerText(), /A-2/);
    await showsMessage(page, 'Seat A-2 is yours.');
    await showsSeat(page, 'A-2', 'yours');
    const { body } = await server.call('GET', '/api/v1/seats/2');
    assert.equal(body.seat.status, true);
  });

  test('remembers my seat over a reload, also while the server has not answered yet', async () => {
    const page = await openHouse(server);
    await reserve(page);
    await page.route('**/api/v1/seats/reservation', () => {}); // never answered
    await page.reload();
    await page.getByRole('heading', { name: /^Your seat/ }).waitFor();
    await showsSeat(page, 'A-1', 'yours');
    await page.unroute('**/api/v1/seats/reservation');
    await page.reload();
    await showsSeat(page, 'A-1', 'yours');
    assert.equal(await reserveButton(page).count(), 0);
  });

  test('learns from the server which seat is mine when the browser forgot it', async () => {
    const page = await openHouse(server);
    await reserve(page);
    await page.evaluate(() => localStorage.removeItem('tickettock.seat'));
    await page.reload();
    await showsSeat(page, 'A-1', 'yours');
  });

  test('gives a seat back only after a second question', async () => {
    const page = await openHouse(server);
    await reserve(page);
    await page.getByRole('button', { name: 'Give it back' }).click();
    await page.getByRole('button', { name: 'Keep my seat' }).click();
    await showsSeat(page, 'A-1', 'yours');
    await giveBack(page);
    await showsMessage(page, 'You gave seat A-1 back.');
    await showsSeat(page, 'A-1', 'free');
    await page.reload();
    await reserveButton(page).waitFor();
    await showsSeat(page, 'A-1', 'free');
  });

  test('two browsers see each other’s reservation without a reload', async () => {
    const one = await openHouse(server);
    const other = await openHouse(server);
    await reserve(one);
    await showsSeat(other, 'A-1', 'taken');
    await reserve(other);
    await showsSeat(one, 'A-2', 'taken');
    await showsSeat(one, 'A-1', 'yours');
    await giveBack(one);
    await showsSeat(other, 'A-1', 'free');
    await shows('seats left', () => seatsLeft(one), '8');
  });

  test('two windows of one browser show the same seat', async () => {
    const context = await newVisitor();
    const pages = await Promise.all([context.newPage(), context.newPage()]);
    for (const page of pages) {
      await page.goto(server.url);
      await reserveButton(page).waitFor();
    }
    await reserve(pages[0]);
    await showsSeat(pages[1], 'A-1', 'yours');
    await pages[0].bringToFront();
    await giveBack(pages[0]);
    await pages[1].bringToFront();
    await reserveButton(pages[1]).waitFor();
  });

  test('says sold out, and wakes up when a seat comes back', async () => {
    await server.reset(2);
    const page = await openHouse(server);
    await server.reserve('first');
    await server.reserve('second');
    await page.getByText('Seats can come back').waitFor();
    const button = page.locator('button.main');
    assert.equal(await button.innerText(), 'Sold out');
    assert.ok(await button.isDisabled());
    await server.giveBack('first');
    await showsMessage(page, 'A seat has come back. You can reserve now.');
    await reserve(page);
    await showsSeat(page, 'A-1', 'yours');
  });

  test('an empty house is sold out', async () => {
    await server.reset(0);
    const page = await openPage(server);
    await page.getByText('Seats can come back').waitFor();
    await page.getByText('This house has no seats yet').waitFor();
  });

  test('follows a reset: another house, and my seat is gone', async () => {
    const page = await openHouse(server);
    await reserve(page);
    await server.reset(30);
    await showsMessage(page, /^Seat A-1 is no longer yours/);
    await showsSeat(page, 'C-10', 'free');
    await shows('seats left', () => seatsLeft(page), '30');
    await reserve(page);
  });

  test('shows what is wrong with a field at the field', async () => {
    const page = await openHouse(server);
    await page.getByText('Add a name and phone number').click();
    await page.getByLabel('Phone').fill('12');
    await reserveButton(page).click();
    await page.getByText('This is not a phone number we can read').waitFor();
    assert.equal(await page.getByLabel('Phone').getAttribute('aria-invalid'), 'true');
    assert.equal(await page.getByLabel('Name').getAttribute('aria-invalid'), null);
    await shows('the focus', () => page.getByLabel('Phone').evaluate((field) => field === document.activeElement), true);
    await page.getByLabel('Name').fill('가'.repeat(60));
    await page.getByLabel('Phone').fill('010-1234-5678');
    await reserveButton(page).click();
    await page.getByText('Please shorten the name').waitFor();
    assert.equal(await page.getByLabel('Phone').getAttribute('aria-invalid'), null);
    await page.getByLabel('Name').fill('김관객');
    await reserve(page);
  });

  test('a double click makes one attempt', async () => {
    const page = await openHouse(server);
    let attempts = 0;
    await page.route(RESERVE, async (route) => {
      attempts++;
      await new Promise((done) => setTimeout(done, 300));
      await route.continue();
    });
    await page.locator('button.main').evaluate((button) => {
      button.click();
      button.click(); // before the page could draw itself anew
    });
    await page.locator('button.main').click({ force: true });
    assert.equal(await page.locator('button.main').innerText(), 'Reserving…');
    assert.ok(await page.locator('button.main').isDisabled());
    await page.getByRole('heading', { name: /^Your seat/ }).waitFor();
    assert.equal(attempts, 1);
  });

  for (const [reason, status, text] of [
    ['duplicate', 409, /^Another attempt of yours/],
    ['contention', 409, /^Very many people/],
    ['sold_out', 409, /^The last seat has just gone/],
    ['missing_user', 400, /Please sign in to reserve/],
    ['internal_error', 500, /Something went wrong.*abc123/],
  ]) {
    test(`explains ${reason}, and can be tried again`, async () => {
      const page = await openHouse(server);
      await page.route(RESERVE, (route) => route.fulfill({ status, json: { success: false, reason, traceId: 'abc123' } }));
      await reserveButton(page).click();
      await showsMessage(page, text);
      await page.unroute(RESERVE);
      await reserve(page);
    });
  }

  test('already reserved: shows the seat that the server names', async () => {
    const page = await openHouse(server);
    await reserveButton(page).waitFor();
    await shows('the guest', async () => (await page.context().cookies()).some(({ name }) => name === 'guest'), true);
    const claimed = await page.context().request.post(server.url + FCFS, { headers: { Origin: server.url } }); // with its cookies
    assert.equal(claimed.status(), 200);
    await reserveButton(page).click();
    await showsMessage(page, 'You already have a seat: A-1.');
    await showsSeat(page, 'A-1', 'yours');
  });

  test('a house of 2,000 seats is made of seats, a larger one is drawn', async () => {
    await server.reset(2000);
    const page = await openHouse(server);
    await shows('seats', () => page.getByRole('gridcell').count(), 2000);
    await server.reset(1_000_000);
    const picture = page.getByRole('img');
    await shows('summary', () => picture.getAttribute('aria-label'), /1,000,000 of 1,000,000 seats are free/);
    await reserve(page);
    await shows('summary', () => picture.getAttribute('aria-label'), /999,999 of 1,000,000 .* Your seat is A-1\./);
    await page.getByText('Free seats by rows').click();
    await page.getByText('99,999 of 100,000 free').waitFor();
    const painted = await eventuallyPainted(picture);
    assert.ok(painted, 'my seat is painted');
    await server.reset(9);
    await showsSeat(page, 'A-9', 'free');
  });
});

describe('a guest', () => {
  let server;
  useBrowser();
  before(async () => {
    // As everybody else reaches a server: what a header says about the user is not believed.
    server = await startServer({ BIND_ADDRESS: '0.0.0.0' });
  });
  beforeEach(() => server.reset(9));
  after(() => server.stop());

  const guestOf = async (page) => (await page.context().cookies(server.url)).find(({ name }) => name === 'guest');
  const guestCalls = (page) => page.waitForResponse('**/api/v1/auth/guest');

  test('is known by a cookie that no script reads, and by no header', async () => {
    const page = await (await newVisitor()).newPage();
    const sent = [];
    page.on('request', (request) => sent.push(...Object.keys(request.headers())));
    await page.goto(server.url);
    await reserve(page);
    await page.reload();
    await showsSeat(page, 'A-1', 'yours');
    await giveBack(page);
    assert.deepEqual(sent.filter((name) => /^x-/.test(name)), []);
    const cookie = await guestOf(page);
    assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.path], [true, 'Lax', '/']);
    const readable = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie);
    assert.ok(!readable.includes(cookie.value.split('.').at(-1)));
  });

  test('who forgot everything but the cookie still has the seat', async () => {
    const page = await openHouse(server);
    await reserve(page);
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await showsSeat(page, 'A-1', 'yours');
  });

  test('who lost the cookie is another one, who has no seat', async () => {
    const page = await openHouse(server);
    await reserve(page);
    await page.context().clearCookies();
    await page.reload();
    await reserveButton(page).waitFor();
    await showsSeat(page, 'A-1', 'taken');
    await page.context().clearCookies(); // also while the page is open
    await reserve(page);
    await showsSeat(page, 'A-2', 'yours');
  });

  test('windows that open together are one guest', async () => {
    const context = await newVisitor();
    const pages = await Promise.all([1, 2, 3].map(() => context.newPage()));
    // Calls that do not wait for each other go to the server together, none with another's cookie.
    let gather, waiting = 0;
    const gathered = new Promise((done) => {
      gather = done;
    });
    await context.route('**/api/v1/auth/guest', async (route) => {
      if (++waiting === pages.length) gather();
      await Promise.race([gathered, new Promise((done) => setTimeout(done, 2000))]);
      await route.continue();
    });
    const told = await Promise.all(pages.map(async (page) => {
      const [answer] = await Promise.all([guestCalls(page), page.goto(`http://localhost:${server.port}`)]);
      return (await answer.json()).guest.id;
    }));
    assert.equal(new Set(told).size, 1, told.join());
  });

  test('whom the server could not let in at first is let in when reserving', async () => {
    const page = await (await newVisitor()).newPage();
    await page.route('**/api/v1/auth/guest', (route) => route.fulfill({ status: 503, json: { success: false, reason: 'overloaded' } }));
    const refused = page.waitForResponse('**/api/v1/auth/guest');
    await page.goto(server.url);
    await refused;
    await page.unroute('**/api/v1/auth/guest');
    await reserve(page);
  });

  test('who presses before the page knows its guest has pressed all the same', async () => {
    const page = await (await newVisitor()).newPage();
    let letIn;
    const pressed = new Promise((resolve) => (letIn = resolve));
    await page.route('**/api/v1/auth/guest', async (route) => {
      await pressed;
      await route.continue();
    });
    await page.goto(server.url);
    await reserveButton(page).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Reserving' }).waitFor();
    letIn();
    await page.getByRole('heading', { name: /^Your seat/ }).waitFor();
  });
});

// Whether the colour of my seat is somewhere in the picture.
async function eventuallyPainted(picture) {
  for (let attempt = 0; attempt < 100; attempt++) {
    const found = await picture.evaluate((canvas) => {
      const probe = document.createElement('canvas').getContext('2d');
      probe.fillStyle = getComputedStyle(canvas).getPropertyValue('--mine');
      probe.fillRect(0, 0, 1, 1);
      const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
      const { data } = canvas.getContext('2d').getImageData(0, 0, 40, 40);
      for (let at = 0; at < data.length; at += 4) {
        if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) return true;
      }
      return false;
    });
    if (found) return true;
    await new Promise((done) => setTimeout(done, 50));
  }
  return false;
}
