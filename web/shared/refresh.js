// Keeps a session alive. Its two tokens are in cookies that no script can read; all that a page remembers is that
// there is a session, so that visitors without one do not ask for a new token.
import { lasting } from '/static/shared/memory.js';
import { inTurn } from '/static/shared/turns.js';

const MARK_KEY = 'tickettock.session';
const REFRESH = '/api/v1/auth/refresh';
const TIMEOUT_MS = 10_000;

const ended = new EventTarget(); // storage tells other windows only

export const sessionMark = {
  isSet: () => lasting.get(MARK_KEY) !== null,
  set: () => lasting.set(MARK_KEY, String(Date.now())), // another one each time: other windows hear of changes only
  clear: () => lasting.remove(MARK_KEY),

  // Calls back when another window of this browser has signed in or out, or the server has ended the session.
  onChange(callback) {
    const listener = (event) => {
      if (event.key === MARK_KEY || event.key === null) callback();
    };
    window.addEventListener('storage', listener);
    ended.addEventListener('ended', callback);
    return () => {
      window.removeEventListener('storage', listener);
      ended.removeEventListener('ended', callback);
    };
  },
};

async function ask() {
  try {
    const { ok, status } = await fetch(REFRESH, { method: 'POST', cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (ok) return 'renewed';
    if (status !== 401) return 'unknown';
    sessionMark.clear();
    ended.dispatchEvent(new Event('ended'));
    return 'ended';
  } catch {
    return 'unknown';
  }
}

// A refresh token works once. Windows that ask at the same moment get the same answer, but one that comes later with the
// old token would end the session: so they take turns.
let underWay = null;

// Gets a new access token: 'renewed', 'ended', or 'unknown' when the server could not say. One attempt for all who
// ask meanwhile.
export function refreshSession() {
  underWay ??= inTurn(MARK_KEY, ask).finally(() => {
    underWay = null;
  });
  return underWay;
}
