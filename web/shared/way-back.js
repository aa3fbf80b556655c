// Where to go after signing in: back to the page one came from, if it is one of ours.

const DOORS = ['/signin', '/signup'];

// The address may have been made by anybody: only pages of this server count. A whole address comes back, since a
// path may begin with two slashes and then mean another server.
export function wayBack() {
  const wanted = new URLSearchParams(location.search).get('next') ?? '/';
  try {
    const place = new URL(wanted, location.origin);
    if (place.origin === location.origin && wanted.startsWith('/') && !DOORS.includes(place.pathname)) return place.href;
  } catch {
    // Not an address at all.
  }
  return new URL('/', location.origin).href;
}

// The address of a door that leads back to this page.
export function doorFromHere(door) {
  const here = location.pathname + location.search;
  return here === '/' ? door : `${door}?next=${encodeURIComponent(here)}`;
}

// The address of the other door, which leads to the same place.
export const otherDoor = (door) => door + location.search;
