import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { assertPlanWhole, type PackedRun, packPlan } from '../../../src/plan/format/planned-files.js';
import { stepsOf } from '../../one-in.js';
import { aContactsStep, aCsvOf, anSmsStep, aPlan, type MadePlan } from '../a-plan.js';

const PLAIN = ['1-contacts.requests.ndjson', '1-contacts.rows.ndjson', '2-sms.requests.ndjson', '2-sms.rows.ndjson'];
const PACKED = PLAIN.map((name) => `${name}.gz`);
const HELD = { assertHeld: async () => {} };

const aPlanOfTwo = () => aPlan({ job: { steps: [aContactsStep(), anSmsStep()] }, files: { 'people.csv': aCsvOf(20) } });

/** Packs files of any length, if `packFromBytes` does not say otherwise. */
async function pack(made: MadePlan, changes: Partial<PackedRun> = {}, lock = HELD): Promise<string[]> {
  const notices: string[] = [];
  const onNotice = (notice: string) => void notices.push(notice);
  await packPlan({ ...made, lock, files: made.disk.files, packFromBytes: 1, onNotice, ...changes });
  return notices;
}

const listFiles = ({ disk, directory }: MadePlan) => disk.list(directory).filter((name) => /^\d-/.test(name));
const isWhole = (made: MadePlan) => assertPlanWhole(made.disk.files, made.directory, made.plan);

describe('packing a plan', () => {
  it('leaves packed files in place of the plain ones, once', async () => {
    const made = await aPlanOfTwo();
    const notices = await pack(made);
    expect(listFiles(made)).toEqual(PACKED);
    await isWhole(made);

    expect([...notices, ...(await pack(made))]).toEqual([]);
    expect(listFiles(made)).toEqual(PACKED);
  });

  it('leaves the same files where other threads pack them', async () => {
    const [made, other] = [await aPlanOfTwo(), await aPlanOfTwo()];
    await pack(made);
    await pack(other, { gzip: async (piece, options) => promisify(gzip)(piece, options) });
    const read = ({ disk, directory }: MadePlan) => PACKED.map((name) => disk.readText(`${directory}/${name}`));
    expect(read(other)).toEqual(read(made));
  });

  it('keeps small files', async () => {
    const made = await aPlanOfTwo();
    await pack(made, { packFromBytes: undefined });
    expect(listFiles(made)).toEqual(PLAIN);
  });

  it('packs anew where a packed file was left beside the plain one, which counts until then', async () => {
    const made = await aPlanOfTwo();
    made.disk.write(`${made.directory}/${PACKED[3]}`, 'left behind');
    await isWhole(made);
    await pack(made);
    expect(listFiles(made)).toEqual(PACKED);
    await isWhole(made);
  });

  it('keeps the plain files where the lock is lost', async () => {
    for (const checks of [0, 1, 3, PLAIN.length]) {
      const made = await aPlanOfTwo();
      let left = checks;
      const assertHeld = async () => {
        left -= 1;
        if (left < 0) throw new Error('the lock is lost');
      };
      const notices = await pack(made, {}, { assertHeld });
      expect(listFiles(made)).toEqual(expect.arrayContaining(PLAIN));
      expect(listFiles(made).length).toBeLessThanOrEqual(PLAIN.length + checks);
      expect(notices).toEqual([expect.stringContaining('the lock is lost')]);
    }
  });

  it('keeps a plain file whose packed one was removed meanwhile', async () => {
    const made = await aPlanOfTwo();
    const assertHeld = async () => {
      const path = `${made.directory}/${PACKED[1]}`;
      if (made.disk.has(`${made.directory}/${PACKED[3]}`)) await made.disk.files.remove(path);
    };
    await pack(made, {}, { assertHeld });
    expect(listFiles(made)).toEqual(PACKED.with(1, PLAIN[1] ?? '').sort());
    await isWhole(made);
  });

  it('keeps plain files that are damaged', async () => {
    for (const name of PLAIN) {
      const made = await aPlanOfTwo();
      const path = `${made.directory}/${name}`;
      made.disk.write(path, made.disk.readText(path).replace('+65', '+66'));
      const notices = await pack(made);
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
      const notices = await pack(made);
      if (made.disk.operations - from < at) break;
      failures += 1;
      expect(notices.length, `${at}`).toBeLessThan(2);
      expect(listFiles(made).length, `${at}`).toBeGreaterThanOrEqual(PLAIN.length);
      await isWhole(made);

      await pack(made);
      expect(
        listFiles(made).filter((name) => !name.endsWith('.part')),
        `${at}`,
      ).toEqual(PACKED);
      await isWhole(made);
    }
    expect(failures).toBeGreaterThan(30 / step);
  });
});
