// Asks servers for /healthz all the time, as a program of its own:
//     node health.mjs URL… : writes a line of JSON for each answer until its standard input is closed
// and, imported, starts that program and judges what it wrote.
//
// On a machine whose processors are all busy an answer is late although the server is not. That noise is measured twice:
// one more server, which has nothing else to do and to which nothing happens, is asked at the same moments; and the kernel
// tells how long the server's threads, and this program, were ready to run and had no processor. That is the machine's part.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const HEALTH_MS = 100; // what is promised
const PAUSE_MS = 10, PATIENCE_MS = 3000;

/** Milliseconds on a clock that all processes share. */
export function sharedNow() {
  return Number(process.hrtime.bigint()) / 1e6;
}

function ask(url, agent) {
  return new Promise((resolve) => {
    const request = http.get(`${url}/healthz`, { agent, timeout: PATIENCE_MS }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode)).on('error', () => resolve(0));
    });
    request.on('timeout', () => request.destroy()).on('error', () => resolve(0));
  });
}

/** Milliseconds that each thread of the process has waited for a processor so far. */
export function waited(pid) {
  const threads = new Map();
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`))
      threads.set(thread, Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[1]) / 1e6);
  } catch {
    // It has just ended, or this kernel does not count.
  }
  return threads;
}

/** Of the thread that waited most in between. */
export function mostWaited(before, after) {
  return Math.max(0, ...[...after].map(([thread, ms]) => ms - (before.get(thread) ?? 0)));
}

/** `processes`: number of the server → its pid; a server that was started again has another. */
async function watch(url, server, processes) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  for (;;) {
    const pid = processes[server], before = waited(pid), own = waited('self'), at = sharedNow();
    const status = await ask(url, agent);
    const ms = sharedNow() - at, noise = ms > HEALTH_MS ? mostWaited(before, waited(pid)) + mostWaited(own, waited('self')) : 0;
    process.stdout.write(`${JSON.stringify({ server, at, ms, noise, status })}\n`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const processes = [];
  const orders = createInterface(process.stdin).on('close', () => process.exit(0));
  orders.on('line', (line) => processes.splice(0, Infinity, ...JSON.parse(line)));
  process.argv.slice(2).forEach((url, server) => watch(url, server, processes));
}

function slowest(probes) {
  return probes.reduce((most, probe) => Math.max(most, probe.ms), 0);
}

export class HealthWatch {
  #servers;
  #child;
  #probes = [];
  #ended;

  /** `idle` is the server that has nothing to do. */
  constructor(servers, idle) {
    this.#servers = [...servers, idle];
    const urls = this.#servers.map((server) => server.url);
    this.#child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...urls], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface(this.#child.stdout).on('line', (line) => this.#probes.push(JSON.parse(line)));
    this.#ended = new Promise((resolve) => lines.once('close', resolve));
    this.noticeProcesses();
  }

  /** To be called when a server was started again. */
  noticeProcesses() {
    this.#child.stdin.write(`${JSON.stringify(this.#servers.map((server) => server.pid))}\n`);
  }

  async stop() {
    this.#child.stdin.end();
    await this.#ended;
  }

  /** away: [{ server, from, to }], when a server was itself killed or stopped; those times do not count. */
  judge(away) {
    const idle = this.#probes.filter((probe) => probe.server === this.#servers.length - 1);
    const withNoise = (probe) => {
      const others = idle.filter((one) => one.at <= probe.at + probe.ms && probe.at <= one.at + one.ms);
      const noise = Math.max(probe.noise, ...others.map((one) => one.ms));
      return { ...probe, noise, own: Math.max(0, probe.ms - noise) };
    };
    const counted = this.#probes.filter((probe) => probe.server !== this.#servers.length - 1 && !away.some((time) =>
      time.server === probe.server && probe.at <= time.to && probe.at + probe.ms >= time.from));
    return {
      count: counted.length,
      failed: counted.filter((probe) => probe.status !== 200 && probe.ms < PATIENCE_MS), // the others are slow
      slow: counted.filter((probe) => probe.ms > HEALTH_MS).map(withNoise),
      slowest: slowest(counted),
      slowestIdle: slowest(idle),
    };
  }
}
