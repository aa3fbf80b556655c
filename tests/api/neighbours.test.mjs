// Two servers on one PostgreSQL without Redis: each finds the other and says so. With Redis, or alone, there is nothing to say.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { openFleet } from './box_office.mjs';
import { TICKETTOCK, eventually } from './support.mjs';
import { start } from './programs.mjs';

const PATIENCE_S = 90, TWO_LOOKS_MS = 14_000;
const warned = (server) => /Another server uses this database/.test(server.output);
const coordination = async (server) => (await server.call('GET', '/readyz')).body.parts.coordination;
const assertSilent = async (...servers) => {
  for (const server of servers) {
    assert.ok(!warned(server), server.output);
    assert.deepEqual(await coordination(server), { ready: true });
  }
};

test('two servers without Redis', async () => {
  const office = await openFleet({ REDIS_URL: undefined }, { servers: 1 });
  const [first] = office.servers;
  const migrate = start(TICKETTOCK, ['migrate'], { PATH: process.env.PATH, DATABASE_URL: office.url }); // no server
  assert.equal(await migrate.ended, 0, migrate.text);
  await sleep(TWO_LOOKS_MS);
  await assertSilent(first);

  await office.addServer();
  const [, second] = office.servers;
  for (const server of [first, second]) {
    await eventually('a warning', () => warned(server), PATIENCE_S);
    const { ready, warning } = await coordination(server);
    assert.equal(ready, true);
    assert.match(warning, /REDIS_URL/);
  }
  assert.equal((await office.claim('mina')).status, 200, 'it is a warning only');

  assert.equal(await office.servers.pop().stop(), 0);
  await eventually('alone again', async () => !(await coordination(first)).warning, PATIENCE_S);
  await office.close();
});

test('two servers with Redis', async () => {
  const office = await openFleet();
  await sleep(TWO_LOOKS_MS);
  await assertSilent(...office.servers);
  await office.close();
});
