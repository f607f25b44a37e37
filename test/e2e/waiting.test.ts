import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { aJob, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { expectEveryRowOnce } from './account.js';

describe.concurrent('Retry-After', () => {
  test('of 429 and 503, in seconds and as a date: nothing is sent before, then everything', async () => {
    const workspace = await aWorkspace(
      { kind: 'status-429', nth: 2, retryAfter: 1 },
      { kind: 'status-503', nth: 4, retryAfter: 1 },
      { kind: 'status-429', nth: 6, retryAfter: 2, retryAfterForm: 'date' },
      { kind: 'status-503', nth: 8, retryAfter: 2, retryAfterForm: 'date' },
    );
    workspace.write('people.csv', people(60));
    workspace.writeJob(aJob(workspace));

    const { code, summary } = await workspace.run();

    expect(code).toBe(0);
    expectEveryRowOnce(summary);
    expect(await workspace.destinations()).toEqual(numbersOf(60));
    const requests = workspace.requests();
    expect(requests.map(({ status }) => status)).toEqual([200, 429, 200, 503, 200, 429, 200, 503, 200, 200]);
    const waits = [1, 3, 5, 7].map((place) => requests[place + 1]!.atMs - requests[place]!.atMs);
    // A date has whole seconds: of two, one at least is left.
    expect(waits.filter((waitMs) => waitMs < 1000)).toEqual([]);
  });
});

describe.concurrent('a service that is not there', () => {
  test('connection refused: nothing is in doubt, exit 75 after giveUpAfterSeconds; when it is back the same command sends all', async () => {
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
});
