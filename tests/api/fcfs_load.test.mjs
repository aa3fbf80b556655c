// Crowds: thousands at once, giving back and reselling meanwhile, and a server that is told to stop in between.
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { assertSeatsFollowSequence, inBothWays, openEmbedded, tally, users } from './box_office.mjs';
import { sleep } from './client.mjs';
import { isSlowBuild, startServer } from './support.mjs';
import { HealthWatch } from '../crash/health.mjs';

const CROWD = isSlowBuild ? 400 : 5000;

inBothWays((way) => describe(way.name, () => {
  test(`${CROWD} at once, ten for each seat`, async () => {
    const seats = CROWD / 10;
    const office = await way.open({ FCFS_SEATS: `${seats}` });
    const answers = await Promise.all(users(CROWD).map((user) => office.claim(user)));
    assert.deepEqual(tally(answers), { claimed: seats, sold_out: CROWD - seats });
    assertSeatsFollowSequence(answers);
    const { claims } = await office.audit();
    const numbers = claims.map((claim) => claim.sequence);
    assert.deepEqual(numbers, [...numbers].sort((a, b) => a - b), 'in the database, too, earlier number, earlier seat');
    const lines = await office.rows("SELECT outcome FROM reservation_history WHERE user_id LIKE 'user-%'");
    assert.equal(lines.filter((line) => line.outcome === 'claimed').length, seats, 'refusals are a sample, claims are not');
    await office.close();
  });

  // Whoever has a seat gives it back soon; whoever has none tries again. Meanwhile somebody reads all the time.
  test('giving back and reselling under load', async () => {
    const office = await way.open({ FCFS_SEATS: '40' });
    const until = Date.now() + 4000, atTheLatest = until + 60_000;
    let returned = 0;
    const goesOn = () => Date.now() < until || (returned <= 200 && Date.now() < atTheLatest);
    const buy = async (user) => {
      while (goesOn()) {
        const answer = await office.claim(user);
        assert.ok(answer.status === 200 || ['sold_out', 'contention'].includes(answer.json.reason), answer.text);
        if (answer.status !== 200) await sleep(5);
        else {
          await sleep(Math.random() * 20);
          assert.equal((await office.giveBack(user)).status, 200, `${user} gives back what is theirs`);
          returned++;
        }
      }
    };
    const read = async () => {
      while (goesOn()) for (const server of office.servers) assert.equal((await office.seats(server)).length, 40);
    };
    await Promise.all([read(), ...users(100, 'churn').map(buy)]);
    assert.ok(returned > 200, `only ${returned} seats came back`);
    assert.equal((await office.audit()).free, 40, 'everything came back, and every server shows it');
    await office.sellTheRest();
    const lines = await office.rows(
      "SELECT seat_id, outcome FROM reservation_history WHERE outcome IN ('claimed', 'released') ORDER BY version, id");
    const taken = new Set();
    for (const { seat_id, outcome } of lines) {
      assert.equal(taken.has(seat_id), outcome === 'released', `seat ${seat_id} is ${outcome} twice`);
      taken[outcome === 'claimed' ? 'add' : 'delete'](seat_id);
    }
    assert.equal(taken.size, 40);
    await office.close();
  });

  test('a server that stops in the middle of a burst answers what it has begun', async () => {
    const office = await way.open({ FCFS_SEATS: '3000', MAX_CONNECTIONS: '4000' });
    const [stopping] = office.servers;
    await Promise.all(users(200, 'warm').map((user) => office.claim(user)));
    const crowd = users(2000, 'burst').map(async (user, i) => {
      await sleep(i / 10);
      return office.claim(user, { server: stopping });
    });
    await sleep(100);
    assert.equal(await stopping.stop(), 0, stopping.output);
    const answers = await Promise.all(crowd);
    const claimed = answers.filter((answer) => answer.status === 200).length;
    assert.ok(claimed < 2000, 'it stopped too late for this test');
    office.servers.shift();
    await office.addServer();
    const { claims } = await office.audit();
    const burst = claims.filter((claim) => claim.user_id.startsWith('burst-')).length;
    assert.ok(burst >= claimed, `${claimed} were told a seat, ${burst} have one`);
    await office.sellTheRest();
    await office.close();
  });
}));

test('reads stay quick while the crowd comes', async () => {
  const office = await openEmbedded({ FCFS_SEATS: '2000' });
  const idle = await startServer();
  const watch = new HealthWatch(office.servers, idle);
  for (let wave = 0; wave < 10; wave++) await Promise.all(users(200, `wave-${wave}`).map((user) => office.claim(user)));
  await watch.stop();
  await idle.stop();
  const { count, failed, slow } = watch.judge([]);
  assert.ok(count > 0);
  assert.deepEqual(failed, []);
  assert.deepEqual(slow.filter(({ own }) => own > 1000), []);
  await office.sellTheRest();
});
