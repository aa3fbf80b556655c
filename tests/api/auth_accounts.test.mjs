// Accounts: making them, looking after them, and their end.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { ACCOUNT_SETTINGS, AUTH, ME, PASSWORD, accountRows, anotherEmail, bearer, cookiesOf, login, register, send, somebody } from './accounts.mjs';
import { inBothWays } from './box_office.mjs';

const REGISTER = `${AUTH}/register`;
const reasonOf = ({ status, text }) => `${status} ${text ? JSON.parse(text).reason ?? '' : ''}`.trim();

inBothWays((way) => {
  describe(`accounts, ${way.name}`, () => {
    let office, server, other;
    before(async () => {
      office = await way.open(ACCOUNT_SETTINGS);
      [server, other = server] = office.servers;
    });

    test('whoever registers has an account, and no session yet', async () => {
      const email = anotherEmail('Alice');
      const answer = await register(server, { email: `  ${email}  `, name: ' Alice 앨리스 ', phone: '010-1234-5678' });
      assert.equal(answer.status, 201, answer.text);
      const { user } = answer.json;
      assert.deepEqual({ ...user, id: 0, createdAt: 0 }, {
        id: 0, email: email.toLowerCase(), name: 'Alice 앨리스', phone: '+821012345678', role: 'USER', hasPassword: true,
        hasGoogle: false, createdAt: 0, lastLoginAt: null,
      });
      assert.deepEqual(cookiesOf(answer), {});
      const signedIn = await login(other, email.toUpperCase());
      assert.equal(signedIn.status, 200, signedIn.text);
      const me = await send(other, 'GET', '/api/auth/me', undefined, bearer(signedIn.json.accessToken));
      assert.deepEqual([me.status, me.json.user.id, me.headers['cache-control']], [200, user.id, 'no-store']);
    });

    test('what cannot be registered is refused with the field named', async () => {
      const good = () => ({ email: anotherEmail(), password: PASSWORD, name: 'Somebody' });
      const wrong = [
        { email: undefined }, { email: 'nobody' }, { email: 'a@b' }, { email: 'ä@example.com' }, { email: `${'a'.repeat(250)}@example.com` },
        { email: 1 }, { password: 'seven77' }, { password: 'a'.repeat(73) }, { password: '비밀번호'.repeat(7) }, { password: undefined },
        { name: '' }, { name: '   ' }, { name: 'two\nlines' }, { name: '이'.repeat(34) }, { phone: '12' }, { phone: 'a'.repeat(33) },
      ];
      for (const fields of wrong) {
        const { status, json } = await send(server, 'POST', REGISTER, { ...good(), ...fields });
        const [field] = Object.keys(fields);
        assert.deepEqual([status, json.reason, json.message.startsWith(field)], [400, 'validation', true], JSON.stringify([fields, json]));
      }
      for (const fields of [{ password: '12345678' }, { password: '밀'.repeat(24) }, { name: '이'.repeat(33) }, { phone: null }])
        assert.equal((await send(server, 'POST', REGISTER, { ...good(), ...fields })).status, 201, JSON.stringify(fields));
    });

    test('of fifty who come at once with one e-mail, one gets the account', async () => {
      const email = anotherEmail('crowd');
      const answers = await Promise.all(Array.from({ length: 50 }, (_, i) =>
        register(office.servers[i % office.servers.length], { email, name: `Person ${i}` })));
      const statuses = answers.map(({ status }) => status);
      assert.equal(statuses.filter((status) => status === 201).length, 1, String(statuses));
      assert.ok(answers.every((answer) => ['201', '409 email_taken'].includes(reasonOf(answer))), answers.map(reasonOf).join());
      const [{ n }] = await accountRows(office, 'SELECT count(*) AS n FROM users WHERE email_hash IN (SELECT email_hash FROM users GROUP BY email_hash HAVING count(*) > 1)');
      assert.equal(n, 0);
    });

    test('what is personal is not in the database to read', async () => {
      const { user } = await somebody(server, { email: 'plain.to.see@example.com', name: 'Plain To See', phone: '+821055554444' });
      const [row] = await accountRows(office, `SELECT * FROM users WHERE id = '${user.id}'`);
      assert.doesNotMatch(JSON.stringify(row), /plain|Plain|5555/i);
      assert.match(row.password_hash, /^\$2b\$10\$/);
      const [session] = await accountRows(office, `SELECT t.* FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id WHERE s.user_id = '${user.id}'`);
      assert.match(session.token_hash, /^[0-9a-f]{64}$/);
    });

    test('name and phone can be changed, and the phone taken away', async () => {
      const { headers } = await somebody(server, { phone: '010-1234-5678' });
      const change = async (body) => (await send(other, 'PATCH', ME, body, headers)).json.user;
      const shown = ({ name, phone }) => [name, phone];
      assert.deepEqual(shown(await change({ name: 'Another' })), ['Another', '+821012345678']);
      assert.deepEqual(shown(await change({ phone: '+14155552671' })), ['Another', '+14155552671']);
      assert.deepEqual(shown(await change({ phone: '' })), ['Another', null]);
      assert.deepEqual(shown(await change({})), ['Another', null]);
      assert.deepEqual(shown((await send(server, 'GET', ME, undefined, headers)).json.user), ['Another', null]);
      assert.equal(reasonOf(await send(server, 'PATCH', ME, { role: 'ADMIN', name: ' ' }, headers)), '400 validation');
      assert.equal((await change({ role: 'ADMIN', email: 'other@example.com' })).role, 'USER', 'what is not offered is ignored');
    });

    test('a new password needs the old one, and ends all other sessions', async () => {
      const person = await somebody(server);
      const elsewhere = (await login(other, person.email)).json;
      const change = (currentPassword, newPassword) => send(server, 'PUT', `${ME}/password`, { currentPassword, newPassword }, person.headers);
      assert.equal(reasonOf(await change('not the password', 'the new password')), '401 invalid_credentials');
      assert.equal(reasonOf(await change(PASSWORD, 'short')), '400 validation');
      assert.equal(reasonOf(await change(PASSWORD, 'the new password')), '204');
      assert.equal((await send(server, 'GET', ME, undefined, person.headers)).status, 200, 'this session goes on');
      assert.equal((await send(server, 'GET', ME, undefined, bearer(elsewhere.accessToken))).status, 401);
      assert.equal((await send(other, 'POST', `${AUTH}/refresh`, { refreshToken: elsewhere.refreshToken })).status, 401);
      assert.equal(reasonOf(await login(other, person.email)), '401 invalid_credentials');
      assert.equal((await login(other, person.email, 'the new password')).status, 200);
    });

    test('of two changes of the password at once, one happens', async () => {
      const person = await somebody(server);
      const change = (newPassword) => send(server, 'PUT', `${ME}/password`, { currentPassword: PASSWORD, newPassword }, person.headers);
      const answers = await Promise.all(['the first new one', 'the second new one'].map(change));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 401]);
    });

    test('a token alone erases nothing: the password must come with it, and guessing it is as slow as at the sign-in', async () => {
      const person = await somebody(server);
      const erase = (body, at = server) => send(at, 'DELETE', ME, body, person.headers).then(reasonOf);
      const answer = await send(server, 'DELETE', ME, undefined, person.headers);
      assert.deepEqual([reasonOf(answer), /"?password"?/.test(answer.json.message)], ['400 validation', true], answer.text);
      for (const body of [{}, { password: '' }, { password: null }]) assert.equal(await erase(body), '400 validation', JSON.stringify(body));
      for (let i = 0; i < 5; i++) assert.equal(await erase({ password: 'wrong' }, i % 2 ? other : server), '401 invalid_credentials');
      assert.equal(await erase({ password: PASSWORD }, other), '429 too_many_logins');
      assert.equal(reasonOf(await login(server, person.email)), '429 too_many_logins', 'counted together');
      assert.equal((await send(server, 'GET', ME, undefined, person.headers)).status, 200);
    });

    test('an erased account is gone, its data are wiped, and its e-mail is free', async () => {
      const person = await somebody(server, { phone: '010-9999-8888' });
      const elsewhere = (await login(other, person.email)).json;
      const seat = await send(server, 'POST', '/api/v1/seats/reservation/fcfs', {}, person.headers);
      assert.equal(seat.status, 200, seat.text);
      const erased = await send(server, 'DELETE', ME, { password: PASSWORD }, person.headers);
      assert.equal(erased.status, 204);
      assert.deepEqual(Object.values(cookiesOf(erased)).map(({ value, 'max-age': age }) => [value, age]), [['', '0'], ['', '0']]);
      for (const token of [person.accessToken, elsewhere.accessToken])
        assert.equal((await send(server, 'GET', ME, undefined, bearer(token))).status, 401);
      assert.equal((await send(server, 'POST', `${AUTH}/refresh`, { refreshToken: elsewhere.refreshToken })).status, 401);
      assert.equal(reasonOf(await login(server, person.email)), '401 invalid_credentials');

      const [row] = await accountRows(office, `SELECT * FROM users WHERE id = '${person.user.id}'`);
      const { id, role, status, created_at, updated_at, last_login_at, deleted_at, ...personal } = row;
      assert.deepEqual([status, id], ['DELETED', person.user.id]);
      assert.ok(deleted_at >= created_at);
      assert.deepEqual([...new Set(Object.values(personal))].sort(), ['', null]);
      for (const table of ['sessions', 'login_history']) {
        const rows = await accountRows(office, `SELECT address, agent FROM ${table} WHERE user_id = '${person.user.id}'`);
        assert.ok(rows.length > 0 && rows.every(({ address, agent }) => address === '' && agent === ''), table);
      }
      const mine = await send(server, 'GET', `/api/v1/seats/${seat.json.seat_id}`);
      assert.equal(mine.json.seat.status, true, 'what was sold stays sold');

      const again = await somebody(server, { email: person.email });
      assert.notEqual(again.user.id, person.user.id);
    });
  });
});
