// Who this browser is for as long as nobody has signed in, a random number that stays in the browser, and the seat
// that it last knew to be its own.
import { lasting } from '/static/shared/memory.js';
import { randomUuid } from '/static/shared/random.js';

const USER_KEY = 'tickettock.user';
const SEAT_KEY = 'tickettock.seat';

export function visitorId() {
  let id = lasting.get(USER_KEY);
  if (!id) {
    id = randomUuid();
    lasting.set(USER_KEY, id);
  }
  return id;
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
