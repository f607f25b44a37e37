import { describe, expect, it, test } from 'vitest';
import { encodePlan } from '../../src/plan/format/plan-file.js';
import { restoreTaken } from '../../src/plan/format/run-directories.js';
import { aRun, aScriptedService } from '../run/a-run.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';
import { aCsvOf, aFolder, aJob, aPlan } from './a-plan.js';

const PEOPLE = { 'people.csv': aCsvOf(5) };
/** The same requests under another guard. */
const ANEW = { job: { guards: { ...aJob().guards, maxMessages: 9 } } };

/** A draft, and what the directory holds. */
async function aDraft() {
  const files = aFolder(PEOPLE);
  const disk = aMemoryDisk();
  const made = await aPlan({ files, disk });
  return { files, disk, made, journal: `${made.directory}/journal.ndjson`, plan: `${made.directory}/plan.json` };
}

describe('a planner that lost the lock while it was paused', () => {
  it('removes nothing of the run that its successor began, whenever that was', async () => {
    let [begun, isOver] = [0, false];
    for (let pausedAt = 1; !isOver; pausedAt++) {
      const { files, disk, made, journal, plan } = await aDraft();
      const draft = disk.snapshot(made.directory);
      let [operations, isBegun] = [0, false];
      disk.onOperation = () => {
        operations += 1;
        if (operations !== pausedAt) return;
        // As a runner does: its journal first, then a look for the plan that it has read.
        disk.write(journal, 'begun\n');
        isBegun = disk.has(plan) && disk.readText(plan) === draft['plan.json'];
      };
      const error: unknown = await aPlan({ files, disk, ...ANEW }).then(
        () => undefined,
        (reason) => reason,
      );
      isOver = operations < pausedAt;
      if (isOver) break;
      expect(disk.readText(journal), `paused at ${pausedAt}`).toBe('begun\n');
      if (!isBegun) continue;
      begun += 1;
      expect(error, `paused at ${pausedAt}`).toMatchObject({ code: 'lock-held' });
      const { 'journal.ndjson': _journal, ...left } = disk.snapshot(made.directory);
      expect(left, `paused at ${pausedAt}`).toEqual(draft);
    }
    expect(begun).toBeGreaterThan(20);
  });

  it('gives plan.json back with the next look at the job, where it died before it could', async () => {
    const { disk, made, journal, plan } = await aDraft();
    const written = disk.readText(plan);
    await disk.files.rename(plan, `${made.directory}/.plan.json.taken`);
    expect(await restoreTaken(disk.files, made.directory)).toBe(false);
    disk.write(journal, '');

    expect(await restoreTaken(disk.files, made.directory)).toBe(true);

    expect(disk.readText(plan)).toBe(written);
  });
});

test.each(['gone', 'another'])('a runner sends nothing where plan.json is %s as it begins', async (how) => {
  const { disk, made, plan } = await aDraft();
  if (how === 'gone') await disk.files.rename(plan, `${made.directory}/.plan.json.taken`);
  else disk.write(plan, encodePlan({ ...made.plan, occurrence: 'again-1' }));
  const service = aScriptedService();

  await expect(aRun({ made, service })).rejects.toMatchObject({ code: 'lock-held' });

  expect(service.sent).toEqual([]);
});
