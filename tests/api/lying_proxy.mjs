// Stands between a rehearsal and a real server and alters what the server says: a server with a mistake, made of one
// without.
import { createServer, request, Agent } from 'node:http';
import { atEnd } from './programs.mjs';

/**
 * `lie({ method, path, user, answer, ask })` gets every answer, { status, json }, and may give another one, or a promise of
 * one; nothing leaves it as it is. `ask(method, path, user)` speaks to the server behind the back of the client.
 */
export async function startLyingProxy(server, lie) {
  const agent = new Agent({ keepAlive: true });
  const forward = (method, path, headers, body) => new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port: server.port, agent, method, path, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part) => { text += part; });
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
    });
    call.on('error', reject);
    call.end(body);
  });

  const proxy = createServer(async (incoming, outgoing) => {
    let body = '';
    for await (const part of incoming) body += part;
    const { method, url: path } = incoming, user = incoming.headers['x-user-id'];
    const truth = await forward(method, path, incoming.headers, body);
    const ask = (anyMethod, anyPath, anyUser) => forward(anyMethod, anyPath, { 'X-User-Id': anyUser });
    let answer = { status: truth.status, json: truth.text ? JSON.parse(truth.text) : null };
    const told = await lie({ method, path, user, answer, ask });
    answer = told ?? answer;
    const text = answer.json === null ? '' : JSON.stringify(answer.json);
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
    if (truth.headers.etag) headers.ETag = truth.headers.etag;
    outgoing.writeHead(answer.status, headers).end(text);
  });
  await new Promise((resolve) => { proxy.listen(0, '127.0.0.1', resolve); });
  const close = () => new Promise((resolve) => {
    agent.destroy();
    proxy.close(resolve);
    proxy.closeAllConnections();
  });
  atEnd(close);
  return { url: `http://127.0.0.1:${proxy.address().port}`, close };
}
