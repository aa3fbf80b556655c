// A reset names its house and the generation of it that the operator has seen; nothing else is ever emptied.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { FCFS, inBothWays, users } from './box_office.mjs';
import { ADMIN_TOKEN } from './support.mjs';

const headers = { 'X-Admin-Token': ADMIN_TOKEN };

inBothWays(({ name, open }) => describe(name, () => {
  let office;
  before(async () => {
    office = await open({ FCFS_SEATS: '4' });
    assert.equal((await office.claim('alice')).status, 200);
  });

  const reset = (body, query = '') => office.ask({ method: 'POST', path: `/api/v1/seats/reset${query}`, headers, body: JSON.stringify(body) });
  const overview = async (schedule) => (await office.ask({ path: `/api/v1/admin/overview?scheduleId=${schedule}`, headers })).json;
  const houses = () => office.rows('SELECT schedule, seats, generation, version FROM houses ORDER BY id');

  /** The answer is that refusal, and no house is another than before. */
  async function changesNothing(status, reason, body, query) {
    const before = await houses();
    const { status: got, json, text } = await reset(body, query);
    assert.deepEqual([got, json.reason], [status, reason], text);
    assert.deepEqual(await houses(), before);
    assert.equal((await office.audit()).sold, 1);
    return json;
  }

  test('without a house, or with two, nothing is reset', async () => {
    const { generation } = await overview('demo');
    for (const body of [{ seatCount: 9 }, { seatCount: 9, generation }]) {
      const { message } = await changesNothing(400, 'validation', body);
      assert.match(message, /^scheduleId is missing/);
    }
    const both = { scheduleId: 'demo', seatCount: 9, generation };
    assert.match((await changesNothing(400, 'validation', both, '?scheduleId=friday')).message, /^scheduleId must be the same/);
    await changesNothing(400, 'validation', { ...both, scheduleId: '' });
    await changesNothing(400, 'validation', { ...both, scheduleId: 'x'.repeat(65) });
    await changesNothing(400, 'validation', { seatCount: 9, generation }, '?scheduleId=');
    await changesNothing(400, 'validation', { seatCount: 9, generation }, `?scheduleId=${'x'.repeat(65)}`);
  });

  test('a house that was not seen stays, and the answer tells its generation', async () => {
    const { generation } = await overview('demo');
    assert.ok(generation >= 1);
    for (const other of [undefined, 0, generation + 1, 2 ** 53 - 1])
      assert.equal((await changesNothing(409, 'generation_changed', { scheduleId: 'demo', seatCount: 9, generation: other })).generation, generation);
    await changesNothing(404, 'not_found', { scheduleId: 'dmeo', seatCount: 9, generation });
  });

  test('a house is opened once, however many want to', async () => {
    const answers = await Promise.all(users(8).map((_, i) => reset({ scheduleId: 'friday', seatCount: i + 1 })));
    const won = answers.filter(({ status }) => status === 200);
    assert.equal(won.length, 1, answers.map(({ text }) => text).join('\n'));
    assert.equal(won[0].json.generation, 1);
    for (const { status, json } of answers)
      if (status !== 200) assert.deepEqual([status, json.reason, json.generation], [409, 'generation_changed', 1]);
    for (const server of office.servers)
      assert.equal((await office.ask({ path: '/api/v1/seats?scheduleId=friday', server })).json.seats.length, won[0].json.seats);
  });

  test('of operators who have seen one house, one empties it', async () => {
    const seats = async () => (await office.ask({ path: '/api/v1/seats?scheduleId=friday' })).json.seats;
    for (let generation = 1; generation <= 5; generation++) {
      assert.equal((await office.ask({ method: 'POST', path: `${FCFS}?scheduleId=friday`, user: `user-${generation}` })).status, 200);
      const answers = await Promise.all(users(6).map((_, i) => reset({ seatCount: i + 5, generation }, '?scheduleId=friday')));
      const won = answers.filter(({ status }) => status === 200).map(({ json }) => json);
      assert.deepEqual(won, [{ success: true, scheduleId: 'friday', seats: won[0]?.seats, generation: generation + 1 }]);
      for (const { status, json } of answers)
        if (status !== 200) assert.deepEqual([status, json.reason, json.generation], [409, 'generation_changed', generation + 1]);
      const [{ taken, seats: total }] = await office.rows(`SELECT seats, (SELECT count(*) FROM claims WHERE house_id = houses.id) AS taken FROM houses WHERE schedule = 'friday'`);
      assert.deepEqual([taken, total], [0, won[0].seats]);
    }
    assert.ok((await seats()).every(({ status }) => !status));
    assert.equal((await office.audit()).sold, 1, 'the other house is as it was');
  });
}));
