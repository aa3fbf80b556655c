// People with an account, for the tests of the pages.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { PASSWORD } from '../api/accounts.mjs';
import { TICKETTOCK, startServer } from '../api/support.mjs';
import { openPage } from './browser.mjs';

export { PASSWORD };

// Everybody here comes from one address.
export const startWithAccounts = (settings) => startServer({ RATE_LIMIT_AUTH: '0', ...settings });

let count = 0;

// {name, email, password}: somebody who has signed up before.
export async function newPerson(server, details = {}) {
  const number = ++count;
  const person = { name: `Person ${number}`, email: `person${number}@example.com`, password: PASSWORD, ...details };
  const { status, body } = await server.call('POST', '/api/v1/auth/register', { body: person });
  assert.equal(status, 201, JSON.stringify(body));
  return person;
}

export const makeAdmin = (server, { email, password }) =>
  execFileSync(TICKETTOCK, ['admin', 'promote', email, '--yes'], { env: server.settings, input: `${password}\n` });

export const who = (page, name) => page.getByRole('link', { name: `${name}: my account` });
export const field = (page, label) => page.getByLabel(label, { exact: true });
export const press = (page, name) => page.getByRole('button', { name, exact: true }).click();

export async function fillSignIn(page, { email, password }) {
  await field(page, 'E-mail').fill(email);
  await field(page, 'Password').fill(password);
  await press(page, 'Sign in');
}

// A browser of their own, signed in, at this page.
export async function openAs(server, person, path = '/', options = {}) {
  const page = await openPage(server, { path: `/signin?next=${encodeURIComponent(path)}`, ...options });
  await fillSignIn(page, person);
  await page.waitForURL(server.url + path);
  await who(page, person.name).waitFor();
  return page;
}
