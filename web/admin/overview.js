// Asks the server for its figures once a second and turns its totals into rates.
import { useEffect, useState } from 'preact/hooks';
import { call } from '/static/shared/api.js';

const EVERY_MS = 1000;
const REMEMBERED = 60; // rates, one per poll

export const OUTCOMES = [
  'claimed', 'released', 'released_by_operator', 'sold_out', 'already_reserved', 'seat_taken', 'not_reserved', 'duplicate', 'contention', 'failed',
];

// The page is for others, or there is none; anything else passes.
export const isShut = ({ status }) => [401, 403, 404].includes(status);

// token: null for an admin who is signed in. An operator's route does not tell whose session has expired from
// anybody else; asking who is signed in renews it.
export async function callAsOperator(token, path, options = {}) {
  if (token) return call(path, { ...options, headers: { 'X-Admin-Token': token } });
  try {
    return await call(path, options);
  } catch (refused) {
    if (!isShut(refused)) throw refused;
    await call('/api/v1/auth/me');
    return call(path, options);
  }
}

export const fetchOverview = (token) => callAsOperator(token, '/api/v1/admin/overview');

// What happened between two polls, per second, by outcome. A server that restarted counts from zero again.
export function ratesBetween(before, after) {
  const seconds = (after.at - before.at) / 1000;
  return Object.fromEntries(OUTCOMES.map((outcome) => {
    const more = (after.attempts[outcome] ?? 0) - (before.attempts[outcome] ?? 0);
    return [outcome, more > 0 && seconds > 0 ? more / seconds : 0];
  }));
}


// {overview, rates: newest last, lost}. onRefused(error) when the token is no longer good.
export function useOverview(token, first, onRefused) {
  const [state, setState] = useState({ overview: first, rates: [], lost: false });
  useEffect(() => {
    let timer;
    let ended = false;
    let before = { at: performance.now(), attempts: first.attempts };
    const poll = async () => {
      // Nobody looks at a hidden page: leave the server alone.
      if (!document.hidden) await ask();
      if (!ended) timer = setTimeout(poll, EVERY_MS);
    };
    const ask = async () => {
      try {
        const overview = await fetchOverview(token);
        if (ended) return;
        const now = { at: performance.now(), attempts: overview.attempts };
        const rates = ratesBetween(before, now);
        before = now;
        setState((old) => ({ overview, rates: [...old.rates, rates].slice(-REMEMBERED), lost: false }));
      } catch (refused) {
        if (ended) return;
        if (isShut(refused)) onRefused(refused);
        else setState((old) => ({ ...old, lost: true }));
      }
    };
    timer = setTimeout(poll, EVERY_MS);
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [token]);
  return state;
}
