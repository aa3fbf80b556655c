// A client that writes bytes and reads answers one by one, for tests of the protocol itself: a library would tidy up
// what they are about.
import net from 'node:net';

export const CRLF = '\r\n';

/** A request's bytes. Headers are an object; Host is added. */
export function request(method, path, headers = {}, body = '') {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}${CRLF}`);
  return `${method} ${path} HTTP/1.1${CRLF}${lines.join('')}${CRLF}${body}`;
}

export function get(path, headers) {
  return request('GET', path, headers);
}

export function post(path, body, headers) {
  return request('POST', path, { 'Content-Length': Buffer.byteLength(body), ...headers }, body);
}

/** Transfer-Encoding: chunked, one chunk per part. */
export function postChunked(path, parts, headers) {
  const chunks = parts.map((part) => `${Buffer.byteLength(part).toString(16)}${CRLF}${part}${CRLF}`);
  return request('POST', path, { 'Transfer-Encoding': 'chunked', ...headers }, `${chunks.join('')}0${CRLF}${CRLF}`);
}

function parseHead(text) {
  const [line, ...lines] = text.split(CRLF);
  if (!/^HTTP\/1\.1 \d{3} /.test(line)) throw new Error(`no answer begins like this: ${line.slice(0, 200)}`);
  const headers = {};
  for (const one of lines) {
    const [, name, value] = /^([^:]+): ?(.*)$/.exec(one);
    headers[name.toLowerCase()] = name.toLowerCase() in headers ? `${headers[name.toLowerCase()]}, ${value}` : value;
  }
  return { line, status: Number(line.split(' ')[1]), headers };
}

export class Wire {
  #socket;
  #arrived = Buffer.alloc(0);
  #ended = false;
  #wake = () => {};

  /** from: the client's own address on the loopback. */
  static async open(server, { from = '127.0.0.1', port = server.port } = {}) {
    const wire = new Wire();
    wire.#socket = net.connect({ host: '127.0.0.1', port, localAddress: from, allowHalfOpen: true });
    const end = () => {
      wire.#ended = true;
      wire.#wake();
    };
    wire.#socket.setNoDelay();
    wire.#socket.on('data', (bytes) => {
      wire.#arrived = Buffer.concat([wire.#arrived, bytes]);
      wire.#wake();
    });
    wire.#socket.on('end', end).on('close', end);
    await new Promise((resolve, reject) => wire.#socket.on('connect', resolve).on('error', reject));
    return wire;
  }

  send(text) {
    this.#socket.write(text, 'latin1');
    return this;
  }

  /** Nothing more will be sent; answers are still read. */
  finish() {
    this.#socket.end();
    return this;
  }

  /** Takes nothing from the socket any more. */
  stopReading() {
    this.#socket.pause();
    return this;
  }

  readOn() {
    this.#socket.resume();
    return this;
  }

  close() {
    this.#socket.destroy();
  }

  async #until(check, what, seconds) {
    const deadline = Date.now() + seconds * 1000;
    for (let result; !(result = check()); ) {
      const fail = (why) => { throw new Error(`${what}: ${why}; arrived: ${this.#arrived.subarray(0, 500)}`); };
      const left = deadline - Date.now();
      if (this.#ended) fail('the connection has ended');
      if (left <= 0) fail(`not within ${seconds} s`);
      let timer;
      await new Promise((resolve) => {
        this.#wake = resolve;
        timer = setTimeout(resolve, left);
      });
      clearTimeout(timer);
    }
  }

  #take(length) {
    const taken = this.#arrived.subarray(0, length);
    this.#arrived = this.#arrived.subarray(length);
    return taken;
  }

  /** The next answer: { line, status, headers, body, bytes, json }. `bodiless`: it answers a HEAD, or opens a stream. */
  async answer({ bodiless = false, seconds = 15 } = {}) {
    await this.#until(() => this.#arrived.includes(CRLF + CRLF), 'an answer', seconds);
    const head = parseHead(this.#take(this.#arrived.indexOf(CRLF + CRLF) + 4).toString('latin1').slice(0, -4));
    const none = bodiless || head.status < 200 || head.status === 204 || head.status === 304;
    const length = none ? 0 : Number(head.headers['content-length']);
    if (Number.isNaN(length)) throw new Error(`an answer without a length: ${JSON.stringify(head)}`);
    await this.#until(() => this.#arrived.length >= length, 'the rest of an answer', seconds);
    const bytes = this.#take(length);
    const body = bytes.toString();
    return { ...head, bytes, body, get json() { return JSON.parse(body); } };
  }

  /** How many bytes have come that no answer has taken. */
  get waiting() {
    return this.#arrived.length;
  }

  get hasEnded() {
    return this.#ended;
  }

  /** Waits until the server ends the connection; gives what else it had sent. */
  async ended(seconds = 15) {
    await this.#until(() => this.#ended, 'the end of the connection', seconds);
    return this.#take(this.#arrived.length).toString();
  }
}

/** One exchange over a connection of its own. */
export async function exchange(server, bytes, { from, ...options } = {}) {
  const wire = await Wire.open(server, { from });
  try {
    return await wire.send(bytes).answer(options);
  } finally {
    wire.close();
  }
}
