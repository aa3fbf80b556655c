// The house as this browser knows it: which seats are taken. Follows the server's snapshots and changes.
// Made for a million seats: a byte per seat, and a stamp per row that says when a row must be drawn again.

// A, B … Z, AA, AB …
export function rowName(row) {
  let name = '';
  for (let rest = row + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  }
  return name;
}

export class House {
  known = false; // becomes true with the first snapshot
  total = 0;
  remaining = 0;
  rowLength = 1;
  rows = 0;
  plan = 0; // counts the shapes that the house has had
  changes = 0; // counts what was told about it
  #taken = new Uint8Array(1); // by seat number, which starts at 1
  #rowStamps = new Uint32Array(0);

  isTaken(id) {
    return this.#taken[id] === 1;
  }

  rowStamp(row) {
    return this.#rowStamps[row];
  }

  rowOf(id) {
    return Math.floor((id - 1) / this.rowLength);
  }

  label(id) {
    return `${rowName(this.rowOf(id))}-${((id - 1) % this.rowLength) + 1}`;
  }

  firstOf(row) {
    return row * this.rowLength + 1;
  }

  lastOf(row) {
    return Math.min(this.total, (row + 1) * this.rowLength);
  }

  applySnapshot({ total, remainingSeats, rowLength, taken }) {
    if (!this.known || total !== this.total || rowLength !== this.rowLength) this.#build(total, rowLength);
    this.known = true;
    const before = this.#taken;
    this.#taken = new Uint8Array(total + 1);
    for (const id of taken) this.#taken[id] = 1;
    for (let id = 1; id <= total; id++) {
      if (before[id] !== this.#taken[id]) this.#rowStamps[this.rowOf(id)]++;
    }
    this.remaining = remainingSeats;
    this.changes++;
  }

  #build(total, rowLength) {
    this.total = total;
    this.rowLength = Math.max(1, rowLength);
    this.rows = Math.ceil(total / this.rowLength);
    this.plan++;
    this.#taken = new Uint8Array(total + 1);
    this.#rowStamps = new Uint32Array(this.rows);
  }

  applyChanges({ remainingSeats, seats }) {
    for (const { id, status } of seats) {
      if (id < 1 || id > this.total || this.isTaken(id) === status) continue;
      this.#taken[id] = status ? 1 : 0;
      this.#rowStamps[this.rowOf(id)]++;
    }
    this.remaining = remainingSeats;
    this.changes++;
  }

  freeIn(first, last) {
    let free = 0;
    for (let id = first; id <= last; id++) free += 1 - this.#taken[id];
    return free;
  }
}
