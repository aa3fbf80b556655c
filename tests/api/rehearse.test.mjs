// `tickettock rehearse`: its books agree with the server's, it measures what a crowd would feel, it fails when it should,
// it ends whatever the server does, and it leaves alone what is not its own.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inBothWays, openEmbedded } from './box_office.mjs';
import { start } from './programs.mjs';
import { ADMIN_TOKEN, eventually, isSlowBuild, startServer, temporaryFolder, TICKETTOCK } from './support.mjs';

const folder = temporaryFolder();
const CROWD = isSlowBuild ? 300 : 2000;

/** Starts a rehearsal; await its result(): {status, text, json, history, historyFile, seconds}. */
function begin(words, env = { ADMIN_TOKEN }) {
  const began = performance.now();
  const files = { json: join(folder, `${began}.json`), history: join(folder, `${began}.jsonl`) };
  const sanitizers = Object.entries(process.env).filter(([name]) => /SAN_OPTIONS$/.test(name));
  const child = start(TICKETTOCK, ['rehearse', '--json', files.json, '--history', files.history, ...words],
    { PATH: process.env.PATH, ...Object.fromEntries(sanitizers), ...env });
  child.result = async () => {
    const status = await child.ended;
    const ran = status === 0 || status === 3;
    return {
      status, text: child.text, historyFile: files.history, seconds: (performance.now() - began) / 1000,
      json: ran && JSON.parse(readFileSync(files.json, 'utf8')),
      history: ran && readFileSync(files.history, 'utf8').trim().split('\n').map((line) => JSON.parse(line)),
    };
  };
  return child;
}
const rehearse = (words, env) => begin(words, env).result();
const urls = (office) => office.servers.map((server) => server.url);

function countBy(items, key) {
  const counts = {};
  for (const item of items) counts[key(item)] = (counts[key(item)] ?? 0) + 1;
  return counts;
}

inBothWays((way) => describe(way.name, () => {
  let office;
  before(async () => {
    office = await way.open();
  });

  test('a spike: everybody is counted, and the server has the same books', async () => {
    const seats = CROWD / 10;
    const { status, json, text, history } = await rehearse([...urls(office), '--users', `${CROWD}`, '--seats', `${seats}`]);
    assert.equal(status, 0, text);
    assert.equal(json.users, CROWD);
    assert.deepEqual(json.answers, { claimed: seats, sold_out: CROWD - seats });
    assert.equal(json.errors.total, 0);
    assert.equal(json.latencyMs.claim.count, CROWD);

    const lines = await office.rows(`SELECT * FROM reservation_history WHERE user_id LIKE '${json.userPrefix}-%'`);
    assert.equal(countBy(lines, (line) => line.outcome).claimed, seats);
    const told = new Map(history.filter((line) => line.status === 200).map((line) => [line.user, line.seat]));
    const sold = lines.filter((line) => line.outcome === 'claimed').map((line) => [line.user_id, line.seat_id]);
    assert.deepEqual([...told].sort(), sold.sort(), 'who was told which seat');
    const [header, ...rest] = history;
    assert.deepEqual([header.scheduleId, header.seats, header.servers], ['rehearsal', seats, urls(office).length]);
    assert.deepEqual(rest.pop(), { op: 'end', count: CROWD });
    assert.equal(new Set(rest.map((line) => line.user)).size, CROWD, 'every user is another');
    for (const line of rest) assert.ok(line.start > 0 && line.end > line.start);
    assert.equal((await office.seats()).length, 9, 'the house that is really sold has not been touched');
    assert.deepEqual(await office.taken(), []);
  });

  test('all kinds of people: each does what it should, and the checker finds the database right', async () => {
    const users = CROWD / 2, seats = CROWD / 5;
    const { status, json, text, history, historyFile } = await rehearse([
      ...urls(office), '--users', `${users}`, '--seats', `${seats}`, '--arrival', 'spike 500ms', '--threads', '2',
      '--persona', 'double-click=10%,retry=10%,give-up=10%,give-back=10%,check=10%,reader=10%,one-ip=10%,slow=5%']);
    assert.equal(status, 0, text);
    assert.equal(json.errors.total, 0, text);
    const ends = countBy(history.slice(1, -1), (line) => `${line.op} ${line.status}`);
    const share = users / 10;
    const about = (count, wanted, what) => assert.ok(Math.abs(count - wanted) <= 4, `${what}: ${count}, not ${wanted}`);
    about(json.gaveUp, share, 'gave up');
    about(ends['claim null'], share, 'claims without an answer');
    about(ends['map 200'], share, 'readers');
    assert.equal(ends['mine 200'], json.answers['seat looked up']);
    assert.equal(json.released, json.answers.released);
    assert.ok(json.released > 0 && json.retries > 0);
    const claims = countBy(history.filter((line) => line.op === 'claim' && line.status), (line) => line.user);
    assert.ok(Object.values(claims).some((attempts) => attempts > 2), 'some try again and again');
    const addresses = countBy(history.filter((line) => line.op === 'claim'), (line) => line.address);
    about(addresses['127.0.0.1'], share, 'from one address');

    const checker = start(TICKETTOCK, ['check-history', historyFile, '--against', office.url ?? office.env.DATA_DIR]);
    assert.equal(await checker.ended, 0, checker.text);
  });
}));

inBothWays((way) => describe(`${way.name}: a server that believes its gateway only`, () => {
  const GATEWAY_TOKEN = 'the-secret-of-the-gateway';
  const crowd = ['--users', '50', '--seats', '20', '--arrival', 'spike 100ms'];
  let office;
  before(async () => {
    office = await way.open({ FCFS_TRUST_USER_HEADER: undefined, GATEWAY_TOKEN });
  });

  test('is told so before the crowd comes, and believed with the gateway’s token', async () => {
    for (const env of [{ ADMIN_TOKEN }, { ADMIN_TOKEN, GATEWAY_TOKEN: `${GATEWAY_TOKEN}!` }]) {
      const refused = await rehearse([...urls(office), ...crowd], env);
      assert.equal(refused.status, 1, refused.text);
      assert.match(refused.text, /does not believe the header X-User-Id.*GATEWAY_TOKEN/);
    }
    const { json, text, historyFile } = await rehearse([...urls(office), ...crowd, '--forwarded-for'], { ADMIN_TOKEN, GATEWAY_TOKEN });
    assert.deepEqual(json.answers, { claimed: 20, sold_out: 30 }, text);
    const against = ['check-history', historyFile, '--against', office.servers[0].url];
    const checker = start(TICKETTOCK, against, { PATH: process.env.PATH, GATEWAY_TOKEN });
    assert.equal(await checker.ended, 0, checker.text);
    const stranger = start(TICKETTOCK, against, { PATH: process.env.PATH });
    assert.equal(await stranger.ended, 2, stranger.text);
  });
}));

describe('what it says', () => {
  let office, url;
  before(async () => {
    office = await openEmbedded();
    [url] = urls(office);
  });

  test('its status: fine, crossed, not done, not understood', async () => {
    const short = [url, '--users', '50', '--seats', '10', '--arrival', 'spike 100ms'];
    assert.equal((await rehearse([...short, '--fail-if', 'p99>10s', '--fail-if', 'sold<10'])).status, 0);
    const crossed = await rehearse([...short, '--fail-if', 'p50>10s', '--fail-if', 'sold>9']);
    assert.equal(crossed.status, 3);
    assert.match(crossed.text, /sold>9 +FAILED: sold is 10/);
    assert.deepEqual(crossed.json.failIf.map((rule) => rule.failed), [false, true]);

    const gone = await rehearse(['http://127.0.0.1:1']);
    assert.equal(gone.status, 1);
    assert.match(gone.text, /http:\/\/127\.0\.0\.1:1 cannot be reached: Connection refused/);
    assert.equal((await rehearse([url], { ADMIN_TOKEN: 'wrong' })).status, 1);
    for (const [words, text] of [
      [['--fail-if', 'p98>1ms'], "'p98'"], [['--arrival', 'spik 1s'], "'spik'"], [['--persona', 'slow'], 'slow needs a share'],
      [['--userz', '3'], 'did you mean --users'], [['--users'], '--users needs a value'], [['--users', '0'], "'0'"],
    ]) {
      const { status, text: told } = await rehearse([url, ...words]);
      assert.deepEqual([status, told.includes(text)], [2, true], told);
    }
    const help = start(TICKETTOCK, ['rehearse', '--help']);
    assert.equal(await help.ended, 0);
    for (const word of ['--i-own-this-server', '--history', 'double-click', 'poisson 500/s', 'The status is 0']) {
      assert.ok(help.text.includes(word), word);
    }
  });

  test('it asks nobody else than this machine, and speaks no TLS', async () => {
    const other = await rehearse(['http://192.0.2.1:5800']);
    assert.equal(other.status, 2);
    assert.match(other.text, /not this machine.*--i-own-this-server/);
    assert.ok(other.seconds < 2, 'without trying to connect');
    const both = await rehearse([url, 'http://192.0.2.1:5800']);
    assert.equal(both.status, 2);
    const tls = await rehearse(['https://127.0.0.1:5800']);
    assert.deepEqual([tls.status, /TLS/.test(tls.text)], [2, true]);
  });

  test('a server with the default settings, on this machine', async () => {
    const server = await startServer();
    const { json, text } = await rehearse([server.url, '--users', '50', '--arrival', 'spike 50ms', '--seats', '50']);
    assert.deepEqual(json.answers, { claimed: 50 }, text);
    await server.stop();
  });

  test('localhost is the address where somebody listens', async () => {
    const { json, text } = await rehearse([url.replace('127.0.0.1', 'localhost'), '--users', '100', '--arrival', 'spike 20ms', '--seats', '100']);
    assert.deepEqual(json.answers, { claimed: 100 }, text);
  });

  test('behind a proxy that the server trusts, every user has an address in X-Forwarded-For', async () => {
    const words = [url, '--users', '200', '--seats', '200', '--arrival', 'spike 50ms', '--forwarded-for'];
    const { json } = await rehearse(words);
    assert.deepEqual(json.answers, { claimed: 200 });
    const shared = await rehearse([...words, '--persona', 'one-ip=100%']);
    assert.ok(shared.json.answers.duplicate > 0, 'FCFS_IP_CONCURRENCY is 1');
    assert.equal(shared.history[1].address, undefined);
  });

  test('it opens a house of its own, and replaces no other unless told', async () => {
    await office.reset(9);
    await office.claim('somebody');
    const refused = await rehearse([url, '--schedule', 'demo', '--seats', '5']);
    assert.equal(refused.status, 1);
    assert.match(refused.text, /has a schedule demo with 9 seats already.*--reset/);
    assert.deepEqual(await office.taken(), [1]);
    assert.equal((await rehearse([url], {})).status, 2, 'no token, no house');

    const sold = await rehearse([url, '--schedule', 'demo', '--users', '20', '--arrival', 'spike 100ms'], {});
    assert.deepEqual(sold.json.answers, { claimed: 8, sold_out: 12 }, 'the seats that are left, without a token');
    assert.equal(sold.history[0].taken, '1');
    const told = await rehearse([url, '--schedule', 'demo', '--seats', '5', '--reset', '--users', '20', '--arrival', 'spike 100ms']);
    assert.deepEqual(told.json.answers, { claimed: 5, sold_out: 15 });
    assert.equal((await office.seats()).length, 5);
  });

  test('the page: complete, and nothing from elsewhere', async () => {
    const page = join(folder, 'report.html');
    const { status } = await rehearse([url, '--users', '200', '--report', page, '--persona', 'reader=20%,give-back=20%',
      '--schedule', 'rehearsal <b>&', '--seats', '50', '--fail-if', 'p99>10s']);
    assert.equal(status, 0);
    const html = readFileSync(page, 'utf8');
    assertWellFormed(html);
    assert.doesNotMatch(html, /<script|src=|href=|@import|url\(/);
    assert.match(html, /<h1>Rehearsal of rehearsal &lt;b&gt;&amp;<\/h1>/);
    assert.equal(html.match(/<svg /g).length, 3);
    assert.doesNotMatch(html, /nan|inf\b/i);
    assert.match(html, /prefers-color-scheme:dark/);
    const nowhere = await rehearse([url, '--users', '5', '--report', '/nowhere/report.html']);
    assert.equal(nowhere.status, 1);
    assert.match(nowhere.text, /^tickettock: \/nowhere\/report\.html cannot be written/, 'before it begins');
  });

  test('Ctrl-C closes the doors and still gives the report', async () => {
    const child = begin([url, '--arrival', 'constant 50/s', '--duration', '1h', '--seats', '10']);
    await eventually('it has begun', () => child.text.includes('offered'));
    child.kill('SIGINT');
    const { status, text, json } = await child.result();
    assert.equal(status, 0);
    assert.match(text, /stopped before its end/);
    assert.equal(json.interrupted, true);
    assert.ok(json.seconds < 30);
  });

  test('a server that is killed in the middle: refusals, and an end in time', async () => {
    const child = begin([url, '--arrival', 'constant 200/s for 3s', '--seats', '50', '--timeout', '2s',
      '--persona', 'retry=20%,slow=10%', '--fail-if', 'errors>10%']);
    await eventually('it has begun', () => child.text.includes('offered'));
    await office.servers[0].stop('SIGKILL');
    const { status, json, seconds, history } = await child.result();
    office.servers.pop();
    assert.equal(status, 3);
    assert.ok(json.errors.refused > 0);
    assert.ok(seconds < 3 + 2 * 2 + 5, `${seconds} s`);
    assert.equal(history.at(-1).count, history.length - 2);
    assert.equal(history.length - 2, json.sent);
  });
});

/** Every element is closed, in the right order. */
function assertWellFormed(html) {
  const open = [];
  for (const [, end, name, own] of html.replace(/<!DOCTYPE html>|<style>.*?<\/style>/gs, '').matchAll(/<(\/?)([a-z0-9]+)[^>]*?(\/?)>/gi)) {
    if (own || name === 'meta') continue;
    if (end) assert.equal(open.pop(), name);
    else open.push(name);
  }
  assert.deepEqual(open, []);
}

/** A server that does as it is told: answers like ours, but only when it wants. */
async function pretendServer(claim) {
  const server = createServer((request, response) => {
    const reply = (json, status = 200, headers = {}) => {
      const body = JSON.stringify(json);
      response.writeHead(status, { 'Content-Length': Buffer.byteLength(body), ...headers }).end(body);
    };
    if (request.url.startsWith('/api/v1/show')) reply({ success: true, show: { seats: 9, userHeader: 'X-User-Id' } });
    else if (request.method === 'GET') reply({ success: true, seats: [{ id: 1, name: 'A-1', status: false }] });
    else request.resume().on('end', () => claim(reply, request));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.url = `http://127.0.0.1:${server.address().port}`;
  server.end = () => {
    server.closeAllConnections?.();
    return new Promise((resolve) => server.close(resolve));
  };
  return server;
}

describe('what it measures', () => {
  // With one connection, somebody who waits for each answer before asking again would have met the pause once in 600.
  test('a pause of half a second is felt by all who come meanwhile', async () => {
    let claims = 0;
    const server = await pretendServer((reply) => {
      if (++claims === 200) for (const until = performance.now() + 500; performance.now() < until;);
      reply({ success: true, seat_id: claims });
    });
    const { json, text } = await rehearse([server.url, '--schedule', 'x', '--arrival', 'constant 200/s for 3s', '--connections', '1']);
    assert.equal(json.answered, 600);
    assert.ok(json.latencyMs.all.p50 < 100, text);
    assert.ok(json.latencyMs.all.p99 > 400, text);
    assert.ok(json.latencyMs.all.p90 > 100, text);
    await server.end();
  });

  test('a server that never answers: the run ends in time, and those who waited count', async () => {
    const server = await pretendServer(() => {});
    const { status, json, seconds, history } = await rehearse([server.url, '--schedule', 'x', '--users', '300', '--arrival', 'spike 500ms',
      '--timeout', '500ms', '--connections', '20', '--persona', 'retry=50%', '--fail-if', 'errors>99%']);
    assert.equal(status, 3);
    assert.ok(seconds < 0.5 + 2 * 0.5 + 5, `${seconds} s`);
    assert.equal(json.answered, 0);
    assert.ok(json.errors.timeouts >= 20 && json.errors.notSent > 0);
    assert.ok(json.latencyMs.all.p50 >= 495);
    const unanswered = history.slice(1, -1);
    assert.equal(unanswered.length, json.sent);
    for (const line of unanswered) assert.deepEqual([line.end, line.status], [null, null]);
    await server.end();
  });

  test('Retry-After is honoured, not by all at the same moment', async () => {
    const times = new Map();
    const server = await pretendServer((reply, request) => {
      const user = request.headers['x-user-id'];
      if (!times.has(user)) times.set(user, []);
      times.get(user).push(performance.now());
      if (times.get(user).length > 1) reply({ success: true, seat_id: 1 });
      else reply({ success: false, reason: 'overloaded' }, 503, { 'Retry-After': '1' });
    });
    const { json } = await rehearse([server.url, '--schedule', 'x', '--users', '40', '--arrival', 'spike 50ms', '--persona', 'retry=100%']);
    assert.equal(json.retries, 40);
    assert.equal(json.sold, 40);
    const pauses = [...times.values()].map(([first, second]) => second - first).sort((a, b) => a - b);
    assert.ok(pauses[0] >= 990, `the first came back after ${pauses[0]} ms`);
    assert.ok(pauses.at(-1) - pauses[0] > 100, 'spread');
    await server.end();
  });
});
