// What the tests of the pages ask on behalf of people with a keyboard, a screen reader or a small screen.
import assert from 'node:assert/strict';

// Runs in the page: what a screen reader's user would stumble over.
export function findFaults() {
  const faults = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const text = (element) => element?.textContent.trim() ?? '';
  const named = (element) =>
    element.getAttribute('aria-label')?.trim() || text(document.getElementById(element.getAttribute('aria-labelledby')))
    || text(element) || text(element.labels?.[0]);
  const fault = (element, what) => faults.push(`${what}: ${element.outerHTML.slice(0, 120)}`);

  if (!['en', 'ko'].includes(document.documentElement.lang)) faults.push('the page says no language');
  if (!document.title.trim()) faults.push('the page has no title');
  if (all('main').length !== 1) faults.push('there is not one main part');
  if (all('h1').length !== 1 || !text(document.querySelector('h1'))) faults.push('there is not one h1');
  for (const element of all('button, a[href], input, summary, canvas, section, [role=grid], [role=group], [role=region]')) {
    if (!named(element)) fault(element, 'has no name');
  }
  for (const element of all('[aria-describedby], [aria-labelledby], label[for]')) {
    const references = ['aria-describedby', 'aria-labelledby', 'for'].flatMap((name) => (element.getAttribute(name) ?? '').split(/\s+/));
    for (const id of references) if (id && !document.getElementById(id)) fault(element, `refers to nothing (${id})`);
  }
  const ids = all('[id]').map((element) => element.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push(`the id ${id} is there twice`);
  for (const element of all('[tabindex]')) if (element.tabIndex > 0) fault(element, 'changes the order of the Tab key');
  for (const element of all('[role=gridcell]')) if (!element.parentElement.matches('[role=row]')) fault(element, 'is in no row');
  for (const element of all('[role=row]')) if (!element.parentElement.matches('[role=grid]')) fault(element, 'is in no grid');
  for (const element of all('[aria-hidden=true]')) {
    if (element.matches('[tabindex], button, a, input') || element.querySelector('[tabindex], button, a, input')) fault(element, 'hides a control');
  }
  for (const element of all('input')) {
    if (element.placeholder && !element.labels?.length) fault(element, 'has a placeholder for a label');
    if (!element.autocomplete) fault(element, 'says nothing about being filled in by the browser');
  }
  for (const element of all('th')) if (!element.scope) fault(element, 'heads nothing');
  if (all('[role=grid]').length && all('[role=gridcell][tabindex="0"]').length !== 1) faults.push('the grid is not one stop of the Tab key');
  return faults;
}

export const focused = (page) => page.evaluate(() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText);

// Presses Tab until the focus is there.
export async function tabTo(page, name) {
  for (let presses = 0; presses < 20; presses++) {
    await page.keyboard.press('Tab');
    if ((await focused(page)) === name) return;
  }
  assert.fail(`the Tab key does not reach ${name}`);
}

export const overflows = (page) => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
