import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { eventsIn } from '../listen/a-listener.js';
import { aGatewayEvent, aReceipt } from '../listen/events.js';
import { settle } from '../sandbox/gateway/gateway-client.js';
import { anSmsStep, numbersOf, people } from './a-job.js';
import { aJobFor, aWorkspaceBeside, type Workspace } from './a-workspace.js';
import { readFailure } from './command.js';

/** A listener for all jobs of a workspace, as it is started before the first of them. */
async function aListenerFor(workspace: Workspace, receipts: string) {
  const running = workspace.start(['listen', '--receipts', receipts, '--port', '0']);
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

test.each([
  ['of outputs', 'out', () => ''],
  ['of campaigns of a console', 'campaigns', (job: string) => `campaigns/${job}/`],
])(
  'one listener to a directory %s, started before all jobs, brings its receipts to each run of each of them, and settles rows in doubt',
  async (_, receipts, placeOf) => {
    const workspace = await aWorkspaceBeside({ webhookRetryScale: 0.1 });
    const listener = await aListenerFor(workspace, receipts);
    const send = async (job: string, file: string, fault?: 'reset-after') => {
      workspace.setFaults(...(fault === undefined ? [] : [{ kind: fault, area: 'sms', nth: 1 } as const]));
      const service = { dlrCallbackUrl: `${listener.origin}/` };
      const steps = [anSmsStep({ input: { files: [file] } })];
      workspace.change({ service, steps, name: job }, `${placeOf(job)}${job}.yaml`);
      const { summary } = await workspace.volley('run', `${placeOf(job)}${job}.yaml`);
      return summary;
    };
    const jobs = ['sale', 'sale', 'news'] as const;
    for (const [at, job] of jobs.entries()) workspace.write(`${placeOf(job)}${at}.csv`, people(10, 1 + at * 10));
    const runs = [await send('sale', '0.csv'), await send('sale', '1.csv', 'reset-after'), await send('news', '2.csv')];
    expect(runs.map(({ balance }) => balance.inDoubt)).toEqual([0, 10, 0]);
    expect(await settle(workspace.client)).toMatchObject({ delivered: 60, givenUp: 0 });
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
    const others = eventsIn(workspace.read(`${receipts}/events.ndjson`));
    expect(others.map(({ kind }) => kind)).toEqual(['gateway', 'receipt', 'receipt']);
    const { balance } = JSON.parse(readFileSync(join(runs[1]?.directory ?? '', 'summary.json'), 'utf8'));
    expect(balance).toMatchObject({ inDoubt: 0, accepted: 10 });
  },
);

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
