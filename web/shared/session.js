// Who is signed in.
import { useEffect, useRef, useState } from 'preact/hooks';
import { call, callPatiently, pause } from '/static/shared/api.js';
import { sessionMark } from '/static/shared/refresh.js';

const ME = '/api/v1/auth/me';
const AGAIN_MS = 3000;

// Never gives up on a session that there is; a visitor without one does not wait for the answer of a busy server.
async function askWho() {
  for (;;) {
    try {
      return (await (sessionMark.isSet() ? callPatiently(ME) : call(ME))).user;
    } catch (refused) {
      if (!refused.passing || !sessionMark.isSet()) return null;
      await pause(AGAIN_MS);
    }
  }
}

// {user: undefined while not known, null for nobody; update(user), signOut()}
export function useSession() {
  const [user, setUser] = useState(undefined);
  const asked = useRef(0);
  const update = (found) => {
    asked.current++; // what is still being asked is old now
    setUser(found);
  };
  const ask = async () => {
    const turn = ++asked.current;
    const found = await askWho();
    if (turn !== asked.current) return;
    if (found && !sessionMark.isSet()) sessionMark.set();
    setUser(found);
  };
  useEffect(() => {
    ask();
    return sessionMark.onChange(ask);
  }, []);
  const signOut = async () => {
    try {
      await call('/api/v1/auth/logout', { method: 'POST' });
    } catch (refused) {
      if (refused.status !== 401) throw refused;
    }
    sessionMark.clear();
    update(null);
  };
  return { user, update, signOut };
}

// Gives the user.
export async function signIn(email, password) {
  const { user } = await call('/api/v1/auth/login', { method: 'POST', body: { email, password } });
  sessionMark.set();
  return user;
}
