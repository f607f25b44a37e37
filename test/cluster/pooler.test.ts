import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { initSchema } from '../../src/cluster/postgres/schema/database-schema.js';
import { aJob, anSmsStep, numbersOf, people } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { needPgbouncer, PGBOUNCER } from '../e2e/of-the-machine.js';
import { closeAfterFile } from '../e2e/opened.js';
import { aCluster, CLUSTER } from './a-cluster.js';
import { openTestDatabase, type PostgresServer, startPostgres } from './postgres-server.js';

const STEPS = [anSmsStep({ limits: { requestsPerSecond: 1000, messagesPerSecond: 25_000, concurrency: 4 } })];
/** Fewer than one process opens: each transaction gets the session that is free. */
const SESSIONS = 2;

const pgbouncer = needPgbouncer();

test.skipIf(pgbouncer.isMissing)(
  pgbouncer.title(
    'a leader and its workers send each row once through PgBouncer in statement mode, which allows least, and which made the schema, too',
  ),
  async () => {
    const server = await startPostgres();
    const database = await server.createDatabase();
    const own = openTestDatabase(server.url(database));
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(300));
    workspace.writeJob(aJob(workspace, { cluster: { ...CLUSTER, sendHere: false }, steps: STEPS }));
    const pooled = await startPooler(server);
    const through = openTestDatabase(pooled(database));
    await initSchema(through);
    const { run, work } = aCluster(workspace, pooled(database));
    const workers = [work(), work()];

    expect(await run()).toBe(0);
    expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0]);
    expect(await workspace.destinations()).toEqual(numbersOf(300));
    expect(await own.query('select run from volley.part')).toEqual([]);
    // No process has left anything in a session that another one gets.
    const left = await through.query(
      "select name, setting from pg_settings where source = 'session' and name <> 'application_name'",
    );
    expect([left, await own.query("select from pg_locks where locktype = 'advisory'")]).toEqual([[], []]);
  },
);

/** In the directory of the server, by the user who owns that: it refuses to be root, as the server does. Returns addresses through it. */
async function startPooler({ directory }: PostgresServer): Promise<(database: string) => string> {
  const file = join(directory, 'pooler.ini');
  const settings = {
    listen_addr: '',
    listen_port: 6432,
    unix_socket_dir: directory,
    auth_type: 'any',
    pool_mode: 'statement',
    default_pool_size: SESSIONS,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(file, `[databases]\n* = host=${directory} user=postgres\n[pgbouncer]\n${lines.join('\n')}\n`);
  const { uid, gid } = statSync(directory);
  const pooler = spawn(PGBOUNCER, [file], { uid, gid, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(pooler, 'exit');
  closeAfterFile({
    close: async () => {
      pooler.kill('SIGKILL');
      await ended;
    },
  });
  let log = '';
  for await (const bytes of pooler.stderr) {
    log += bytes;
    if (log.includes('process up')) break;
  }
  expect(log).toContain('process up');
  return (database) => `postgres://postgres@localhost:6432/${database}?host=${directory}`;
}
