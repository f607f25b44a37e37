import { beforeAll, expect, test } from 'vitest';
import { anSmsStep, numbersOf } from '../e2e/a-job.js';
import { aJobOf, CLUSTER } from './a-cluster.js';
import { tick } from './a-hand.js';
import { openTestDatabase, type PostgresServer, startPostgres } from './postgres-server.js';

const STEPS = [anSmsStep({ batchSize: 1 })];

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});

test.concurrent('workers that come after the lease of a leader that was killed send nothing; led again, the run is finished, each row once', async () => {
  const { workspace, volley, start, leave, endLease } = await aLedRun();
  await leave();
  await endLease();

  expect(await volley('work', 'job.yaml', '--until-idle', '1s')).toMatchObject({ code: 0 });
  expect(await workspace.destinations()).toEqual([]);
  const { stdout } = await volley('cluster', 'status', '--no-json');
  expect(stdout).toMatch(
    /sale: no leader since 20\d\d-\S+Z, nothing of it begins\n[\s\S]*requests +10 open, the oldest for \d+ s, 0 claimed, 0 under/,
  );

  const worker = start('work', 'job.yaml', '--until-done');
  expect(await volley('run', 'job.yaml')).toMatchObject({ code: 0 });
  expect((await worker.ended).code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(10));
});

test.concurrent('what a killed leader had handed over is sent by no worker once its run was abandoned', async () => {
  // It waits for the lease and 20 s more.
  const { workspace, volley, start, leave, endLease } = await aLedRun(15);
  await leave();
  await endLease();
  const directory = `out/sale/${workspace.runs()[0]}`;

  const abandoned = await volley('abandon', directory);
  expect(abandoned.code).toBe(0);
  expect(abandoned.stderr).toContain('waits until');
  expect(await volley('settle', directory, '--assume', 'not-sent', '--confirm', '10')).toMatchObject({ code: 0 });
  expect(await volley('work', 'job.yaml', '--until-idle', '1s')).toMatchObject({ code: 0 });
  expect(await workspace.destinations()).toEqual([]);

  const worker = start('work', 'job.yaml', '--until-done');
  const { stdout } = await volley('retry', directory, '--only', 'not-sent');
  expect(await volley('apply', JSON.parse(stdout).directory)).toMatchObject({ code: 0 });
  // The run that was abandoned is in the database still.
  worker.signal('SIGTERM');
  await worker.ended;
  expect(await workspace.destinations()).toEqual(numbersOf(10));
});

/** A leader that sends nothing itself has handed over a request for each of ten rows. `leave`: it is killed. */
async function aLedRun(leaseSeconds = 3600) {
  const url = server.url(await server.createVolleyDatabase());
  const cluster = { ...CLUSTER, sendHere: false, leaseSeconds };
  const workspace = await aJobOf(10, { cluster, steps: STEPS });
  const env = { VOLLEY_DATABASE_URL: url };
  const start = (...args: string[]) => workspace.start(args, { env });
  const leader = start('run', 'job.yaml');
  const database = openTestDatabase(url);
  return {
    ...{ workspace, start },
    volley: (...args: string[]) => workspace.finish(start(...args)),
    leave: async () => {
      const isHanded = async () => (await database.query("select from volley.part where state = 'open'")).length === 10;
      while (!(await isHanded())) await tick();
      leader.signal('SIGKILL');
      await leader.ended;
    },
    endLease: async () => {
      await database.query("update volley.run set lease_until = lease_until - interval '1 hour'");
      await database.close();
    },
  };
}
