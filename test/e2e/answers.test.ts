import { expect, test } from 'vitest';
import type { FaultInput } from '../../src/sandbox/faults/fault.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { aJob, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { expectEveryRowOnce, readOutput } from './account.js';

test.concurrent('a batch that is refused is halved until the row at fault stands alone, and the others are accepted: 400, 404, 413, 422', async () => {
  const statuses = [400, 404, 413, 422] as const;
  const workspace = await aWorkspace(
    ...statuses.map((status, index): FaultInput => ({ kind: `status-${status}`, endingWith: `00${10 + 8 * index}` })),
  );
  workspace.write('people.csv', people(40));
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ batchSize: 8 })] }));

  const { code, summary } = await workspace.run();

  expect(code).toBe(1);
  expectEveryRowOnce(summary);
  const rejected = readOutput(summary, 1, 'rejections').map((row) => [row.name, row._stage, row._code]);
  expect(rejected).toEqual([
    ['P10', 'send', '1000'],
    ['P18', 'send', '1300'],
    ['P26', 'send', '1100'],
    ['P34', 'send', '1000'],
  ]);
  const refusedNumbers = [10, 18, 26, 34].map(numberOf);
  expect(await workspace.destinations()).toEqual(numbersOf(40).filter((number) => !refusedNumbers.includes(number)));
  for (const status of statuses) {
    const refused = workspace.requests().filter((request) => request.status === status);
    expect(refused.map(({ messages }) => messages)).toEqual([8, 4, 2, 1]);
  }
});

test.concurrent('a person must look at 401, 403, 301, 302, 307, 308: the run stops with exit 4 each time, sends nothing more, follows nothing; then it resumes', async () => {
  const statuses = [401, 403, 301, 302, 307, 308];
  const workspace = await aWorkspace(
    ...statuses.map((status, index): FaultInput => ({ kind: `status-${status}`, nth: 2 + index })),
  );
  workspace.write('people.csv', people(60));
  workspace.writeJob(aJob(workspace));
  let inDoubt = 0;

  for (const [index, status] of statuses.entries()) {
    const { code, summary } = await workspace.run();

    expect(code).toBe(4);
    expect(summary.stop?.reason).toBe(status < 400 ? 'redirected' : 'unauthorized');
    // What pointed elsewhere may have passed the request on.
    if (status < 400) inDoubt += 10;
    const balance = { accepted: 10, inDoubt, unprocessed: 50 - inDoubt };
    expect(summary).toMatchObject({ state: 'stopped', balance });
    expect(workspace.requests().map((request) => request.status)).toEqual([200, ...statuses.slice(0, index + 1)]);
  }
  expect((await workspace.run()).code).toBe(3);
  expect(new Set(workspace.requests().map(({ path }) => path)).size).toBe(1);
  expect(await workspace.destinations()).toEqual([...numbersOf(10), ...numbersOf(10, 51)]);
});

test.concurrent('Retry-After of 429 and 503, in seconds and as a date: nothing is sent before, then everything', async () => {
  const workspace = await aWorkspace(
    { kind: 'status-429', nth: 2, retryAfter: 1 },
    { kind: 'status-503', nth: 4, retryAfter: 2, retryAfterForm: 'date' },
  );
  workspace.write('people.csv', people(30));
  workspace.writeJob(aJob(workspace));

  const { code, summary } = await workspace.run();

  expect(code).toBe(0);
  expectEveryRowOnce(summary);
  expect(await workspace.destinations()).toEqual(numbersOf(30));
  const requests = workspace.requests();
  expect(requests.map(({ status }) => status)).toEqual([200, 429, 200, 503, 200]);
  const waits = [1, 3].map((place) => requests[place + 1]!.atMs - requests[place]!.atMs);
  // A date has whole seconds: of two, one at least is left.
  expect(waits.filter((waitMs) => waitMs < 1000)).toEqual([]);
});

test.concurrent('a service that refuses connections: nothing is in doubt, exit 75 after giveUpAfterSeconds; when it is back the same command sends all', async () => {
  const gone = await startSandbox();
  await gone.close();
  const port = Number(new URL(gone.origin).port);
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(20));
  workspace.writeJob(aJob(workspace, { service: { bases: { sms: gone.origin }, giveUpAfterSeconds: 0.5 } }));

  const { code, summary } = await workspace.run();

  expect(code).toBe(75);
  expectEveryRowOnce(summary);
  expect(summary).toMatchObject({ state: 'stopped', stop: { reason: 'unavailable', detail: 'ECONNREFUSED' } });
  expect(summary.balance).toMatchObject({ accepted: 0, rejected: 0, inDoubt: 0, unprocessed: 20 });

  const back = await startSandbox({ port });
  try {
    const again = await workspace.run();
    expect(again.code).toBe(0);
    expect(again.summary.balance).toMatchObject({ accepted: 20, unprocessed: 0 });
  } finally {
    await back.close();
  }
});
