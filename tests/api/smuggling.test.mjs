// The malformed requests once more, through nginx as it is usually set up, with one connection to the server that all
// clients share: whatever nginx makes of them, another client's answer is always the answer to its own request.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { answers, ask, randomPort, start, stop } from './edge_support.mjs';
import { CASES, CLAIM } from './malformed_cases.mjs';
import { eventually, startServer, temporaryFolder } from './support.mjs';

const QUIET_MS = 40; // the attacker's patience with a connection that says nothing more

const configuration = (port, upstream) => `
daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr crit;
events {}
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  client_header_timeout 2s;
  client_body_timeout 2s;
  proxy_read_timeout 5s;
  upstream tickettock {
    server ${upstream};
    keepalive 1;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://tickettock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_request_buffering off;
    }
  }
}
`;

let server, nginx, port;

async function startNginx() {
  for (let tries = 0; tries < 5; tries++) {
    port = randomPort();
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'logs'));
    writeFileSync(join(folder, 'nginx.conf'), configuration(port, new URL(server.url).host));
    nginx = start('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr']);
    const isThere = () => answers({ port, path: '/healthz' });
    await eventually('nginx answers', async () => nginx.exitCode !== null || (await isThere()));
    if (nginx.exitCode === null) return;
    if (!nginx.output.includes('Address already in use')) throw new Error(`nginx ended:\n${nginx.output}`);
  }
  throw new Error('no free port for nginx');
}

before(async () => {
  server = await startServer({ BODY_TIMEOUT_MS: '1000' });
  await startNginx();
});
after(async () => {
  await stop(nginx);
  await server.stop();
});

// Sends it all and reads until nginx ends the connection or is quiet.
function attack(bytes) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    socket.setTimeout(QUIET_MS, () => socket.destroy());
    socket.on('error', () => {});
    socket.on('close', resolve).resume();
  });
}

// The server takes the trace over from the request, so an answer tells whose it is.
async function assertHonestIsServed(name) {
  const trace = randomBytes(16).toString('hex');
  const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` };
  const answer = await ask({ port, method: 'GET', path: '/healthz', headers });
  assert.equal(answer.headers['x-trace-id'], trace, `after: ${name}`);
  assert.equal(answer.status, 200, `after: ${name}`);
}

const GOOD = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
const HIDDEN = `POST ${CLAIM} HTTP/1.1\r\nHost: localhost\r\nX-User-Id: smuggler\r\nContent-Length: 2\r\n\r\n{}`;
const post = (framing, body) => `POST ${CLAIM} HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n${body}`;

// Nothing is wrong with these, but their bodies look like requests.
const CARRIERS = [
  ['a request as a body', 400, post(`Content-Length: ${HIDDEN.length}`, HIDDEN)],
  ['a request as a chunk', 400,
    post('Transfer-Encoding: chunked', `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`)],
];

test('an answer always belongs to its own request', async () => {
  for (const [name, , bytes] of [...CASES, ...CARRIERS]) {
    for (const attempt of [bytes + HIDDEN, GOOD + bytes + HIDDEN]) {
      await Promise.all([attack(attempt), assertHonestIsServed(name)]);
      await assertHonestIsServed(name);
      await assertHonestIsServed(name);
    }
  }
});
