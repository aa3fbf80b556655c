// Two fleets with a database each on one Redis, as production and staging may be: neither hears or hinders the other.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { FCFS, openFleet, users } from './box_office.mjs';
import { command } from './programs.mjs';
import { eventually } from './support.mjs';

const LIMIT = 5;
let production, staging;

before(async () => {
  const settings = { RATE_LIMIT_AUTH: `${LIMIT}` };
  production = await openFleet(settings);
  staging = await openFleet(settings, { servers: 1 });
});
after(async () => {
  await production.close();
  await staging.close();
});

const redis = async (...words) => (await command('redis-cli', '-u', production.redis.url, ...words)).split('\n').filter(Boolean);

test("one fleet's sales are not seen by the other, and are by its own servers", async () => {
  const stop = Date.now() + 1500;
  const watch = (async () => {
    for (; Date.now() < stop; await sleep(20)) assert.deepEqual(await staging.taken(), [], 'staging has sold nothing');
  })();
  for (const user of users(9)) assert.equal((await production.claim(user)).status, 200);
  for (const server of production.servers)
    await eventually('both servers show it', async () => (await production.taken(server)).length === 9);
  await watch;
  await production.audit();
  await staging.audit();
});

test('an attempt in one fleet is no duplicate of one in the other', async () => {
  const from = '10.99.0.1';
  await production.reset(9);
  const letGo = await production.holdHouse();
  const inFlight = production.claim('twice', { from });
  await eventually('the attempt has its lock', async () => {
    const names = await redis('keys', '*locks:{*');
    return names.length > 0;
  });
  const elsewhere = await staging.claim('twice', { from });
  await letGo();
  assert.equal(elsewhere.status, 200, elsewhere.text);
  assert.equal((await inFlight).status, 200);
});

test("one fleet's visitors do not use up the other's limits", async () => {
  const ask = (office) => office.ask({ method: 'POST', path: '/api/v1/auth/login', body: '{}', from: '10.99.0.2' });
  let refused;
  for (let i = 0; i <= LIMIT; i++) refused = await ask(production);
  assert.equal(refused.status, 429, refused.text);
  assert.notEqual((await ask(staging)).status, 429);
});

test('every key and channel begins with an installation of these', async () => {
  const fronts = await Promise.all([production, staging].map((office) => office.inRedis('')));
  assert.notEqual(fronts[0], fronts[1]);
  await staging.ask({ method: 'POST', path: FCFS, user: 'somebody' });
  const names = [...await redis('keys', '*'), ...await redis('pubsub', 'channels')];
  assert.ok(names.length >= 4, names.join());
  for (const name of names)
    assert.ok(fronts.some((front) => name.startsWith(front)), `${name} belongs to nobody`);
});

test('a user of Redis who may touch one installation only is enough for its servers', async () => {
  const own = await staging.inRedis('*');
  await redis('ACL', 'SETUSER', 'staging', 'on', '>password', `~${own}`, `&${own}`, '+@all', '-@admin', '-@dangerous');
  await redis('ACL', 'LOG', 'RESET');
  await staging.close();
  staging.env.REDIS_URL = staging.redis.url.replace('redis://', 'redis://staging:password@');
  await staging.addServer();
  await staging.reset(9);
  for (const user of users(3)) assert.equal((await staging.claim(user)).status, 200);
  assert.equal((await staging.giveBack('user-1')).status, 200);
  await staging.ask({ method: 'POST', path: '/api/v1/auth/login', body: '{}' });
  assert.equal((await redis('ACL', 'LOG')).join(), '', 'nothing was refused');
  await staging.audit();
});
