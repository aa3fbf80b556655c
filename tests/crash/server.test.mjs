// The server is killed (kill -9) in the middle of a sale and started again: whoever was told a seat has it, and no seat is
// lost. In a fleet the others go on meanwhile.
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { DEFAULT_TIMES, openEmbedded, openFleet, users } from '../api/box_office.mjs';
import { sleep } from '../api/client.mjs';
import { command } from '../api/programs.mjs';
import { eventually } from '../api/support.mjs';
import { Crowd, recovered, settleAndSellTheRest } from './crowd.mjs';

const SEATS = 3000;

describe('embedded', () => {
  test('killed ten times in the middle of a sale', async () => {
    const office = await openEmbedded({ FCFS_SEATS: `${SEATS}` });
    const [server] = office.servers;
    const crowd = new Crowd(office);
    for (let kill = 0; kill < 10; kill++) {
      await sleep(100 + Math.random() * 200);
      await server.stop('SIGKILL');
      await server.start();
    }
    await crowd.stop();
    assert.ok(crowd.answers.some((answer) => answer.status === 0), 'some were cut off');
    assert.equal(await command('sqlite3', office.file, 'PRAGMA integrity_check'), 'ok');
    await settleAndSellTheRest(office);
    await office.close();
  });

  test('killed while hundreds wait for one commit', async () => {
    const office = await openEmbedded({ FCFS_SEATS: `${SEATS}` });
    const [server] = office.servers;
    for (let round = 0; round < 5; round++) {
      const burst = users(400, `burst-${round}`).map((user) => office.claim(user));
      await sleep(Math.random() * 60);
      await server.stop('SIGKILL');
      await Promise.all(burst);
      await server.start();
      await office.settle();
      await office.audit();
    }
    await settleAndSellTheRest(office);
    await office.close();
  });
});

describe('fleet', () => {
  test('one of two is killed again and again; the other goes on', async () => {
    const office = await openFleet({ ...DEFAULT_TIMES, FCFS_SEATS: `${SEATS}`, FCFS_DUP_TTL: '1' }, { durable: true });
    const [victim, other] = office.servers;
    const crowd = new Crowd(office);
    for (let kill = 0; kill < 5; kill++) {
      await sleep(200 + Math.random() * 200);
      await victim.stop('SIGKILL');
      const { status } = await office.claim(`beside-${kill}`, { server: other });
      assert.equal(status, 200, 'the other server sells meanwhile');
      await victim.start();
    }
    await recovered(office);
    await crowd.stop();
    await sleep(1200); // what the dead server had locked is free again
    await settleAndSellTheRest(office);
    await office.close();
  });

  test('a dead server blocks a buyer for FCFS_DUP_TTL at the most', async () => {
    const office = await openFleet({ ...DEFAULT_TIMES, FCFS_DUP_TTL: '2' });
    const [victim, other] = office.servers;
    const letGo = await office.holdHouse();
    const lost = office.claim('alice', { server: victim });
    await sleep(150);
    await victim.stop('SIGKILL');
    const died = performance.now();
    assert.equal((await lost).status, 0);
    await letGo();
    assert.equal((await office.claim('alice', { server: other })).json.reason, 'duplicate');
    await eventually('alice may try again', async () => {
      const { status, json } = await office.claim('alice', { server: other });
      return status === 200 || json.reason === 'already_reserved';
    }, 5);
    assert.ok(performance.now() - died < 3500);
    await victim.start();
    await settleAndSellTheRest(office);
    await office.close();
  });

  test('a server that stops in the middle of a transaction holds up the others for two seconds or so', async () => {
    const office = await openFleet({ ...DEFAULT_TIMES, FCFS_DUP_TTL: '1' });
    const [victim, other] = office.servers;
    const letGo = await office.holdHouse();
    const late = office.claim('alice', { server: victim });
    await sleep(150); // its transaction waits for the house
    process.kill(victim.pid, 'SIGSTOP');
    const gone = letGo(); // now it has the house, and does nothing
    await sleep(100);
    const began = performance.now();
    const { status } = await office.claim('bob', { server: other });
    const took = performance.now() - began;
    process.kill(victim.pid, 'SIGCONT');
    await gone;
    assert.ok(status === 200 && took < 3500, `${status} after ${Math.round(took)} ms`);
    assert.ok(took > 500, 'the house was held');
    assert.notEqual((await late).status, 200, 'its transaction has ended without it');
    await sleep(1200);
    await settleAndSellTheRest(office);
    await office.close();
  });

  test('all servers die at once', async () => {
    const office = await openFleet({ ...DEFAULT_TIMES, FCFS_SEATS: '1000', FCFS_DUP_TTL: '1' });
    for (let round = 0; round < 3; round++) {
      const burst = users(300, `burst-${round}`).map((user) => office.claim(user));
      await sleep(30 + Math.random() * 100);
      await Promise.all(office.servers.map((server) => server.stop('SIGKILL')));
      await Promise.all(burst);
      await Promise.all(office.servers.map((server) => server.start()));
    }
    await sleep(1200);
    await settleAndSellTheRest(office);
    await office.close();
  });
});
