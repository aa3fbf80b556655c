// A wall clock for servers that a test can set while they run: libfaketime reads its offset from a file. The clock that
// measures durations is left alone, as when an operator, or NTP, sets the time.
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { arch } from 'node:process';
import { temporaryFolder } from '../api/support.mjs';

const triplet = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' }[arch];
const LIBRARY = `/usr/lib/${triplet}/faketime/libfaketimeMT.so.1`;
/** Servers read the file this often at most. */
export const CLOCK_NOTICED_MS = 1000;

export class MovingClock {
  #file = join(temporaryFolder(), 'clock');

  constructor() {
    if (!existsSync(LIBRARY)) throw new Error(`${LIBRARY} is missing (Debian: apt-get install libfaketime)`);
    this.set(0);
  }

  /** What a server needs in its environment to live by this clock. */
  get settings() {
    return {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_CACHE_DURATION: `${CLOCK_NOTICED_MS / 1000}`,
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** Seconds ahead of the real one. */
  set(seconds) {
    writeFileSync(`${this.#file}.new`, `${seconds < 0 ? '' : '+'}${seconds}\n`);
    renameSync(`${this.#file}.new`, this.#file); // never half a number
  }
}
