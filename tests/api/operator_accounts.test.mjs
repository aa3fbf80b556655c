// What an operator does with accounts on the command line, beside running servers: `tickettock admin` and `account`.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { ACCOUNT_SETTINGS, AUTH, ME, PASSWORD, accountRows, anotherEmail, bearer, login, register, send, somebody } from './accounts.mjs';
import { inBothWays } from './box_office.mjs';
import { start } from './programs.mjs';
import { TICKETTOCK, eventually, temporaryFolder } from './support.mjs';

const NEW_PASSWORD = 'known to the operator only';
const OVERVIEW = '/api/v1/admin/overview';
const SOON_S = 10; // a second, and what a busy machine needs
const reasonOf = ({ status, text }) => `${status} ${text ? JSON.parse(text).reason ?? '' : ''}`.trim();

inBothWays((way) => {
  describe(`accounts and their operator, ${way.name}`, () => {
    let office, server, other;
    before(async () => {
      office = await way.open(ACCOUNT_SETTINGS);
      [server, other = server] = office.servers;
    });

    /** [exit status, what it said]. */
    const run = (words, input = '', env = {}) => {
      const { status, stdout, stderr } = spawnSync(TICKETTOCK, words, { input, encoding: 'utf8', env: { ...server.settings, ...env } });
      return [status, stdout || stderr];
    };
    const overview = (token, at = server) => send(at, 'GET', OVERVIEW, undefined, bearer(token)).then(({ status }) => status);
    /** Neither the access token nor the refresh token is good any more, on any server. */
    const isOut = async ({ accessToken, refreshToken }) => {
      await eventually('the access token is refused everywhere', async () =>
        (await Promise.all(office.servers.map((one) => send(one, 'GET', ME, undefined, bearer(accessToken))))).every(({ status }) => status === 401), SOON_S);
      assert.equal((await send(other, 'POST', `${AUTH}/refresh`, { refreshToken })).status, 401);
    };
    const roleOf = async (email, password) => (await login(other, email, password)).json.user?.role;

    test('create makes an account with the role', async () => {
      const email = anotherEmail('boss');
      assert.deepEqual(run(['admin', 'create', email.toUpperCase(), '--name', 'The Boss'], `${PASSWORD}\n`), [0, `${email} has an account now, as ADMIN.\n`]);
      const { user, accessToken } = (await login(server, email)).json;
      assert.deepEqual([user.role, user.name, await overview(accessToken)], ['ADMIN', 'The Boss', 200]);
      const helper = anotherEmail('helper');
      assert.deepEqual(run(['admin', 'create', helper, '--role', 'staff'], `${PASSWORD}\n`), [0, `${helper} has an account now, as STAFF.\n`]);
      assert.equal(await roleOf(helper), 'STAFF');
    });

    test('create refuses an e-mail that somebody has registered before the operator', async () => {
      const stranger = await somebody(server);
      const [status, said] = run(['admin', 'create', stranger.email], `${NEW_PASSWORD}\n`);
      assert.equal(status, 1, said);
      assert.match(said, /has an account already[^]*admin promote/);
      assert.equal(await roleOf(stranger.email), 'USER');
      assert.equal(reasonOf(await login(server, stranger.email, NEW_PASSWORD)), '401 invalid_credentials');
      assert.equal(await overview(stranger.accessToken), 403);
    });

    test('promote gives the role with a new password, and whoever had the account before has it no more', async () => {
      const stranger = await somebody(server);
      const elsewhere = (await login(other, stranger.email)).json;
      assert.deepEqual(run(['admin', 'promote', stranger.email, '--yes'], `${NEW_PASSWORD}\n`),
        [0, `${stranger.email} is ADMIN now, with the new password; all its sessions have ended.\n`]);
      await isOut(stranger);
      await isOut(elsewhere);
      assert.equal(reasonOf(await login(server, stranger.email)), '401 invalid_credentials');
      const { user, accessToken } = (await login(server, stranger.email, NEW_PASSWORD)).json;
      assert.deepEqual([user.id, user.role, await overview(accessToken, other)], [stranger.user.id, 'ADMIN', 200]);
      assert.equal(run(['admin', 'promote', stranger.email, '--role', 'staff', '--yes'], `${PASSWORD}\n`)[0], 0);
      assert.equal(await roleOf(stranger.email), 'STAFF');
    });

    test('promote and erase ask first, so without a terminal and --yes nothing happens', async () => {
      const person = await somebody(server);
      for (const words of [['admin', 'promote'], ['account', 'erase']]) {
        const [status, said] = run([...words, person.email], `${NEW_PASSWORD}\n`);
        assert.deepEqual([status, /say --yes. Nothing was done/.test(said)], [2, true], said);
      }
      assert.equal(await roleOf(person.email), 'USER');
    });

    test('remove takes the role away at once, though the token would be good for an hour', async () => {
      const email = anotherEmail('boss');
      run(['admin', 'create', email], `${PASSWORD}\n`);
      const boss = (await login(server, email)).json;
      assert.equal(await overview(boss.accessToken, other), 200);
      assert.deepEqual(run(['admin', 'remove', email]), [0, `${email} is USER now; all its sessions have ended.\n`]);
      await isOut(boss);
      const again = (await login(server, email)).json;
      assert.deepEqual([again.user.role, await overview(again.accessToken)], ['USER', 403], 'the password stays');
    });

    test('servers notice also when the command cannot tell them', async () => {
      const email = anotherEmail('boss');
      run(['admin', 'create', email], `${PASSWORD}\n`);
      const boss = (await login(server, email)).json;
      assert.equal(run(['admin', 'remove', email], '', { REDIS_URL: '' })[0], 0);
      await isOut(boss);
    });

    test('a sign-in that has begun before the role was taken away gives no token with it', async () => {
      const email = anotherEmail('boss');
      run(['admin', 'create', email], `${PASSWORD}\n`);
      // Passwords are checked one after the other, so some wait for it while the role goes.
      const signIns = Promise.all(Array.from({ length: 40 }, (_, i) => login(office.servers[i % office.servers.length], email)));
      assert.equal(await start(TICKETTOCK, ['admin', 'remove', email], server.settings).ended, 0);
      for (const { status, json } of await signIns)
        if (status === 200 && json.user.role === 'ADMIN') await isOut(json);
    });

    test('reset gives an account a new password, which is the only way in', async () => {
      const person = await somebody(server);
      for (let i = 0; i < 5; i++) await login(server, person.email, 'wrong');
      assert.equal((await login(server, person.email)).status, 429);
      await accountRows(office, `UPDATE users SET google_hash = 'as if with Google' WHERE id = '${person.user.id}'`);
      assert.deepEqual(run(['account', 'reset', person.email], `${NEW_PASSWORD}\n`),
        [0, `${person.email} has the new password, and no other way in; all its sessions have ended.\n`]);
      await isOut(person);
      assert.equal(reasonOf(await login(server, person.email)), '401 invalid_credentials');
      const { user } = (await login(server, person.email, NEW_PASSWORD)).json;
      assert.deepEqual([user.id, user.role, user.hasGoogle], [person.user.id, 'USER', false], 'and nobody need wait');
    });

    test('erase wipes an account as its owner would', async () => {
      const person = await somebody(server, { phone: '010-9999-8888' });
      const seat = await send(server, 'POST', '/api/v1/seats/reservation/fcfs', { userName: 'Somebody', phone: '010-9999-8888' }, person.headers);
      assert.equal(seat.status, 200, seat.text);
      assert.deepEqual(run(['account', 'erase', person.email, '--yes']), [0, `${person.email} is erased.\n`]);
      await isOut(person);
      const [{ status, email, email_hash: hash, name, phone, password_hash: password }] =
        await accountRows(office, `SELECT * FROM users WHERE id = '${person.user.id}'`);
      assert.deepEqual([status, email, hash, name, phone, password], ['DELETED', '', null, '', null, null]);
      const [claim] = await office.rows(`SELECT user_name, phone FROM claims WHERE user_id = '${person.user.id}'`);
      assert.deepEqual(claim, { user_name: null, phone: null });
      assert.equal((await register(server, { email: person.email })).status, 201, 'the e-mail is free');
      assert.equal((await send(server, 'GET', `/api/v1/seats/${seat.json.seat_id}`)).json.seat.status, true, 'the seat is not');
    });

    test('what cannot be done is said', async () => {
      const nobody = anotherEmail('nobody'), { email } = await somebody(server);
      for (const words of [['admin', 'promote', nobody, '--yes'], ['admin', 'remove', nobody], ['account', 'reset', nobody], ['account', 'erase', nobody, '--yes']])
        assert.deepEqual(run(words, `${PASSWORD}\n`), [1, `tickettock: ${nobody} has no account. Nothing was done.\n`]);
      for (const words of [['admin', 'create', nobody], ['admin', 'promote', email, '--yes'], ['account', 'reset', email]])
        for (const [input, expected] of [['short\n', /8 to 72 bytes/], ['', /standard input/], [`${'a'.repeat(300)}\n`, /standard input|8 to 72/]]) {
          const [status, said] = run(words, input);
          assert.equal(status, 1, said);
          assert.match(said, expected);
        }
      assert.equal((await login(server, email)).status, 200, 'the account is as it was');
      for (const wrong of [['admin'], ['admin', 'create'], ['admin', 'delete', email], ['admin', 'create', 'nobody'], ['admin', 'create', nobody, '--role', 'king'],
        ['admin', 'create', nobody, 'more'], ['admin', 'remove', email, '--role', 'staff'], ['account'], ['account', 'reset'], ['account', 'promote', email],
        ['account', 'reset', email, '--yes'], ['account', 'erase', '--yes', email]])
        assert.equal(run(wrong)[0], 2, wrong.join(' '));
      assert.match(run(['admin', '--help'])[1], /create\|promote\|remove EMAIL/);
      assert.match(run(['account', '--help'])[1], /reset\|erase EMAIL/);
    });
  });
});

describe('on a terminal', () => {
  const env = { PATH: process.env.PATH, SHELL: '/bin/sh', DATA_DIR: temporaryFolder(), LOG_LEVEL: 'error' };

  /** Answers each question in turn; gives the exit status and what the terminal showed. */
  async function ask(words, ...answers) {
    const child = start('script', ['-qfec', `${TICKETTOCK} ${words}`, '/dev/null'], env);
    for (const [i, answer] of answers.entries()) {
      await eventually('a question', () => child.text.split(/(?:Password|again|on): /).length > i + 1 || undefined);
      child.stdin.write(`${answer}\n`);
    }
    return [await child.ended, child.text];
  }

  test('the password is asked twice and never shown', async () => {
    const email = anotherEmail('boss');
    const [differing, said] = await ask(`admin create ${email}`, PASSWORD, 'something else');
    assert.deepEqual([differing, /not the same; nothing was done/.test(said)], [1, true], said);
    const [status, shown] = await ask(`admin create ${email}`, PASSWORD, PASSWORD);
    assert.equal(status, 0, shown);
    assert.match(shown, new RegExp(`Password: \\r?\\nThe same again: \\r?\\n${email} has an account now, as ADMIN`));
    for (const text of [said, shown]) assert.ok(!text.includes(PASSWORD) && !text.includes('something else'), text);
  });

  test('promote and erase tell what will happen, and wait for a yes', async () => {
    const email = anotherEmail('boss');
    execFileSync(TICKETTOCK, ['admin', 'create', email, '--role', 'staff', '--name', 'Bo'], { env, input: `${PASSWORD}\n` });
    const [no, refused] = await ask(`admin promote ${email}`, 'no');
    assert.equal(no, 2, refused);
    assert.match(refused, /\(Bo, now STAFF\) becomes ADMIN with a new password[^]*nothing was done/);
    const [yes, shown] = await ask(`admin promote ${email}`, 'yes', NEW_PASSWORD, NEW_PASSWORD);
    assert.equal(yes, 0, shown);
    assert.match(shown, /is ADMIN now/);
    assert.ok(!shown.includes(NEW_PASSWORD));
    assert.equal((await ask(`account erase ${email}`, ''))[0], 2);
    const [erased, said] = await ask(`account erase ${email}`, 'yes');
    assert.deepEqual([erased, /erased for good[^]*is erased\./.test(said)], [0, true], said);
  });
});
