// In PostgreSQL each service has a role and a schema of its own. Every other door is tried with the role that the servers'
// connections take, and must be closed.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { command, startPrivate } from './programs.mjs';
import { TICKETTOCK, startServer } from './support.mjs';

let admin, app, tables; // tables: schema → names

/** SQLSTATE of each statement run as this role, in order; '' for those that worked. */
function attempt(role, statements) {
  const script = statements.map((sql) => `\\echo >\n${sql};\n`).join('');
  const { stdout, stderr, status } = spawnSync('psql', ['-qAtX', '-v', 'VERBOSITY=sqlstate', app],
    { input: `SET ROLE ${role};\n${script}`, encoding: 'utf8', env: { ...process.env, PGOPTIONS: '-c client_min_messages=error' } });
  assert.equal(status, 0, stderr);
  const errors = stderr.split('\n').filter(Boolean).map((line) => /ERROR: {2}(\w{5})/.exec(line)?.[1]);
  return { errors, answered: stdout.split('>\n').length - 1 };
}

function assertAllRefused(role, statements) {
  const { errors, answered } = attempt(role, statements);
  assert.equal(answered, statements.length);
  if (errors.length === statements.length && errors.every((state) => state === '42501')) return;
  for (const sql of statements) assert.deepEqual(attempt(role, [sql]).errors, ['42501'], `${role}: ${sql}`);
  assert.fail('each by itself is refused, but not all together');
}

const waysInto = (table) => [
  `SELECT * FROM ${table}`,
  `SELECT count(*) FROM ${table}`,
  `INSERT INTO ${table} DEFAULT VALUES`,
  `DELETE FROM ${table}`,
  `TRUNCATE ${table}`,
  `COPY ${table} TO STDOUT`,
];
const waysToChange = (table) => [
  `ALTER TABLE ${table} ADD COLUMN mine text`,
  `ALTER TABLE ${table} OWNER TO CURRENT_USER`,
  `DROP TABLE ${table}`,
  `CREATE INDEX ON ${table} ((1))`,
  `GRANT SELECT ON ${table} TO PUBLIC`,
];

before(async () => {
  const postgres = await startPrivate('postgres');
  admin = postgres.url;
  app = admin.replace('postgres@', 'shop_app@');
  const env = { PATH: process.env.PATH, DATABASE_ADMIN_URL: admin, DATABASE_URL: app };
  const migrated = spawnSync(TICKETTOCK, ['migrate'], { env, encoding: 'utf8' });
  assert.equal(migrated.status, 0, migrated.stderr);
  const rows = await command('psql', '-qAtX', '-F', ' ', '-c',
    "SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')", admin);
  tables = new Map();
  for (const [schema, name] of rows.split('\n').map((row) => row.split(' ')))
    tables.set(schema, [...(tables.get(schema) ?? []), name]);
});

describe('a service of a fleet', () => {
  test('has a schema of its own, and there is more than one', () => {
    assert.deepEqual([...tables.keys()].sort(), ['auth_service', 'reservation_service']);
    for (const names of tables.values()) assert.ok(names.length >= 3 && names.includes('schema_migrations'));
  });

  test('reaches its own tables', () => {
    for (const [role, names] of tables) {
      const { errors, answered } = attempt(role, names.map((name) => `SELECT count(*) FROM ${role}.${name}`));
      assert.deepEqual([errors, answered], [[], names.length]);
    }
  });

  test('reaches no table of another', () => {
    for (const role of tables.keys())
      for (const [schema, names] of tables)
        if (schema !== role)
          for (const name of names) assertAllRefused(role, [...waysInto(`${schema}.${name}`), ...waysToChange(`${schema}.${name}`)]);
  });

  test('makes nothing in another schema, nor in the public one, nor schemas', () => {
    for (const role of tables.keys())
      for (const schema of [...tables.keys(), 'public'])
        if (schema !== role)
          assertAllRefused(role, [
            `CREATE TABLE ${schema}.mine (id int)`,
            `CREATE VIEW ${schema}.mine AS SELECT 1`,
            `CREATE FUNCTION ${schema}.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'`,
            `CREATE SEQUENCE ${schema}.mine`,
            'CREATE SCHEMA mine',
          ]);
  });

  test('has none of the rights over the whole server', () => {
    for (const role of tables.keys())
      assertAllRefused(role, [
        'CREATE ROLE mine',
        'CREATE DATABASE mine',
        'SELECT * FROM pg_authid',
        "SELECT pg_read_file('/etc/hostname')",
        "COPY (SELECT 1) TO '/tmp/never'",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        'ALTER ROLE shop_app SUPERUSER',
      ]);
  });

  test('gets by with that: a server on the same roles sells and signs up', async () => {
    const server = await startServer({ DATABASE_URL: app, JWT_SECRET: 'a secret of the tests that is long enough' });
    assert.equal((await server.reserve('alice')).status, 200);
    const body = { email: 'alice@example.com', password: 'correct horse battery', name: 'Alice' };
    assert.equal((await server.call('POST', '/api/v1/auth/register', { body })).status, 201);
    assert.equal(await server.stop(), 0);
  });
});
