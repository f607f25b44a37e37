import { describe, expect, it } from 'vitest';
import { type PackerDeps, PlanPacker } from '../../../src/plan/format/plan-packer.js';
import { assertPlanWhole } from '../../../src/plan/format/planned-files.js';
import { systemClock } from '../../../src/ports/clock.js';
import { stepsOf } from '../../one-in.js';
import { aContactsStep, aCsvOf, anSmsStep, aPlan, type MadePlan } from '../a-plan.js';

const PLAIN = ['1-contacts.requests.ndjson', '1-contacts.rows.ndjson', '2-sms.requests.ndjson', '2-sms.rows.ndjson'];
const PACKED = PLAIN.map((name) => `${name}.gz`);
const HELD = { assertHeld: async () => {} };

const aPlanOfTwo = () => aPlan({ job: { steps: [aContactsStep(), anSmsStep()] }, files: { 'people.csv': aCsvOf(20) } });

/** Packs files of any length, if `packFromBytes` does not say otherwise. */
function aPacker(made: MadePlan, changes: Partial<PackerDeps> = {}, lock = HELD) {
  const notices: string[] = [];
  const onNotice = (notice: string) => void notices.push(notice);
  const deps = { files: made.disk.files, clock: systemClock, packFromBytes: 1, onNotice, ...changes };
  return { packer: new PlanPacker({ ...made, lock }, deps), notices };
}

const listFiles = ({ disk, directory }: MadePlan) => disk.list(directory).filter((name) => /^\d-/.test(name));
const isWhole = (made: MadePlan) => assertPlanWhole(made.disk.files, made.directory, made.plan);

describe('packing a plan', () => {
  it('leaves packed files in place of the plain ones, once', async () => {
    const made = await aPlanOfTwo();
    const { packer, notices } = aPacker(made);
    packer.begin();
    await packer.finish();
    await packer.close();
    expect(listFiles(made)).toEqual(PACKED);
    await isWhole(made);

    await aPacker(made).packer.finish();
    expect(listFiles(made)).toEqual(PACKED);
    expect(notices).toEqual([]);
  });

  it('keeps small files', async () => {
    const made = await aPlanOfTwo();
    await aPacker(made, { packFromBytes: undefined }).packer.finish();
    expect(listFiles(made)).toEqual(PLAIN);
  });

  it('waits while sending takes the thread, and packs the rest once the run has ended', async () => {
    const made = await aPlanOfTwo();
    let pauses = 0;
    const clock = {
      sleep: async () => {
        pauses += 1;
        await new Promise(setImmediate);
      },
    };
    const { packer } = aPacker(made, { clock, createBusyMeter: () => () => 1 });
    packer.begin();
    while (pauses < 50) await new Promise(setImmediate);
    expect(listFiles(made).filter((name) => name.endsWith('.gz'))).toEqual([]);
    await packer.finish();
    expect(listFiles(made)).toEqual(PACKED);
  });

  it('keeps the plain files while the run is not finished, whatever was packed by then', async () => {
    const made = await aPlanOfTwo();
    for (const operations of [1, 10, 20, 100]) {
      const { packer, notices } = aPacker(made);
      const from = made.disk.operations;
      packer.begin();
      while (made.disk.operations < from + Math.min(operations, 15)) await new Promise(setImmediate);
      await packer.close();
      expect(listFiles(made).filter((name) => !PACKED.includes(name))).toEqual(PLAIN);
      expect(notices).toEqual([]);
    }
    // A packed file beside the plain one counts for nothing.
    made.disk.write(`${made.directory}/${PACKED[3]}`, 'left behind');
    await isWhole(made);
    await aPacker(made).packer.finish();
    expect(listFiles(made)).toEqual(PACKED);
    await isWhole(made);
  });

  it('keeps the plain files where the lock is lost, and gives no packed one its name from then on', async () => {
    for (const checks of [0, 1, 3, PLAIN.length]) {
      const made = await aPlanOfTwo();
      let left = checks;
      const assertHeld = async () => {
        left -= 1;
        if (left < 0) throw new Error('the lock is lost');
      };
      const { packer, notices } = aPacker(made, {}, { assertHeld });
      await packer.finish();
      expect(listFiles(made)).toEqual([...PLAIN, ...PACKED.slice(0, checks)].sort());
      expect(notices).toEqual([expect.stringContaining('the lock is lost')]);
    }
  });

  it('keeps a plain file whose packed one was removed meanwhile', async () => {
    const made = await aPlanOfTwo();
    const assertHeld = async () => {
      const path = `${made.directory}/${PACKED[1]}`;
      if (made.disk.has(`${made.directory}/${PACKED[3]}`)) await made.disk.files.remove(path);
    };
    await aPacker(made, {}, { assertHeld }).packer.finish();
    expect(listFiles(made)).toEqual(PACKED.with(1, PLAIN[1] ?? '').sort());
    await isWhole(made);
  });

  it('keeps the plain files where the disk has room for little more than outputs', async () => {
    const made = await aPlanOfTwo();
    const bytes = made.plan.steps.reduce((sum, { files }) => sum + files!.requests.bytes + files!.rows.bytes, 0);
    await aPacker(made, { freeBytes: async () => 2 * bytes - 1 }).packer.finish();
    expect(listFiles(made)).toEqual(PLAIN);
    await aPacker(made, { freeBytes: async () => 2 * bytes }).packer.finish();
    expect(listFiles(made)).toEqual(PACKED);
  });

  it('keeps plain files that are damaged', async () => {
    for (const name of PLAIN) {
      const made = await aPlanOfTwo();
      const path = `${made.directory}/${name}`;
      made.disk.write(path, made.disk.readText(path).replace('+65', '+66'));
      const { packer, notices } = aPacker(made);
      await packer.finish();
      expect(listFiles(made)).toContain(name);
      expect(notices).toEqual([expect.stringContaining(`Cannot use ${path}.gz: `)]);
    }
  });

  it.each(['EIO', 'ENOSPC', 'short write'])('survives %s at any operation of the disk with a notice', async (code) => {
    let failures = 0;
    const { first, step } = stepsOf(4);
    for (let at = first; ; at += step) {
      const made = await aPlanOfTwo();
      const from = made.disk.operations;
      made.disk.failAt(at, code);
      const { packer, notices } = aPacker(made);
      await packer.finish();
      if (made.disk.operations - from < at) break;
      failures += 1;
      expect(notices.length, `${at}`).toBeLessThan(2);
      expect(listFiles(made).length, `${at}`).toBeGreaterThanOrEqual(PLAIN.length);
      await isWhole(made);

      await aPacker(made).packer.finish();
      expect(
        listFiles(made).filter((name) => !name.endsWith('.part')),
        `${at}`,
      ).toEqual(PACKED);
      await isWhole(made);
    }
    expect(failures).toBeGreaterThan(30 / step);
  });
});
