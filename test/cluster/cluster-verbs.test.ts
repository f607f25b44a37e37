import { afterAll, beforeAll, expect, test } from 'vitest';
import { aJob, people } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { runCommandInProcess } from '../e2e/command-in-process.js';
import { openTestDatabase, type PostgresServer, startPostgres } from './postgres-server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());

async function aDatabase(as = 'postgres@') {
  const workspace = await aWorkspace();
  workspace.write('address', 'postgres://u:topsecret@127.0.0.1:1/d\n');
  workspace.write('people.csv', people(1));
  for (const [file, database] of [
    ['job.yaml', { env: 'VOLLEY_DATABASE_URL' }],
    ['away.yaml', { file: 'address' }],
  ] as const) {
    workspace.write(file, JSON.stringify(aJob(workspace, { cluster: { database } })));
  }
  const url = server.url(await server.createDatabase()).replace('postgres@', as);
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

test('init for a role that the server does not have changes nothing, and says what to do first', async () => {
  const volley = await aDatabase();

  const { code, stderr } = await volley('cluster', 'init', '--role', 'nosuch');

  expect([code, stderr]).toEqual([2, expect.stringContaining('Create it first: create role \\"nosuch\\"')]);
  expect((await volley('cluster', 'status')).stderr).toContain('it has no schema');
});

test('a role that may not create the schema is named, with its database and who gives it what it needs', async () => {
  const owner = openTestDatabase(server.url('postgres'));
  await owner.query('create role weak_one login');
  await owner.close();
  const volley = await aDatabase('weak_one@');

  const { code, stderr } = await volley('cluster', 'init');

  expect([code, stderr]).toEqual([2, expect.stringMatching(/database test_\w+ at \S+ as weak_one: the role may not/)]);
  expect(stderr).toContain('As the owner of the database run `volley cluster init --role weak_one`.');
});

test('an address that is not set, and one of a server that is not there, are named', async () => {
  const volley = await aDatabase();

  const unset = await volley('cluster', 'status', '--database-env', 'VOLLEY_NONE');
  const away = await volley('cluster', 'status', '--database-file', 'address');

  expect([unset.code, unset.stderr]).toEqual([
    2,
    expect.stringContaining('VOLLEY_NONE is not set, expected it to contain the address of the database'),
  ]);
  expect(unset.stderr).toContain('or name another place with --database-env or --database-file');
  expect([away.code, away.stderr]).toEqual([
    75,
    expect.stringContaining('"reason":"Cannot reach the database d at 127.0.0.1:1 as u: connection refused"'),
  ]);
  expect(away.stderr).not.toContain('topsecret');
});

test('check asks the database of a job: it must answer and have the schema', async () => {
  const volley = await aDatabase();
  const check = async (job: string) => {
    const { code, stderr } = await volley('check', job);
    return [code, stderr];
  };

  expect(await check('job.yaml')).toEqual([2, expect.stringContaining('it has no schema')]);
  await volley('cluster', 'init');
  expect(await check('job.yaml')).toEqual([0, '']);
  expect(await check('away.yaml')).toEqual([
    2,
    expect.stringMatching(/cluster\.database: Cannot reach the database d at 127\.0\.0\.1:1 as u: connection refused/),
  ]);
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
  [['cluster', 'status', 'job.yaml'], 'job.yaml is given, and volley cluster status takes no path'],
  [
    ['work', 'job.yaml'],
    'job.yaml is given, and volley work takes no job: it works for all runs of the database; `--run ID` for one',
  ],
])('%j is refused', async (args, what) => {
  const volley = await aDatabase();

  const { code, stderr } = await volley(...args);

  expect([code, stderr]).toEqual([2, expect.stringContaining(what)]);
});
