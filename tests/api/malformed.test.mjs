// Malformed and smuggled requests over raw sockets. Each is answered with its error, the connection ends, and the
// claim that stands behind it in the same bytes is never carried out.
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import net from 'node:net';
import { CASES, CLAIM } from './malformed_cases.mjs';
import { startServer } from './support.mjs';

const PATIENCE_MS = 10_000;
const GOOD = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';

let server, hasty;
before(async () => {
  server = await startServer();
  hasty = await startServer({ HEADER_TIMEOUT_MS: '700', BODY_TIMEOUT_MS: '700' });
});
after(() => Promise.all([server.stop(), hasty.stop()]));

const smuggled = (user) => `POST ${CLAIM} HTTP/1.1\r\nHost: localhost\r\nX-User-Id: ${user}\r\nContent-Length: 2\r\n\r\n{}`;

// Sends the parts one after the other and gives all that came until the server ended the connection.
function talk(parts, to = server) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(new URL(to.url).port, '127.0.0.1');
    let text = '';
    socket.setNoDelay();
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error(`not ended after: ${text}`)));
    socket.setEncoding('latin1').on('data', (part) => {
      text += part;
    });
    socket.on('error', reject);
    socket.on('close', (failed) => failed || resolve(text));
    const send = (rest) => rest.length && socket.write(rest[0], 'latin1', () => setImmediate(send, rest.slice(1)));
    socket.on('connect', () => send(parts.filter((part) => part.length)));
  });
}

// Answers one behind the other, each as long as it says.
function readAnswers(text) {
  const answers = [];
  while (text) {
    const end = text.indexOf('\r\n\r\n') + 4;
    const head = text.slice(0, end);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    const length = Number(/\r\nContent-Length: (\d+)\r\n/.exec(head)?.[1]);
    assert.ok(end > 4 && status && length >= 0, `no answer: ${JSON.stringify(text)}`);
    answers.push({ status, closes: /\r\nConnection: close\r\n/.test(head), body: text.slice(end, end + length) });
    assert.equal(answers.at(-1).body.length, length);
    text = text.slice(end + length);
  }
  return answers;
}

function assertRefused(answer, status) {
  assert.equal(answer.status, status);
  assert.ok(answer.closes);
  const { success, reason, message, traceId } = JSON.parse(answer.body);
  assert.equal(success, false);
  assert.ok(reason && message);
  assert.match(traceId, /^[0-9a-f]{32}$/);
}

describe('each malformed request is refused, and what follows is not read', { concurrency: 8 }, () => {
  for (const [index, [name, status, bytes]] of CASES.entries()) {
    test(name, async () => {
      const hidden = smuggled(`smuggler-${index}`);
      const cut = 1 + Math.floor(Math.random() * (bytes.length - 1));
      const ways = [[bytes + hidden], [bytes, hidden], [bytes.slice(0, cut), bytes.slice(cut) + hidden]];
      if (bytes.length < 200) ways.push([...bytes, hidden]); // byte by byte
      for (const way of ways) {
        const answers = readAnswers(await talk(way));
        assert.equal(answers.length, 1);
        assertRefused(answers[0], status);
      }
      const behind = readAnswers(await talk([GOOD + GOOD + bytes + hidden]));
      assert.deepEqual(behind.slice(0, -1).map((answer) => answer.status), [200, 200]);
      assertRefused(behind.at(-1), status);
    });
  }
});

async function seatOf(user) {
  const { status, body } = await server.call('GET', '/api/v1/seats/reservation', { user });
  assert.equal(status, 200);
  return body.seat_id;
}

test('no smuggled claim was carried out', async () => {
  for (const index of CASES.keys()) assert.equal(await seatOf(`smuggler-${index}`), null);
});

// The same claim is carried out where it is not hidden: the test above can fail.
test('an open claim behind a good request is carried out', async () => {
  const answers = readAnswers(await talk([`${GOOD}${smuggled('open')}GET /healthz HTTP/1.0\r\n\r\n`]));
  assert.deepEqual(answers.map((answer) => answer.status), [200, 200, 200]);
  assert.notEqual(await seatOf('open'), null);
});

describe('requests that do not come to an end', { concurrency: 8 }, () => {
  const slow = {
    'a head that stops': GOOD.slice(0, 20),
    'a head that stops behind a good request': GOOD + GOOD.slice(0, 20),
    'a body that stops': `POST ${CLAIM} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc`,
    'chunks that stop': `POST ${CLAIM} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc`,
    'a size that stops': `POST ${CLAIM} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5`,
  };
  for (const [name, bytes] of Object.entries(slow)) {
    test(name, async () => assertRefused(readAnswers(await talk([bytes], hasty)).at(-1), 408));
  }
  test('a head that drips', async () => {
    const began = Date.now();
    const socket = net.connect(new URL(hasty.url).port, '127.0.0.1');
    const drip = setInterval(() => socket.write('X'), 50);
    socket.on('error', () => {});
    await new Promise((resolve) => socket.on('close', resolve).resume());
    clearInterval(drip);
    assert.ok(Date.now() - began < 5000);
  });
});
