// Signing up and signing in on the real server.
import { after, before, beforeEach, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { findFaults, focused, overflows, tabTo } from './access.mjs';
import { openPage, reserve, reserveButton, shows, showsSeat, useBrowser } from './browser.mjs';
import { PASSWORD, field, fillSignIn, newPerson, openAs, press, startWithAccounts, who } from './people.mjs';

const message = (page) => page.locator('form .message');
const faultsOf = (page, name) => page.locator(`#field-${name}-wrong`).innerText();

describe('signing up and in', () => {
  let server;
  useBrowser();
  before(async () => {
    server = await startWithAccounts();
  });
  beforeEach(() => server.reset(9));
  after(() => server.stop());

  test('from signing up to a seat that is there again after signing out and in', async () => {
    const page = await openPage(server);
    await page.getByRole('link', { name: 'Sign up' }).click();
    await field(page, 'Name').fill('Kim Minsu');
    await field(page, 'E-mail').fill('Minsu@Example.com');
    await field(page, 'Password').fill(PASSWORD);
    await field(page, 'Phone (optional)').fill('010-1234-5678');
    await press(page, 'Sign up');
    await page.waitForURL(`${server.url}/`);
    await who(page, 'Kim Minsu').waitFor();
    await reserve(page);
    await showsSeat(page, 'A-1', 'yours');
    await page.reload();
    await showsSeat(page, 'A-1', 'yours');
    await page.getByText('in every browser in which you sign in').waitFor();
    await press(page, 'Sign out');
    await reserveButton(page).waitFor();
    await showsSeat(page, 'A-1', 'taken');
    assert.equal(await page.evaluate(() => localStorage.getItem('tickettock.seat')), null, 'the next person does not see it');

    const elsewhere = await openAs(server, { name: 'Kim Minsu', email: 'minsu@example.com', password: PASSWORD });
    await showsSeat(elsewhere, 'A-1', 'yours');
  });

  test('a seat from before signing in stays with the browser, and says so', async () => {
    const person = await newPerson(server);
    const page = await openPage(server);
    await reserve(page);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await fillSignIn(page, person);
    await page.getByText('You reserved A-1 before you signed in.').waitFor();
    await showsSeat(page, 'A-1', 'taken');
    await press(page, 'Sign out');
    await showsSeat(page, 'A-1', 'yours');
  });

  test('a wrong password is told, the e-mail stays, and the password is asked for again', async () => {
    const person = await newPerson(server);
    const page = await openPage(server, { path: '/signin' });
    const refusal = 'E-mail and password do not match. Please try again.';
    await fillSignIn(page, { ...person, password: 'something else' });
    await shows('the message', () => message(page).innerText(), refusal);
    assert.equal(await field(page, 'E-mail').inputValue(), person.email);
    assert.equal(await field(page, 'Password').inputValue(), '');
    await shows('the focus', () => page.evaluate(() => document.activeElement.name), 'password');
    await fillSignIn(page, { email: 'nobody@example.com', password: PASSWORD });
    await shows('the same words for nobody', () => message(page).innerText(), refusal);
    await fillSignIn(page, person);
    await who(page, person.name).waitFor();
  });

  test('too many wrong passwords are told with the time to wait', async () => {
    const person = await newPerson(server);
    const page = await openPage(server, { path: '/signin' });
    for (let attempt = 0; attempt < 5; attempt++) {
      await server.call('POST', '/api/v1/auth/login', { body: { email: person.email, password: 'a guess of mine' } });
    }
    await fillSignIn(page, person);
    await shows('the message', () => message(page).innerText(), /^Too many attempts. Please try again in \d+ (seconds|minutes)\.$/);
  });

  test('what is wrong stands at its field', async () => {
    const person = await newPerson(server);
    const page = await openPage(server, { path: '/signup' });
    await press(page, 'Sign up');
    await shows('name', () => faultsOf(page, 'name'), 'Please tell us your name.');
    await shows('the focus, at the first wrong field', () => page.evaluate(() => document.activeElement.name), 'name');
    assert.match(await faultsOf(page, 'email'), /not an e-mail address/);
    await field(page, 'Name').fill('Somebody');
    assert.equal(await faultsOf(page, 'name'), '', 'gone as soon as it is corrected');
    await field(page, 'E-mail').fill(person.email);
    for (const [password, fault] of [['short', /at least 8/], ['비밀', /at least 8/], ['가'.repeat(25), /shorter/], ['x'.repeat(73), /shorter/]]) {
      await field(page, 'Password').fill(password);
      await press(page, 'Sign up');
      await shows(`the fault of ${password}`, () => faultsOf(page, 'password'), fault);
    }
    await field(page, 'Password').fill(PASSWORD);
    await field(page, 'Phone (optional)').fill('12');
    await press(page, 'Sign up');
    await shows('phone', () => faultsOf(page, 'phone'), /not a phone number/);
    await shows('the focus', () => page.evaluate(() => document.activeElement.name), 'phone');
    await field(page, 'Phone (optional)').fill('');
    await press(page, 'Sign up');
    await shows('e-mail', () => faultsOf(page, 'email'), /There is an account with this e-mail already/);
    assert.equal(await field(page, 'Name').inputValue(), 'Somebody');
    assert.equal(await field(page, 'Password').inputValue(), PASSWORD);
  });

  test('says when the server cannot be reached, and keeps what was typed', async () => {
    const page = await openPage(server, { path: '/signin' });
    await page.context().setOffline(true);
    await fillSignIn(page, { email: 'someone@example.com', password: PASSWORD });
    await shows('the message', () => message(page).innerText(), /^The server cannot be reached/);
    assert.equal(await field(page, 'Password').inputValue(), PASSWORD);
    await page.context().setOffline(false);
  });

  test('leads back to where one came from, on this server only', async () => {
    const person = await newPerson(server);
    const page = await openAs(server, person, '/admin?x=1');
    for (const [next, place] of [
      ['/account', '/account'], ['//evil.example/', '/'], ['https://evil.example/', '/'], ['/\\evil.example/', '/'],
      ['/.//evil.example/', '//evil.example/'], ['javascript:alert(1)', '/'], ['/signin', '/'], ['http://[', '/'], ['', '/'],
    ]) {
      await page.goto(`${server.url}/signin?next=${encodeURIComponent(next)}`);
      await shows(`the place after ${next}`, () => page.url(), server.url + place);
    }
    await page.goto(`${server.url}/account`);
    await press(page, 'Sign out');
    await page.waitForURL(`${server.url}/signin?next=%2Faccount`);
    await page.getByRole('link', { name: 'Sign up' }).click();
    await page.waitForURL(`${server.url}/signup?next=%2Faccount`);
  });

  test('with the keyboard alone, and a password that can be looked at', async () => {
    const person = await newPerson(server);
    const page = await openPage(server);
    await tabTo(page, 'Sign in');
    await page.keyboard.press('Enter');
    await field(page, 'E-mail').waitFor();
    const at = () => page.evaluate(() => document.activeElement.name);
    for (let presses = 0; (await at()) !== 'email' && presses < 10; presses++) await page.keyboard.press('Tab');
    await page.keyboard.type(person.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(person.password);
    await tabTo(page, 'Show password');
    await page.keyboard.press('Space');
    assert.equal(await field(page, 'Password').getAttribute('type'), 'text');
    assert.equal(await focused(page), 'Hide password');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await who(page, person.name).waitFor();
    await tabTo(page, `${person.name}: my account`);
    await tabTo(page, 'Sign out');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
  });

  test('password managers find what they look for', async () => {
    const page = await openPage(server, { path: '/signup' });
    const hints = () => page.locator('input').evaluateAll((inputs) => inputs.map(({ name, autocomplete, type }) => [name, autocomplete, type]));
    await field(page, 'Name').waitFor();
    assert.deepEqual(await hints(), [
      ['name', 'name', 'text'], ['email', 'username', 'email'], ['password', 'new-password', 'password'], ['phone', 'tel', 'tel'],
    ]);
    await page.goto(`${server.url}/signin`);
    await field(page, 'E-mail').waitFor();
    assert.deepEqual(await hints(), [['email', 'username', 'email'], ['password', 'current-password', 'password']]);
  });

  for (const locale of ['en-US', 'ko-KR']) {
    test(`fits a phone of 360 pixels and a screen reader in every state (${locale})`, async () => {
      const page = await openPage(server, { path: '/signup', locale, viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
      const check = async (state) => {
        assert.equal(await overflows(page), false, state);
        assert.deepEqual(await page.evaluate(findFaults), [], state);
      };
      const korean = locale === 'ko-KR';
      await page.getByLabel(korean ? '비밀번호' : 'Password', { exact: true }).waitFor();
      await check('sign up');
      await page.locator('button.main').tap();
      await page.locator('.problem:not(:empty)').first().waitFor();
      await check('sign up, all wrong');
      await page.goto(`${server.url}/signin`);
      await page.getByRole('button', { name: korean ? '로그인' : 'Sign in', exact: true }).waitFor();
      await check('sign in');
      await page.locator('[name=email]').fill('nobody.with.a.rather.long.address@mail.example.com');
      await page.locator('[name=password]').fill('whatever it is');
      await page.locator('button.main').tap();
      await page.getByText(korean ? '이메일 또는 비밀번호가 맞지 않습니다.' : 'E-mail and password do not match.').waitFor();
      await check('sign in, refused');
    });
  }
});
