// Opens personal data as it stands in the database, written anew from its description (src/pii/pii.h), so that a mistake
// in the server's cipher is not made here again.
import assert from 'node:assert/strict';
import { createDecipheriv } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The keys of a server by number: those it was given, or the one it made. */
export function keysOf({ PII_KEYS, DATA_DIR }) {
  const file = join(DATA_DIR ?? '', 'pii.key');
  const text = PII_KEYS ?? (existsSync(file) ? `1:${readFileSync(file, 'utf8').trim()}` : '');
  return new Map(text.split(',').map((key) => {
    const [, id, base64] = /^(\d+):(.*)$/.exec(key);
    return [id, Buffer.from(base64, 'base64')];
  }));
}

/** Throws when it was not sealed with one of the keys for this place. */
export function openSealed(keys, table, column, row, sealed) {
  if (sealed === null || sealed === '') return sealed;
  const parts = /^\$(\d+)\$([A-Za-z0-9_-]+)$/.exec(sealed);
  assert.ok(parts, `${table}.${column} is sealed`);
  const bytes = Buffer.from(parts[2], 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', keys.get(parts[1]), bytes.subarray(0, 12));
  decipher.setAAD(Buffer.from(`${table}\0${column}\0${row}`));
  decipher.setAuthTag(bytes.subarray(-16));
  return decipher.update(bytes.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8');
}

/** Who has a seat, seat by seat: [user, name, phone]. */
export async function buyers(office) {
  const keys = keysOf(office.servers[0].settings);
  const claims = await office.rows('SELECT house_id, user_id, user_name, phone FROM claims ORDER BY seat_id');
  return claims.map(({ house_id: house, user_id: user, ...rest }) => [
    user,
    ...['user_name', 'phone'].map((column) => openSealed(keys, 'claims', column, `${house}/${user}`, rest[column])),
  ]);
}
