// When the server or the network goes away: the page says so, keeps what it knows, and recovers by itself.
import { afterEach, beforeEach, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { startServer } from '../api/support.mjs';
import { openHouse, openPage, reserve, reserveButton, seatsLeft, shows, showsMessage, showsSeat, useBrowser } from './browser.mjs';

const banner = (page) => page.locator('.banner');

describe('the buyer’s page in trouble', () => {
  let server;
  useBrowser();
  beforeEach(async () => {
    server = await startServer();
  });
  afterEach(() => server.stop('SIGKILL'));

  for (const signal of ['SIGTERM', 'SIGKILL']) {
    test(`recovers when the server is restarted after ${signal}`, async () => {
      const page = await openHouse(server);
      await reserve(page);
      await server.stop(signal);
      await shows('the banner', () => banner(page).innerText(), 'Connection lost. Reconnecting…');
      await server.start();
      await server.reserve('someone'); // perhaps before the page is back
      await showsSeat(page, 'A-2', 'taken');
      await shows('the banner', () => banner(page).innerText(), '');
      await showsSeat(page, 'A-1', 'yours');
      await server.reserve('someone else');
      await showsSeat(page, 'A-3', 'taken');
    });
  }

  test('a reservation pressed while the server is away arrives when it is back', async () => {
    const page = await openHouse(server);
    await server.stop();
    await reserveButton(page).click();
    await showsMessage(page, /^The server is busy. Trying again, 1 of 5/);
    await server.start();
    await page.getByRole('heading', { name: /^Your seat/ }).waitFor();
  });

  test('gives up after a while, and says what to do', async () => {
    const page = await openHouse(server);
    await server.stop();
    await reserveButton(page).click();
    await showsMessage(page, /^The server cannot be reached/);
    await server.start();
    await reserve(page);
  });

  test('tries again by itself when the server is busy', async () => {
    const page = await openHouse(server);
    let refusals = 0;
    await page.route('**/api/v1/seats/reservation/fcfs', (route) => {
      if (++refusals > 2) return route.continue();
      return route.fulfill({ status: 503, json: { success: false, reason: 'service_unavailable' } });
    });
    await reserveButton(page).click();
    await showsMessage(page, /^The server is busy. Trying again, 2 of 5/);
    await page.getByRole('heading', { name: /^Your seat/ }).waitFor();
    assert.equal(refusals, 3);
  });

  test('says when the server stays unavailable', async () => {
    const page = await openHouse(server);
    await page.route('**/api/v1/seats/reservation/fcfs', (route) =>
      route.fulfill({ status: 503, json: { success: false, reason: 'redis_error' } }));
    await reserveButton(page).click();
    await showsMessage(page, /^The server cannot take reservations/);
  });

  test('opens a new stream after the server has refused one', async () => {
    let refusals = 0;
    const page = await openPage(server, { path: '/docs' });
    await page.route('**/api/v1/seats/stream', (route) => (++refusals > 2 ? route.continue() : route.fulfill({ status: 503 })));
    await page.goto(server.url);
    await page.getByRole('grid').waitFor();
    assert.ok(refusals >= 3);
    await server.reserve('someone');
    await showsSeat(page, 'A-1', 'taken');
  });

  test('says that it is offline, and catches up afterwards', async () => {
    const page = await openHouse(server);
    await page.context().setOffline(true);
    await shows('the banner', () => banner(page).innerText(), /^You are offline/);
    await server.reserve('someone');
    await page.context().setOffline(false);
    await shows('the banner', () => banner(page).innerText(), '');
    await showsSeat(page, 'A-1', 'taken');
    await shows('seats left', () => seatsLeft(page), '8');
  });
});
