// A proxy that TRUSTED_PROXIES does not name: its clients would all be one, so the operator is told.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { eventually, startServer } from './support.mjs';

const forwarded = { 'X-Forwarded-For': '203.0.113.5' };
const warnings = (server) => server.output.split('\n').filter((line) => line.includes('TRUSTED_PROXIES'));
const askSeats = (server, headers) => server.call('GET', '/api/v1/seats', { headers });

for (const [what, trusted] of [['no proxies', undefined], ['other proxies', '10.0.0.0/8']]) {
  test(`with ${what} in the settings, the first X-Forwarded-For of a stranger is warned of, once`, async () => {
    const server = await startServer({ TRUSTED_PROXIES: trusted });
    assert.equal((await askSeats(server)).status, 200);
    assert.deepEqual(warnings(server), []);
    for (let i = 0; i < 5; i++) assert.equal((await askSeats(server, forwarded)).status, 200);
    await eventually('a warning', () => warnings(server).length > 0);
    assert.equal(await server.stop(), 0);
    assert.equal(warnings(server).length, 1, server.output);
    const line = JSON.parse(warnings(server)[0]);
    assert.equal(line.level, 'warn');
    assert.ok(!JSON.stringify(line).includes('203.0.113.5'), 'an address is personal');
  });
}

test('a proxy that the settings name is nothing to warn of', async () => {
  const server = await startServer({ TRUSTED_PROXIES: '127.0.0.1' });
  for (let i = 0; i < 5; i++) assert.equal((await askSeats(server, forwarded)).status, 200);
  assert.equal(await server.stop(), 0);
  assert.deepEqual(warnings(server), []);
});
