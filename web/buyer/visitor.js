// Who this browser is, and the seat it last knew to be its own. Until there are accounts a visitor is a random
// number that stays in the browser.
import { lasting } from '/static/shared/memory.js';

const USER_KEY = 'tickettock.user';
const SEAT_KEY = 'tickettock.seat';

// crypto.randomUUID exists only on https and localhost; a page may also be opened by address in a local network.
function randomUuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export function visitorId() {
  let id = lasting.get(USER_KEY);
  if (!id) {
    id = randomUuid();
    lasting.set(USER_KEY, id);
  }
  return id;
}

// {id, name, sequence} or null. Shown at once after a reload; the server has the last word.
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
