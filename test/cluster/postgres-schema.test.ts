import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/cluster/postgres/database.js';
import { checkDurability, initSchema, SCHEMA_VERSION } from '../../src/cluster/postgres/schema/database-schema.js';
import { dropNamedRun } from '../../src/cluster/postgres/status-and-drop.js';
import type { Store } from '../../src/cluster/store.js';
import { askingFor } from './a-hand.js';
import { aPart, aRun, aWorker, NEW_LEAD, noteTaken, renewLead, SETTLED } from './a-run.js';
import { aDatabase, connectTo, openTestDatabase } from './postgres-server.js';

let name: string;
let url: string;
let database: Database;
let connect: () => Promise<Store>;
beforeEach(async () => {
  ({ name, url, database, connect } = await aDatabase({ hasSchema: false }));
});

test('the schema is created once, also by several at once that let a role work', async () => {
  await database.query(`create role "${name} worker" login`);
  for (let round = 0; round < 3; round += 1) {
    const made = await Promise.all(Array.from({ length: 4 }, () => initSchema(database, `${name} worker`)));
    expect(made.map(({ to }) => to)).toEqual(Array(4).fill(SCHEMA_VERSION));
  }
  expect(await initSchema(database)).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION });
});

test('a database without the schema, or with the one of another build, is refused with what to do', async () => {
  await expect(connect()).rejects.toMatchObject({
    name: 'UserError',
    message: `Cannot use the database: it has no schema \`volley\`, expected version ${SCHEMA_VERSION}`,
    hint: expect.stringContaining('volley cluster init'),
  });
  await initSchema(database);
  await database.query('update volley.meta set version = version + 1');
  const newer = {
    name: 'UserError',
    message: `Cannot use the database: it has version ${SCHEMA_VERSION + 1} of the schema \`volley\`, expected version ${SCHEMA_VERSION}`,
    hint: expect.stringContaining('newer build'),
  };
  await expect(connect()).rejects.toMatchObject(newer);
  await expect(initSchema(database)).rejects.toMatchObject(newer);
});

test('functions of another build are replaced by init; until then a worker says so', async () => {
  await initSchema(database);
  await database.query('drop function volley.beat');
  const store = await connect();
  const beat = () => store.beat('w', { name: 'w', leaseMs: 30_000, life: undefined, sent: undefined });
  const other = {
    code: 'bad-flag',
    message: expect.stringMatching(
      /^Cannot use the database test_\w+ at \S+ as postgres: its schema `volley` is missing, or that of another build \(42883\)$/,
    ),
    hint: expect.stringContaining('run `volley cluster init`'),
  };
  await expect(beat()).rejects.toMatchObject(other);
  await initSchema(database);
  expect(await beat()).toMatchObject({ isAlive: true });
});

test('who owns an empty schema fills it, without the right to create one', async () => {
  await database.query(`create role "${name} owner" login`);
  await database.query(`create schema volley authorization "${name} owner"`);

  await initSchema(openTestDatabase(url.replace('postgres@', `${encodeURIComponent(`${name} owner`)}@`)));
  expect(await connect()).toBeDefined();
});

test('a role that may only read is refused before anything is sent', async () => {
  await initSchema(database);
  await database.query(`create role "${name} reader" login; grant usage on schema volley to "${name} reader"`);
  await database.query(`grant select on all tables in schema volley to "${name} reader"`);

  await expect(connectTo(url.replace('postgres@', `${encodeURIComponent(`${name} reader`)}@`))).rejects.toMatchObject({
    code: 'bad-credentials',
    hint: expect.stringContaining(`cluster init --role ${name} reader`),
  });
});

test('a role with the grants leads and works, and can neither create nor drop', async () => {
  await database.query(`create role "${name} worker" login; revoke connect on database ${name} from public`);
  await initSchema(database, `${name} worker`);
  const limitedUrl = url.replace('postgres@', `${encodeURIComponent(`${name} worker`)}@`);
  const cluster = { connect: () => connectTo(limitedUrl) };
  const { store, lead } = await aRun(cluster, { parts: [aPart(1)] });
  const worker = await aWorker(cluster, 'w');
  await worker.claim(1);
  await worker.begin();
  await worker.end(SETTLED);
  await store.recover();
  await store.book('lane', askingFor([1]));
  await worker.checkIn();
  await noteTaken(store, lead);
  const limited = openTestDatabase(limitedUrl);
  expect(await limited.query('select * from volley.open_requests')).toEqual([
    { run: 'run-a', open: '0', claimed: '0' },
  ]);
  await store.drop(lead);
  await worker.store.recover('w');
  for (const statement of ['drop table volley.run', 'create table volley.more ()', 'drop schema volley cascade']) {
    await expect(limited.query(statement)).rejects.toMatchObject({ name: 'UserError' });
  }
});

test('every call waits for a lock for ten seconds at most, whatever its session has', async () => {
  await initSchema(database);
  const functions = await database.query(
    `select proname as name, proconfig as settings from pg_proc
      where pronamespace = 'volley'::regnamespace and prolang = (select oid from pg_language where lanname = 'plpgsql') order by 1`,
  );
  const without = functions.filter(({ settings }) => !(settings as string[] | null)?.includes('lock_timeout=10s'));
  // They are called by the others alone.
  expect(without.map((one) => one.name)).toEqual(['book_turns', 'check_lead', 'present_life']);
});

test('a database whose transactions are not read committed is refused: a lock would protect nothing', async () => {
  await initSchema(database);
  await database.query(`alter database ${name} set default_transaction_isolation = 'repeatable read'`);
  const refused = {
    code: 'unsafe-environment',
    hint: expect.stringContaining('in the server, the database and the role'),
  };
  // Found by `check` too, which calls no function of the schema; set while processes are there, by each of their calls.
  await expect(connect()).rejects.toMatchObject(refused);
  await expect(openTestDatabase(url).call('present_life')).rejects.toMatchObject({ code: 'unsafe-environment' });
});

test.each(['fsync', 'full_page_writes'])('a server with %s off is refused', async (setting) => {
  await initSchema(database);
  await set(setting, 'off');
  await expect(checkDurability(database)).rejects.toThrow(
    `Cannot use the database: its ${setting} is off, expected on`,
  );
  await set(setting, 'on');
  expect(await checkDurability(database)).toEqual([]);
});

async function set(setting: string, value: string): Promise<void> {
  await database.query(`alter system set ${setting} = ${value}`);
  await database.query('select pg_reload_conf()');
  for (;;) {
    const [row] = await database.query('select current_setting($1) as value', [setting]);
    if (row?.value === value) return;
  }
}

test('a drop beside a process that leads the run, or resumes it, is refused', async () => {
  await initSchema(database);
  const { store, lead } = await aRun({ connect });
  await expect(dropNamedRun(database, lead.run, () => {})).rejects.toMatchObject({
    code: 'lock-held',
    message: 'Cannot drop run run-a: a process leads it',
    hint: expect.stringMatching(/its lease ends at \d\d:\d\d:\d\d UTC/),
  });
  await renewLead(store, lead, 0);
  const query: Database['query'] = async <T>(text: string, values?: readonly unknown[]) => {
    const rows = await database.query<T>(text, values);
    if (text.startsWith('select epoch')) await store.lead({ ...lead, epoch: 2 }, NEW_LEAD);
    return rows;
  };
  const expected = { code: 'lock-held', message: 'Cannot drop run run-a: a process has resumed it meanwhile' };
  await expect(dropNamedRun({ ...database, query }, lead.run, () => {})).rejects.toMatchObject(expected);
  expect(await store.findRun({ run: lead.run })).toBeDefined();
});
