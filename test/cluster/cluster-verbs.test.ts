import { afterAll, beforeAll, expect, test } from 'vitest';
import { aWorkspace } from '../e2e/a-workspace.js';
import { runCommandInProcess } from '../e2e/command-in-process.js';
import { type PostgresServer, startPostgres } from './postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());

async function aDatabase() {
  const workspace = await aWorkspace();
  const url = server.url(await server.createDatabase());
  return (...args: string[]) =>
    runCommandInProcess([...args, '--no-json'], {
      cwd: workspace.directory,
      env: { ...workspace.env, VOLLEY_DATABASE_URL: url },
    });
}

test('init makes the schema, and does so again without harm; status shows that it is empty', async () => {
  const volley = await aDatabase();

  expect(await volley('cluster', 'status')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('volley cluster init'),
  });
  expect(await volley('cluster', 'init')).toMatchObject({ code: 0, stdout: expect.stringContaining('has version') });
  expect(await volley('cluster', 'init')).toMatchObject({ code: 0, stdout: expect.stringContaining('up to date') });
  expect(await volley('cluster', 'status')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('No runs: nothing of people is in the database.'),
  });
});

test('drop refuses a run that the database does not know', async () => {
  const volley = await aDatabase();
  await volley('cluster', 'init');

  const { code, stderr } = await volley('cluster', 'drop', 'k3v9q2m8x4aa');

  expect([code, stderr]).toEqual([2, expect.stringContaining('volley cluster status lists them')]);
});

test('a worker ends when it has had nothing to do for long enough', async () => {
  const volley = await aDatabase();
  await volley('cluster', 'init');

  expect(await volley('work', '--until-idle', '1s')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('0 rows accepted'),
  });
});

test.each([
  [['work', '--until-idle', 'soon'], '--until-idle'],
  [['work', '--lease-seconds', '5'], '--lease-seconds'],
  [['work', '--database-env', 'A', '--database-file', 'b'], '--database-env'],
  [['cluster'], 'init, status or drop'],
])('%j is refused', async (args, what) => {
  const volley = await aDatabase();

  const { code, stderr } = await volley(...args);

  expect([code, stderr]).toEqual([2, expect.stringContaining(what)]);
});
