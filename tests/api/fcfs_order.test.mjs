// Who comes first, and who has the last word: the gateway's numbers order a batch; the database's constraints hold even
// against a server whose memory is wrong.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { assertSeatsFollowSequence, inBothWays, tally, users } from './box_office.mjs';
import { sleep } from './client.mjs';
import { command } from './programs.mjs';

const GATEWAY_TOKEN = 'the-gateways-secret';

inBothWays((way) => describe(way.name, () => {
  let office;
  before(async () => {
    office = await way.open({ GATEWAY_TOKEN });
  });

  const write = (sql) => office.file
    ? command('sqlite3', office.file, `PRAGMA busy_timeout = 2000; PRAGMA foreign_keys = ON; ${sql}`)
    : command('psql', '-qAt', '-v', 'ON_ERROR_STOP=1', '-c', `SET search_path = reservation_service; ${sql}`, office.url);
  const insert = (seat, user) => {
    const [columns, values] = office.placeOf('id', seat);
    return write(`INSERT INTO claims (${columns}, user_id, claimed_at, sequence)
      SELECT ${values}, '${user}', 0, 0 FROM houses WHERE schedule = 'demo'`);
  };

  test("the gateway's numbers decide among those who wait, not the order of arrival", async () => {
    await office.reset(40);
    const [server] = office.servers;
    const letGo = await office.holdHouse();
    const first = office.claim('first', { server });
    await sleep(50);
    const waiting = Array.from({ length: 30 }, (_, i) => {
      const headers = { 'X-Fcfs-Seq': `${130 - i}`, 'X-Gateway-Token': GATEWAY_TOKEN };
      return office.claim(`user-${i}`, { server, headers });
    });
    await sleep(150); // all of them have come, and none has given up yet
    await letGo();
    assert.equal((await first).status, 200);
    const answers = await Promise.all(waiting);
    assert.deepEqual(tally(answers), { claimed: 30 });
    assert.deepEqual(answers.map((answer) => answer.json.sequence), Array.from({ length: 30 }, (_, i) => 130 - i));
    assertSeatsFollowSequence(answers);
    await office.sellTheRest();
  });

  test('the database refuses a second owner and a second seat', async () => {
    await office.reset(9);
    await office.claim('alice');
    await assert.rejects(insert(1, 'bob'), /UNIQUE|duplicate key/);
    await assert.rejects(insert(2, 'alice'), /UNIQUE|duplicate key/);
    assert.equal((await office.audit()).sold, 1);
  });

  test('a seat that was taken behind the back of the servers is not sold again', async () => {
    await office.reset(9);
    for (const seat of [1, 2, 5]) {
      await insert(seat, `ghost-${seat}`);
      office.told.set(`ghost-${seat}`, { seat });
    }
    const answers = await Promise.all(users(6).map((user) => office.claim(user)));
    assert.deepEqual(tally(answers), { claimed: 6 });
    assert.deepEqual(answers.map((answer) => answer.json.seat_id).sort(), [3, 4, 6, 7, 8, 9]);
    assert.equal((await office.audit()).free, 0);
  });

  test('a user who has a seat behind the back of the servers gets no second one', async () => {
    await office.reset(9);
    await insert(7, 'ghost');
    office.told.set('ghost', { seat: 7 });
    for (const server of office.servers) {
      const { json } = await office.claim('ghost', { server });
      assert.deepEqual([json.reason, json.seat_id], ['already_reserved', 7]);
    }
    await office.sellTheRest();
  });
}));
