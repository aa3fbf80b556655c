// People with accounts, for tests: they register, sign in by token or by cookie, and some come with Google, whose part is
// played by an issuer of our own that signs real tokens.
import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import http from 'node:http';
import net from 'node:net';
import { dirname, join } from 'node:path';
import { ask } from './client.mjs';
import { atEnd, command } from './programs.mjs';

export const AUTH = '/api/v1/auth';
export const ME = '/api/v1/users/me';
export const PASSWORD = 'correct horse battery';
export const CLIENT_ID = 'tests.apps.googleusercontent.com';
export const JWT_SECRET = 'a secret of the tests that is long enough';
// Every server of a fleet has the same key; the tests come as often as they like, and wait for their passwords to be
// checked, which gives way to everything else on a busy machine.
export const ACCOUNT_SETTINGS = { JWT_SECRET, RATE_LIMIT_AUTH: '0', REQUEST_TIMEOUT_MS: '60000', PASSWORD_WAIT_MS: '60000' };

/** Rows of the auth service's database, or a change of it. */
export async function accountRows(office, sql) {
  if (office.file) {
    const text = await command('sqlite3', '-cmd', '.timeout 5000', '-json', join(dirname(office.file), 'auth_service.db'), sql);
    return text ? JSON.parse(text) : [];
  }
  const query = /^select/i.test(sql) ? `SELECT coalesce(json_agg(t), '[]') FROM (${sql}) t` : sql;
  const text = await command('psql', '-qAt', '-v', 'ON_ERROR_STOP=1', '-c', 'SET search_path = auth_service', '-c', query, office.url);
  return text ? JSON.parse(text) : [];
}

/** As if so many seconds had passed since this office's refresh tokens were used. */
export const letUsedTokensAge = (office, seconds) =>
  accountRows(office, `UPDATE refresh_tokens SET used_at = used_at - ${seconds * 1000} WHERE used_at IS NOT NULL`);

let people = 0;
export const anotherEmail = (name = 'person') => `${name}-${process.pid}-${++people}@example.com`;

export const bearer = (token) => ({ Authorization: `Bearer ${token}` });

/** { status, headers, json, text } of a request with a JSON body. */
export function send(server, method, path, body, headers = {}) {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const length = text === undefined ? {} : { 'Content-Length': Buffer.byteLength(text) };
  return ask(server, { method, path, headers: { ...headers, ...length }, body: text });
}

export const register = (server, fields = {}) =>
  send(server, 'POST', `${AUTH}/register`, { email: anotherEmail(), password: PASSWORD, name: 'Somebody', ...fields });

export const login = (server, email, password = PASSWORD, headers = {}) =>
  send(server, 'POST', `${AUTH}/login`, { email, password }, headers);

/** A new account that is signed in: { email, user, accessToken, refreshToken, headers }. */
export async function somebody(server, fields = {}) {
  const { json: { user: { email } } } = await register(server, fields);
  const { json } = await login(server, email, fields.password);
  return { email, ...json, headers: bearer(json.accessToken) };
}

/** The cookies that an answer sets: { name: { value, path, … } } with attributes in lower case. */
export function cookiesOf({ headers }) {
  return Object.fromEntries((headers['set-cookie'] ?? []).map((line) => {
    const [pair, ...rest] = line.split('; ');
    const at = pair.indexOf('=');
    const attributes = rest.map((part) => part.split('=')).map(([name, value = true]) => [name.toLowerCase(), value]);
    return [pair.slice(0, at), { value: pair.slice(at + 1), ...Object.fromEntries(attributes) }];
  }));
}

/** As a browser sends them back. */
export const cookieHeader = (answer) => ({
  Cookie: Object.entries(cookiesOf(answer)).map(([name, { value }]) => `${name}=${value}`).join('; '),
});

export async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

/** What a browser takes along to Google when it has this in its cookie. */
export const nonceOf = (secret) => createHash('sha256').update(secret).digest('hex');

const encode = (part) => Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');

/** Google, as far as signing in goes: keys at a URL, and tokens. All answer one question, whose cookie is in `asked`. */
export class Issuer {
  secret = randomBytes(32).toString('base64url');
  nonce = nonceOf(this.secret);
  asked = { Cookie: `google_nonce=${this.secret}` };
  fetches = 0;
  maxAge = 3600;
  down = false;
  keys = [];

  async start() {
    this.rotate();
    this.server = http.createServer((request, response) => {
      this.fetches++;
      const keys = this.keys.map(({ kid, publicKey }) => ({ ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }));
      response.writeHead(this.down ? 500 : 200, { 'Content-Type': 'application/json', 'Cache-Control': `public, max-age=${this.maxAge}` });
      setTimeout(() => response.end(JSON.stringify({ keys })), 50); // long enough for others to come meanwhile
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => this.server.once('listening', resolve));
    atEnd(() => this.server.close());
    return this;
  }

  get settings() {
    return { GOOGLE_CLIENT_ID: CLIENT_ID, GOOGLE_JWKS_URL: `http://127.0.0.1:${this.server.address().port}/certs` };
  }

  /** From now on another key signs; old ones are gone. */
  rotate() {
    this.keys = [{ kid: `key-${Math.random()}`, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) }];
  }

  claims(more = {}) {
    const now = Math.floor(Date.now() / 1000);
    const subject = String(Math.random()).slice(2);
    return {
      iss: 'https://accounts.google.com', aud: CLIENT_ID, sub: subject, email: `google-${subject}@example.com`,
      email_verified: true, name: 'Gil Dong', iat: now, exp: now + 3600, nonce: this.nonce, ...more,
    };
  }

  token(claims = this.claims(), { head = {}, key = this.keys[0] } = {}) {
    const text = `${encode({ alg: 'RS256', typ: 'JWT', kid: key.kid, ...head })}.${encode(claims)}`;
    return `${text}.${createSign('sha256').update(text).sign(key.privateKey).toString('base64url')}`;
  }
}
