// Who this browser is for as long as nobody has signed in: the guest of a cookie that the server has signed and that no
// script can read; and what the browser remembers: the guest's id, and the seat that it last knew to be its own.
import { useEffect, useState } from 'preact/hooks';
import { call, callPatiently } from '/static/shared/api.js';
import { lasting } from '/static/shared/memory.js';
import { inTurn } from '/static/shared/turns.js';

const GUEST = '/api/v1/auth/guest';
const GUEST_KEY = 'tickettock.guest';
const SEAT_KEY = 'tickettock.seat';

export const rememberedGuest = () => lasting.get(GUEST_KEY);

// For whom this page reserves: whoever is signed in, else this browser's guest. null while not known.
// {id: null for a guest whom the server has not let in yet, becomeGuest(onWait) of guests only}
export function useBuyer(user) {
  const [guest, setGuest] = useState(rememberedGuest);
  const [asked, setAsked] = useState(false);

  // Of windows that open together the second is given the first one's guest, not another. Keeps who is one already.
  const become = (callGuest) => inTurn(GUEST_KEY, async () => {
    const { id } = (await callGuest(GUEST, { method: 'POST' })).guest;
    lasting.set(GUEST_KEY, id);
    setGuest(id);
  });

  const isGuest = user === null;
  useEffect(() => {
    if (!isGuest) return;
    // If this fails, reserving tries again, and tells why not.
    become(call).catch(() => {}).then(() => setAsked(true));
  }, [isGuest]);

  if (user) return { id: user.id };
  if (!isGuest || (!guest && !asked)) return null;
  return { id: guest, becomeGuest: (onWait) => become((path, options) => callPatiently(path, options, onWait)) };
}

// {id, name, sequence, owner} or null. Shown at once after a reload; the server has the last word.
export function rememberedSeat() {
  try {
    const seat = JSON.parse(lasting.get(SEAT_KEY));
    return Number.isInteger(seat?.id) && typeof seat.name === 'string' ? seat : null;
  } catch {
    return null;
  }
}

export function rememberSeat(seat) {
  if (seat) lasting.set(SEAT_KEY, JSON.stringify(seat));
  else lasting.remove(SEAT_KEY);
}

// Calls back when another window of this browser has reserved or given back.
export function onSeatOfOtherWindow(callback) {
  const listener = (event) => {
    if (event.key === SEAT_KEY || event.key === null) callback(rememberedSeat());
  };
  window.addEventListener('storage', listener);
  return () => window.removeEventListener('storage', listener);
}
