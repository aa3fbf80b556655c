// A client that counts milliseconds, holds thousands of connections and reads Server-Sent Events.
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export { sleep };

const agent = new http.Agent({ keepAlive: true });

/** Connections to a server that were kept open are closed: of no use when it has gone, and in its way when it stops. */
export function forgetConnections(server) {
  const name = agent.getName({ host: '127.0.0.1', port: server.port });
  for (const sockets of [agent.freeSockets[name], agent.sockets[name]])
    for (const socket of [...(sockets ?? [])]) socket.destroy();
}

/** One request: { status, headers, text, json, milliseconds }. Rejects when no answer came. */
export function ask(server, { method = 'GET', path, headers = {}, body, signal }) {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: server.port, method, path, headers, signal, agent };
    const request = http.request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode,
          headers: response.headers,
          text,
          milliseconds: performance.now() - began,
          get json() {
            return JSON.parse(text);
          },
        }),
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}

function parseEvent(block) {
  const event = {};
  for (const line of block.split('\n')) {
    const [, name, value] = /^([a-z]*):\s?(.*)$/.exec(line) ?? [];
    event[name || 'comment'] = name === 'data' ? JSON.parse(value) : value;
  }
  return event;
}

/** The events of a stream, in order. */
export class EventStream {
  #events = [];
  #wake = () => {};
  #closed = false;
  #request;

  constructor(server, { path = '/api/v1/seats/stream', headers = {} } = {}) {
    const close = () => {
      this.#closed = true;
      this.#wake();
    };
    this.#request = http.request({ host: '127.0.0.1', port: server.port, path, headers, agent: false }, (response) => {
      let text = '';
      this.status = response.statusCode;
      this.headers = response.headers;
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
        for (let at; (at = text.indexOf('\n\n')) >= 0; text = text.slice(at + 2)) {
          const event = parseEvent(text.slice(0, at));
          if (event.retry) this.retry = Number(event.retry); // not an event, but how long to wait before coming back
          else this.#events.push(event);
        }
        this.#wake();
      });
      response.on('close', close).on('error', close);
    });
    this.#request.on('error', close);
    this.#request.end();
  }

  /** The next one: { event, id, data, comment }; null when the stream has ended. */
  async next(seconds = 10) {
    for (const deadline = Date.now() + seconds * 1000; ; ) {
      if (this.#events.length) return this.#events.shift();
      if (this.#closed) return null;
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`no event within ${seconds} s`);
      await Promise.race([
        sleep(left, undefined, { ref: false }),
        new Promise((resolve) => {
          this.#wake = resolve;
        }),
      ]);
    }
  }

  close() {
    this.#request.destroy();
  }
}
