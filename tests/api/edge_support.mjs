// For tests of the edge: nginx with Lua (deploy/openresty/run) before two servers on one PostgreSQL and one Redis, and
// clients with addresses of their own.
import { execFileSync, spawn } from 'node:child_process';
import http from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import { ROOT, eventually, startServer, temporaryFolder } from './support.mjs';

export const TOKEN = 'the-secret-of-edge-and-servers';
export const SEATS = 400;

const RUN = join(ROOT, 'deploy/openresty/run');
const PRIVATE_SERVER = join(ROOT, 'tests/support/private-server');

export const scratch = temporaryFolder();
export const postgresDir = join(scratch, 'postgres');
export const redisDir = join(scratch, 'redis');
let redisUrl, installation;

export function privateServer(...words) {
  const env = { ...process.env, PRIVATE_SERVER_FAST: '1' };
  return execFileSync(PRIVATE_SERVER, words, { encoding: 'utf8', env }).trim();
}

export function redis(...words) {
  return execFileSync('redis-cli', ['-u', redisUrl, ...words], { encoding: 'utf8' }).trim();
}

// Two servers that filter no duplicates themselves: every refused one was refused at the edge.
export async function startServers(more = {}) {
  const databaseUrl = privateServer('postgres', 'start', postgresDir);
  redisUrl = privateServer('redis', 'start', redisDir);
  const settings = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    THREADS: '1',
    FCFS_SEATS: `${SEATS}`,
    FCFS_DUP_POLICY: 'off',
    GATEWAY_TOKEN: TOKEN,
    TRUSTED_PROXIES: '127.0.0.1',
    ...more,
  };
  const servers = [await startServer(settings), await startServer(settings)];
  const sql = 'SELECT id FROM reservation_service.installation';
  installation = execFileSync('psql', ['-qAt', '-c', sql, databaseUrl], { encoding: 'utf8' }).trim();
  return servers;
}

// ---- Programs ---------------------------------------------------------------------------------------------

const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGTERM'); // nginx takes its workers along
});

export function start(program, words, env = {}) {
  const child = spawn(program, words, { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      child.output += text;
    });
  }
  child.ended = new Promise((resolve) => child.once('close', resolve)).finally(() => running.delete(child));
  return child;
}

export async function stop(child) {
  child.kill('SIGTERM');
  await child.ended;
}

export async function stopEverything() {
  await Promise.all([...running].map(stop));
  privateServer('resume', postgresDir);
  privateServer('stop', postgresDir);
  privateServer('stop', redisDir);
}

// Below the kernel's range for outgoing connections.
export function randomPort() {
  return 20000 + Math.floor(Math.random() * 12000);
}

// FCFS_DUP_TTL is long here: no lock goes by itself while a test looks at it. Most tests name users by the header, as a
// gateway in front of the edge would.
export function runEdge(port, settings) {
  return start(RUN, [], {
    EDGE_LISTEN: `127.0.0.1:${port}`,
    EDGE_PREFIX: join(scratch, `edge-${port}`),
    GATEWAY_TOKEN: TOKEN,
    REDIS_URL: redisUrl,
    EDGE_INSTALLATION: installation,
    FCFS_DUP_TTL: '30',
    EDGE_TRUST_USER_HEADER: '1',
    ...settings,
  });
}

export async function startEdge(servers, settings) {
  const addresses = servers.map((server) => server.url.replace('http://', '')).join(' ');
  for (let tries = 0; tries < 5; tries++) {
    const port = randomPort();
    const child = runEdge(port, { EDGE_SERVERS: addresses, ...settings });
    const isThere = () => answers({ port, path: '/edge/health' });
    await eventually('the edge answers', async () => child.exitCode !== null || (await isThere()));
    if (child.exitCode === null) return { child, port, log: join(scratch, `edge-${port}`, 'access.log') };
    if (!child.output.includes('Address already in use')) throw new Error(`the edge ended:\n${child.output}`);
  }
  throw new Error('no free port for the edge');
}

// ---- Clients ----------------------------------------------------------------------------------------------

// `from` is one of the loopback addresses: each is a client of its own to the edge.
export function ask({ port, tls, method = 'POST', path, user, from = '127.0.0.1', headers, body, signal }) {
  const options = { host: '127.0.0.1', port, method, path, localAddress: from, signal, agent: false };
  options.rejectUnauthorized = false; // the test's own certificate
  options.headers = { ...(user && { 'X-User-Id': user }), ...headers };
  return new Promise((resolve, reject) => {
    const request = (tls ? https : http).request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('error', reject);
      response.on('end', () => {
        const json = response.headers['content-type'] === 'application/json' ? JSON.parse(text) : undefined;
        resolve({ status: response.statusCode, headers: response.headers, text, json });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

// Whether somebody is there at all.
export const answers = (request) => ask({ method: 'GET', ...request }).then(() => true, () => false);

/** A name in Redis, as edge and servers have it. */
export const key = (name) => `tickettock:${installation}:${name}`;

export const locks = () => redis('keys', key('edge:dup:*')).split('\n').filter(Boolean);

// While PostgreSQL stands still, so does an attempt: look() sees it in flight.
export async function whileInFlight(attempt, look) {
  privateServer('pause', postgresDir);
  try {
    const answer = ask(attempt);
    answer.catch(() => {}); // for the caller to look at
    await eventually('the attempt has its locks', () => locks().length === 2);
    await look();
    return answer;
  } finally {
    privateServer('resume', postgresDir);
  }
}
