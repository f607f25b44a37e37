import { expect, test } from 'vitest';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce, readOutput } from './account.js';
import { aJobOfAreas, IN_ORDER, ledgerOf } from './area-jobs.js';

const HISTORY = { messages: [{ authorType: 'user', text: 'Help' }] };

test.concurrent('each row is handed over once, to its own queue or that of the step; one whose answer is lost is in doubt', async () => {
  const workspace = await aWorkspace({ kind: 'reset-after', area: 'gateway', nth: 2 });
  workspace.write('people.ndjson', lines(aCustomer(1, '102'), aCustomer(2), aCustomer(3, ' ')));
  workspace.writeJob(aJobOfAreas(workspace, [conversations()]));

  const { code, summary } = await workspace.run();
  const again = await workspace.run();

  expect([code, again.code]).toEqual([3, 3]);
  expectEveryRowOnce(summary);
  expect(readOutput(summary, 1, 'in-doubt').map((row) => row.case)).toEqual(['2']);
  const handed = await handedOver(workspace);
  expect(handed.map(({ body }) => body)).toEqual(
    [aCustomer(1, '102'), aCustomer(2), aCustomer(3)].map(({ user, history, queue }) => ({
      channelId: 'sandbox-channel',
      assignment: { type: 'queue', id: queue ?? '101' },
      user,
      history,
    })),
  );
  expect(readOutput(summary, 1, 'results').map((row) => [row._conversationId, row._queue])).toEqual([
    [handed[0]?.conversationId, '102'],
    [handed[2]?.conversationId, '101'],
  ]);
});

test.concurrent('a channel that is named by its settings is made once, also when the run is stopped and resumes, and is that of every conversation', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.ndjson', lines(...Array.from({ length: 8 }, (_, index) => aCustomer(index + 1))));
  const webhook = { name: 'Events', url: workspace.sandbox.origin };
  const channel = { name: 'Hand-off', queue: '100', webhook };
  workspace.writeJob(aJobOfAreas(workspace, [conversations({ channel, queue: undefined, queueColumn: undefined })]));
  workspace.setFaults({ kind: 'status-401', area: 'gateway', nth: 5 });
  const stopped = await workspace.run();
  expect([stopped.code, stopped.summary.balance]).toMatchObject([4, { accepted: 2, unprocessed: 6 }]);
  workspace.setFaults();

  const { code, summary } = await workspace.run();

  expect(code).toBe(0);
  expect(summary.balance).toMatchObject({ read: 8, accepted: 8 });
  const entries = await ledgerOf(workspace, 'gateway');
  const made = entries.filter((entry) => entry.kind === 'webhook' || entry.kind === 'channel');
  expect(made).toMatchObject([
    { kind: 'webhook', name: 'Events', uri: webhook.url },
    { kind: 'channel', name: 'Hand-off', queueId: '100', channelId: '2001' },
  ]);
  const handed = await handedOver(workspace);
  expect(handed.map(({ body }) => body.channelId)).toEqual(Array(8).fill('2001'));
  expect(new Set(handed.map(({ body }) => JSON.stringify(body.user))).size).toBe(8);
});

async function handedOver(workspace: Workspace) {
  const entries = await ledgerOf(workspace, 'gateway');
  return entries.flatMap((entry) => (entry.kind === 'conversation' ? [entry] : []));
}

function conversations(changes: object = {}): object {
  return {
    kind: 'conversations',
    input: { files: 'people.ndjson' },
    channel: 'sandbox-channel',
    queue: '101',
    queueColumn: 'queue',
    history: 'history',
    limits: IN_ORDER,
    ...changes,
  };
}

function aCustomer(person: number, queue: string | null = null) {
  const user = { name: `P${person}`, additionalProperties: [{ key: 'tier', value: 'gold' }] };
  return { case: String(person), user, history: HISTORY, queue };
}

function lines(...rows: object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
