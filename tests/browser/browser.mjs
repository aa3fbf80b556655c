// A real Chromium for the tests of the pages. Every error that a page throws fails its test.
import { after, afterEach, before } from 'node:test';
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import { eventually } from '../api/support.mjs';

const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

let browser;
let contexts = [];
let errors = [];

// To be called once in a test file, outside of the tests.
export function useBrowser() {
  before(async () => {
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS });
  });
  afterEach(async () => {
    await Promise.all(contexts.map((context) => context.close()));
    contexts = [];
    const seen = errors;
    errors = [];
    assert.deepEqual(seen, []);
  });
  after(() => browser?.close());
}

// A browser of its own: nothing is shared with the others but the server.
export async function newVisitor(options = {}) {
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1100, height: 800 }, ...options });
  context.setDefaultTimeout(20_000);
  contexts.push(context);
  context.on('page', (page) => {
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
      if (/Content Security Policy|Refused to/.test(message.text())) errors.push(message.text());
    });
  });
  return context;
}

export async function openPage(server, { path = '/', ...options } = {}) {
  const context = await newVisitor(options);
  const page = await context.newPage();
  await page.goto(server.url + path);
  return page;
}

// ---- What a buyer sees and presses ----

export const reserveButton = (page) => page.getByRole('button', { name: 'Reserve a seat' });
export const seatsLeft = (page) => page.locator('.stub .figure').innerText();
export const seat = (page, name) => page.getByRole('gridcell', { name: new RegExp(`^${name},`) });
export const message = (page) => page.locator('.ticket .message');

export async function openHouse(server, options) {
  const page = await openPage(server, options);
  await page.getByRole('grid').or(page.getByRole('img')).waitFor();
  return page;
}

export async function reserve(page) {
  await reserveButton(page).click();
  await page.getByRole('heading', { name: /^Your seat/ }).waitFor();
}

export async function giveBack(page) {
  await page.getByRole('button', { name: 'Give it back' }).click();
  await page.getByRole('button', { name: 'Yes, give it back' }).click();
  await reserveButton(page).waitFor();
}

// Playwright's own waiting ends at the first sight; this one says what it saw last.
export async function shows(what, read, expected) {
  let seen;
  const matches = () => (expected instanceof RegExp ? expected.test(seen) : seen === expected);
  await eventually(what, async () => {
    seen = await read();
    return matches();
  }).catch((error) => {
    throw new Error(`${error.message}; expected ${expected}, saw ${JSON.stringify(seen)}`);
  });
}

export const showsSeat = (page, name, state) =>
  shows(`seat ${name} is ${state}`, () => seat(page, name).getAttribute('aria-label'), `${name}, ${state}`);
export const showsMessage = (page, expected) => shows('the message', () => message(page).innerText(), expected);
