// A database that an earlier version left keeps its seats when the next version starts on it.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { copyFileSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { openEmbedded, tally, users } from './box_office.mjs';
import { start } from './programs.mjs';
import { TICKETTOCK, temporaryFolder } from './support.mjs';

const FOLDER = new URL('../../sql/reservation_service/sqlite/', import.meta.url);
/** The migrations with a number below this one, in their order. */
const migrationsBefore = (number) => readdirSync(FOLDER).sort().filter((name) => parseInt(name, 10) < number)
  .map((name) => readFileSync(new URL(name, FOLDER), 'utf8'));

/** The database as it was before that migration, with what it holds now: made anew by the earlier ones, and filled. */
async function goBackBefore(office, number) {
  const [{ sql }] = await office.rows("SELECT sql FROM sqlite_master WHERE name = 'schema_migrations'");
  renameSync(office.file, `${office.file}.later`);
  await office.execute(`BEGIN;\n${migrationsBefore(number).join('\n')}\n${sql}; COMMIT;`);
  for (const { name } of await office.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")) {
    const columns = (await office.rows(`SELECT name FROM pragma_table_info('${name}')`)).map((column) => column.name).join();
    const which = name === 'schema_migrations' ? `WHERE number < ${number}` : '';
    await office.execute(`ATTACH '${office.file}.later' AS later; DELETE FROM ${name};
      INSERT INTO ${name} (${columns}) SELECT ${columns} FROM later.${name} ${which}`);
  }
}

test('claims of two houses, from before they had places', async () => {
  const office = await openEmbedded();
  await office.reset(9);
  assert.deepEqual(tally(await Promise.all(users(6).map((user) => office.claim(user)))), { claimed: 6 });
  assert.equal((await office.giveBack('user-2')).status, 200);
  await office.close();

  await goBackBefore(office, 3); // where house and seat became one number
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

test('a backup of an earlier version is restored and brought to this one', async () => {
  const office = await openEmbedded();
  for (const user of users(6)) assert.equal((await office.claim(user)).status, 200);
  await office.close();
  await goBackBefore(office, 3);

  const { DATA_DIR } = office.env, backup = join(temporaryFolder(), 'backup');
  const operate = async (word, folder) => {
    const child = start(TICKETTOCK, [word, backup], { PATH: process.env.PATH, DATA_DIR: folder });
    assert.equal(await child.ended, 0, child.text);
  };
  await operate('backup', DATA_DIR);
  const { services: [{ schemaVersion }] } = JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8'));
  assert.equal(schemaVersion, 2);
  office.env.DATA_DIR = temporaryFolder();
  office.file = join(office.env.DATA_DIR, 'reservation_service.db');
  await operate('restore', office.env.DATA_DIR);
  for (const key of ['pii.key', 'pii-hash.key']) copyFileSync(join(DATA_DIR, key), join(office.env.DATA_DIR, key));
  await office.addServer();
  assert.equal((await office.audit()).sold, 6);
  await office.sellTheRest();
});
