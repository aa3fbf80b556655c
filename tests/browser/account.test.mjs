// My account on the real server: profile, password, sessions, sign-ins, and the end.
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { findFaults, overflows } from './access.mjs';
import { openPage, shows, useBrowser } from './browser.mjs';
import { PASSWORD, field, fillSignIn, newPerson, openAs, press, startWithAccounts, who } from './people.mjs';

const sessions = (page) => page.locator('.sessions li');
const panelMessage = (page, panel) => page.locator(`.${panel} .message`).innerText();
const isAtDoor = (page, server) => page.waitForURL(`${server.url}/signin?next=%2Faccount`);

describe('my account', () => {
  let server;
  useBrowser();
  before(async () => {
    server = await startWithAccounts();
  });
  after(() => server.stop());

  test('is for whoever is signed in', async () => {
    const person = await newPerson(server);
    const page = await openPage(server, { path: '/account' });
    await isAtDoor(page, server);
    await fillSignIn(page, person);
    await page.waitForURL(`${server.url}/account`);
    const email = page.locator('.profile').getByLabel('E-mail');
    assert.equal(await email.inputValue(), person.email);
    assert.equal(await email.getAttribute('readonly'), '');
  });

  test('changes name and phone number', async () => {
    const person = await newPerson(server);
    const page = await openAs(server, person, '/account');
    await field(page, 'Name').fill('  ');
    await press(page, 'Save');
    await page.getByText('Please tell us your name.').waitFor();
    await field(page, 'Name').fill('박서연');
    await field(page, 'Phone (optional)').fill('call me');
    await press(page, 'Save');
    await page.getByText('This is not a phone number').waitFor();
    await field(page, 'Phone (optional)').fill('010-9876-5432');
    await press(page, 'Save');
    await shows('the message', () => panelMessage(page, 'profile'), 'Saved.');
    await who(page, '박서연').waitFor();
    await page.reload();
    await shows('the phone number', () => field(page, 'Phone (optional)').inputValue(), '+821098765432');
    await field(page, 'Phone (optional)').fill('');
    await press(page, 'Save');
    await shows('the message', () => panelMessage(page, 'profile'), 'Saved.');
    await page.reload();
    await shows('the phone number', () => field(page, 'Phone (optional)').inputValue(), '');
  });

  test('changes the password, and other browsers are signed out', async () => {
    const person = await newPerson(server);
    const page = await openAs(server, person, '/account');
    const other = await openAs(server, person, '/account');
    const change = async (current, wanted) => {
      await field(page, 'Current password').fill(current);
      await field(page, 'New password').fill(wanted);
      await press(page, 'Change password');
    };
    await change('not the password', 'another password');
    await page.getByText('This is not your current password.').waitFor();
    assert.equal(await field(page, 'New password').inputValue(), 'another password');
    await change(PASSWORD, PASSWORD);
    await page.getByText('Please choose another one.').waitFor();
    await change(PASSWORD, 'another password');
    await shows('the message', () => panelMessage(page, 'password'), /^Your password is changed./);
    assert.equal(await field(page, 'Current password').inputValue(), '');
    await shows('sessions', () => sessions(page).count(), 1);
    await other.reload();
    await isAtDoor(other, server);
    await fillSignIn(other, person);
    await other.getByText('E-mail and password do not match.').waitFor();
    await fillSignIn(other, { ...person, password: 'another password' });
    await other.waitForURL(`${server.url}/account`);
    await page.reload();
    await shows('sessions', () => sessions(page).count(), 2);
  });

  test('shows where I am signed in, and ends one or all of it', async () => {
    const person = await newPerson(server);
    const page = await openAs(server, person, '/account');
    const phone = await openAs(server, person, '/account', {
      userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1',
    });
    const third = await openAs(server, person, '/account');
    await page.reload();
    await shows('sessions', () => sessions(page).count(), 3);
    assert.equal(await sessions(page).filter({ hasText: 'This browser' }).count(), 1);
    await page.getByRole('button', { name: /^Sign out Safari on iPhone/ }).click();
    await shows('the message', () => panelMessage(page, 'sessions'), 'Safari on iPhone is signed out.');
    await shows('sessions', () => sessions(page).count(), 2);
    await shows('the focus, which is not lost', () => page.evaluate(() => document.activeElement.id), 'sessions-title');
    await phone.reload();
    await isAtDoor(phone, server);
    await press(page, 'Sign out everywhere');
    await isAtDoor(page, server);
    await third.reload();
    await isAtDoor(third, server);
    assert.deepEqual(await page.context().cookies(), []);
  });

  test('shows the latest sign-ins, refused ones too', async () => {
    const person = await newPerson(server);
    await server.call('POST', '/api/v1/auth/login', {
      body: { email: person.email, password: 'a guess of mine' }, headers: { 'User-Agent': 'burglar/1.0' },
    });
    const page = await openAs(server, person, '/account');
    const lines = () => page.locator('.logins li').allInnerTexts();
    await shows('sign-ins', async () => (await lines()).length, 2);
    const [signedIn, guess] = await lines();
    assert.match(signedIn, /^Signed in · Chrome on Linux\s.*127\.0\.0\.1/s);
    assert.match(guess, /^Wrong password · burglar\/1\.0\s/);
  });

  test('deletes the account after a typed word', async () => {
    const person = await newPerson(server);
    const page = await openAs(server, person, '/account');
    await press(page, 'Delete my account');
    await page.getByText('Please type the word exactly.').waitFor();
    await page.getByText('Please enter your password.').waitFor();
    await page.getByLabel('Type “delete” to confirm').fill('Delete');
    await field(page, 'Password').fill('not the password');
    await press(page, 'Delete my account');
    await page.getByText('This is not your current password.').waitFor();
    await field(page, 'Password').fill(person.password);
    await press(page, 'Delete my account');
    await page.getByRole('heading', { name: 'Your account is deleted.' }).waitFor();
    await shows('the focus', () => page.evaluate(() => document.activeElement.id), 'farewell-title');
    assert.deepEqual(await page.context().cookies(), []);
    await page.goto(`${server.url}/signin`);
    await fillSignIn(page, person);
    await page.getByText('E-mail and password do not match.').waitFor();
    await newPerson(server, { email: person.email });
  });

  test('says when a list cannot be read, and tries again', async () => {
    const person = await newPerson(server);
    const page = await openAs(server, person);
    await page.route('**/api/v1/users/me/sessions', (route) => route.fulfill({ status: 503, json: { success: false, reason: 'service_unavailable' } }));
    await page.goto(`${server.url}/account`);
    await shows('the message', () => panelMessage(page, 'sessions'), 'The list could not be read.');
    await page.unroute('**/api/v1/users/me/sessions');
    await press(page, 'Try again');
    await shows('sessions', () => sessions(page).count(), 1);
    assert.equal(await panelMessage(page, 'sessions'), '');
  });

  for (const locale of ['en-US', 'ko-KR']) {
    test(`fits a phone of 360 pixels and a screen reader (${locale})`, async () => {
      const person = await newPerson(server, { name: '긴 이름을 가진 사람 With A Long Name', email: `${locale}.${'long'.repeat(8)}@example.com` });
      const page = await openAs(server, person, '/account', { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
      if (locale === 'ko-KR') {
        await page.getByRole('button', { name: '한국어' }).tap();
        await page.getByRole('heading', { name: '내 계정' }).waitFor();
      }
      await shows('sessions', () => sessions(page).count(), 1);
      for (const state of ['fresh', 'all wrong']) {
        assert.equal(await overflows(page), false, state);
        assert.deepEqual(await page.evaluate(findFaults), [], state);
        for (const button of await page.locator('.password button.main, .erase button.danger').all()) await button.tap();
      }
      await shows('faults', () => page.locator('.problem:not(:empty)').count(), 4);
      await page.goto(server.url);
      await page.getByRole('grid').waitFor();
      assert.equal(await overflows(page), false, 'the house with a long name');
    });
  }
});
