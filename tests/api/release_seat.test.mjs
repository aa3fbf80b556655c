// An operator releases one seat, whoever has it: it is on sale again at once, everywhere.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { inBothWays, users } from './box_office.mjs';
import { EventStream } from './client.mjs';
import { ADMIN_TOKEN, eventually } from './support.mjs';

inBothWays((way) => describe(way.name, () => {
  let office, first, last;
  before(async () => {
    office = await way.open();
    [first] = office.servers;
    last = office.servers.at(-1);
  });
  const release = (seat, { schedule = 'demo', server = first } = {}) => office.ask({
    method: 'DELETE', path: `/api/v1/admin/seats/${seat}${schedule === null ? '' : `?scheduleId=${schedule}`}`, server,
    headers: { 'X-Admin-Token': ADMIN_TOKEN },
  });

  test('the seat is free on every server and stream, and can be sold', async () => {
    await office.reset(3);
    for (const user of users(3)) assert.equal((await office.claim(user)).status, 200);
    await eventually('sold out everywhere', async () => (await office.taken(last)).length === 3);
    const stream = new EventStream(last);
    await stream.next();
    const { status, json } = await release(2);
    assert.deepEqual([status, json], [200, { success: true, seat: { id: 2, name: 'A-2', status: false }, remainingSeats: 1 }]);
    assert.deepEqual(await office.taken(first), [1, 3], 'at once where it was done');
    for (;;) {
      const { data } = await stream.next(10);
      if (data.seats.some((seat) => seat.id === 2 && !seat.status)) break;
    }
    stream.close();
    await eventually('free everywhere', async () => `${await office.taken(last)}` === '1,3');
    const [{ user_id: owner }] = await office.rows("SELECT user_id FROM reservation_history WHERE outcome = 'released_by_operator'");
    office.told.delete(owner);
    assert.equal((await office.claim('next', { server: last })).json.seat_id, 2);
    assert.equal((await office.claim(owner, { server: last })).json.reason, 'sold_out', 'who had it has nothing any more');
    await office.audit();
  });

  test('who had the seat may buy again, at once', async () => {
    await office.reset(3);
    assert.equal((await office.claim('again')).json.seat_id, 1);
    assert.equal((await release(1)).status, 200);
    assert.equal((await office.claim('again', { server: last })).json.seat_id, 1);
    const lines = await office.history('again', 3);
    assert.deepEqual(lines.map(({ outcome, seat_id: seat }) => `${outcome} ${seat}`),
      ['claimed 1', 'released_by_operator 1', 'claimed 1']);
    await office.audit();
  });

  test('a house that another server has enlarged a moment ago', async () => {
    await office.reset(3);
    for (let seats = 4; seats < 10; seats++) {
      await office.execute(`UPDATE houses SET seats = ${seats}, generation = generation + 1, version = version + 1
        WHERE schedule = 'demo'`);
      assert.equal((await release(seats, { server: last })).json.reason, 'not_reserved', 'there is such a seat');
    }
  });

  test('a free seat, a seat that is not there, and a house that was not named', async () => {
    await office.reset(3);
    await office.claim('alice');
    const refused = async (...args) => {
      const { status, json } = await release(...args);
      return `${status} ${json.reason}`;
    };
    assert.equal(await refused(2), '409 not_reserved');
    for (const seat of [0, 4, -1]) assert.equal(await refused(seat), '404 not_found');
    assert.equal(await refused('x'), '400 validation');
    assert.equal(await refused(1, { schedule: null }), '400 validation');
    assert.equal(await refused(1, { schedule: 'never' }), '404 not_found');
    assert.deepEqual(await office.taken(), [1]);
  });

  test('in the middle of a sale, seats stay consistent', async () => {
    await office.reset(200);
    const sale = users(150, 'rush').map((user) => office.claim(user));
    const released = [];
    for (let seat = 1; seat <= 40; seat++) {
      const { status } = await release(seat, { server: office.servers[seat % office.servers.length] });
      assert.ok([200, 409].includes(status));
      if (status === 200) released.push(seat);
    }
    await Promise.all(sale);
    const lost = await office.rows("SELECT user_id FROM reservation_history WHERE outcome = 'released_by_operator' AND user_id LIKE 'rush-%'");
    assert.equal(lost.length, released.length);
    for (const { user_id: user } of lost) office.told.delete(user);
    assert.equal((await office.audit()).sold, 150 - released.length);
    await office.sellTheRest();
  });
}));
