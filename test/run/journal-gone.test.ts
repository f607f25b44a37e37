import { expect, test } from 'vitest';
import { watchJournal } from '../../src/registry/find-faults.js';
import { acquireLock } from '../../src/storage/lock.js';
import { aCsvOf, aFolder, anSmsStep, aPlan, someLimits } from '../plan/a-plan.js';
import { aRun, aScriptedService } from './a-run.js';
import { FakeClock } from './fake-clock.js';

const files = aFolder({ 'people.csv': aCsvOf(6) });

test.each(['removed', 'replaced'])(
  'a journal that is %s before the first request leaves keeps it from leaving',
  async (how) => {
    const step = anSmsStep({ batchSize: 2, limits: someLimits({ concurrency: 1 }) });
    const made = await aPlan({ files, job: { steps: [step] } });
    const { disk, directory } = made;
    const owner = { host: 'h', pid: 1, instance: 'i' };
    const deps = { files: disk.files, clock: new FakeClock(), owner, isProcessAlive: () => true };
    const held = await acquireLock(deps, '/out/job');
    const path = `${directory}/journal.ndjson`;
    const lock = watchJournal(disk.files, path, held);
    const service = aScriptedService();
    const onGate = async () => {
      await disk.files.remove(path);
      if (how === 'replaced') await disk.files.writeWhole(path, '');
    };

    await expect(aRun({ made, service, lock, onGate })).rejects.toMatchObject({ code: 'registry-mismatch' });
    expect(service.sent).toEqual([]);
    await held.release();
  },
);
