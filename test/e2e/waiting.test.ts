import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { aJob, numbersOf, people } from './a-job.js';
import { aWorkspace } from './a-workspace.js';
import { expectEveryRowOnce } from './account.js';

describe.concurrent('Retry-After', () => {
  test.each([
    [429, 'seconds', 1],
    [503, 'seconds', 1],
    [429, 'date', 2],
    [503, 'date', 2],
  ] as const)('%i with it in %s: nothing is sent before, then everything', async (status, retryAfterForm, retryAfter) => {
    const workspace = await aWorkspace({ kind: `status-${status}`, nth: 2, retryAfter, retryAfterForm });
    workspace.write('people.csv', people(40));
    workspace.writeJob(aJob(workspace));

    const { code, summary } = await workspace.run();

    expect(code).toBe(0);
    expectEveryRowOnce(summary);
    expect(await workspace.destinations()).toEqual(numbersOf(40));
    const [, refused, next, ...more] = workspace.requests();
    expect(more).toHaveLength(2);
    // A date has whole seconds: of two, one at least is left.
    expect(next!.atMs - refused!.atMs).toBeGreaterThanOrEqual(1000);
  });

  test('longer than the job goes on trying: exit 75 at once, and nothing is in doubt', async () => {
    const workspace = await aWorkspace({ kind: 'status-503', nth: 2, retryAfter: 3600 });
    workspace.write('people.csv', people(40));
    workspace.writeJob(aJob(workspace, { service: { giveUpAfterSeconds: 60 } }));

    const { code, summary } = await workspace.run();

    expect(code).toBe(75);
    expect(summary.balance).toMatchObject({ accepted: 10, inDoubt: 0, unprocessed: 30 });
    expect((await workspace.run()).code).toBe(0);
    expect(await workspace.destinations()).toEqual(numbersOf(40));
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

  test('refused for its rate each time: exit 75 after giveUpAfterSeconds, nothing in doubt, and the same command goes on', async () => {
    const workspace = await aWorkspace({ kind: 'status-429', retryAfterForm: 'none' });
    workspace.write('people.csv', people(20));
    workspace.writeJob(aJob(workspace, { service: { giveUpAfterSeconds: 0.5 } }));

    const { code, summary } = await workspace.run();

    expect(code).toBe(75);
    expect(summary.balance).toMatchObject({ accepted: 0, inDoubt: 0, unprocessed: 20 });
    workspace.setFaults();
    expect((await workspace.run()).code).toBe(0);
    expect(await workspace.destinations()).toEqual(numbersOf(20));
  });
});
