// A folder on a small disk of its own, that can be filled and emptied. Gone when the test ends.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { killEverything } from '../api/programs.mjs';
import { temporaryFolder } from '../api/support.mjs';

/** null where it may not be made: only root may mount, and not in every container. */
export function mountSmallDisk(megabytes) {
  const folder = temporaryFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch {
    return null;
  }
  return new SmallDisk(folder);
}

class SmallDisk {
  #ballast;

  constructor(folder) {
    this.folder = folder;
    this.#ballast = join(folder, 'ballast');
    // Also when somebody stops the test; and before the folder is removed.
    process.prependListener('exit', () => {
      killEverything();
      execFileSync('umount', ['-l', folder]);
    });
  }

  fill() {
    const { bavail, bsize } = statfsSync(this.folder);
    const most = Math.floor(bavail * 0.9) * bsize; // others write meanwhile
    if (most > 0) execFileSync('fallocate', ['-l', `${most}`, this.#ballast]); // at once; then to the last byte
    const file = openSync(this.#ballast, 'a');
    for (let size = 1 << 20; size >= 512; ) {
      try {
        writeSync(file, Buffer.alloc(size));
      } catch (error) {
        assert.equal(error.code, 'ENOSPC');
        size >>= 1;
      }
    }
    closeSync(file);
  }

  empty() {
    rmSync(this.#ballast, { force: true });
  }
}
