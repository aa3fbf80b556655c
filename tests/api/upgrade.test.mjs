// A database that an earlier version left keeps its seats when the next version starts on it.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { openEmbedded, tally, users } from './box_office.mjs';

const FIRST = readFileSync(new URL('../../sql/reservation_service/sqlite/001_houses.sql', import.meta.url), 'utf8');
const [CLAIMS] = /CREATE TABLE claims [^;]*;/.exec(FIRST), [INDEX] = /CREATE UNIQUE INDEX claims_user [^;]*;/.exec(FIRST);

/** As before 003, where house and seat became one number, and without what came after it. */
const BEFORE_PLACES = `BEGIN; DROP INDEX claims_user; ALTER TABLE claims RENAME TO later; ${CLAIMS} ${INDEX}
  INSERT INTO claims SELECT house_id, seat_id, user_id, user_name, phone, claimed_at, sequence FROM later;
  DROP TABLE later; DROP TABLE installation; DROP TABLE key_checks; DROP INDEX reservation_history_house; DELETE FROM schema_migrations WHERE number >= 3; COMMIT;`;

test('claims of two houses, from before they had places', async () => {
  const office = await openEmbedded();
  await office.reset(9);
  assert.deepEqual(tally(await Promise.all(users(6).map((user) => office.claim(user)))), { claimed: 6 });
  assert.equal((await office.giveBack('user-2')).status, 200);
  await office.close();

  await office.execute(BEFORE_PLACES);
  await office.execute(`INSERT INTO houses (schedule, title, title_ko, venue, venue_ko, seats) VALUES ('other', '', '', '', '', 5);
    INSERT INTO claims SELECT id, 2, 'user-1', NULL, NULL, 0, 0 FROM houses WHERE schedule = 'other'`);
  const layout = () => office.rows("SELECT name FROM pragma_table_xinfo('claims')");
  assert.ok(!(await layout()).some(({ name }) => name === 'place'));

  await office.addServer();
  assert.ok((await layout()).some(({ name }) => name === 'place'));
  assert.deepEqual(await office.rows("SELECT seat_id, user_id FROM claims WHERE house_id <> (SELECT id FROM houses WHERE schedule = 'demo')"),
    [{ seat_id: 2, user_id: 'user-1' }]);
  assert.deepEqual(await office.audit().then(({ sold, free }) => [sold, free]), [5, 4]);
  assert.equal((await office.claim('user-1')).json.reason, 'already_reserved');
  await office.sellTheRest();
});
