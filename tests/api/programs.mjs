// Other programs that tests need beside the server: a PostgreSQL and a Redis of one's own, psql, sqlite3, redis-cli. They
// are gone when the test file ends.
import { after } from 'node:test';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, temporaryFolder } from './support.mjs';

const PRIVATE_SERVER = process.env.PRIVATE_SERVER ?? join(ROOT, 'tests/support/private-server');
const run = promisify(execFile);
const children = new Set();
const folders = new Set();
const endings = [];

/** `ending` runs when the test file ends, while the private servers still run; what it throws fails the file. */
export function atEnd(ending) {
  endings.push(ending);
}

after(async () => {
  const ended = await Promise.allSettled(endings.map((ending) => ending()));
  killEverything();
  for (const { reason } of ended) if (reason) throw reason;
});
process.on('exit', killEverything); // also when somebody stops the test

/** Everything that was started here. Whoever takes a folder away from under a private server calls it before. */
export function killEverything() {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) execFileSync(PRIVATE_SERVER, ['kill', folder]);
  folders.clear();
}

/** Starts a program; what it writes is in child.text, and child.ended gives its exit status or signal. */
export function start(program, words, env = process.env) {
  const child = spawn(program, words, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  child.text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      child.text += text;
    });
  }
  child.stdin.on('error', () => {});
  children.add(child);
  child.ended = new Promise((resolve) => {
    child.once('close', (code, signal) => { // not 'exit': then all that it has written is here
      children.delete(child);
      resolve(signal ?? code);
    });
  });
  return child;
}

/** Runs a command to its end; gives what it wrote to its standard output. */
export async function command(program, ...words) {
  const { stdout } = await run(program, words, { encoding: 'utf8', maxBuffer: 64 << 20 });
  return stdout.trim();
}

/** tests/support/private-server: kill, pause, resume, wipe … */
export function privateServer(...words) {
  return command(PRIVATE_SERVER, ...words);
}

/** kind: postgres or redis. `durable`: PostgreSQL really syncs, for tests that kill it. `folder`: where, if not anywhere. */
export async function startPrivate(kind, { durable = false, folder = temporaryFolder() } = {}) {
  folders.add(folder);
  const env = { ...process.env, PRIVATE_SERVER_FAST: durable ? '0' : '1' };
  const again = async () => (await run(PRIVATE_SERVER, [kind, 'start', folder], { encoding: 'utf8', env })).stdout.trim();
  return { folder, url: await again(), start: again };
}
