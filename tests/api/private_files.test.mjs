// What a server keeps in DATA_DIR is for its own user only: people's data, and the keys to it.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Server, temporaryFolder } from './support.mjs';

/** The files that others than their owner may read or write. */
const open = (folder) => readdirSync(folder).filter((name) => statSync(join(folder, name)).mode & 0o077);

/** A server whose system lets everybody read and write new files. */
function carelessServer(folder) {
  const server = new Server({ DATA_DIR: folder });
  server.under = ['sh', '-c', 'umask 000; exec "$@"', 'sh'];
  return server;
}

test('files of the database and keys are private whatever the umask', async () => {
  const folder = temporaryFolder();
  const server = await carelessServer(folder).start();
  assert.equal((await server.reserve('mina')).status, 200);
  assert.ok(readdirSync(folder).includes('reservation_service.db-wal'), 'while it runs there is a log');
  assert.deepEqual(open(folder), []);
  assert.equal(await server.stop(), 0);
  assert.deepEqual(open(folder), []);
});

test('files of an earlier version become private when they are opened', async () => {
  const folder = temporaryFolder();
  const server = await carelessServer(folder).start();
  assert.equal((await server.reserve('mina')).status, 200);
  await server.stop('SIGKILL'); // so that the logs stay
  const names = readdirSync(folder);
  for (const name of names) chmodSync(join(folder, name), 0o664);
  assert.ok(names.includes('auth_service.db-shm'), names.join());

  await server.start();
  assert.deepEqual(open(folder), []);
  assert.match(server.output, /others than its owner could read/);
  assert.equal((await server.reserve('mina')).body.reason, 'already_reserved');
  assert.equal(await server.stop(), 0);
});
