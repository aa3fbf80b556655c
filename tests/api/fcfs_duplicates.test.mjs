// The duplicate lock: whose second attempt in flight is refused, by policy, and that the lock is gone afterwards. An
// attempt stays in flight while somebody else holds the house.
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { DEFAULT_TIMES, inBothWays, tally } from './box_office.mjs';
import { sleep } from './client.mjs';

const SAME_ADDRESS = '192.0.2.1';

// While alice's attempt is in flight: her second one, a stranger's from her address, a stranger's from elsewhere. Those
// that must be refused get their time, and all the others as much and a moment more.
async function attemptsBesideAlice(office, mustBeRefused) {
  const letGo = await office.holdHouse();
  const alice = office.claim('alice', { from: SAME_ADDRESS });
  await sleep(200);
  const others = [
    office.claim('alice'),
    office.claim('bob', { from: SAME_ADDRESS }),
    office.claim('carol'),
  ];
  await Promise.race([Promise.all(others.filter((_, i) => mustBeRefused[i])), sleep(1500)]);
  const early = await Promise.all(others.map((other) => Promise.race([other, sleep(250)])));
  await letGo();
  const answers = await Promise.all([alice, ...others]);
  return { refusedAtOnce: early.map((answer) => answer?.json.reason === 'duplicate'), answers };
}

const POLICIES = {
  both: [true, true, false],
  user: [true, false, false],
  ip: [false, true, false],
  off: [false, false, false],
};

inBothWays((way) => describe(way.name, () => {
  for (const [policy, expected] of Object.entries(POLICIES)) {
    test(`policy ${policy}`, async () => {
      const office = await way.open({ FCFS_DUP_POLICY: policy });
      const { refusedAtOnce, answers } = await attemptsBesideAlice(office, expected);
      assert.deepEqual(refusedAtOnce, expected);
      const [first, second] = answers;
      assert.equal([first, second].filter((answer) => answer.status === 200).length, 1, 'one seat for alice, always');
      for (const answer of answers) {
        if (answer.status === 200) continue;
        assert.equal(answer.status, 409);
        assert.ok(['duplicate', 'already_reserved'].includes(answer.json.reason), answer.text);
      }
      const after = await Promise.all([office.claim('dave', { from: SAME_ADDRESS }), office.claim('erin')]);
      assert.deepEqual(tally(after), { claimed: 2 }, 'the locks are gone with the requests that had them');
      await office.sellTheRest();
      await office.close();
    });
  }

  test('an address may have three attempts in flight', async () => {
    const office = await way.open({ FCFS_IP_CONCURRENCY: '3' });
    const letGo = await office.holdHouse();
    const first = ['alice', 'bob', 'carol'].map((user) => office.claim(user, { from: SAME_ADDRESS }));
    await sleep(150);
    assert.equal((await office.claim('dave', { from: SAME_ADDRESS })).json.reason, 'duplicate');
    assert.equal((await office.claim('alice', { from: SAME_ADDRESS })).json.reason, 'duplicate');
    await letGo();
    assert.deepEqual(tally(await Promise.all(first)), { claimed: 3 });
    const again = ['dave', 'erin', 'fay'].map((user) => office.claim(user, { from: SAME_ADDRESS }));
    assert.deepEqual(tally(await Promise.all(again)), { claimed: 3 });
    await office.sellTheRest();
    await office.close();
  });

  test('the lock is given back whatever the outcome', async () => {
    const office = await way.open({ ...DEFAULT_TIMES, FCFS_SEATS: '1', FCFS_DUP_TTL: '60' });
    const twice = async (user, expected) => {
      for (let i = 0; i < 3; i++) assert.equal((await office.claim(user, { from: SAME_ADDRESS })).json.reason, expected);
    };
    assert.equal((await office.claim('alice', { from: SAME_ADDRESS })).status, 200);
    await twice('alice', 'already_reserved');
    await twice('bob', 'sold_out');
    for (let i = 0; i < 3; i++)
      assert.equal((await office.giveBack('bob', { from: SAME_ADDRESS })).json.reason, 'not_reserved');
    const letGo = await office.holdHouse();
    assert.equal((await office.giveBack('alice', { from: SAME_ADDRESS })).json.reason, 'contention');
    await letGo();
    assert.equal((await office.giveBack('alice', { from: SAME_ADDRESS })).status, 200);

    const hold = await office.holdHouse();
    const gone = new AbortController();
    const leaving = office.claim('carol', { from: SAME_ADDRESS, signal: gone.signal });
    await sleep(100);
    gone.abort(); // the buyer closes the page while the attempt is in flight
    assert.equal((await leaving).status, 0);
    await hold();
    await sleep(300);
    const { reason, success } = (await office.claim('carol', { from: SAME_ADDRESS })).json;
    assert.ok(success || reason === 'already_reserved', reason);
    await office.close();
  });
}));
