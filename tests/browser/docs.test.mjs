// The API's description at /docs, and what every page is served with.
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { startServer } from '../api/support.mjs';
import { openPage, useBrowser } from './browser.mjs';

describe('the pages', () => {
  let server;
  useBrowser();
  before(async () => {
    server = await startServer();
  });
  after(() => server.stop());

  test('/docs shows the API', async () => {
    const page = await openPage(server, { path: '/docs' });
    const { body } = await server.call('GET', '/openapi.json');
    await page.getByRole('heading', { name: body.info.title }).waitFor();
    const operations = Object.values(body.paths).flatMap((path) => Object.keys(path).filter((key) => /^(get|post|put|patch|delete)$/.test(key)));
    assert.ok(operations.length > 0);
    await page.locator('.opblock').nth(operations.length - 1).waitFor();
    assert.equal(await page.locator('.opblock').count(), operations.length);
  });

  test('load nothing from elsewhere and run no script of their own', async () => {
    for (const path of ['/', '/admin', '/docs', '/signup', '/signin', '/account']) {
      const { headers, body } = await server.call('GET', path);
      assert.match(headers.get('Content-Security-Policy'), /default-src 'self'/, path);
      assert.doesNotMatch(headers.get('Content-Security-Policy'), /script-src[^;]*unsafe/, path);
      assert.doesNotMatch(body, /<script(?![^>]*\ssrc="\/static\/)|\son\w+=|https?:\/\//, path);
      const page = await openPage(server, { path: '/healthz' });
      const asked = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.goto(server.url + path);
      await page.locator('h1, h2').first().waitFor();
      assert.deepEqual(asked.filter((url) => !url.startsWith(server.url) && !url.startsWith('data:')), []);
      assert.ok(asked.length > 3);
    }
  });

  test('are fetched once: a reload asks for the page, not for its parts', async () => {
    const page = await openPage(server);
    await page.getByRole('grid').waitFor();
    const sizes = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name, transferSize }) => [name, transferSize]));
    const parts = sizes.filter(([name]) => name.includes('/static/'));
    assert.ok(parts.length > 10);
    for (const [name] of parts) assert.match(name, /\.[0-9a-f]{8}\.\w+$/);
    await page.reload();
    await page.getByRole('grid').waitFor();
    const again = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name, transferSize }) => [name, transferSize]));
    for (const [name, size] of again) if (name.includes('/static/')) assert.equal(size, 0, name);
  });
});
