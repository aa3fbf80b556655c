// The scenarios of the product's requirements: so many users on so many seats, again and again, none, contention.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { assertSeatsFollowSequence, DEFAULT_TIMES, inBothWays, tally, users } from './box_office.mjs';
import { eventually } from './support.mjs';

inBothWays((way) => describe(way.name, () => {
  let office;
  before(async () => { office = await way.open(); });

  test('nine users, nine seats: everybody gets one', async () => {
    await office.reset(9);
    const answers = await Promise.all(users(9).map((user) => office.claim(user)));
    assert.deepEqual(tally(answers), { claimed: 9 });
    assert.deepEqual(answers.map((answer) => answer.json.seat_id).sort(), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.deepEqual(answers.map((answer) => answer.json.remainingSeats).sort(), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assertSeatsFollowSequence(answers);
    await office.sellTheRest();
  });

  test('ten users, nine seats: one is left over', async () => {
    await office.reset(9);
    const answers = await Promise.all(users(10).map((user) => office.claim(user)));
    assert.deepEqual(tally(answers), { claimed: 9, sold_out: 1 });
    assert.equal(answers.find((answer) => answer.status === 409).json.seat_id, null);
    await office.sellTheRest();
  });

  test('one after the other: seats go up', async () => {
    await office.reset(9);
    for (let seat = 1; seat <= 5; seat++) {
      const { json } = await office.claim(`user-${seat}`);
      assert.deepEqual([json.seat_id, json.seat.name, json.remainingSeats], [seat, `A-${seat}`, 9 - seat]);
    }
    await office.sellTheRest();
  });

  test('the same user again and again keeps the one seat', async () => {
    await office.reset(9);
    await office.claim('somebody');
    const { json: first } = await office.claim('the-same');
    for (let i = 0; i < 10; i++) {
      const again = await office.claim('the-same');
      assert.equal(again.status, 409);
      assert.equal(again.json.reason, 'already_reserved');
      assert.deepEqual([again.json.seat_id, again.json.seat], [first.seat_id, first.seat]);
      assert.ok(again.json.userTtlRemaining > 890 && again.json.userTtlRemaining <= 900);
    }
    assert.equal((await office.audit()).sold, 2);
    await office.sellTheRest();
    assert.equal((await office.claim('the-same')).json.reason, 'already_reserved', 'also when all is sold');
  });

  test('the same user twenty times at once has one seat', async () => {
    await office.reset(9);
    const answers = await Promise.all(Array.from({ length: 20 }, () => office.claim('the-same')));
    const { claimed, ...others } = tally(answers);
    assert.equal(claimed, 1);
    assert.ok(Object.keys(others).every((reason) => ['duplicate', 'already_reserved'].includes(reason)), others);
    assert.equal((await office.audit()).sold, 1);
    await office.sellTheRest();
  });

  test('a hundred users at once, fifty seats', async () => {
    await office.reset(50);
    const answers = await Promise.all(users(100).map((user) => office.claim(user)));
    assert.deepEqual(tally(answers), { claimed: 50, sold_out: 50 });
    assertSeatsFollowSequence(answers);
    await office.sellTheRest();
  });

  test('no seats at all', async () => {
    await office.reset(0);
    const answers = await Promise.all(users(5).map((user) => office.claim(user)));
    assert.deepEqual(tally(answers), { sold_out: 5 });
    assert.deepEqual(await office.seats(), []);
    await office.audit();
  });

  // On a machine that is too slow for its time-outs a server takes the database for dead and says so; then once more.
  test('somebody else holds the house: contention, and then success', async () => {
    const impatient = await way.open({ ...DEFAULT_TIMES, REQUEST_TIMEOUT_MS: '60000' });
    const letGo = await impatient.holdHouse();
    const refused = await eventually('a clear refusal', async () => {
      const answers = await Promise.all(users(3).map((user) => impatient.claim(user)));
      return !tally(answers).service_unavailable && answers;
    }, 60);
    await letGo();
    assert.deepEqual(tally(refused), { contention: 3 });
    for (const answer of refused) assert.equal(answer.status, 409);
    const answers = await Promise.all(users(3).map((user) => impatient.claim(user)));
    assert.deepEqual(tally(answers), { claimed: 3 });
    await impatient.sellTheRest();
    await impatient.close();
  });

  test('a house that is held for a moment only makes buyers wait', async () => {
    await office.reset(9);
    const letGo = await office.holdHouse();
    const waiting = Promise.all(users(9).map((user) => office.claim(user)));
    await new Promise((resolve) => setTimeout(resolve, 300));
    await letGo();
    assert.deepEqual(tally(await waiting), { claimed: 9 });
    await office.sellTheRest();
  });
}));

inBothWays((way) => describe(`${way.name}, opened without seats`, () => {
  test('FCFS_SEATS=0 is a house that is sold out from the start', async () => {
    const office = await way.open({ FCFS_SEATS: '0' });
    assert.deepEqual(tally([await office.claim('alice')]), { sold_out: 1 });
    await office.reset(2);
    await office.sellTheRest();
    await office.close();
  });
}));
