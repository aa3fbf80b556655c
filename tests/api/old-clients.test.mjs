// Programs that were written for the first API work unchanged, and those that use its types, or api/types.ts, compile.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import typescript from 'typescript';
import { openEmbedded } from './box_office.mjs';
import { buyers } from './personal.mjs';
import { temporaryFolder } from './support.mjs';

const CLIENTS = fileURLToPath(new URL('clients', import.meta.url));

let office, server;
before(async () => {
  office = await openEmbedded({ FCFS_SEATS: '2' });
  [server] = office.servers;
});

/** A TypeScript file as a string of JavaScript; its types are looked at by tsc below. */
function javascript(file) {
  const source = readFileSync(join(CLIENTS, file), 'utf8');
  return typescript.transpileModule(source, { compilerOptions: { target: 'ES2022', module: 'ES2022' } }).outputText;
}

describe('the first page’s reserveOnce', () => {
  // It names no user: the gateway or the page around it did, as this fetch does.
  function reserveOnceAs(user) {
    const pageFetch = (path, options) => fetch(server.url + path, { ...options, headers: { ...options.headers, ...(user && { 'X-User-Id': user }) } });
    return new Function('fetch', `${javascript('reserve_once.ts')}; return reserveOnce;`)(pageFetch);
  }

  test('gets a seat, and is told of it again', async () => {
    await office.reset(2);
    assert.deepEqual(await reserveOnceAs('alice')('+821012345678'), { state: 'SUCCESS', seatId: 1 });
    assert.deepEqual(await reserveOnceAs('alice')('+821012345678'), { state: 'EXISTING', seatId: 1 });
    assert.deepEqual(await reserveOnceAs('bob')(), { state: 'SUCCESS', seatId: 2 });
  });

  test('is told when nothing is left', async () => {
    await office.reset(0);
    assert.deepEqual(await reserveOnceAs('alice')(), { state: 'ENDED' });
  });

  test('is told to try again when too many come at once', async () => {
    await office.reset(1);
    const letGo = await office.holdHouse();
    assert.deepEqual(await reserveOnceAs('alice')(), { state: 'RETRYABLE' });
    await letGo();
    assert.deepEqual(await reserveOnceAs('alice')(), { state: 'SUCCESS', seatId: 1 });
  });

  test('does not know the reasons that came later: no user, a bad phone number', async () => {
    assert.deepEqual(await reserveOnceAs(undefined)(), { state: 'UNKNOWN' });
    assert.deepEqual(await reserveOnceAs('carol')('call me'), { state: 'UNKNOWN' });
  });
});

describe('the first examples for curl', () => {
  test('list the seats and reserve one', async () => {
    await office.reset(2);
    const home = temporaryFolder(); // where curl learns that localhost:5800 is our server
    writeFileSync(join(home, '.curlrc'), `connect-to = "localhost:5800:127.0.0.1:${server.port}"\n`);
    const commands = readFileSync(join(CLIENTS, 'curl_examples.sh'), 'utf8').split(/(?<!\\)\n(?=curl)/);
    const run = (command) => JSON.parse(execFileSync('sh', ['-c', command], { env: { PATH: process.env.PATH, HOME: home, CURL_HOME: home }, encoding: 'utf8' }));
    assert.equal(commands.length, 2);
    const list = run(commands[0]);
    assert.deepEqual([list.success, list.seats.map(({ id, status }) => [id, status])], [true, [[1, false], [2, false]]]);
    const reserved = run(commands[1]);
    assert.deepEqual([reserved.success, reserved.seat.id, reserved.seat.status, reserved.remainingSeats], [true, 1, true, 1]);
    assert.equal(typeof reserved.sequence, 'number');
    assert.ok(reserved.userTtlRemaining > 890);
    assert.deepEqual(await buyers(office), [['user-123', 'Alice', '+821012345678']]);
  });
});

describe('types', () => {
  test('those of the first API accept what ours describe; ours catch mistakes', () => {
    const compiler = fileURLToPath(new URL('node_modules/typescript/bin/tsc', import.meta.url));
    const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', CLIENTS, '--noEmit'], { encoding: 'utf8' });
    assert.equal(status, 0, stdout);
  });

  test('a client that was written with ours works', async () => {
    await office.reset(2);
    const { Client } = await import(`data:text/javascript,${encodeURIComponent(javascript('client.ts'))}`);
    const client = new Client(server.url);
    assert.equal(await client.freeSeats(), 2);
    assert.equal(await client.reserve('alice'), 'got A-1');
    assert.equal(await client.reserve('alice'), 'had A-1');
    assert.equal(await client.reserve('bob'), 'got A-2');
    assert.equal(await client.reserve('carol'), 'sold out');
    assert.equal(await client.reserve(' '), 'try later');
    assert.equal(await client.freeSeats(), 0);
  });
});
