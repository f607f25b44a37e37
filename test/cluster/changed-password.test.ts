import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { initSchema } from '../../src/cluster/postgres/schema/database-schema.js';
import { type Env, nodeEnv } from '../../src/command/env.js';
import { createTransport } from '../../src/service/transport.js';
import { aTerminal } from '../command/a-terminal.js';
import { runJob } from '../command/give-verb.js';
import { aJob, anSmsStep, numbersOf, ONE_BY_ONE, people } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { until } from '../e2e/command.js';
import { openTestDatabase, startPostgres } from './postgres-server.js';

const ROWS = 20;

const REFUSED = 'it refuses this process: password authentication failed';

/** A run whose file has a wrong password at first, over a database whose password is changed, and whose connections end, after the first requests. */
async function aRunWhosePasswordChanges() {
  const server = await startPostgres();
  const hba = join(server.directory, 'data', 'pg_hba.conf');
  writeFileSync(hba, `local all worker scram-sha-256\n${readFileSync(hba, 'utf8')}`);
  const url = server.url(await server.createVolleyDatabase());
  const owner = openTestDatabase(url);
  const workspace = await aWorkspace();
  const cut = () => owner.query("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'worker'");
  const change = async (password: string) => {
    await owner.query(`alter role worker password '${password}'`);
    await cut();
  };
  const tell = (password: string) => workspace.write('address', url.replace('postgres@', `worker:${password}@`));
  await owner.query('create role worker login');
  await initSchema(owner, 'worker');
  await owner.query('select pg_reload_conf()');
  await change('pass-1');
  tell('pass-0');
  workspace.write('people.csv', people(ROWS));
  const steps = [anSmsStep({ batchSize: 1, limits: { ...ONE_BY_ONE, concurrency: 2 } })];
  workspace.writeJob(aJob(workspace, { cluster: { database: { file: 'address' } }, steps }));
  const { terminal, said } = aTerminal({ env: workspace.env, isStderrTerminal: false });
  let sent = 0;
  let letPass: () => void = () => {};
  const isRefused = new Promise<void>((resolve) => {
    letPass = resolve;
  });
  const loadTransport: Env['loadTransport'] = async () => (timeouts) => {
    const transport = createTransport(timeouts);
    const send: typeof transport.send = async (...call) => {
      sent += 1;
      if (sent > 5) await isRefused;
      return transport.send(...call);
    };
    return { ...transport, send };
  };
  const host = { ...terminal, runtime: { ...nodeEnv, loadTransport } };
  const ended = runJob({ job: workspace.path('job.yaml'), json: true }, host);
  await until(() => said.stderr.includes(REFUSED));
  tell('pass-1');
  await until(() => sent > 5);
  await change('pass-2');
  await until(() => said.stderr.split(REFUSED).length > 2);
  // One that was being opened as the others ended came in by the old password.
  await cut();
  letPass();
  return { workspace, said, ended, tell };
}

test('a password that is refused at the start, or changed while a run sends, is waited for: once the file of the job has it, the run continues', async () => {
  const { workspace, said, ended, tell } = await aRunWhosePasswordChanges();

  tell('pass-2');

  expect(await ended).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(ROWS));
  expect(said.stderr).toContain('the database answers again');
  expect(said.stderr).not.toMatch(/pass-\d/);
});
