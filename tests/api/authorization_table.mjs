// Who gets what from every route of the server: the expectations of authorization.test.mjs. A new route needs a row.
//
// A row:
//   answers  what each kind of caller is told: "status" or "status reason". Whoever is let in really gets something done.
//   make     makes something that belongs to the owner, for the attempts; the other functions get it.
//   params   for the path's {names}.
//   body     of the request.
//   check    of an answer that let the caller in: it is about the caller, and about nobody else.
//   kept     is what was made still the owner's? It is after every attempt, unless the owner's own was to change that.
//   spends   the attempt ends the caller's session or account: each is made by a new person.
//   stream   the answer goes on for ever; its beginning is enough.
import assert from 'node:assert/strict';
import { AUTH, ME, PASSWORD, anotherEmail, bearer, login, send } from './accounts.mjs';
import { FCFS, PRD } from './box_office.mjs';
import { ADMIN_TOKEN } from './support.mjs';

/** `guest` comes with a guest's cookie, `adminToken` with the operator's X-Admin-Token, `internalToken` with that of other services. */
export const CALLERS = ['anonymous', 'guest', 'owner', 'other', 'staff', 'admin', 'revoked', 'adminToken', 'internalToken'];
export const PEOPLE = ['owner', 'other', 'staff', 'admin'];

const everybody = (answer) => Object.fromEntries(CALLERS.map((caller) => [caller, answer]));
const signedIn = (answer, nobody = '401 unauthorized') =>
  ({ ...everybody(nobody), ...Object.fromEntries(PEOPLE.map((caller) => [caller, answer])) });
const ownerOnly = (answer, others) => ({ ...signedIn(others), owner: answer });
/** Who may have seats: also guests. */
const buyers = (answer, nobody = '400 missing_user') => ({ ...signedIn(answer, nobody), guest: answer });
const idOf = ({ user, guest }) => user?.id ?? guest;
const operators = (answer) => ({
  ...everybody('403 forbidden'), revoked: '401 unauthorized', internalToken: '401 unauthorized', admin: answer, adminToken: answer,
});
const services = (answer) => ({
  ...everybody('403 forbidden'), anonymous: '401 unauthorized', guest: '401 unauthorized', adminToken: '401 unauthorized',
  internalToken: answer,
});

// ---- What the owner has -----------------------------------------------------------------------------------

/** A further session of the owner: { id, headers, refreshToken }. */
async function makeSession({ server, people: { owner } }) {
  const { json } = await login(server, owner.email);
  const headers = bearer(json.accessToken);
  const { sessions } = (await send(server, 'GET', `${ME}/sessions`, undefined, headers)).json;
  return { id: sessions.find((session) => session.current).id, headers, refreshToken: json.refreshToken };
}
const isAlive = async ({ server }, { headers }) => (await send(server, 'GET', `${AUTH}/me`, undefined, headers)).status === 200;

let names = 0;
async function makeName({ server, people: { owner } }) {
  const name = `Owner ${++names}`;
  assert.equal((await send(server, 'PATCH', ME, { name }, owner.headers)).status, 200);
  return name;
}
const hasName = async ({ server, people: { owner } }, name) =>
  (await send(server, 'GET', ME, undefined, owner.headers)).json.user.name === name;

const mySeat = async (server, { headers }) => (await send(server, 'GET', PRD, undefined, headers)).json.seat_id;

/** Everybody's hands are empty, but the owner has a seat. */
async function makeSeat(world) {
  await noSeats(world);
  const { status, json } = await send(world.server, 'POST', FCFS, {}, world.people.owner.headers);
  assert.equal(status, 200);
  return json.seat_id;
}
const hasSeat = async ({ server, people: { owner } }, seat) => (await mySeat(server, owner)) === seat;

async function noSeats({ server, people }) {
  for (const caller of [...PEOPLE, 'guest']) await send(server, 'DELETE', PRD, undefined, people[caller].headers);
}

const RESET = '/api/v1/seats/reset';
async function emptyHouse(world) {
  const body = { scheduleId: 'demo', seatCount: 20, generation: await newestGeneration(world) };
  assert.equal((await send(world.server, 'POST', RESET, body, { 'X-Admin-Token': ADMIN_TOKEN })).status, 200);
}
/** Of the one house; one server of a fleet may hear of a reset at the other a little later. */
async function newestGeneration({ server, tried }) {
  const seen = await Promise.all([server, tried].map((one) =>
    send(one, 'GET', '/api/v1/admin/overview', undefined, { 'X-Admin-Token': ADMIN_TOKEN })));
  return Math.max(...seen.map(({ json }) => json.generation));
}

const isAboutCaller = ({ json }, { caller }) => assert.equal(json.user.id, caller.user.id);
const isAboutOwner = ({ json }, { world }) => assert.equal(json.user.id, world.people.owner.user.id);

// ---- The table --------------------------------------------------------------------------------------------

const page = { answers: everybody('200') };
const registration = {
  answers: everybody('201'),
  body: () => ({ email: anotherEmail(), password: PASSWORD, name: 'Somebody', role: 'ADMIN' }),
  check: ({ json }) => assert.equal(json.user.role, 'USER'),
};
const claim = {
  answers: buyers('200'),
  make: noSeats,
  body: () => ({}),
  check: ({ json }, { caller }) => assert.equal(json.reserved_by, idOf(caller)),
};

export const TABLE = {
  'GET /healthz': page,
  'GET /readyz': page,
  'GET /metrics': page,
  'GET /openapi.json': page,
  'GET /docs': page,
  'GET /': page,
  'GET /admin': page, // what it shows comes from routes for operators
  'GET /signup': page,
  'GET /signin': page,
  'GET /signin/options': page,
  'GET /account': page,
  'GET /static/{*}': {
    answers: everybody('200'),
    make: async ({ server }) => /\/static\/([^"]+\.js)/.exec((await send(server, 'GET', '/')).text)[1],
    params: (file) => [file],
  },

  'POST /api/v1/auth/register': registration,
  'POST /api/v1/auth/signup': registration,
  'POST /api/v1/auth/login': {
    answers: everybody('200'),
    make: ({ people: { owner } }) => owner.email,
    body: (email) => ({ email, password: PASSWORD }),
    check: isAboutOwner,
  },
  'POST /api/v1/auth/google': {
    answers: everybody('200'),
    make: ({ issuer }) => issuer.claims(),
    cookie: ({ issuer }) => issuer.asked.Cookie,
    body: (claims, { issuer }) => ({ credential: issuer.token(claims) }),
    check: ({ json }, { object }) => assert.deepEqual([json.user.email, json.user.role], [object.email, 'USER']),
  },
  'POST /api/v1/auth/google/nonce': { answers: everybody('200') },
  'POST /api/v1/auth/refresh': {
    answers: everybody('200'), // who has the refresh token needs nothing else
    make: makeSession,
    body: ({ refreshToken }) => ({ refreshToken }),
    check: isAboutOwner,
  },
  'POST /api/v1/auth/logout': {
    answers: everybody('204'),
    spends: true,
    make: ({ newPerson }) => newPerson('owner'),
    kept: isAlive,
  },
  'POST /api/v1/auth/verify-token': {
    answers: everybody('200'),
    check: ({ json }, { caller }) => assert.deepEqual([json.valid, json.user?.id], [Boolean(caller.user), caller.user?.id]),
  },

  'POST /api/v1/auth/guest': {
    answers: everybody('200'),
    check: ({ json }, { caller }) => (caller.guest ? assert.equal(json.guest.id, caller.guest) : assert.match(json.guest.id, /^guest:/)),
  },

  'GET /api/v1/auth/me': { answers: signedIn('200'), check: isAboutCaller },
  'GET /api/v1/users/me': { answers: signedIn('200'), check: isAboutCaller },
  'PATCH /api/v1/users/me': {
    answers: signedIn('200'),
    make: makeName,
    body: (name, { people: { owner } }) => ({ id: owner.user.id, email: owner.email, role: 'ADMIN', name: 'Changed' }),
    kept: hasName,
    check: ({ json }, { caller }) =>
      assert.deepEqual([json.user.id, json.user.email, json.user.role], [caller.user.id, caller.email, caller.user.role]),
  },
  'DELETE /api/v1/users/me': {
    answers: signedIn('204'),
    spends: true,
    make: ({ newPerson }) => newPerson('owner'),
    body: ({ user }) => ({ id: user.id, password: PASSWORD }),
    kept: isAlive,
  },
  'PUT /api/v1/users/me/password': {
    answers: signedIn('204'),
    make: makeSession,
    body: () => ({ currentPassword: PASSWORD, newPassword: PASSWORD }),
    kept: isAlive, // the owner's own change ends the owner's other sessions
  },
  'GET /api/v1/users/me/sessions': {
    answers: signedIn('200'),
    make: makeSession,
    check: ({ json }, { caller, object, world }) => {
      const isThere = json.sessions.some(({ id }) => id === object.id);
      assert.equal(isThere, caller === world.people.owner);
      assert.equal(json.sessions.filter(({ current }) => current).length, 1);
    },
  },
  'DELETE /api/v1/users/me/sessions': {
    answers: signedIn('204'),
    spends: true,
    make: ({ newPerson }) => newPerson('owner'),
    kept: isAlive,
  },
  'DELETE /api/v1/users/me/sessions/{id}': {
    answers: ownerOnly('204', '404 not_found'),
    make: makeSession,
    params: ({ id }) => [id],
    kept: isAlive,
  },
  'GET /api/v1/users/me/logins': {
    answers: signedIn('200'),
    make: async ({ server, people: { owner } }) => {
      const agent = `Owner's browser ${++names}`;
      assert.equal((await login(server, owner.email, PASSWORD, { 'User-Agent': agent })).status, 200);
      return agent;
    },
    check: ({ json }, { caller, object, world }) =>
      assert.equal(json.logins.some(({ userAgent }) => userAgent === object), caller === world.people.owner),
  },

  'POST /internal/users/batch': {
    answers: services('200'),
    make: ({ people: { owner } }) => owner.user.id,
    body: (id) => ({ ids: [id] }),
    check: ({ json }, { object }) => assert.deepEqual(json.users.map(({ id }) => id), [object]),
  },
  'POST /internal/verified-identities': {
    answers: services('204'),
    body: () => ({ id: `verification ${++names}`, ci: '12345678' }),
  },

  'GET /api/v1/show': { answers: everybody('200') },
  'GET /api/v1/seats': {
    answers: everybody('200'),
    make: makeSeat,
    check: ({ text }, { world }) => assert.ok(!text.includes(world.people.owner.user.id), 'who sits there is nobody’s business'),
  },
  'GET /api/v1/seats/stream': { answers: everybody('200'), stream: true },
  'GET /api/v1/seats/{id}': {
    answers: everybody('200'),
    make: makeSeat,
    params: (seat) => [seat],
    check: ({ text }, { world }) => assert.ok(!text.includes(world.people.owner.user.id), 'who sits there is nobody’s business'),
  },
  'POST /api/v1/seats/reservation/fcfs': claim,
  'POST /fcfs/join': claim,
  'POST /api/v1/seats/reservation': {
    answers: buyers('200', '400 bad request'), // the answers of an older contract
    make: emptyHouse, // which counts those who came
    body: () => ({}),
    check: async ({ json }, { caller, world }) => {
      assert.equal(json.success, true);
      assert.equal(await mySeat(world.server, caller), json.seat);
    },
  },
  'GET /api/v1/seats/reservation': {
    answers: buyers('200'),
    make: makeSeat,
    check: ({ json }, { caller, object, world }) =>
      assert.deepEqual([json.reserved_by, json.seat_id], [idOf(caller), caller === world.people.owner ? object : null]),
  },
  'DELETE /api/v1/seats/reservation': {
    answers: { ...buyers('409 not_reserved'), owner: '200' },
    make: makeSeat,
    body: (seat, { people: { owner } }) => ({ seat, user: owner.user.id }),
    kept: hasSeat,
  },
  'POST /api/v1/seats/reset': {
    answers: operators('200'),
    make: newestGeneration,
    body: (generation) => ({ scheduleId: 'demo', seatCount: 20, generation }),
  },
  'GET /api/v1/admin/overview': { answers: operators('200') },
  'DELETE /api/v1/admin/seats/{id}': {
    answers: operators('200'),
    make: makeSeat,
    params: (seat) => [`${seat}?scheduleId=demo`],
    check: async ({ json }, { object, world }) => {
      assert.equal(json.seat.id, object);
      assert.equal(await mySeat(world.server, world.people.owner), null);
    },
  },
};
