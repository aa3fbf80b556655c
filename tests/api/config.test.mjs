// What an operator sees: settings that are wrong, a port or a folder that is taken, health, metrics, the log.
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { FCFS, PRD, openEmbedded, openFleet } from './box_office.mjs';
import { command, privateServer, start } from './programs.mjs';
import { ADMIN_TOKEN, Server, TICKETTOCK, eventually, startServer, temporaryFolder } from './support.mjs';
import { Wire, exchange, get, post } from './wire.mjs';

/** A start that is expected to fail: { status, text }. */
async function failingStart(settings, ...flags) {
  const env = { PATH: process.env.PATH, BIND_ADDRESS: '127.0.0.1', APP_PORT: '0', LOG_FORMAT: 'json', ...settings };
  if (!('DATA_DIR' in env)) env.DATA_DIR = temporaryFolder();
  const child = start(TICKETTOCK, ['serve', ...flags], env);
  return { status: await child.ended, text: child.text };
}

describe('settings', () => {
  test('all problems are named at once, and nothing starts', async () => {
    const wrong = {
      APP_PORT: '70000', THREADS: 'many', LOG_LEVEL: 'loud', DATABASE_URL: 'mysql://host/name', MAX_TASKS: '1',
      ADMIN_TOKEN: 'x'.repeat(300),
    };
    const { status, text } = await failingStart(wrong, '--idle-timeout-ms', '5', '--no-such-thing', '1');
    assert.equal(status, 2);
    for (const name of [...Object.keys(wrong), 'idle.timeout.ms', 'no.such.thing'])
      assert.match(text, new RegExp(name, 'i'), `${name} is named in:\n${text}`);
    assert.doesNotMatch(text, /open for business|x{300}/);
    assert.match(text, /help/, 'and where to read more');
  });

  test('so are values that are good by themselves and cannot be used', async () => {
    const wrong = {
      TRUSTED_PROXIES: '10.0.0.0/33', BIND_ADDRESS: 'localhost', CORS_ORIGINS: 'shop.example', FCFS_USER_HEADER: 'X User',
      REDIS_HOST: '127.0.0.1', // with a built-in database
    };
    const { status, text } = await failingStart(wrong);
    assert.equal(status, 2);
    for (const name of Object.keys(wrong)) assert.match(text, new RegExp(`^ *${name}\\b`, 'm'));
  });

  test('one problem: what is expected instead', async () => {
    for (const [name, value, expected] of [
      ['APP_PORT', 'http', /65535/],
      ['FCFS_DUP_POLICY', 'sometimes', /both.*user.*ip.*off/],
      ['DATABASE_URL', 'sqlite:///x', /postgresql/],
      ['DATABASE_CONNECTIONS', '129', /DATABASE_CONNECTIONS.*128/],
      ['TRUSTED_PROXIES', 'everybody', /10\.0\.0\.0\/8/],
      ['REDIS_URL', 'redis://host:notaport/0', /REDIS_URL must look like redis:/],
    ]) {
      const both = name === 'REDIS_URL' ? { DATABASE_URL: 'postgresql://127.0.0.1:1/none' } : {};
      const { status, text } = await failingStart({ ...both, [name]: value });
      assert.deepEqual([status, name, expected.test(text)], [2, name, true], text);
    }
    const { status, text } = await failingStart({}, '--config', '/nowhere/at/all.conf');
    assert.equal(status, 2);
    assert.match(text, /\/nowhere\/at\/all\.conf/);
  });

  test('a flag is stronger than the environment, and that than a file', async () => {
    const show = async (...flags) => {
      const child = start(TICKETTOCK, ['config', ...flags], { PATH: process.env.PATH, FCFS_SEATS: '77', ADMIN_TOKEN });
      assert.equal(await child.ended, 0, child.text);
      return child.text;
    };
    assert.match(await show(), /FCFS_SEATS\s*=?\s*77/);
    assert.match(await show('--fcfs-seats', '78'), /FCFS_SEATS\s*=?\s*78/);
    assert.doesNotMatch(await show(), new RegExp(ADMIN_TOKEN), 'a secret is not shown');
  });

  test('serve --help has every setting', async () => {
    const help = await command(TICKETTOCK, 'serve', '--help');
    const table = await command(TICKETTOCK, 'config', '--markdown');
    const names = [...table.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name]) => name);
    assert.ok(names.length > 35, `${names.length} settings`);
    for (const name of names) assert.match(help, new RegExp(`^ *${name}\\b`, 'm'), name);
    for (const word of ['--app-port', '--config', 'Default:', 'DATABASE_URL']) assert.ok(help.includes(word), word);
  });

  test('a command that does not exist', async () => {
    const child = start(TICKETTOCK, ['serv'], {});
    assert.equal(await child.ended, 2);
    assert.match(child.text, /did you mean serve/);
  });
});

describe('processors', { concurrency: true }, () => {
  const coreList = (file) => /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync(file, 'utf8'))[1];
  const expand = (list) =>
    list.split(',').flatMap((range) => {
      const [first, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, i) => `${first + i}`);
    });
  const all = coreList('/proc/self/status');
  const cores = expand(all);

  /** Where each thread of a server with these settings may run. */
  async function threadsOf(settings, ...under) {
    const server = new Server({ THREADS: '0', PASSWORD_THREADS: '1', ...settings });
    server.under = under;
    await server.start();
    // Each thread has connections of its own: once all of these are answered, all threads have begun.
    await Promise.all(Array.from({ length: 32 * cores.length }, () => exchange(server, get('/healthz'))));
    const folder = `/proc/${server.pid}/task`;
    const threads = readdirSync(folder).map((thread) => coreList(`${folder}/${thread}/status`));
    assert.equal(await server.stop(), 0);
    return threads;
  }

  test('each has a thread that serves requests there and nowhere else', async () => {
    const threads = await threadsOf({});
    for (const core of cores) assert.ok(threads.includes(core), `core ${core} of ${all}: ${threads}`);
  });

  test('no thread keeps to a core when told so, or when there are more or fewer of them than cores', async () => {
    for (const settings of [{ THREADS_KEEP_CORE: '0' }, { THREADS: `${cores.length + 1}` }])
      assert.deepEqual([...new Set(await threadsOf(settings))], [all], JSON.stringify(settings));
  });

  test('as many threads as the server may use cores, not as the machine has', async () => {
    const everywhere = await threadsOf({});
    const there = await threadsOf({}, 'taskset', '-c', cores[0]);
    assert.equal(everywhere.length - there.length, cores.length - 1);
    assert.deepEqual([...new Set(there)], [cores[0]]);
  });
});

describe('what is taken already', { concurrency: true }, () => {
  test('the port, by us or another program: exit 1 and a clear message', async () => {
    const ours = await startServer();
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.on('listening', resolve));
    for (const port of [ours.port, other.address().port]) {
      const { status, text } = await failingStart({ APP_PORT: `${port}` });
      assert.equal(status, 1);
      assert.match(text, /the port is in use.*APP_PORT/);
      assert.match(text, new RegExp(`"port":${port}\\b`));
    }
    assert.equal((await exchange(ours, get('/healthz'))).status, 200);
    other.close();
    assert.equal(await ours.stop(), 0);
  });

  test('the folder: the second server is refused, the first goes on', async () => {
    const first = await startServer();
    const { status, text } = await failingStart({ DATA_DIR: first.settings.DATA_DIR });
    assert.equal(status, 1);
    assert.match(text, /another server is using the data folder/);
    assert.ok(text.includes(first.settings.DATA_DIR));
    assert.equal((await first.reserve('unhurt')).status, 200);
    assert.equal(await first.stop(), 0);
    const second = await startServer({ DATA_DIR: first.settings.DATA_DIR });
    const mine = await second.call('GET', PRD, { user: 'unhurt' });
    assert.equal(mine.body.seat_id, 1, 'the folder is free again');
    assert.equal(await second.stop(), 0);
  });

  test('a folder that cannot be used', async () => {
    const { status, text } = await failingStart({ DATA_DIR: '/proc/no-such-folder' });
    assert.equal(status, 1);
    assert.match(text, /\/proc\/no-such-folder/);
  });
});

describe('health', () => {
  let office, server;
  before(async () => {
    office = await openFleet({}, { servers: 1 });
    [server] = office.servers;
  });

  const ready = async () => {
    const { status, json } = await exchange(server, get('/readyz'));
    assert.equal(status, json.ready ? 200 : 503);
    return json;
  };
  const assertAlive = async () => {
    const began = performance.now();
    const { status, json } = await exchange(server, get('/healthz'));
    assert.deepEqual([status, json], [200, { status: 'ok' }]);
    assert.ok(performance.now() - began < 1000);
  };

  test('all is well', async () => {
    const { ready: well, parts } = await ready();
    assert.deepEqual([well, Object.keys(parts).sort()], [true, ['accounts', 'coordination', 'database', 'house', 'server']]);
    await assertAlive();
  });

  for (const [part, kind, others] of [['database', 'postgres', ['coordination']], ['coordination', 'redis', ['database']]]) {
    test(`without ${kind} the ${part} is not ready, and says why`, async () => {
      await privateServer('stop', office[kind].folder);
      const trouble = await eventually('it is noticed', async () => {
        await exchange(server, post(FCFS, '{}', { 'X-User-Id': 'somebody' })).catch(() => {}); // who needs it, sees it
        const { parts } = await ready();
        return parts[part].ready ? null : parts;
      });
      assert.ok(trouble[part].reason.length > 5, JSON.stringify(trouble));
      for (const other of others) assert.deepEqual(trouble[other], { ready: true });
      await assertAlive();
      await office[kind].start();
      await eventually('it comes back by itself', async () => (await ready()).ready);
      await assertAlive();
    });
  }
});

describe('metrics', () => {
  test('Prometheus accepts them, and each request is counted by its route', async () => {
    const server = await startServer();
    const metrics = async () => (await exchange(server, get('/metrics'))).body;
    const counted = (text, labels) => Number(new RegExp(`^http_requests_total\\{${labels}\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
    const SEAT = 'method="GET",route="/api/v1/seats/{id}",status="2xx"';
    assert.equal(counted(await metrics(), SEAT), 0);
    for (const path of ['/api/v1/seats/1', '/api/seats/2', '/api/v1/seats/3']) await exchange(server, get(path));
    await exchange(server, get('/api/v1/seats/999'));
    for (const path of ['/nowhere/1', '/nowhere/2']) await exchange(server, get(path));
    const text = await metrics();
    assert.equal(counted(text, SEAT), 3, text);
    assert.equal(counted(text, SEAT.replace('2xx', '4xx')), 1);
    assert.doesNotMatch(text, /nowhere|seats\/999/, 'what a client makes up is no label');
    assert.match(text, /^http_request_duration_seconds_bucket\{.*route="\/api\/v1\/seats\/\{id\}".*le="\+Inf"\} 4$/m);
    const version = await command(TICKETTOCK, '--version');
    assert.ok(version.includes(/tickettock_build_info\{version="([^"]+)"\} 1/.exec(text)[1]), version);

    const promtool = spawn('promtool', ['check', 'metrics'], { stdio: ['pipe', 'pipe', 'pipe'] });
    let complaints = '';
    for (const stream of [promtool.stdout, promtool.stderr]) stream.on('data', (part) => { complaints += part; });
    promtool.stdin.end(text);
    assert.equal(await new Promise((resolve) => promtool.on('exit', resolve)), 0, complaints);
    assert.equal(complaints, '');
    assert.equal(await server.stop(), 0);
  });
});

describe('the log', () => {
  const linesOf = (server) => server.output.split('\n').filter((line) => line && !line.startsWith('Tickettock is open'));

  test('is one JSON object per line, with time, level and message', async () => {
    const server = await startServer({ LOG_LEVEL: 'debug' });
    await server.reserve('somebody');
    assert.equal(await server.stop(), 0);
    const lines = linesOf(server).map((line) => JSON.parse(line));
    assert.ok(lines.length >= 4);
    for (const { time, level, message } of lines) {
      assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.ok(['debug', 'info', 'warn', 'error'].includes(level) && message);
    }
    assert.ok(lines.some(({ message }) => message === 'closed'));
  });

  test('each line of a failing request has its trace id', async () => {
    const office = await openEmbedded({ LOG_LEVEL: 'debug' });
    const [server] = office.servers;
    await command('sqlite3', office.file, 'ALTER TABLE claims RENAME TO elsewhere');
    const before = server.output.length;
    const answer = await exchange(server, get(PRD, { 'X-User-Id': 'unlucky' }));
    assert.equal(answer.status, 503);
    await eventually('the failure is logged', () => server.output.indexOf('\n', before) >= 0);
    const lines = server.output.slice(before).trim().split('\n').map((line) => JSON.parse(line));
    for (const line of lines) assert.equal(line.traceId, answer.json.traceId, JSON.stringify(line));
  });

  test('has no names, phones, users or secrets, whatever happens', async () => {
    const office = await openEmbedded({ LOG_LEVEL: 'debug', GATEWAY_TOKEN: 'the-gateways-own-secret' });
    const [server] = office.servers;
    const body = JSON.stringify({ userName: 'Hong Gildong', phone: '010-9876-5432' });
    const claim = (user, headers = {}) => exchange(server, post(FCFS, body, { 'X-User-Id': user, ...headers }));
    assert.equal((await claim('user-of-the-log')).status, 200);
    assert.equal((await claim('user-of-the-log')).status, 409);
    assert.equal((await claim('user-with-seq', { 'X-Fcfs-Seq': 'x', 'X-Gateway-Token': 'the-gateways-own-secret' })).status, 503);
    assert.equal((await claim('u'.repeat(200))).status, 400);
    assert.equal((await exchange(server, post(FCFS, '{"phone":"010-9876-5432"', { 'X-User-Id': 'broken' }))).status, 400);
    assert.equal((await server.call('POST', '/api/v1/seats/reset', { headers: { 'X-Admin-Token': 'wrong-secret' }, body: {} })).status, 403);
    assert.equal((await server.reset(5)).status, 200);
    await command('sqlite3', office.file, 'ALTER TABLE claims RENAME TO elsewhere');
    assert.equal((await claim('user-of-the-failure')).status, 503);
    const wire = await Wire.open(server);
    wire.send(`GET /?token=in-the-query HTTP/1.1\r\nHost: a\r\nBad Header: 010-9876-5432\r\n\r\n`);
    assert.equal((await wire.answer()).status, 400);
    await office.close();
    assert.match(server.output, /"error"/, 'the failure is logged');
    for (const secret of ['Gildong', '9876', 'user-of', 'user-with', ADMIN_TOKEN, 'wrong-secret', 'gateways-own', 'in-the-query', 'uuuuu'])
      assert.ok(!server.output.includes(secret), `${secret} is in the log:\n${server.output}`);
  });
});
