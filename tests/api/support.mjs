// For tests over real HTTP: starts the server as an operator would, on a free port of the loopback, with its data
// in a folder that goes away. Nothing outlives the test, however that ends.
import { after } from 'node:test';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const TICKETTOCK = process.env.TICKETTOCK ?? join(ROOT, 'build/src/tickettock');
// Sanitizers make everything several times slower: crowds are smaller then, and patience is greater.
export const isSlowBuild = /build-(asan|tsan)/.test(TICKETTOCK);
export const ADMIN_TOKEN = 'the-token-of-the-tests';
// What servers on PostgreSQL must be given: the same on all of them.
const FLEET_KEYS = {
  PII_KEYS: `1:${Buffer.alloc(32, 'a key of the tests').toString('base64')}`,
  PII_HASH_KEY: Buffer.alloc(32, 'another key of the tests').toString('base64'),
};

const running = new Set();
const folders = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

// A test that failed may have left its server running, and node would wait for it for ever.
const LEFT_BEHIND_MS = 20_000;
after(() => setTimeout(() => process.exit(1), LEFT_BEHIND_MS).unref());

export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'tickettock-'));
  folders.add(folder);
  return folder;
}

// Until check() gives something true; fails after some seconds.
export async function eventually(what, check, seconds = 20) {
  for (const deadline = Date.now() + seconds * 1000; ; await sleep(20)) {
    const result = await check();
    if (result) return result;
    if (Date.now() > deadline) throw new Error(`not within ${seconds} s: ${what}`);
  }
}

export class Server {
  #child;
  #ended;

  // settings: environment variables of the server, added to those it needs here.
  constructor(settings = {}) {
    this.settings = {
      PATH: process.env.PATH,
      BIND_ADDRESS: '127.0.0.1',
      APP_PORT: '0',
      DATA_DIR: temporaryFolder(),
      ADMIN_TOKEN,
      THREADS: '2',
      LOG_FORMAT: 'json',
      ...(settings.DATABASE_URL && FLEET_KEYS),
      ...settings,
    };
    for (const [name, value] of Object.entries(process.env)) {
      if (/^[ATU]B?SAN_OPTIONS$/.test(name)) this.settings[name] = value;
    }
    this.output = '';
    this.under = []; // a command that runs the server's, as strace does
  }

  async start() {
    this.output = '';
    const [program, ...words] = [...this.under, TICKETTOCK, 'serve'];
    this.#child = spawn(program, words, { env: this.settings, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(this.#child);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        this.output += text;
      });
    }
    const child = this.#child;
    let exit;
    // 'close', not 'exit': then all that it has written is here.
    this.#ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code))).then((how) => {
      exit = true;
      running.delete(child);
      return how;
    });
    await eventually('the server is ready', async () => {
      if (exit) throw new Error(`the server ended at once:\n${this.output}`);
      const port = /"open for business","port":(\d+)/.exec(this.output)?.[1];
      if (!port) return false;
      this.settings.APP_PORT = port; // also when it is started again
      return (await fetch(`${this.url}/readyz`).catch(() => null))?.ok;
    });
    return this;
  }

  get url() {
    return `http://127.0.0.1:${this.settings.APP_PORT}`;
  }

  get port() {
    return this.settings.APP_PORT;
  }

  get pid() {
    return this.#child.pid;
  }

  get hasEnded() {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  // signal: SIGTERM lets it finish what it does, SIGKILL is a crash. Gives the exit status, or the signal that ended it.
  async stop(signal = 'SIGTERM') {
    this.#child.kill(signal);
    return this.#ended;
  }

  // {status, headers, body}; body is an object where the answer is JSON.
  async call(method, path, { user, admin = false, headers = {}, body } = {}) {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(user === undefined ? {} : { 'X-User-Id': user }),
        ...(admin ? { 'X-Admin-Token': ADMIN_TOKEN } : {}),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    const json = response.headers.get('Content-Type')?.startsWith('application/json');
    return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
  }

  reserve(user, body) {
    return this.call('POST', '/api/v1/seats/reservation/fcfs', { user, body });
  }

  giveBack(user) {
    return this.call('DELETE', '/api/v1/seats/reservation', { user });
  }

  // A new, empty house in place of the one that is there; without one, it is opened.
  async reset(seatCount, scheduleId = 'demo') {
    const { body: { generation } } = await this.call('GET', `/api/v1/admin/overview?scheduleId=${scheduleId}`, { admin: true });
    return this.call('POST', '/api/v1/seats/reset', { admin: true, body: { scheduleId, seatCount, generation } });
  }
}

export const startServer = (settings) => new Server(settings).start();
