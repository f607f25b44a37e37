import { describe, expect, it } from 'vitest';
import { encodeLine } from '../../src/journal/entry-format.js';
import type { RunBegun, RunEnded } from '../../src/plan/format/run-record.js';
import { readHistory } from '../../src/registry/read-runs.js';
import { RegistryState } from '../../src/registry/registry-state.js';
import { StopSwitch } from '../../src/run/stop.js';
import { aCsvOf, aFolder, aJob, anSmsStep, aPlan } from '../plan/a-plan.js';
import { aRun, aScriptedService, failure } from '../run/a-run.js';
import { aMemoryDisk, type MemoryDisk } from '../storage/a-memory-disk.js';
import { createFindTaken } from './find-taken-in-history.js';

const files = aFolder({ 'people.csv': aCsvOf(3) });
const planOn = (disk: MemoryDisk, occurrence = '') => aPlan({ files, disk, occurrence });
const history = (disk: MemoryDisk) => readHistory(disk.files, '/out/sale', new RegistryState());

/** Who took the planned file, for a new plan of this occurrence. */
async function takenBy(disk: MemoryDisk, sha256: string, occurrence = '', kind = 'sms') {
  const { service } = (await history(disk))[0]?.plan.job ?? aJob();
  return createFindTaken(await history(disk), { occurrence, service })(kind, sha256);
}

describe('history of a job', () => {
  it('is empty where there is no directory', async () => {
    expect(await readHistory(aMemoryDisk().files, '/out/none', new RegistryState())).toEqual([]);
  });

  it('that a disk cannot read is an error at every operation, and never an empty one: its files would be sent again', async () => {
    const disk = aMemoryDisk();
    await aRun({ made: await planOn(disk) });
    const before = disk.operations;
    await history(disk);
    const count = disk.operations - before;
    expect(count).toBeGreaterThan(5);
    for (let n = 1; n <= count; n++) {
      disk.failAt(n);
      await expect(history(disk), `operation ${n} of ${count}`).rejects.toMatchObject({ code: 'EIO' });
    }
  });

  it('of the sandbox does not count for the service, nor that of one subaccount for another; a name of the account that is not sent decides nothing', async () => {
    const disk = aMemoryDisk();
    const made = await planOn(disk);
    await aRun({ made });
    const sha256 = made.plan.steps[0]?.inputs[0]?.sha256 ?? '';
    const past = await history(disk);
    const find = (changes: object) => {
      return createFindTaken(past, { occurrence: '', service: { ...made.plan.job.service, ...changes } })(
        'sms',
        sha256,
      );
    };
    expect(find({})).toBe(made.plan.id);
    expect(find({ sandbox: true })).toBeUndefined();
    expect(find({ account: 'other' })).toBe(made.plan.id);
    expect(find({ subAccountId: 'other_hq' })).toBeUndefined();
  });

  it('tells plans, stopped and finished runs apart', async () => {
    const disk = aMemoryDisk();
    const made = await planOn(disk);
    const states = async () => (await history(disk)).map(({ state }) => state);
    expect(await states()).toEqual(['planned']);
    const stop = new StopSwitch();
    stop.request('interrupted', 'SIGTERM');
    await aRun({ made, stop });
    expect(await states()).toEqual(['stopped']);
    await aRun({ made, epoch: 2 });
    expect(await states()).toEqual(['finished']);
  });

  it('holds a run whose process died to be unfinished, with a line that was never whole behind it too', async () => {
    const disk = aMemoryDisk();
    const made = await planOn(disk);
    await aRun({ made });
    const path = `${made.directory}/journal.ndjson`;
    const lines = disk.readText(path).split('\n');
    disk.write(path, `${lines.slice(0, 2).join('\n')}\n${lines[2]?.slice(0, 30)}`);
    expect((await history(disk))[0]?.state).toBe('unfinished');
    disk.write(path, '');
    expect((await history(disk))[0]?.state).toBe('unfinished');
  });

  it('believes the memory that a run is finished while its journal is as long as then, and reads it where it is not', async () => {
    const disk = aMemoryDisk();
    const made = await planOn(disk);
    await aRun({ made });
    const path = `${made.directory}/journal.ndjson`;
    const whole = disk.readText(path);
    const ended = { state: 'finished', journalBytes: whole.length } as RunEnded;
    const registry = new RegistryState();
    registry.put({ plan: made.plan.id, begun: {} as RunBegun, ended });
    const states = async () => {
      const past = await readHistory(disk.files, '/out/sale', registry);
      return past.map(({ state }) => state);
    };
    disk.write(path, 'x'.repeat(whole.length));
    expect(await states()).toEqual(['finished']);
    // An older copy was put back.
    disk.write(path, whole.slice(0, whole.lastIndexOf('{"crc"')));
    expect(await states()).toEqual(['unfinished']);
  });

  it('says the end of a run behind outcomes of any length', async () => {
    const disk = aMemoryDisk();
    const many = aFolder({ 'people.csv': aCsvOf(2500) });
    const made = await aPlan({ files: many, disk, job: { steps: [anSmsStep({ batchSize: 2500 })] } });
    await aRun({ made });
    expect(disk.readText(`${made.directory}/journal.ndjson`).length).toBeGreaterThan(1 << 16);
    expect((await history(disk))[0]?.state).toBe('finished');
  });

  it('is read from the close of the newest runner, however much an ousted one still wrote behind it', async () => {
    const disk = aMemoryDisk();
    const made = await planOn(disk);
    await aRun({ made, epoch: 2 });
    const path = `${made.directory}/journal.ndjson`;
    const whole = disk.readText(path);
    const late = Array.from({ length: 8 }, (_, index) => {
      const open = { type: 'open', version: 1, plan: made.plan.id, at: 1, host: 'h'.repeat(10_000), pid: 1 } as const;
      return encodeLine({ epoch: 1, seq: 100 + index, durable: 0, entry: open }).toString();
    }).join('');
    disk.write(path, `${whole}${late}`);
    expect(late.length).toBeGreaterThan(1 << 16);
    expect((await history(disk))[0]?.state).toBe('finished');
  });

  it('refuses a run whose plan is gone: its files would be taken for new ones', async () => {
    const disk = aMemoryDisk();
    const made = await planOn(disk);
    await aRun({ made });
    await disk.files.remove(`${made.directory}/plan.json`);
    await expect(history(disk)).rejects.toMatchObject({
      code: 'plan-damaged',
      message: `Cannot use ${made.directory}/plan.json: it does not exist, expected it as it was planned`,
    });
  });

  it('passes over what is no plan: locks, the sandbox, what a planner left behind', async () => {
    const disk = aMemoryDisk({
      '/out/sale/lock-000001.json': '{}',
      '/out/sale/sandbox/ledger.ndjson': '',
      '/out/sale/.abc-7.part/plan.json': '{}',
    });
    expect(await history(disk)).toEqual([]);
  });
});

describe('a file', () => {
  it('is taken by a run that was begun, finished or not, and by no draft', async () => {
    const disk = aMemoryDisk();
    const made = await planOn(disk);
    const { sha256 } = made.step.inputs[0]!;
    expect(await takenBy(disk, sha256)).toBeUndefined();
    await aRun({ made, service: aScriptedService(() => failure(false, 'ECONNREFUSED')) });
    expect((await history(disk))[0]?.state).toBe('stopped');
    expect(await takenBy(disk, sha256)).toBe(made.plan.id);
    expect(await takenBy(disk, 'another')).toBeUndefined();
    expect(await takenBy(disk, sha256, '', 'contacts')).toBeUndefined();
  });

  it('is taken for its day where the job repeats per day', async () => {
    const disk = aMemoryDisk();
    const made = await planOn(disk, '2027-01-01');
    await aRun({ made });
    const { sha256 } = made.step.inputs[0]!;
    expect(await takenBy(disk, sha256, '2027-01-01')).toBe(made.plan.id);
    expect(await takenBy(disk, sha256, '2027-01-02')).toBeUndefined();
    expect(await takenBy(disk, sha256, '')).toBe(made.plan.id);
  });

  it('is never taken where the job always repeats', async () => {
    const disk = aMemoryDisk();
    const made = await planOn(disk, 'again-1');
    await aRun({ made });
    expect(await takenBy(disk, made.step.inputs[0]!.sha256, 'again-2')).toBeUndefined();
  });
});
