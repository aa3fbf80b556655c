// Calls to the server. Whatever goes wrong becomes one kind of error, Refused, with the server's reason code.
import { refreshSession, sessionMark } from '/static/shared/refresh.js';

const TIMEOUT_MS = 10_000;
const ATTEMPTS = 5;
const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 8_000;

export class Refused extends Error {
  constructor(status, reason, body = {}, retryAfterMs = 0) {
    super(body.message ?? reason);
    this.status = status; // 0 when the server was not reached
    this.reason = reason;
    this.body = body;
    this.retryAfterMs = retryAfterMs;
  }

  // Worth trying again as it is: nothing is wrong with the request itself.
  get passing() {
    return this.status === 0 || this.status === 429 || this.status >= 502;
  }

  // The field a 400 is about; the message begins with its name.
  get field() {
    return this.reason === 'validation' ? (this.body.field ?? /^[\w.[\]]+/.exec(this.message)?.[0]) : undefined;
  }
}

async function callOnce(path, { method = 'GET', headers = {}, body } = {}) {
  let response;
  let answer = {};
  try {
    response = await fetch(path, {
      method,
      headers: body === undefined ? headers : { ...headers, 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status !== 204) answer = await response.json();
  } catch (error) {
    if (!response) throw new Refused(0, 'unreachable');
    if (response.ok) throw new Refused(error instanceof SyntaxError ? 502 : 0, 'unreachable');
  }
  if (response.ok) return answer;
  const seconds = Number(response.headers.get('Retry-After'));
  throw new Refused(response.status, answer.reason ?? 'unknown', answer, seconds > 0 ? seconds * 1000 : 0);
}

// How a server says that it does not know the caller; where a guest may call too, it asks for the guest's name.
const isStranger = (refused) => refused.reason === 'unauthorized' || refused.reason === 'missing_user';

// Somebody who signed in is a stranger again when the access token has expired: then a new one is fetched, once.
export async function call(path, options) {
  try {
    return await callOnce(path, options);
  } catch (refused) {
    if (!isStranger(refused) || !sessionMark.isSet()) throw refused;
    const session = await refreshSession();
    if (session === 'ended') throw refused;
    if (session === 'unknown') throw new Refused(0, 'unreachable');
    return callOnce(path, options);
  }
}

// Between none and all of the step (“full jitter”), so that many browsers do not come back at the same moment.
export function backOff(attempt) {
  const step = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt);
  return FIRST_WAIT_MS / 2 + Math.random() * step;
}

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// Tries again while the server is busy or out of reach; tells onWait(attempt, attempts) before each wait.
export async function callPatiently(path, options, onWait = () => {}) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(path, options);
    } catch (refused) {
      if (!refused.passing || attempt === ATTEMPTS) throw refused;
      onWait(attempt, ATTEMPTS);
      await pause(refused.retryAfterMs ? refused.retryAfterMs * (1 + Math.random() / 2) : backOff(attempt));
    }
  }
}
