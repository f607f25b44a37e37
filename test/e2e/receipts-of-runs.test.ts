import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { eventsIn } from '../listen/a-listener.js';
import { aGatewayEvent, aReceipt } from '../listen/events.js';
import { settle } from '../sandbox/gateway/gateway-client.js';
import { Client } from '../sandbox/sandbox-client.js';
import { aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aJobFor, aWorkspaceBeside, type Workspace } from './a-workspace.js';
import { readFailure } from './failure.js';

/** A listener for all jobs of a workspace, as it is started before the first of them. */
async function aListenerFor(workspace: Workspace) {
  const running = workspace.start(['listen', '--receipts', 'out', '--port', '0']);
  const { origin } = JSON.parse(await running.firstLine());
  return {
    origin,
    post: async (event: object) =>
      (await fetch(origin, { method: 'POST', body: JSON.stringify(event), headers: { connection: 'close' } })).status,
    stop: async () => {
      running.signal('SIGTERM');
      const { code, stdout } = await running.ended;
      expect(code).toBe(0);
      return JSON.parse(stdout.split('\n')[1] ?? '');
    },
  };
}

const deliveriesIn = (workspace: Workspace, directory: string): { mobile: string; _state: string }[] =>
  parse(workspace.read(`${directory}/deliveries.csv`), { columns: true });

test('one listener, started before all jobs, brings its receipts to each run of each of them, and settles rows in doubt', async () => {
  const workspace = await aWorkspaceBeside({ webhookRetryScale: 0.1 });
  const listener = await aListenerFor(workspace);
  const template = { source: 'ACME', text: 'Hi {{ name }}', dlrCallbackUrl: `${listener.origin}/` };
  const send = async (job: string, file: string, fault?: 'reset-after') => {
    workspace.setFaults(...(fault === undefined ? [] : [{ kind: fault, area: 'sms', nth: 1 } as const]));
    const steps = [anSmsStep({ input: { files: [file] }, template })];
    workspace.writeJob({ ...aJob(workspace, { steps }), name: job }, `${job}.yaml`);
    const { summary } = await workspace.volley('run', `${job}.yaml`);
    return summary;
  };
  for (const [at, file] of ['a.csv', 'b.csv', 'c.csv'].entries()) workspace.write(file, people(10, 1 + at * 10));
  const runs = [await send('sale', 'a.csv'), await send('sale', 'b.csv', 'reset-after'), await send('news', 'c.csv')];
  expect(runs.map(({ balance }) => balance.inDoubt)).toEqual([0, 10, 0]);
  expect(await settle(new Client(workspace.sandbox))).toMatchObject({ delivered: 60, givenUp: 0 });
  expect(await listener.post(aGatewayEvent())).toBe(200);
  // Of a plan that is not here, and of no plan at all.
  for (const clientMessageId of ['k3v9q2m8x4aa-1-0', 'order 12'])
    expect(await listener.post(aReceipt({ payload: { clientMessageId } }))).toBe(200);

  const told = await listener.stop();

  expect(told).toMatchObject({ received: 63, written: 63 });
  const joined = runs.map(({ directory }, at) => ({
    directory,
    settled: { accepted: at === 1 ? 10 : 0, rejected: 0 },
    deliveries: { delivered: 10 },
    foreign: 0,
  }));
  expect(told.runs.toSorted(byDirectory)).toEqual(joined.toSorted(byDirectory));
  for (const [at, { directory }] of runs.entries()) {
    const rows = deliveriesIn(workspace, directory.slice(workspace.directory.length + 1));
    expect(rows.map(({ mobile, _state }) => [mobile, _state])).toEqual(
      numbersOf(10, 1 + at * 10).map((mobile) => [mobile, 'delivered']),
    );
  }
  const others = eventsIn(workspace.read('out/events.ndjson'));
  expect(others.map(({ kind }) => kind)).toEqual(['gateway', 'receipt', 'receipt']);
  const { balance } = JSON.parse(workspace.read(`${workspace.runOf(runs[1]?.plan ?? '')}/summary.json`));
  expect(balance).toMatchObject({ inDoubt: 0, accepted: 10 });
});

const byDirectory = (one: { directory: string }, other: { directory: string }) =>
  one.directory < other.directory ? -1 : 1;

test.each([
  ['of one job', (run: string) => `${run}/..`, 'has the runs of one job, expected the directory of all jobs'],
  ['of a run', (run: string) => run, 'is a run, expected the directory of all jobs'],
])('a listener refuses the directory %s, and names that of all', async (_, name, said) => {
  const workspace = await aJobFor(people(3));
  await workspace.run();
  const { exitCode, error } = readFailure(
    await workspace.volley('listen', '--receipts', name(workspace.firstRun()), '--port', '0'),
  );
  expect([exitCode, error.message]).toEqual([2, expect.stringContaining(said)]);
  expect(error.hint).toBe(`Give ${workspace.path('out')}.`);
});
