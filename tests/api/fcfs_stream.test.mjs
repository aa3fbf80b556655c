// The live stream: a snapshot, then what changes; resuming, resets, heartbeats; in both ways to run.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { inBothWays } from './box_office.mjs';
import { EventStream, sleep } from './client.mjs';
import { eventually } from './support.mjs';

/** Follows a stream and keeps its own picture of the house, as a page does. */
class Follower {
  constructor(server, headers) {
    this.stream = new EventStream(server, { headers });
    this.taken = new Set();
    this.seen = [];
  }

  async step(seconds) {
    const event = await this.stream.next(seconds);
    assert.ok(event, 'the stream has ended');
    if (event.comment !== undefined) return event;
    assert.equal(event.id, event.data.version);
    this.seen.push(event.event);
    this.last = event;
    if (event.event === 'snapshot') {
      this.taken = new Set(event.data.taken);
      this.total = event.data.total;
    } else {
      for (const seat of event.data.seats) this.taken[seat.status ? 'add' : 'delete'](seat.id);
    }
    if (this.total !== undefined) assert.equal(event.data.remainingSeats, this.total - this.taken.size, JSON.stringify(event));
    return event;
  }

  async until(what, check) {
    while (!check(this)) await this.step().catch((error) => { throw new Error(`${what}: ${error.message}`); });
    return this;
  }

  close() {
    this.stream.close();
  }
}

inBothWays((way) => describe(way.name, () => {
  let office;
  before(async () => {
    office = await way.open();
  });

  test('begins with a snapshot and goes on with changes', async () => {
    await office.reset(9);
    await office.claim('alice');
    const last = office.servers.at(-1);
    await eventually('the last server knows', async () => (await office.taken(last)).length === 1);
    const follower = new Follower(last);
    const first = await follower.step();
    assert.match(follower.stream.headers['content-type'], /^text\/event-stream/);
    assert.match(follower.stream.headers['cache-control'], /no-cache|no-store/);
    assert.ok(follower.stream.retry >= 500 && follower.stream.retry <= 60_000);
    assert.equal(first.event, 'snapshot');
    const { version, ...rest } = first.data;
    assert.match(version, /^\d+-\d+$/);
    assert.deepEqual(rest, { total: 9, remainingSeats: 8, rowLength: 10, taken: [1] });

    await office.claim('bob', { server: office.servers[0] });
    const second = await follower.step();
    assert.equal(second.event, 'seat');
    assert.deepEqual(second.data.seats, [{ id: 2, name: 'A-2', status: true }]);
    assert.equal(second.data.remainingSeats, 7);

    await office.giveBack('alice', { server: office.servers[0] });
    const third = await follower.step();
    assert.deepEqual(third.data.seats, [{ id: 1, name: 'A-1', status: false }]);
    follower.close();
  });

  test('resumes behind the last event that was seen', async () => {
    await office.reset(9);
    const [server] = office.servers;
    await office.claim('alice', { server });
    const before = new Follower(server);
    await before.step();
    before.close();
    await office.claim('bob', { server });
    await office.claim('carol', { server });
    await office.giveBack('bob', { server });

    const resumed = new Follower(server, { 'Last-Event-ID': before.last.id });
    const event = await resumed.step();
    assert.equal(event.event, 'seat', 'only what has changed');
    const told = new Map(event.data.seats.map((seat) => [seat.id, seat.status]));
    assert.deepEqual([...told].sort(), [[2, false], [3, true]]);
    await office.claim('dave', { server });
    assert.deepEqual((await resumed.step()).data.seats.map((seat) => [seat.id, seat.status]), [[2, true]]);
    resumed.close();

    const upToDate = new Follower(server, { 'Last-Event-ID': resumed.last.id });
    await sleep(100);
    await office.claim('erin', { server });
    assert.deepEqual((await upToDate.step()).data.seats.map((seat) => seat.id), [4], 'nothing is told twice');
    upToDate.close();
  });

  test('an id that means nothing here gets everything', async () => {
    await office.reset(9);
    for (const id of ['', 'x', '1', '1-', '-', '1-x', '0-0', '999-5', '1-99999999', '1-1-1', '9'.repeat(40)]) {
      const follower = new Follower(office.servers[0], { 'Last-Event-ID': id });
      assert.equal((await follower.step()).event, 'snapshot', id);
      follower.close();
    }
  });

  test('a reset is a new snapshot for those who watch, on every server', async () => {
    await office.reset(9);
    await office.claim('alice');
    const followers = office.servers.map((server) => new Follower(server));
    for (const follower of followers) await follower.until('alice has seat 1', ({ taken }) => taken.has(1));
    await office.reset(4);
    for (const follower of followers) {
      await follower.until('the house of four', ({ total }) => total === 4);
      assert.equal(follower.last.event, 'snapshot');
      assert.equal(follower.taken.size, 0);
      const old = new Follower(office.servers[0], { 'Last-Event-ID': '1-1' });
      assert.equal((await old.step()).event, 'snapshot', 'an id from before the reset');
      old.close();
      follower.close();
    }
  });

  test('a crowd of followers sees a fast sale to its end', async () => {
    await office.reset(600);
    const followers = Array.from({ length: 200 }, (_, i) => new Follower(office.servers[i % office.servers.length]));
    for (const follower of followers) await follower.step();
    let selling = true;
    const joining = Array.from({ length: 8 }, async (_, i) => { // others come and go all the time
      while (selling) {
        const late = new Follower(office.servers[i % office.servers.length]);
        assert.equal((await late.step()).event, 'snapshot');
        late.close();
      }
    });
    const buying = Array.from({ length: 12 }, async (_, buyer) => {
      for (let i = 0; i < 50; i++) assert.equal((await office.claim(`buyer-${buyer}-${i}`)).status, 200);
    });
    await Promise.all(buying);
    selling = false;
    await Promise.all(joining);
    for (const follower of followers) {
      await follower.until('all is sold', ({ taken }) => taken.size === 600);
      follower.close();
    }
    await office.sellTheRest();
  });
}));

// It takes a quarter of a minute, so both ways wait at the same time.
test('a heartbeat comes when nothing happens, and the stream ends with the server', async () => {
  const waiting = [];
  inBothWays((way) => waiting.push((async () => {
    const alone = await way.open();
    const follower = new Follower(alone.servers[0]);
    await follower.step();
    const event = await follower.step(40);
    assert.ok(event.comment !== undefined, 'a comment, which no page reacts to');
    await alone.close();
    assert.equal(await follower.stream.next(), null);
  })()));
  await Promise.all(waiting);
});
