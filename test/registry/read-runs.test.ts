import { describe, expect, it } from 'vitest';
import { encodeLine } from '../../src/journal/entry-format.js';
import type { RunBegun, RunEnded } from '../../src/plan/format/run-record.js';
import { readHistory } from '../../src/registry/read-runs.js';
import { RegistryState } from '../../src/registry/registry-state.js';
import { StopSwitch } from '../../src/run/stop.js';
import { aCsvOf, aFolder, anSmsStep, aPlan } from '../plan/a-plan.js';
import { aRun } from '../run/a-run.js';
import { aMemoryDisk, type MemoryDisk } from '../storage/a-memory-disk.js';

const files = aFolder({ 'people.csv': aCsvOf(3) });
const planOn = (disk: MemoryDisk) => aPlan({ files, disk });
const history = (disk: MemoryDisk) => readHistory(disk.files, '/out/sale', new RegistryState());

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
    const message = `Cannot use ${made.directory}/plan.json: it does not exist, expected it as it was planned`;
    await expect(history(disk)).rejects.toMatchObject({ code: 'plan-damaged', message });
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
