// Every route × every kind of caller × both listeners: `tickettock routes` says what there is, authorization_table.mjs
// what each caller must be told. Everybody also claims, in headers, to be the owner and an administrator.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { ACCOUNT_SETTINGS, AUTH, Issuer, PASSWORD, bearer, cookieHeader, freePort, login, send, somebody } from './accounts.mjs';
import { CALLERS, PEOPLE, TABLE } from './authorization_table.mjs';
import { inBothWays } from './box_office.mjs';
import { EventStream } from './client.mjs';
import { ADMIN_TOKEN, TICKETTOCK, eventually } from './support.mjs';

const INTERNAL_API_TOKEN = 'the-token-of-other-services';
const ROUTES = JSON.parse(execFileSync(TICKETTOCK, ['routes', '--json']));
const keyOf = ({ method, path }) => `${method} ${path}`;

test('every route has a row, and every row a route', () => {
  const routes = new Set(ROUTES.map(keyOf));
  assert.deepEqual([...routes].filter((key) => !TABLE[key]), [], 'routes without a row in authorization_table.mjs');
  assert.deepEqual(Object.keys(TABLE).filter((key) => !routes.has(key)), [], 'rows without a route');
  for (const [key, { answers }] of Object.entries(TABLE)) assert.deepEqual(Object.keys(answers), CALLERS, key);
});

/** A new account that is signed in: { email, user, headers }. Staff and administrators are made as operators do it. */
async function newPerson(server, caller) {
  const person = await somebody(server, { name: caller });
  if (caller !== 'staff' && caller !== 'admin') return person;
  execFileSync(TICKETTOCK, ['admin', 'promote', person.email, '--role', caller, '--yes'], { env: server.settings, input: `${PASSWORD}\n` });
  const { json } = await login(server, person.email);
  return { ...person, ...json, headers: bearer(json.accessToken) };
}

/** { server, inside, people, … }: what the table needs. Objects are made at one server of a fleet, and tried at another. */
async function openWorld(way) {
  const issuer = await new Issuer().start();
  const settings = {
    ...ACCOUNT_SETTINGS, ...issuer.settings, FCFS_SEATS: '20', FCFS_TRUST_USER_HEADER: 'auto', RATE_LIMIT_GENERAL: '0',
    INTERNAL_API_TOKEN, INTERNAL_PORT: await freePort(),
  };
  const office = await way.open(settings, { servers: 1 });
  if (way.name === 'fleet') await office.addServer({ INTERNAL_PORT: await freePort() });
  const server = office.servers[0];
  const tried = office.servers.at(-1);
  const world = { server, tried, inside: { port: tried.settings.INTERNAL_PORT }, issuer, newPerson: (caller) => newPerson(server, caller) };
  world.people = Object.fromEntries(await Promise.all(PEOPLE.map(async (caller) => [caller, await world.newPerson(caller)])));
  world.people.revoked = await revoked(world);
  world.people.guest = await newGuest(server);
  return world;
}

/** A browser with a guest's cookie, as our own page uses it. */
async function newGuest(server) {
  const answer = await send(server, 'POST', `${AUTH}/guest`);
  return { guest: answer.json.guest.id, headers: { ...cookieHeader(answer), 'Sec-Fetch-Site': 'same-origin' } };
}

/** Somebody who was signed in and has signed out; every server knows. Not a person any more: nothing belongs to them. */
async function revoked({ server, tried }) {
  const { headers } = await somebody(server);
  assert.equal((await send(server, 'POST', `${AUTH}/logout`, undefined, headers)).status, 204);
  await eventually('all servers know', async () => (await send(tried, 'GET', `${AUTH}/me`, undefined, headers)).status === 401);
  return { headers };
}

/** Whoever is no person: nobody, or a program with a token. */
const PROGRAMS = {
  anonymous: {},
  adminToken: { headers: { 'X-Admin-Token': ADMIN_TOKEN } },
  internalToken: { headers: bearer(INTERNAL_API_TOKEN) },
};

const pretence = ({ user, email }) => ({ 'X-User-Id': user.id, 'X-User-Email': email, 'X-User-Role': 'ADMIN' });

async function openingOf(server, path, headers) {
  const stream = new EventStream(server, { path, headers });
  await stream.next();
  stream.close();
  return { status: stream.status, text: '' };
}

function wordsOf({ status, headers, text }) {
  if (!text || !headers?.['content-type']?.startsWith('application/json')) return String(status);
  const { reason, error } = JSON.parse(text);
  return reason || error ? `${status} ${reason ?? error}` : String(status);
}

class Attempt {
  constructor(world, route, { server, object, caller }) {
    Object.assign(this, { world, route, server, object, caller, row: TABLE[keyOf(route)] });
  }

  async ask() {
    const params = this.row.params?.(this.object) ?? [];
    const path = this.route.path.replace(/\{[^}]*\}/g, () => params.shift());
    const headers = { ...pretence(this.world.people.owner), ...this.caller.headers };
    if (this.row.cookie) headers.Cookie = [headers.Cookie, this.row.cookie(this.world)].filter(Boolean).join('; ');
    if (this.row.stream && this.server === this.world.tried) return openingOf(this.server, path, headers);
    return send(this.server, this.route.method, path, this.row.body?.(this.object, this.world), headers);
  }

  async check(name, answer) {
    const { row, world, object, caller } = this;
    if (row.check && answer.status < 300) await row.check(answer, { world, object, caller });
    if (!row.kept) return;
    if (name === 'owner') await eventually('the other server has heard of it', async () => !(await row.kept(world, object)));
    else assert.ok(await row.kept(world, object), `${name}: the owner’s is the owner’s`);
  }
}

inBothWays((way) => describe(`${way.name}: who gets what`, () => {
  let world;
  before(async () => {
    world = await openWorld(way);
  });

  for (const route of ROUTES.filter((one) => TABLE[keyOf(one)])) {
    const { answers, make, spends } = TABLE[keyOf(route)];
    const [right, wrong] = route.access === 'internal' ? ['inside', 'tried'] : ['tried', 'inside'];
    const callerOf = (name) => PROGRAMS[name] ?? world.people[name];
    const spentCallerOf = (name, object) => (name === 'owner' ? object : PEOPLE.includes(name) ? world.newPerson(name) : callerOf(name));

    test(keyOf(route), async () => {
      const told = {};
      let object;
      for (const name of CALLERS) {
        object ??= await make?.(world);
        const caller = spends ? await spentCallerOf(name, object) : callerOf(name);
        const attempt = new Attempt(world, route, { server: world[right], object, caller });
        const answer = await attempt.ask();
        told[name] = wordsOf(answer);
        if (told[name] === answers[name]) await attempt.check(name, answer);
        if (answer.status < 300) object = undefined; // whoever was let in may have changed it
      }
      assert.deepEqual(told, answers);
    });

    test(`${keyOf(route)}: not at the other listener`, async () => {
      const object = await make?.(world);
      for (const name of CALLERS) {
        const attempt = new Attempt(world, route, { server: world[wrong], object, caller: callerOf(name) });
        assert.equal(wordsOf(await attempt.ask()), '404 not_found', name);
      }
    });
  }
}));
