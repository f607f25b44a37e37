import { describe, expect, it } from 'vitest';
import { readHistory } from '../../src/registry/read-runs.js';
import { joinReceipts } from '../../src/settle/settle-receipts.js';
import { oneIn, stepsOf } from '../one-in.js';
import type { MadePlan } from '../plan/a-plan.js';
import { aReceiptLine, receive } from '../report/some-receipts.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';
import { aRunInDoubt, depsOf, JOB, join, settlesOf } from './a-run-in-doubt.js';

describe('settling that is cut short', () => {
  /** A run with receipts for both rows in doubt, to be begun with any number of times. */
  async function aBeginning() {
    const made = await aRunInDoubt();
    receive(made, aReceiptLine(made, 2), aReceiptLine(made, 3, { state: 'rejected' }));
    const whole = onDisk(made, made.disk.snapshot('/out'));
    await join(whole);
    return { made, base: made.disk.snapshot('/out'), wanted: outputsOf(whole) };
  }

  const onDisk = (made: MadePlan, content: Record<string, string>): MadePlan => {
    const disk = aMemoryDisk(Object.fromEntries(Object.entries(content).map(([path, text]) => [`/out/${path}`, text])));
    return { ...made, disk };
  };
  const outputsOf = ({ disk, directory }: MadePlan) =>
    Object.entries(disk.snapshot(directory)).filter(([name]) => /\.csv$|^summary/.test(name));
  const expectSettledOnce = async (made: MadePlan, wanted: [string, string][], when: string) => {
    // On the same host the lock of a process that is gone is free at once.
    await joinReceipts(made, { ...depsOf(made.disk, 9), isProcessAlive: () => false });
    expect(
      settlesOf(made).flatMap((entry) => entry.rows.map(([row]) => row)),
      when,
    ).toEqual([2, 3]);
    expect(outputsOf(made), when).toEqual(wanted);
    expect((await readHistory(made.disk.files, JOB, { runs: new Map() })).map(({ state }) => state)).toEqual([
      'finished',
    ]);
  };

  it('by kill -9 at any moment is made good by the next, each row once', async () => {
    const { made, base, wanted } = await aBeginning();
    const killed = onDisk(made, base);
    const moments: Record<string, string>[] = [];
    killed.disk.onOperation = () => moments.push(killed.disk.snapshot('/out'));
    await join(killed);
    expect(moments.length).toBeGreaterThan(50);
    expect(new Set(moments.map((moment) => Object.keys(moment).join())).size).toBeGreaterThan(5);
    for (const [n, moment] of oneIn(4, [...moments.entries()]))
      await expectSettledOnce(onDisk(made, moment), wanted, `moment ${n}`);
  });

  it('by a disk that fails, or takes half a line, is made good by the next, each row once', async () => {
    const { made, base, wanted } = await aBeginning();
    const counted = onDisk(made, base);
    await join(counted);
    const { first, step } = stepsOf(4);
    for (let n = first; n <= counted.disk.operations; n += step) {
      const failed = onDisk(made, base);
      failed.disk.failAt(n);
      await join(failed).catch(() => {});
      await expectSettledOnce(failed, wanted, `operation ${n} of ${counted.disk.operations}`);
    }
  });
});
