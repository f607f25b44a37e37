import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ConversationsStep } from '../../src/job/job.js';
import { RunDirectories } from '../../src/plan/format/run-directories.js';
import { takeOverPrepared } from '../../src/retry/claiming-plan.js';
import { aFolder, anInput, aPlan, linesOf, type MadePlan, someLimits } from '../plan/a-plan.js';
import { aRun, aScriptedService, entriesOf, response } from '../run/a-run.js';
import { depsOf, withLock } from '../settle/an-export.js';
import { retriedPlan } from './a-retry.js';

const files = aFolder({ 'people.csv': 'name\nAnn\nBob\n' });
const step: ConversationsStep = {
  kind: 'conversations',
  input: anInput(),
  channel: { name: 'Bot', description: undefined, queue: '7', webhook: { name: 'Events', url: 'https://x.test/' } },
  queue: undefined,
  queueColumn: undefined,
  user: { language: undefined, name: 'name', email: undefined, phone: undefined, additionalProperties: {} },
  history: undefined,
  limits: someLimits({ concurrency: 1 }),
};

/** A gateway that gives the ids 1, 2, … in the order of the calls, and refuses those to a path as long as the test says so. */
function aGateway(refused: { path: string | undefined } = { path: undefined }) {
  return aScriptedService(({ path }, count) => {
    if (refused.path !== undefined && path.endsWith(refused.path)) return response(400, { message: 'No', errors: {} });
    if (path.endsWith('/conversations')) return response(202, { conversationId: `${count}` });
    return response(200, { id: `${count}`, name: path.endsWith('/webhooks') ? 'Events' : 'Bot' });
  });
}

const pathsOf = (service: ReturnType<typeof aGateway>) => service.sent.map(({ path }) => path.split('/').at(-1));
const takeOver = (made: MadePlan) =>
  withLock(made, async (lock) => {
    const directories = await RunDirectories.read(made.disk.files, dirname(made.directory));
    await takeOverPrepared({ ...made, lock, registry: { directories } }, depsOf(made));
  });
const preparedIn = ({ disk, directory }: MadePlan) =>
  entriesOf(disk, directory).flatMap((entry) => (entry.type === 'prepared' ? [entry.ids] : []));

describe('what a run made before its rows are retried', () => {
  it('is not made again: all of it, and what there is of it', async () => {
    for (const [path, retried, wanted] of [
      ['/conversations', 'rejected', ['conversations', 'conversations']],
      ['/channels', 'unprocessed', ['channels', 'conversations', 'conversations']],
    ] as const) {
      const made = await aPlan({ files, job: { steps: [step] } });
      await aRun({ made, service: aGateway({ path }) });
      const child = await retriedPlan(made, retried);
      const service = aGateway();

      await takeOver(child);
      const { end } = await aRun({ made: child, service, epoch: 9 });

      expect([end.reason, pathsOf(service)]).toEqual(['finished', wanted]);
    }
  });

  it('is taken over once, however often the plan is applied, and by a plan of its own rows in turn', async () => {
    const made = await aPlan({ files, job: { steps: [step] } });
    await aRun({ made, service: aGateway({ path: '/conversations' }) });
    const child = await retriedPlan(made, 'rejected');
    await takeOver(child);
    await takeOver(child);
    await aRun({ made: child, service: aGateway({ path: '/conversations' }), epoch: 9 });
    const before = child.disk.readText(`${child.directory}/journal.ndjson`);
    await takeOver(child);
    expect(child.disk.readText(`${child.directory}/journal.ndjson`)).toBe(before);
    const grandchild = await retriedPlan(child, 'rejected');
    await takeOver(grandchild);
    expect([preparedIn(child), preparedIn(grandchild)]).toEqual([[['1', '2']], [['1', '2']]]);
  });

  it('is taken over by the next to apply where a process died in the middle of it', async () => {
    const made = await aPlan({ files, job: { steps: [step] } });
    await aRun({ made, service: aGateway({ path: '/conversations' }) });
    const child = await retriedPlan(made, 'rejected');
    await takeOver(child);
    const path = `${child.directory}/journal.ndjson`;
    const [open = ''] = linesOf(child.disk.readText(path));
    child.disk.write(path, `${open}\n`);
    await takeOver(child);
    const service = aGateway();
    await aRun({ made: child, service, epoch: 9 });
    expect(pathsOf(service)).toEqual(['conversations', 'conversations']);
  });

  it('is nothing to a run that retries no other, nor to one that made its own', async () => {
    const made = await aPlan({ files, job: { steps: [step] } });
    await takeOver(made);
    expect(made.disk.has(`${made.directory}/journal.ndjson`)).toBe(false);
    await aRun({ made, service: aGateway({ path: '/conversations' }) });
    const child = await retriedPlan(made, 'rejected');
    const refused = { path: '/channels' as string | undefined };
    await aRun({ made: child, service: aGateway(refused), epoch: 9 });
    await takeOver(child);
    expect(preparedIn(child)).toEqual([['1']]);
  });
});
