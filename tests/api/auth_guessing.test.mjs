// Whoever guesses passwords gets nowhere, and the account's owner sees it. That e-mails cannot be guessed either is in
// auth_attacks.test.mjs.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { ACCOUNT_SETTINGS, AUTH, ME, PASSWORD, accountRows, anotherEmail, bearer, login, register, send, somebody } from './accounts.mjs';
import { inBothWays } from './box_office.mjs';
import { ask } from './client.mjs';
import { isSlowBuild, startServer } from './support.mjs';

const WRONG = 'not the password';
const reasonOf = ({ status, text }) => `${status} ${text ? JSON.parse(text).reason ?? '' : ''}`.trim();

inBothWays((way) => {
  describe(`guessing, ${way.name}`, () => {
    let office, server, turn = 0;
    const next = () => office.servers[turn++ % office.servers.length];
    before(async () => {
      office = await way.open({ ...ACCOUNT_SETTINGS, PASSWORD_THREADS: '8' }); // so that many guess at once
      [server] = office.servers;
    });

    for (const known of [true, false]) {
      test(`after five failures one must wait, ${known ? 'with' : 'also without'} an account`, async () => {
        const email = anotherEmail();
        if (known) await register(server, { email });
        for (let i = 0; i < 5; i++) assert.equal(reasonOf(await login(next(), email, WRONG)), '401 invalid_credentials');
        for (let i = 0; i < 2; i++) {
          const answer = await login(next(), email, PASSWORD);
          assert.equal(reasonOf(answer), '429 too_many_logins', 'the right password as well');
          assert.ok(answer.json.retryAfter > 50 && answer.json.retryAfter <= 60, answer.text);
          assert.equal(answer.headers['retry-after'], String(answer.json.retryAfter));
        }
      });
    }

    test('each further failure makes the wait longer; the right password forgives all', async () => {
      const { email } = await somebody(server);
      const goOn = () => accountRows(office, 'UPDATE login_failures SET blocked_until = 0');
      for (let i = 0; i < 5; i++) await login(next(), email, WRONG);
      for (const seconds of [120, 240, 480, 900, 900]) {
        await goOn();
        assert.equal((await login(next(), email, WRONG)).status, 401);
        const { json: { retryAfter } } = await login(next(), email, WRONG);
        assert.ok(retryAfter > seconds - 10 && retryAfter <= seconds, `${retryAfter} instead of ${seconds}`);
      }
      await goOn();
      assert.equal((await login(next(), email)).status, 200);
      for (let i = 0; i < 5; i++) assert.equal((await login(next(), email, WRONG)).status, 401);
      assert.equal((await login(next(), email)).status, 429);
      await accountRows(office, 'UPDATE login_failures SET blocked_until = 0, last_at = last_at - 900001');
      for (let i = 0; i < 5; i++) assert.equal((await login(next(), email, WRONG)).status, 401, 'old failures are forgotten');
    });

    test('guesses at once are not more than guesses one by one', async () => {
      const { json: { user: { email } } } = await register(server);
      const answers = await Promise.all(Array.from({ length: 30 }, () => login(next(), email, WRONG)));
      const checked = answers.filter(({ status }) => status === 401).length;
      assert.equal(checked, 5, answers.map(reasonOf).join());
    });

    test('the history has every attempt, and its owner sees them', async () => {
      const { json: { user: { email } } } = await register(server);
      const from = (agent, ip) => ({ 'User-Agent': agent, 'X-Forwarded-For': ip });
      await login(server, email, WRONG, from('A stranger', '198.51.100.7'));
      const { json: { accessToken, user } } = await login(server, email, PASSWORD, from('The owner', '203.0.113.5'));
      for (let i = 0; i < 6; i++) await login(server, email, WRONG, from('A stranger', '198.51.100.7'));
      const { json: { logins } } = await send(server, 'GET', `${ME}/logins`, undefined, bearer(accessToken));
      assert.deepEqual(logins.map(({ success, reason, userAgent, ip, method }) => [success, reason, userAgent, ip, method].join()), [
        'false,throttled,A stranger,198.51.100.7,EMAIL',
        ...Array(5).fill('false,invalid_credentials,A stranger,198.51.100.7,EMAIL'),
        'true,,The owner,203.0.113.5,EMAIL',
        'false,invalid_credentials,A stranger,198.51.100.7,EMAIL',
      ]);
      assert.ok(logins.every(({ at }, i) => i === 0 || at <= logins[i - 1].at));
      const other = await somebody(server);
      assert.equal((await send(server, 'GET', `${ME}/logins`, undefined, other.headers)).json.logins.length, 1);

      const nobody = anotherEmail();
      const count = async () => (await accountRows(office, 'SELECT count(*) AS n FROM login_history WHERE user_id IS NULL'))[0].n;
      const earlier = await count();
      await login(server, nobody, WRONG);
      assert.equal(await count(), earlier + 1, 'also of those without an account');
      assert.equal(user.email, email);
    });
  });
});

describe('a flood', () => {
  const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

  test('of sign-ins fills its own queue, is told to come back, and nobody else waits', async () => {
    const server = await startServer({ ...ACCOUNT_SETTINGS, PASSWORD_THREADS: '1', PASSWORD_QUEUE: '4' });
    const { headers } = await somebody(server);
    const flood = Array.from({ length: 60 }, () => login(server, anotherEmail(), WRONG));
    const others = [];
    for (let i = 0; i < 20; i++) others.push((await ask(server, { path: '/api/v1/seats' })).milliseconds);
    const me = await send(server, 'GET', `${AUTH}/me`, undefined, headers);
    assert.equal(me.status, 200);
    if (!isSlowBuild) assert.ok(median(others) < 50, `${median(others)} ms`);
    const answers = await Promise.all(flood);
    const refused = answers.filter(({ status }) => status === 503);
    assert.ok(refused.length > 30, answers.map(reasonOf).join());
    for (const answer of refused) {
      assert.equal(answer.json.reason, 'overloaded');
      assert.ok(Number(answer.headers['retry-after']) >= 1);
    }
    const office = { file: `${server.settings.DATA_DIR}/reservation_service.db` };
    const [{ failures }] = await accountRows(office, 'SELECT sum(failures) AS failures FROM login_failures');
    assert.equal(failures, answers.length - refused.length, 'an attempt that could not be decided is no failure');
    const metrics = (await ask(server, { path: '/metrics' })).text;
    const counted = (outcome) => Number(new RegExp(`^auth_signins_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(metrics)?.[1]);
    assert.deepEqual([counted('done'), counted('refused'), counted('busy')], [1, failures, refused.length]);
    await server.stop();
  });

  const settings = { ...ACCOUNT_SETTINGS, PASSWORD_THREADS: '1' };
  const register20 = (server) => Array.from({ length: 20 }, () => register(server));
  const login20 = (server) => Array.from({ length: 20 }, () => login(server, anotherEmail(), WRONG));

  test('that passes is waited for: whoever wants to sign in or up meanwhile gets a turn', async () => {
    const server = await startServer(settings);
    const answers = await Promise.all([...login20(server), ...register20(server)]);
    assert.deepEqual(answers.map(({ status }) => status), [...Array(20).fill(401), ...Array(20).fill(201)]);
    await server.stop();
  });

  test('that goes on is waited for only so long', async () => {
    const server = await startServer({ ...settings, PASSWORD_WAIT_MS: '200' });
    const answers = await Promise.all([...login20(server), ...register20(server)]);
    const refused = answers.filter(({ status }) => status === 503);
    assert.ok(refused.length > 0 && refused.length < answers.length, answers.map(reasonOf).join());
    for (const answer of refused) {
      assert.equal(answer.json.reason, 'overloaded');
      assert.ok(Number(answer.headers['retry-after']) >= 1);
      assert.ok(answer.milliseconds >= 200, `${answer.milliseconds} ms`);
    }
    await server.stop();
  });
});
