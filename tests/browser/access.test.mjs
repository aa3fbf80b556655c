// The pages for everyone: keyboard, screen reader, both languages, small screens, less motion.
import { after, before, beforeEach, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { ADMIN_TOKEN, startServer } from '../api/support.mjs';
import { findFaults, focused, overflows, tabTo } from './access.mjs';
import { openHouse, openPage, reserve, reserveButton, shows, showsMessage, showsSeat, useBrowser } from './browser.mjs';

describe('the pages for everyone', () => {
  let server;
  useBrowser();
  before(async () => {
    server = await startServer();
  });
  beforeEach(() => server.reset(25));
  after(() => server.stop());

  test('everything can be done with the keyboard alone', async () => {
    const page = await openHouse(server);
    await tabTo(page, 'Reserve a seat');
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(outline, 'solid', 'the focus can be seen');
    await page.keyboard.press('Enter');
    await shows('focus', () => focused(page), /^Your seat\s+A-1$/);
    await tabTo(page, 'Give it back');
    await page.keyboard.press('Space');
    await shows('focus', () => focused(page), 'Keep my seat');
    await page.keyboard.press('Escape');
    await shows('focus', () => focused(page), 'Give it back');
    await page.keyboard.press('Enter');
    await shows('focus', () => focused(page), 'Keep my seat');
    await tabTo(page, 'Yes, give it back');
    await page.keyboard.press('Enter');
    await shows('focus', () => focused(page), 'Reserve a seat');
    await showsMessage(page, 'You gave seat A-1 back.');
  });

  test('arrow keys walk through the seats, which are one stop of the Tab key', async () => {
    const page = await openHouse(server);
    await tabTo(page, 'A-1, free');
    for (const [key, at] of [
      ['ArrowRight', 'A-2'], ['ArrowDown', 'B-2'], ['End', 'B-10'], ['ArrowDown', 'C-5'], ['ArrowDown', 'C-5'], ['Home', 'C-1'],
      ['ArrowLeft', 'B-10'], ['ArrowUp', 'A-10'], ['ArrowUp', 'A-10'],
    ]) {
      await page.keyboard.press(key);
      await shows(`seat after ${key}`, () => page.evaluate(() => document.activeElement.getAttribute('aria-label')), `${at}, free`);
    }
    await page.keyboard.press('Tab');
    assert.equal(await focused(page), 'API');
  });

  test('other people’s reservations are not read out', async () => {
    const page = await openHouse(server);
    const spoken = () => page.locator('[role=status]').allInnerTexts();
    const before = await spoken();
    await server.reserve('someone');
    await showsSeat(page, 'A-1', 'taken');
    assert.deepEqual(await spoken(), before);
    assert.equal(await page.locator('[aria-live], [role=alert], [role=log]').count(), 0);
  });

  test('names, roles and references are in order in every state', async () => {
    const page = await openHouse(server);
    // The title comes with an answer of its own.
    const check = (state) => shows(state, async () => (await page.evaluate(findFaults)).join('\n'), '');
    await check('fresh');
    await page.getByText('Add a name and phone number').click();
    await page.getByLabel('Phone').fill('12');
    await reserveButton(page).click();
    await page.locator('.problem:not(:empty)').waitFor();
    await check('a wrong field');
    await page.getByLabel('Phone').fill('');
    await reserve(page);
    await check('my seat');
    await page.getByRole('button', { name: 'Give it back' }).click();
    await check('the question');
    await server.reset(0);
    await page.getByText('Seats can come back').waitFor();
    await check('sold out');
    await server.reset(3000);
    await page.getByRole('img').waitFor();
    await check('a large house');
    await page.goto(`${server.url}/admin`);
    await page.getByLabel('Admin token').waitFor();
    await check('the operator’s entrance');
    await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
    await page.keyboard.press('Enter');
    await page.getByText('Seats left').waitFor();
    await check('the operator’s page');
  });

  test('speaks the browser’s language, switches, and remembers', async () => {
    const page = await openPage(server, { locale: 'ko-KR' });
    const language = () => page.evaluate(() => document.documentElement.lang);
    await page.getByRole('button', { name: '좌석 예매하기' }).click();
    await page.getByRole('heading', { name: /내 좌석\s*A-1/ }).waitFor();
    await showsMessage(page, 'A-1 좌석이 예매되었습니다.');
    assert.equal(await language(), 'ko');
    assert.equal(await page.getByRole('gridcell', { name: 'A-1, 내 좌석' }).count(), 1);
    await page.getByRole('button', { name: 'English' }).click();
    await showsMessage(page, 'Seat A-1 is yours.');
    assert.equal(await language(), 'en');
    await page.reload();
    await page.getByRole('heading', { name: /Your seat/ }).waitFor();
    assert.equal(await language(), 'en');
    await page.goto(`${server.url}/admin`);
    await page.getByLabel('Admin token').waitFor();
    await page.getByRole('button', { name: '한국어' }).click();
    await page.getByLabel('관리자 토큰').waitFor();
    assert.equal(await page.getByRole('button', { name: '한국어' }).getAttribute('aria-pressed'), 'true');
  });

  test('a language that the page does not speak gets English', async () => {
    const page = await openPage(server, { locale: 'fr-FR' });
    await reserveButton(page).waitFor();
  });

  for (const locale of ['en-US', 'ko-KR']) {
    test(`fits a phone of 360 pixels (${locale})`, async () => {
      const page = await openHouse(server, { locale, viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
      const fits = async (state) => assert.equal(await overflows(page), false, state);
      await fits('fresh');
      const box = await page.locator('button.main').boundingBox();
      assert.ok(box.y + box.height < 740, 'the button is in sight without scrolling');
      assert.ok(box.height >= 44 && box.width > 200, 'the button is large enough for a thumb');
      await page.locator('.details summary').tap();
      await page.locator('[name=phone]').fill('12');
      await page.locator('button.main').tap();
      await page.locator('.problem:not(:empty)').waitFor();
      await fits('a wrong field');
      await page.locator('[name=phone]').fill('');
      await page.locator('button.main').tap();
      await page.locator('.stub.mine').waitFor();
      await page.locator('button.quiet').tap();
      await fits('the question');
      await server.reset(2000);
      await shows('the seats', () => page.getByRole('gridcell').count(), 2000);
      await fits('2,000 seats');
      await page.goto(`${server.url}/admin`);
      await page.locator('#token').fill(ADMIN_TOKEN);
      await page.locator('button.main').tap();
      await page.locator('.attempts').waitFor();
      await fits('the operator’s page');
    });
  }

  test('less motion and a dark screen are respected', async () => {
    const page = await openHouse(server, { reducedMotion: 'reduce', colorScheme: 'dark' });
    await reserve(page);
    const style = await page.evaluate(() => ({
      animation: getComputedStyle(document.querySelector('.seat.mine i')).animationName,
      ground: getComputedStyle(document.body).backgroundColor,
    }));
    assert.equal(style.animation, 'none');
    const light = Math.max(...style.ground.match(/\d+/g).map(Number));
    assert.ok(light < 64, `the ground is dark: ${style.ground}`);
  });
});
