import { expect, test } from 'vitest';
import { aJob, anSmsStep, people } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { runCommandInProcess } from '../e2e/command-in-process.js';
import { aCluster, aJobOf, CLUSTER } from './a-cluster.js';
import { aDatabase } from './postgres-server.js';

/** In the directory of a job: how to give a command there, and the owner of the database, which has no schema. */
async function aJobDirectory(as = 'postgres@') {
  const workspace = await aWorkspace();
  workspace.write('address', 'postgres://u:topsecret@127.0.0.1:1/d\n');
  workspace.write('people.csv', people(1));
  for (const [file, database] of [
    ['job.yaml', { env: 'VOLLEY_DATABASE_URL' }],
    ['away.yaml', { file: 'address' }],
  ] as const) {
    workspace.write(file, JSON.stringify(aJob(workspace, { cluster: { database } })));
  }
  const { url, database: owner } = await aDatabase({ hasSchema: false });
  const env = { ...workspace.env, VOLLEY_DATABASE_URL: url.replace('postgres@', as) };
  const volley = (...args: string[]) => runCommandInProcess([...args, '--no-json'], { cwd: workspace.directory, env });
  return { volley, owner };
}

test('init makes the schema, and does so again without harm, for a role that is there; status shows that it is empty', async () => {
  const { volley } = await aJobDirectory();

  const { code, stderr } = await volley('cluster', 'init', '--role', 'nosuch');
  expect([code, stderr]).toEqual([2, expect.stringContaining('Create it first: create role \\"nosuch\\"')]);
  const expected = { code: 2, stderr: expect.stringContaining('volley cluster init') };
  expect(await volley('cluster', 'status')).toMatchObject(expected);
  expect(await volley('cluster', 'init')).toMatchObject({ code: 0, stdout: expect.stringContaining('has version') });
  expect(await volley('cluster', 'init')).toMatchObject({ code: 0, stdout: expect.stringContaining('up to date') });
  const stdout = expect.stringContaining('No runs: nothing of people is in the database.');
  expect(await volley('cluster', 'status')).toMatchObject({ code: 0, stdout });
  expect(await volley('cluster', 'drop', 'k3v9q2m8x4aa')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('volley cluster status lists them'),
  });
});

test('a role that may not create the schema is named, with its database and who gives it what it needs', async () => {
  const { volley, owner } = await aJobDirectory('weak_one@');
  await owner.query('create role weak_one login');

  const { code, stderr } = await volley('cluster', 'init');

  expect([code, stderr]).toEqual([2, expect.stringMatching(/database test_\w+ at \S+ as weak_one: the role may not/)]);
  expect(stderr).toContain(
    'As the owner of the database, and of its schema `volley` if there is one, run `volley cluster init --role weak_one`.',
  );
});

test('an address that is not set, and one of a server that is not there, are named', async () => {
  const { volley } = await aJobDirectory();

  const unset = await volley('cluster', 'status', '--database-env', 'VOLLEY_NONE');
  const away = await volley('cluster', 'status', '--database-file', 'address');

  expect([unset.code, unset.stderr]).toEqual([
    2,
    expect.stringContaining('VOLLEY_NONE is not set, expected it to contain the address of the database'),
  ]);
  expect([away.code, away.stderr]).toEqual([
    75,
    expect.stringContaining('"reason":"Cannot reach the database d at 127.0.0.1:1 as u: ECONNREFUSED"'),
  ]);
  expect(away.stderr).not.toContain('topsecret');
});

test('check asks the database of a job: it must answer and have the schema', async () => {
  const { volley } = await aJobDirectory();
  const check = async (job: string) => {
    const { code, stderr } = await volley('check', job);
    return [code, stderr];
  };

  expect(await check('job.yaml')).toEqual([2, expect.stringContaining('it has no schema')]);
  await volley('cluster', 'init');
  expect(await check('job.yaml')).toEqual([0, '']);
  expect(await check('away.yaml')).toEqual([
    2,
    expect.stringMatching(/cluster\.database: Cannot reach the database d at 127\.0\.0\.1:1 as u: ECONNREFUSED/),
  ]);
});

test('status shows who leads, who stands by, who works, and how much of the limit is used', async () => {
  const limits = { requestsPerSecond: 2, messagesPerSecond: 2, concurrency: 1 };
  const workspace = await aJobOf(8, { cluster: CLUSTER, steps: [anSmsStep({ batchSize: 1, limits })] });
  const { url, database, connect } = await aDatabase();
  const standby = await connect();
  // The connection is that of this process, too.
  for (let repeat = 0; repeat < 2; repeat += 1) await standby.standBy(`here ${process.pid}`, 'sale');
  const status = () =>
    runCommandInProcess(['cluster', 'status', '--no-json'], {
      cwd: workspace.directory,
      env: { VOLLEY_DATABASE_URL: url },
    });

  const { ended } = aCluster(workspace, url).lead();
  let { stdout } = await status();
  while (!/ [1-9]\d* % of its limit used/.test(stdout)) ({ stdout } = await status());

  const [run = ''] = workspace.runs();
  const id = run.slice(run.lastIndexOf('-') + 1);
  const self = `\\S+ ${process.pid}`;
  expect(stdout).toMatch(
    new RegExp(
      `Run ${id} of job sale: step 1 is sent\n {2}leads {6}${self}\n {2}stands by {2}${self}\n` +
        ' {2}requests {3}\\d+ open(, the oldest for \\d+ s)?, \\d+ claimed, \\d+ under way\n {2}in doubt {3}\\d+ rows? if.*\n.*\n {2}next {7}nothing to do\n',
    ),
  );
  expect(stdout).toMatch(new RegExp(`Workers\n {2}${self} {2}\\d+ claimed, \\d+ under way, lease for \\d+ s\n`));
  expect(stdout).toMatch(/ {2}sms \S+ acme_hq {2}[1-9]\d? % of its limit used, not slowed down\n/);

  await database.query("update volley.request set handed_at = handed_at - interval '10 minutes'");
  expect((await status()).stdout).toMatch(
    / open, the oldest for 60\d s, .*\n(?:.*\n)*? {2}next {7}no worker gets on with it:/,
  );
  expect(await ended).toBe(0);
});

test('status says since when a run has no leader, what to do, and who takes over where a process stands by', async () => {
  const workspace = await aWorkspace();
  const { url, connect, database } = await aDatabase();
  const store = await connect();
  const key = { run: 'k3v9q2m8x4aa', epoch: 1 };
  await store.lead(key, { job: 'sale', digest: '', leader: 'a' });
  await store.openStep(key, { step: 1, provisionedIds: [], onLost: 'again' });
  const part = { step: 1, request: 1, part: '', rows: [0, 1] as const, isInFlight: false, head: {}, body: '{}' };
  await store.handOver(key, [part as never]);
  await store.renewLead(key, { leaseMs: 1, seenAtMs: 0 });

  const volley = (...args: string[]) =>
    runCommandInProcess([...args, '--no-json'], { cwd: workspace.directory, env: { VOLLEY_DATABASE_URL: url } });

  const shown = (await volley('cluster', 'status')).stdout;
  expect(shown).toMatch(/^The database answers in [\d.]+ ms\.\n/);
  expect(shown).toMatch(
    /sale: no leader since \S+Z, nothing of it begins\n {2}led {8}a\n {2}stands by {2}no process\n.* 1 open, the oldest for .*\n.* 1 row .*\n.*\n {2}next {7}run its job again: .*; if it was abandoned or ended elsewhere: `volley cluster drop k3v9q2m8x4aa`\n/,
  );
  // The one that took over stood by until then.
  await store.standBy('a', 'sale');
  await store.standBy('desk-7 4711', 'sale');
  expect((await volley('cluster', 'status')).stdout).toMatch(
    /stands by {2}desk-7 4711\n(?:.*\n){3} {2}next {7}nothing to do: the process that stands by takes over/,
  );
  const drop = () => volley('cluster', 'drop', key.run);
  const expected = { code: 75, stderr: expect.stringContaining('stands by to take it over (desk-7') };
  expect(await drop()).toMatchObject(expected);
  await database.query("update volley.standby set seen_at = seen_at - interval '15 seconds'");
  expect(await drop()).toMatchObject({ code: 0, stdout: expect.stringContaining('1 row without an outcome') });
});
