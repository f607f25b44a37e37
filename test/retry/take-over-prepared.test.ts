import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RunDirectories } from '../../src/plan/format/run-directories.js';
import { takeOverPrepared } from '../../src/retry/claiming-plan.js';
import { aFolder, aPlan, type MadePlan } from '../plan/a-plan.js';
import { aGateway, CHANNELS, CONVERSATIONS, MAKING_STEP, pathsOf } from '../run/a-gateway.js';
import { aRun, cutJournal, entriesOf, journalOf, response } from '../run/a-run.js';
import { depsOf, withLock } from '../settle/an-export.js';
import { retriedPlan } from './a-retry.js';

const files = aFolder({ 'people.csv': 'name\nAnn\nBob\n' });
/** It refuses calls to a path. */
const refusing = (path: string) =>
  aGateway((sent) => (sent.path === path ? response(400, { message: 'No', errors: {} }) : undefined));
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
      [CONVERSATIONS, 'rejected', [CONVERSATIONS, CONVERSATIONS]],
      [CHANNELS, 'unprocessed', [CHANNELS, CONVERSATIONS, CONVERSATIONS]],
    ] as const) {
      const made = await aPlan({ files, job: { steps: [MAKING_STEP] } });
      await aRun({ made, service: refusing(path) });
      const child = await retriedPlan(made, retried);
      const service = aGateway();

      await takeOver(child);
      const { end } = await aRun({ made: child, service, epoch: 9 });

      expect([end.reason, pathsOf(service)]).toEqual(['finished', wanted]);
    }
  });

  it('is taken over once, however often the plan is applied, and by a plan of its own rows in turn', async () => {
    const made = await aPlan({ files, job: { steps: [MAKING_STEP] } });
    await aRun({ made, service: refusing(CONVERSATIONS) });
    const child = await retriedPlan(made, 'rejected');
    await takeOver(child);
    await takeOver(child);
    await aRun({ made: child, service: refusing(CONVERSATIONS), epoch: 9 });
    const before = journalOf(child);
    await takeOver(child);
    expect(journalOf(child)).toBe(before);
    const grandchild = await retriedPlan(child, 'rejected');
    await takeOver(grandchild);
    expect([preparedIn(child), preparedIn(grandchild)]).toEqual([[['1', '2']], [['1', '2']]]);
  });

  it('is taken over by the next to apply where a process died in the middle of it', async () => {
    const made = await aPlan({ files, job: { steps: [MAKING_STEP] } });
    await aRun({ made, service: refusing(CONVERSATIONS) });
    const child = await retriedPlan(made, 'rejected');
    await takeOver(child);
    cutJournal(child, 1);
    await takeOver(child);
    const service = aGateway();
    await aRun({ made: child, service, epoch: 9 });
    expect(pathsOf(service)).toEqual([CONVERSATIONS, CONVERSATIONS]);
  });

  it('is nothing to a run that retries no other, nor to one that made its own', async () => {
    const made = await aPlan({ files, job: { steps: [MAKING_STEP] } });
    await takeOver(made);
    expect(made.disk.has(`${made.directory}/journal.ndjson`)).toBe(false);
    await aRun({ made, service: refusing(CONVERSATIONS) });
    const child = await retriedPlan(made, 'rejected');
    await aRun({ made: child, service: refusing(CHANNELS), epoch: 9 });
    await takeOver(child);
    expect(preparedIn(child)).toEqual([['1']]);
  });
});
