// The wire contract of buying: headers, bodies, answers, aliases; in both ways to run.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { FCFS, PRD, inBothWays, openEmbedded } from './box_office.mjs';
import { buyers } from './personal.mjs';

const TRACE = /^[0-9a-f]{32}$/;

inBothWays((way) => describe(way.name, () => {
  let office;
  before(async () => {
    office = await way.open({ FCFS_USER_TTL: '600' });
  });

  const post = (user, body, path = FCFS, headers = {}) =>
    office.ask({ method: 'POST', path, user, headers, body: body?.constructor === Object ? JSON.stringify(body) : body });

  test('a claim: every member of the answer', async () => {
    await office.reset(9);
    const answer = await office.claim('alice');
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['content-type'], 'application/json');
    assert.deepEqual(answer.json, {
      success: true,
      seat: { id: 1, name: 'A-1', status: true },
      seat_id: 1,
      reserved_by: 'alice',
      reason: null,
      remainingSeats: 8,
      userTtlRemaining: 600,
      sequence: 1,
    });
  });

  test('refusals: every member of the answer', async () => {
    await office.reset(1);
    await office.claim('alice');
    const again = await office.claim('alice');
    assert.equal(again.status, 409);
    const { message, traceId, userTtlRemaining, ...rest } = again.json;
    assert.deepEqual(rest, {
      success: false,
      reason: 'already_reserved',
      seat: { id: 1, name: 'A-1', status: true },
      seat_id: 1,
      reserved_by: 'alice',
    });
    assert.match(traceId, TRACE);
    assert.equal(again.headers['x-trace-id'], traceId);
    assert.ok(message.length > 10 && userTtlRemaining > 590 && userTtlRemaining <= 600);

    const late = await office.claim('bob');
    assert.equal(late.status, 409);
    const { message: sorry, traceId: trace, ...other } = late.json;
    assert.deepEqual(other, { success: false, reason: 'sold_out', seat_id: null, reserved_by: 'bob' });
    assert.match(trace, TRACE);
    assert.ok(sorry.length > 10);
  });

  test('the header that names the user', async () => {
    await office.reset(9);
    for (const user of [undefined, '', '   ', 'x'.repeat(129)]) {
      for (const [method, path] of [['POST', FCFS], ['DELETE', PRD], ['GET', PRD]]) {
        const answer = await office.ask({ method, path, user });
        assert.equal(answer.status, 400, `${method} ${path} for ${user}: ${answer.text}`);
        assert.equal(answer.json.reason, 'missing_user');
      }
    }
    const longest = 'x'.repeat(128);
    assert.equal((await office.claim(longest)).json.reserved_by, longest);
    assert.equal((await office.claim('  spaces around  ')).json.reserved_by, 'spaces around');
    const korean = Buffer.from('관객-1').toString('latin1'); // node writes headers as Latin-1
    assert.equal((await post(korean)).json.reserved_by, '관객-1');
    const notUtf8 = await post('\xff\xfe');
    assert.deepEqual([notUtf8.status, notUtf8.json.reason], [400, 'missing_user']);
    const quotes = `'"; DROP TABLE claims; --\\`;
    assert.equal((await post(quotes)).json.reserved_by, quotes);
  });

  test('bodies that are refused name the field', async () => {
    await office.reset(9);
    const rows = [
      ['{"userName":5}', /userName/],
      ['{"userName":"' + 'x'.repeat(101) + '"}', /userName/],
      ['{"phone":"12345"}', /phone/],
      ['{"phone":821012345678}', /phone/],
      ['{"phone":"010-1234-5678x"}', /phone/],
      ['{"phone":{}}', /phone/],
      ['{"userName":"a', /JSON/],
      ['{"userName":"a\\u0000b"}', /U\+0000/],
      ['{"userName":"\\ud800"}', /./],
      ['{"userName":"\xff"}', /./],
      ['[]', /./],
      ['"text"', /./],
      ['nonsense', /JSON/],
      ['{} {}', /./],
    ];
    for (const [body, names] of rows) {
      const answer = await post('alice', Buffer.from(body, 'latin1'));
      assert.equal(answer.status, 400, `${body}: ${answer.text}`);
      assert.equal(answer.json.reason, 'validation');
      assert.match(answer.json.message, names, body);
    }
    const large = await post('alice', `{"userName":"${'x'.repeat(5000)}"}`);
    assert.deepEqual([large.status, large.json.reason], [413, 'body_too_large']);
    assert.equal((await office.audit()).sold, 0);
  });

  test('names and phones are kept, in one form, and never shown', async () => {
    await office.reset(9);
    const bodies = {
      ann: { userName: 'Ann Secret', phone: '010-1234-5678' },
      bob: { user_name: 'Bob Secret', phone: '+1 (415) 555-2671' },
      cho: { userName: '조시크릿Secret', phone: '' },
      dan: {},
      eve: '',
      fay: { userName: null, phone: null, unknown: [1, { deep: true }] },
    };
    for (const [user, body] of Object.entries(bodies)) assert.equal((await post(user, body)).status, 200, user);
    assert.deepEqual(await buyers(office), [
      ['ann', 'Ann Secret', '+821012345678'],
      ['bob', 'Bob Secret', '+14155552671'],
      ['cho', '조시크릿Secret', null],
      ['dan', null, null],
      ['eve', null, null],
      ['fay', null, null],
    ]);
    const reads = ['/api/v1/seats', '/api/v1/seats?format=array', '/api/v1/seats/1', '/api/v1/show', PRD];
    for (const path of reads) {
      const { status, text } = await office.ask({ path, user: 'ann' });
      assert.equal(status, 200, text);
      assert.doesNotMatch(text, /Secret|12345678|5552671/, path);
    }
    assert.doesNotMatch((await post('ann', {})).text, /Secret|12345678/);
  });

  test('wrap=1 puts the answer into another', async () => {
    await office.reset(1);
    const won = await post('alice', '', `${FCFS}?wrap=1`);
    assert.equal(won.status, 200);
    const { gatewayWrapped, status, body, ...others } = won.json;
    assert.deepEqual([gatewayWrapped, status, body.success, body.seat_id, others], [true, 200, true, 1, {}]);
    const lost = await post('bob', '', `${FCFS}?wrap=1`);
    assert.deepEqual([lost.json.status, lost.json.body.reason], [409, 'sold_out']);
    const bad = await post(undefined, '', `/fcfs/join?wrap=1`);
    assert.deepEqual([bad.json.status, bad.json.body.reason], [400, 'missing_user']);
    const zero = await post('carol', '', `${FCFS}?wrap=0`);
    assert.deepEqual([zero.status, zero.json.reason, zero.json.gatewayWrapped], [400, 'validation', undefined]);
  });

  test('the other names of the addresses', async () => {
    await office.reset(9);
    assert.equal((await post('alice', '', '/fcfs/join')).json.seat_id, 1);
    assert.equal((await post('bob', '', '/api/seats/reservation/fcfs')).json.seat_id, 2);
    assert.equal((await post('carol', '', '/api/seats/reservation')).json.seat, 3);
    assert.equal((await office.ask({ path: '/api/seats' })).json.seats.length, 9);
    assert.equal((await office.ask({ path: '/api/seats/2' })).json.seat.status, true);
    assert.equal((await office.ask({ path: '/api/seats/reservation', user: 'bob' })).json.seat_id, 2);
    assert.equal((await office.ask({ method: 'DELETE', path: '/api/seats/reservation', user: 'bob' })).json.seat.id, 2);
  });

  test('giving back, and my seat', async () => {
    await office.reset(3);
    const mine = () => office.ask({ path: PRD, user: 'alice' });
    assert.deepEqual([(await mine()).json.seat, (await mine()).json.seat_id], [null, null]);
    const nothing = await office.giveBack('alice');
    assert.deepEqual([nothing.status, nothing.json.reason], [409, 'not_reserved']);
    await office.claim('alice');
    await office.claim('bob');
    const seen = (await mine()).json;
    assert.deepEqual([seen.seat_id, seen.seat.name, seen.reserved_by, seen.sequence], [1, 'A-1', 'alice', 1]);
    assert.equal((await mine()).headers['cache-control'], 'no-store');
    const back = await office.giveBack('alice');
    assert.deepEqual(back.json, { success: true, seat: { id: 1, name: 'A-1', status: false }, remainingSeats: 2 });
    assert.equal((await office.giveBack('alice')).json.reason, 'not_reserved');
    const { json } = await office.claim('carol');
    assert.deepEqual([json.seat_id, json.remainingSeats], [1, 1], 'the lowest free seat, at once');
    assert.equal((await office.claim('alice')).json.seat_id, 3, 'who gave back may buy again');
    await office.sellTheRest();
  });

  test('a seat given back in a sold-out house is for sale at once, everywhere', async () => {
    await office.reset(2);
    await office.claim('alice');
    await office.claim('bob');
    for (let round = 0; round < 10; round++) {
      assert.equal((await office.claim(`carol-${round}`)).json.reason, 'sold_out');
      const [owner, next] = round % 2 ? ['dave', 'alice'] : ['alice', 'dave'];
      const [first, second] = [office.servers[0], office.servers.at(-1)];
      assert.equal((await office.giveBack(owner, { server: first })).status, 200);
      let answer = await office.claim(next, { server: second });
      if (answer.json.reason === 'sold_out') {
        await new Promise((resolve) => setTimeout(resolve, 200)); // what a fleet is allowed
        answer = await office.claim(next, { server: second });
      }
      assert.equal(answer.json.seat_id, 1, `round ${round}: ${answer.text}`);
      await office.audit();
    }
  });

  test('the history has every attempt of somebody who makes few', async () => {
    await office.reset(1);
    const from = '203.0.113.9';
    await office.claim('h-alice');
    await office.claim('h-alice');
    await office.claim('h-bob');
    await office.giveBack('h-bob');
    await office.giveBack('h-alice');
    const letGo = await office.holdHouse();
    const first = office.claim('h-carol', { from });
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal((await office.claim('h-dave', { from })).json.reason, 'duplicate');
    await letGo();
    assert.equal((await first).status, 200);
    assert.equal((await post('h-erin', '', PRD)).json.reason, 'sold out');

    const lines = await office.history('h-', 8);
    const told = lines.map((line) => `${line.user_id} ${line.outcome} ${line.seat_id ?? '-'}`).sort();
    assert.deepEqual(told, [
      'h-alice already_reserved 1',
      'h-alice claimed 1',
      'h-alice released 1',
      'h-bob not_reserved -',
      'h-bob sold_out -',
      'h-carol claimed 1',
      'h-dave duplicate -',
      'h-erin sold_out -',
    ]);
    for (const line of lines) assert.ok(Math.abs(Date.now() - line.at) < 60_000);
    const numbers = lines.filter((line) => line.outcome === 'claimed').map((line) => line.sequence);
    assert.ok(numbers[0] < numbers[1]);
  });
}));

test('the user is named by another header', async () => {
  const office = await openEmbedded({ FCFS_USER_HEADER: 'X-Member', FCFS_USER_TTL: '0' });
  const answer = await office.ask({ method: 'POST', path: FCFS, headers: { 'X-Member': 'alice' } });
  assert.equal(answer.json.reserved_by, 'alice');
  assert.ok(!('userTtlRemaining' in answer.json), 'TTL 0 is for ever');
  assert.equal((await office.ask({ method: 'POST', path: FCFS, user: 'bob' })).json.reason, 'missing_user');
});
