import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PlannedStep } from '../../src/plan/format/plan-file.js';
import { runsOf } from '../one-in.js';
import { aJob, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce, readOutput } from './account.js';

const INBOX = { input: { files: 'in/*' } };

describe.concurrent('rows that are corrected before anything is sent', () => {
  /** Plans the job; the rejections of the draft, and its figures. */
  async function draft(
    workspace: Workspace,
  ): Promise<{ text: string; counts: PlannedStep['counts']; skips: Record<string, number> }> {
    const { directory, steps } = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);
    expect((await workspace.volley('report', directory)).code).toBe(0);
    const { counts, skips } = steps[0];
    return { text: readFileSync(join(directory, '1-sms.rejections.csv'), 'utf8'), counts, skips };
  }

  test('count where they came back, and are sent from there alone, also once their file could be', async () => {
    const workspace = await aWorkspace();
    workspace.write('in/m.csv', `${people(3)}Nobody,91000009\nEve,n/a\n`);
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep(INBOX)] }));
    const { text, counts } = await draft(workspace);
    expect(counts).toMatchObject({ read: 5, planned: 3, rejected: 2 });
    // Its name sorts before that of the file; Eve's number is still wrong.
    workspace.write('in/a.csv', text.replace(',91000009,', `,${numberOf(19)},`));
    const second = await draft(workspace);
    expect(second).toMatchObject({ counts: { planned: 4, rejected: 1 }, skips: { 'read-again': 2 } });
    expect(second.text).not.toContain('Nobody');
    workspace.write('in/z.csv', second.text.replace('n/a', numberOf(5)));
    // With a country the number in the file is one, too.
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { ...INBOX.input, country: 'SG' } })] }));
    const { summary } = await workspace.run();
    expect(summary.balance).toMatchObject({ accepted: 5, rejected: 0, skipped: 3 });
    expect(summary.steps[0]?.skips).toEqual({ 'read-again': 3 });
    expectEveryRowOnce(summary);
    expect(readOutput(summary, 1, 'skipped').map(({ _file, _reason }) => [_file, _reason])).toEqual([
      ['in/a.csv', 'The same row stands in a later file, and counts there'],
      ['in/m.csv', 'It came back in in/a.csv, and counts there'],
      ['in/m.csv', 'It came back in in/z.csv, and counts there'],
    ]);
    expect(await workspace.destinations()).toEqual([...numbersOf(3), numberOf(5), numberOf(19)]);
  });

  test('count once over any number of corrections, right and wrong, in files of any order', async () => {
    const PERSONS = Array.from({ length: 6 }, (_, at) => at + 1);
    const act = fc.constantFrom('leave', 'right', 'wrong');
    const round = fc.record({ isFirst: fc.boolean(), acts: fc.array(act, { minLength: 6, maxLength: 6 }) });
    const rounds = fc.array(round, { minLength: 1, maxLength: 4 });
    const check = async (all: { isFirst: boolean; acts: string[] }[]) => {
      const workspace = await aWorkspace();
      const lines = PERSONS.map((person) => `P${person},wrong 0\n`);
      workspace.write('in/m.csv', `name,mobile\n${lines.join('')}x,${numberOf(99)}\n`);
      workspace.writeJob(aJob(workspace, { steps: [anSmsStep(INBOX)] }));
      const right = new Set<number>();
      for (const [at, { isFirst, acts }] of all.entries()) {
        const { text, counts, skips } = await draft(workspace);
        const again = skips['read-again'] ?? 0;
        expect([counts.read - again, counts.planned, counts.rejected]).toEqual([7, right.size + 1, 6 - right.size]);
        const [header = '', ...rows] = text.trimEnd().split('\n');
        const corrected = rows.flatMap((row) => {
          const person = Number(row[1]);
          const done = acts[person - 1];
          if (done === 'right') right.add(person);
          return done === 'leave'
            ? []
            : [row.replace(/wrong \d/, done === 'right' ? numberOf(person) : `wrong ${at + 1}`)];
        });
        if (corrected.length > 0)
          workspace.write(`in/${isFirst ? 'a' : 'z'}${at}.csv`, `${[header, ...corrected].join('\n')}\n`);
      }
      const { summary } = await workspace.run();
      expectEveryRowOnce(summary);
      expect(summary.balance).toMatchObject({ accepted: right.size + 1, rejected: 6 - right.size });
      const sent = [...right, 99].sort((one, other) => one - other);
      expect(await workspace.destinations()).toEqual(sent.map((person) => numberOf(person)));

      // What is left can be corrected after it.
      const left = readFileSync(join(summary.directory, '1-sms.rejections.csv'), 'utf8').replace(
        /^P(\d),wrong \d/gm,
        (_, at) => `P${at},${numberOf(Number(at))}`,
      );
      workspace.write('in/end.csv', left);
      if (right.size < 6) expect((await workspace.run()).summary.balance.accepted).toBe(6 - right.size);
      expect(await workspace.destinations()).toEqual([...PERSONS, 99].map((person) => numberOf(person)));
    };
    await fc.assert(fc.asyncProperty(rounds, check), { numRuns: runsOf(24) });
  });
});
