// Tokens as the server makes them, and as forgers do.
import { createHmac } from 'node:crypto';
import { JWT_SECRET } from './accounts.mjs';

export { JWT_SECRET, bearer } from './accounts.mjs';
export const QUEUE_ENTRY_KEY = 'the-entry-key-of-the-tests-is-quite-another-one';

const base64url = (value) => Buffer.from(typeof value === 'string' || Buffer.isBuffer(value) ? value : JSON.stringify(value)).toString('base64url');
export const now = () => Math.floor(Date.now() / 1000);

/** Any header over any payload (objects, or text as it is), signed as one likes. */
export function sign(header, payload, { key = JWT_SECRET, digest = 'sha256' } = {}) {
  const text = `${base64url(header)}.${base64url(payload)}`;
  return `${text}.${createHmac(digest, key).update(text).digest('base64url')}`;
}

export const HEADER = { alg: 'HS256', typ: 'JWT' };

export const accessClaims = (user, more = {}) => ({
  iss: 'tickettock', aud: 'tickettock', sub: user, jti: `token-of-${user}`, fam: `family-of-${user}`, role: 'USER',
  iat: now(), nbf: now(), exp: now() + 900, ...more,
});

/** A good access token, unless `more` spoils it. */
export const accessToken = (user, more, options) => sign(HEADER, accessClaims(user, more), options);

export const entryToken = (schedule, user, more = {}, key = QUEUE_ENTRY_KEY) =>
  sign(HEADER, { sub: schedule, uid: user, tier: 'general', exp: now() + 600, ...more }, { key });
