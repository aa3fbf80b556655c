// The installation's id: a copy of a database gets one of its own.
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { inBothWays } from './box_office.mjs';
import { start } from './programs.mjs';
import { TICKETTOCK, eventually, temporaryFolder } from './support.mjs';

async function installation(env, ...words) {
  const told = start(TICKETTOCK, ['installation', ...words], { PATH: process.env.PATH, ...env });
  return { code: await told.ended, text: told.text };
}

inBothWays((way) => describe(`installation, ${way.name}`, () => {
  test('a copy gets an id of its own, which its servers use', async () => {
    const office = await way.open();
    const id = async () => (await office.rows('SELECT id FROM installation'))[0].id;
    const original = await id();
    const told = await installation(office.env);
    assert.deepEqual(told, { code: 0, text: `Installation ${original}.\n` });
    assert.equal((await office.claim('before')).status, 200);
    await office.close();

    const renewed = await installation(office.env, 'renew');
    assert.equal(renewed.code, 0, renewed.text);
    const copy = await id();
    assert.match(copy, /^[0-9a-f]{16}$/);
    assert.notEqual(copy, original);
    assert.match(renewed.text, new RegExp(`Installation ${original} is now ${copy}\\.`));

    await office.addServer();
    await eventually('the server says which it is', async () => office.servers[0].output.includes(copy));
    assert.equal((await office.claim('after')).status, 200);
    await office.close();
  });
}));

test('there is none without a database, and nothing is made', async () => {
  const { code, text } = await installation({ DATA_DIR: temporaryFolder() }, 'renew');
  assert.equal(code, 1, text);
  assert.match(text, /there is no database yet/);
});
