import { describe, expect, it } from 'vitest';
import { encodeLine } from '../../src/journal/entry-format.js';
import { readHistory } from '../../src/registry/read-runs.js';
import { RegistryState } from '../../src/registry/registry-state.js';
import { StopSwitch } from '../../src/run/stop.js';
import { aContactsStep, aCsvOf, aFolder, anInput, anSmsStep, aPlan, someLimits } from '../plan/a-plan.js';
import { aRun, aScriptedService, duplicatesAmong, entriesOf, reportOf, response } from '../run/a-run.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';

const files = aFolder({ 'people.csv': aCsvOf(12) });
const planOf = (disk = aMemoryDisk()) =>
  aPlan({ files, disk, job: { steps: [anSmsStep({ batchSize: 2, limits: someLimits({ concurrency: 1 }) })] } });
describe('a run whose lock file was deleted between its processes', () => {
  it('resumes where it stopped: the epochs of its journal never go back', async () => {
    const made = await planOf();
    const accepted: string[] = [];
    for (const epoch of [1, 2, 1, 2]) {
      const stop = new StopSwitch();
      const service = aScriptedService((_sent, count) => {
        if (count === 2) stop.request('interrupted', 'SIGTERM');
        return undefined;
      });
      await aRun({ made, stop, service, epoch });
      accepted.push(...service.accepted);
    }
    const { balance, state } = await reportOf(made);
    expect(duplicatesAmong(accepted)).toEqual([]);
    expect(accepted).toHaveLength(12);
    expect(state).toBe('finished');
    expect(balance).toMatchObject({ accepted: 12, unprocessed: 0 });
  });
});

describe('a runner that lost its lock', () => {
  it('does not close the run', async () => {
    const made = await planOf();
    const lost = new Error('the lock is lost');
    const service = aScriptedService();
    const assertHeld = async () => {
      if (service.sent.length === 6) throw lost;
    };
    await expect(aRun({ made, service, lock: { assertHeld } })).rejects.toBe(lost);
    expect(entriesOf(made.disk, made.directory).map(({ type }) => type)).not.toContain('close');
  });

  it('has no last word: its late line does not make an unfinished run look finished', async () => {
    const made = await planOf();
    const stop = new StopSwitch();
    stop.request('unauthorized', 'HTTP 401');
    await aRun({ made, stop, epoch: 2 });
    const late = { type: 'close', at: 1, reason: 'finished', detail: '' } as const;
    const file = await made.disk.files.openAppend(`${made.directory}/journal.ndjson`);
    await file.append(encodeLine({ epoch: 1, seq: 3, durable: 2, entry: late }));
    await file.close();
    const [run] = await readHistory(made.disk.files, '/out/sale', new RegistryState());
    expect(run?.state).toBe('stopped');
  });
});

describe('a contact that fails alone', () => {
  it('is held after three answers that say nothing, and the run comes to its end', async () => {
    const step = aContactsStep({ input: anInput({ files: ['people.csv'] }), limits: someLimits({ concurrency: 1 }) });
    const made = await aPlan({ files, job: { steps: [step] } });
    const service = aScriptedService((sent) =>
      JSON.stringify(sent.body).includes('+6590000003') ? response(500, { code: 2000 }) : undefined,
    );
    const { end } = await aRun({ made, service });
    const { balance } = await reportOf(made);
    expect(end.reason).toBe('finished');
    expect(balance).toMatchObject({ accepted: 11, inDoubt: 1 });
    expect(service.sent).toHaveLength(11 + 3);
  });
});
