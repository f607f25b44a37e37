import { expect, test } from 'vitest';
import type { FaultInput } from '../../src/sandbox/faults/fault.js';
import { anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { startMortal } from './a-mortal-command.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { aJobOfAreas, ledgerOf, untilAccepted } from './area-jobs.js';

const FIGURES =
  '{{ job }} {{ plan }} {{ state }} {{ reason }} {{ read }} {{ accepted }} {{ rejected }} {{ skipped }} {{ inDoubt }} {{ unprocessed }} {{ directory }}';

test.concurrent('the figures that are posted are those of the summary', async () => {
  const workspace = await aPosting(10, [aChat()]);
  workspace.append('people.csv', `Bad,12\nAgain,${numberOf(1)}\n`);

  const { code, summary } = await workspace.run();

  expect(code).toBe(1);
  const { read, accepted, rejected, skipped, inDoubt, unprocessed } = summary.balance;
  expect([read, accepted, rejected, skipped, inDoubt, unprocessed]).toEqual([12, 10, 1, 1, 0, 0]);
  expect(await ledgerOf(workspace, 'chat')).toMatchObject([
    {
      room: 'Campaigns',
      messageRaw: `sale ${summary.plan} finished none 12 10 1 1 0 0 ${summary.directory}`,
    },
  ]);
});

test.concurrent.each([
  ['a run in which all went well', [], 0, ['success', 'always']],
  ['a run with a row in doubt', [{ kind: 'reset-after', area: 'sms', nth: 1 }], 3, ['failure', 'always']],
  ['a run that was stopped', [{ kind: 'status-401', area: 'sms' }], 4, ['failure', 'always']],
] as const)('%s reaches those who want to hear of it', async (_, faults, exitCode, posted) => {
  const chats = (['success', 'failure', 'always'] as const).map((when) => aChat({ when, text: when }));
  const workspace = await aPosting(10, chats, ...(faults as readonly FaultInput[]));

  const { code } = await workspace.run();

  expect(code).toBe(exitCode);
  expect(await textsOf(workspace)).toEqual(posted);
});

test.concurrent('killed in the middle of a post, the next run does not post again: it is in doubt', async () => {
  const workspace = await aPosting(10, [aChat({ text: 'done' })], { kind: 'stall-after', area: 'chat' });
  const running = startMortal(workspace, 'run', 'job.yaml');
  await untilAccepted(workspace, 'chat', 1);
  await running.kill();
  workspace.setFaults();

  const { code, summary } = await workspace.run();

  expect(code).toBe(3);
  expect(summary.balance).toMatchObject({ accepted: 10, inDoubt: 0 });
  expect(summary.steps[1]?.action).toMatchObject({ status: 'in-doubt' });
  expect(await textsOf(workspace)).toEqual(['done']);
  expect(await workspace.destinations()).toEqual(numbersOf(10));
});

async function aPosting(count: number, chats: readonly object[], ...faults: FaultInput[]): Promise<Workspace> {
  const workspace = await aWorkspace(...faults);
  workspace.write('people.csv', people(count));
  workspace.writeJob(aJobOfAreas(workspace, [anSmsStep(), ...chats]));
  return workspace;
}

function aChat(changes: object = {}): object {
  return { kind: 'chat', room: 'Campaigns', text: FIGURES, ...changes };
}

async function textsOf(workspace: Workspace): Promise<string[]> {
  return (await ledgerOf(workspace, 'chat')).map(({ messageRaw }) => messageRaw);
}
