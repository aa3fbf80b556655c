// Makes single system calls of a running server fail, or kills it right before one: strace's injection, made exact.
//
// strace counts calls per thread and per name. So a point is a thread (the how-manieth of the process: threads are always
// started in the same order), a name and a number, and strace is attached to that thread alone.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { start } from '../api/programs.mjs';
import { eventually, temporaryFolder } from '../api/support.mjs';

// Whatever leaves the process or changes a file. The question mark: not every processor has each of them.
const WRITE_CLASS = `write writev pwrite64 pwritev pwritev2 sendto sendmsg fsync fdatasync msync sync_file_range truncate
  ftruncate fallocate open creat openat rename renameat renameat2 link linkat unlink unlinkat mkdir mkdirat`
  .split(/\s+/).map((name) => `?${name}`).join();
const CREATES = /^(open|openat)\(/;

/** Why strace cannot work here, or null. */
export function traceTrouble() {
  try {
    execFileSync('strace', ['-qq', '-e', 'trace=none', 'true'], { stdio: 'pipe', encoding: 'utf8' });
    return null;
  } catch (error) {
    const said = (error.stderr || error.message).trim().split('\n').pop();
    return `strace may not trace here (a container needs the capability SYS_PTRACE): ${said}`;
  }
}

/** The threads of a process, in the order in which they were started. */
function threads(pid) {
  return readdirSync(`/proc/${pid}/task`).map(Number).sort((a, b) => a - b);
}

const traces = temporaryFolder();
let traceCount = 0;

/** Begins to trace threads that run already; resolves when strace has them. `detach()` lets them go. */
async function attach(pids, words) {
  const file = join(traces, `${traceCount++}`);
  const tracer = start('strace', ['-o', file, ...words, ...pids.flatMap((pid) => ['-p', `${pid}`])]);
  const attached = () => (tracer.text.match(/attached/g) ?? []).length >= pids.length || tracer.exitCode !== null;
  await eventually('strace is attached', attached);
  return {
    file,
    async detach() {
      tracer.kill('SIGINT');
      await tracer.ended;
    },
  };
}

/** Of what strace wrote, the calls of write class: [{ thread, name, number, text }]. */
function readPoints(file, threadOf) {
  const counts = new Map(), points = [];
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, pid, text, name] = /^(?:(\d+) +)?((\w+)\(.*)$/.exec(line) ?? [];
    if (!name) continue; // the end of a thread, or the second half of a call
    const thread = threadOf(Number(pid));
    const number = (counts.get(`${thread} ${name}`) ?? 0) + 1;
    counts.set(`${thread} ${name}`, number);
    if (!CREATES.test(text) || /O_CREAT|O_TRUNC/.test(text)) points.push({ thread, name, number, text: text.slice(0, 100) });
  }
  return points;
}

/** The points of all threads of a server while `script` runs. */
export async function countWhile(pid, script) {
  const all = threads(pid);
  const { file, detach } = await attach(all, ['-e', `trace=${WRITE_CLASS}`]);
  await script();
  await detach();
  return readPoints(file, (thread) => all.indexOf(thread));
}

/** What to put before a server's command, so that its first thread is traced from its birth. -D: the server stays our child. */
export function countFromBirth() {
  const file = join(traces, `${traceCount++}`);
  return { words: ['strace', '-D', '-qq', '-o', file, '-e', `trace=${WRITE_CLASS}`], points: () => readPoints(file, () => 0) };
}

/** `what`: signal=KILL, error=EIO …; `more`: '+' makes also every later call of that name fail. */
function injection({ name, number }, what, more = '') {
  return ['-qq', '-e', `trace=${name}`, '-e', `inject=${name}:${what}:when=${number}${more}`];
}

export function injectFromBirth(point, what, more) {
  return ['strace', '-D', '-o', '/dev/null', ...injection(point, what, more)];
}

export async function inject(pid, point, what, more) {
  const thread = threads(pid)[point.thread];
  const { file, detach } = await attach([thread], injection(point, what, more).slice(1));
  return { detach, happened: () => /INJECTED|killed by/.test(readFileSync(file, 'utf8')) };
}

export function nameOf({ thread, name, number, text }) {
  return `${name} number ${number} of thread ${thread}: ${text}`;
}
