// Every answer about accounts that api/openapi.yaml describes, given once. openapi.test.mjs checks them.
import assert from 'node:assert/strict';
import { AUTH, ME, PASSWORD, accountRows, anotherEmail, bearer, letUsedTokensAge, login, register, send, somebody } from './accounts.mjs';

const TOO_LARGE = { name: 'a'.repeat(9000) };

export async function registering(expect, server, internal) {
  for (const path of [`${AUTH}/register`, `${AUTH}/signup`]) {
    const body = { email: anotherEmail(), password: PASSWORD, name: 'Alice', phone: '010-1234-5678' };
    await expect('201', 'POST', path, { body });
    await expect('409 email_taken', 'POST', path, { body: { ...body, email: ` ${body.email.toUpperCase()} ` } });
    await expect('400 validation', 'POST', path, { body: { ...body, email: 'nobody' } });
    await expect('413 body_too_large', 'POST', path, { body: TOO_LARGE });
    const identified = () => ({ ...body, email: anotherEmail(), identityVerificationId: `verification-of-${path}` });
    await expect('400 identity_unverified', 'POST', path, { body: identified() });
    for (const expected of ['201', '409 ci_taken']) {
      await expect('204', 'POST', '/internal/verified-identities', { ...internal, body: { id: `verification-of-${path}`, ci: `the CI of ${path}` } });
      await expect(expected, 'POST', path, { body: identified() });
    }
  }
}

export async function signingIn(expect, server, issuer) {
  const { json: { user: { email } } } = await register(server);
  await expect('200', 'POST', `${AUTH}/login`, { body: { email, password: PASSWORD } });
  await expect('400 validation', 'POST', `${AUTH}/login`, { body: { email } });
  await expect('413 body_too_large', 'POST', `${AUTH}/login`, { body: TOO_LARGE });
  for (let i = 0; i < 5; i++) await expect('401 invalid_credentials', 'POST', `${AUTH}/login`, { body: { email, password: 'wrong' } });
  await expect('429 too_many_logins', 'POST', `${AUTH}/login`, { body: { email, password: PASSWORD } });

  const google = `${AUTH}/google`;
  await expect('200', 'POST', `${google}/nonce`);
  await expect('200', 'POST', google, { headers: issuer.asked, body: { credential: issuer.token() } });
  await expect('400 validation', 'POST', google, { body: {} });
  await expect('401 invalid_credentials', 'POST', google, { body: { credential: 'a.b.c' } });
  const taken = issuer.claims();
  await expect('200', 'POST', google, { headers: issuer.asked, body: { credential: issuer.token(taken) } });
  await expect('409 email_taken', 'POST', google, { headers: issuer.asked, body: { credential: issuer.token({ ...taken, sub: 'another' }) } });
  await expect('413 body_too_large', 'POST', google, { body: TOO_LARGE });
}

export async function goingOn(expect, office) {
  const [server] = office.servers;
  const { refreshToken, headers } = await somebody(server);
  for (const path of ['refresh', 'logout', 'verify-token']) {
    await expect('400 validation', 'POST', `${AUTH}/${path}`, { body: { refreshToken: 1, token: 1 } });
    await expect('413 body_too_large', 'POST', `${AUTH}/${path}`, { body: TOO_LARGE });
  }
  await expect('200', 'POST', `${AUTH}/verify-token`, { headers });
  await expect('200', 'POST', `${AUTH}/verify-token`, { body: { token: 'nonsense' } });
  await expect('200', 'POST', `${AUTH}/refresh`, { body: { refreshToken } });
  await expect('200', 'POST', `${AUTH}/refresh`, { body: { refreshToken } });
  await letUsedTokensAge(office, 31);
  await expect('401 token_reused', 'POST', `${AUTH}/refresh`, { body: { refreshToken } });
  await expect('401 unauthorized', 'POST', `${AUTH}/refresh`, { body: { refreshToken } });
  await expect('204', 'POST', `${AUTH}/logout`);
}

export async function asGuest(expect, closed) {
  const { headers } = await expect('200', 'POST', `${AUTH}/guest`);
  const cookie = headers['set-cookie'][0].split(';')[0];
  await expect('200', 'POST', `${AUTH}/guest`, { headers: { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' } });
  await expect('401 unauthorized', 'POST', `${AUTH}/guest`, { server: closed });
}

const OWN = [
  ['GET', `${AUTH}/me`, undefined, '200'],
  ['GET', ME, undefined, '200'],
  ['PATCH', ME, { name: 'Alice Kim', phone: '' }, '200'],
  ['GET', `${ME}/sessions`, undefined, '200'],
  ['GET', `${ME}/logins`, undefined, '200'],
  ['PUT', `${ME}/password`, { currentPassword: PASSWORD, newPassword: 'another password' }, '204'],
  ['DELETE', ME, { password: 'another password' }, '204'],
];

export async function ownAccount(expect, office, issuer) {
  const [server] = office.servers;
  const { headers } = await somebody(server);
  for (const [method, path, body, expected] of OWN) {
    await expect('401 unauthorized', method, path, { body });
    await expect(expected, method, path, { headers, body });
  }
  const other = await somebody(server);
  await expect('404 not_found', 'DELETE', `${ME}/sessions/none`, { headers: other.headers });
  for (const path of [`${ME}/sessions/none`, `${ME}/sessions`]) await expect('401 unauthorized', 'DELETE', path);
  const { json: { sessions: [{ id }] } } = await send(server, 'GET', `${ME}/sessions`, undefined, other.headers);
  await expect('204', 'DELETE', `${ME}/sessions/${id}`, { headers: other.headers });
  const again = bearer((await login(server, other.email)).json.accessToken);
  await expect('204', 'DELETE', `${ME}/sessions`, { headers: again });

  const proofs = [['PUT', `${ME}/password`, (password) => ({ currentPassword: password, newPassword: PASSWORD })], ['DELETE', ME, (password) => ({ password })]];
  const { json: { accessToken, user } } = await send(server, 'POST', `${AUTH}/google`, { credential: issuer.token() }, issuer.asked);
  for (const [method, path, body] of proofs) {
    const guesser = await somebody(server);
    await expect('409 no_password', method, path, { headers: bearer(accessToken), body: body(PASSWORD) });
    for (let i = 0; i < 5; i++) await expect('401 invalid_credentials', method, path, { headers: guesser.headers, body: body('wrong') });
    await expect('429 too_many_logins', method, path, { headers: guesser.headers, body: body(PASSWORD) });
    await expect('400 validation', method, path, { headers: guesser.headers, body: { password: 1, newPassword: 1 } });
    await expect('413 body_too_large', method, path, { headers: guesser.headers, body: TOO_LARGE });
  }
  await accountRows(office, `UPDATE sessions SET created_at = created_at - 301000 WHERE user_id = '${user.id}'`);
  await expect('403 signin_too_old', 'DELETE', ME, { headers: bearer(accessToken), body: {} });
  const careless = await somebody(server);
  await expect('400 validation', 'PATCH', ME, { headers: careless.headers, body: { phone: 'none' } });
  await expect('413 body_too_large', 'PATCH', ME, { headers: careless.headers, body: TOO_LARGE });
}

export async function forServices(expect, server, internal) {
  const { user } = await somebody(server);
  const bodies = { '/internal/users/batch': { ids: [user.id, 'nobody'] }, '/internal/verified-identities': { id: 'v', ci: '12345678' } };
  for (const [path, body] of Object.entries(bodies)) {
    const answer = await expect(path.endsWith('batch') ? '200' : '204', 'POST', path, { ...internal, body });
    if (answer.text) assert.deepEqual(answer.json.users.map(({ id }) => id), [user.id]);
    await expect('400 validation', 'POST', path, { ...internal, body: {} });
    await expect('400 validation', 'POST', path, { ...internal, body: { ids: Array(101).fill(user.id) } });
    await expect('401 unauthorized', 'POST', path, { server: internal.server, body });
    await expect('403 forbidden', 'POST', path, { server: internal.server, headers: bearer('another'), body });
    await expect('404 not_found', 'POST', path, { headers: internal.headers, body });
    await expect('413 body_too_large', 'POST', path, { ...internal, body: TOO_LARGE });
  }
}

/** What needs a body to come as far as the database. */
export const BODIES = {
  register: () => ({ email: anotherEmail(), password: PASSWORD, name: 'Alice' }),
  signUp: () => ({ email: anotherEmail(), password: PASSWORD, name: 'Alice' }),
  signIn: () => ({ email: anotherEmail(), password: PASSWORD }),
  signInWithGoogle: (issuer) => ({ credential: issuer.token() }),
  refresh: () => ({ refreshToken: 'A'.repeat(43) }),
  signOut: () => ({ refreshToken: 'any' }),
  changePassword: () => ({ currentPassword: PASSWORD, newPassword: PASSWORD }),
  getUsers: () => ({ ids: ['any'] }),
  storeVerifiedIdentity: () => ({ id: 'any', ci: '12345678' }),
};
