import { describe, expect, it } from 'vitest';
import { aNumber, anInput, anSmsStep, aPlan, statesOf } from './a-plan.js';

const number = aNumber(0);
const skipsOf = async (files: Record<string, string>, step = anSmsStep()) => {
  const { rows } = await aPlan({ job: { steps: [{ ...step, input: anInput({ files: ['*.csv'] }) }] }, files });
  return { states: statesOf(rows), reasons: rows.flatMap((row) => (row.state === 'skipped' ? [row.skip.reason] : [])) };
};

describe('the same number twice in a step', () => {
  it('is skipped, naming the row that is kept, over all files', async () => {
    const files = {
      'a.csv': `mobile\n${aNumber(1)}\n${number}\n`,
      'b.csv': 'mobile\n',
      'c.csv': `mobile\n${number}\n${aNumber(2)}\n`,
      'd.csv': `mobile\n${aNumber(2)}\n`,
    };
    expect(await skipsOf(files)).toEqual({
      states: ['planned', 'planned', 'duplicate', 'planned', 'duplicate'],
      reasons: [
        'The same number stands in row 2 of a.csv, which is the one used',
        'The same number stands in row 2 of c.csv, which is the one used',
      ],
    });
  });

  it('is found however the number is written', async () => {
    const { states } = await skipsOf({ 'a.csv': `mobile\n${number}\n9000 0000\n6590000000\n0065 9000-0000\n` });
    expect(states.slice(0, 2)).toEqual(['planned', 'duplicate']);
    expect(states.slice(2)).not.toContain('planned');
  });

  it('is kept where the job says so', async () => {
    const { states } = await skipsOf({ 'a.csv': `mobile\n${number}\n${number}\n` }, anSmsStep({ duplicates: 'keep' }));
    expect(states).toEqual(['planned', 'planned']);
  });

  it('is kept for the first row that can be sent: one that is rejected takes no one’s place', async () => {
    const step = anSmsStep({ text: 'Hi {{ name }}' });
    const { states, reasons } = await skipsOf(
      { 'a.csv': `mobile,name\n${number},\n${number},Ann\n${number},Bea\n` },
      step,
    );
    expect(states).toEqual(['missing-value', 'planned', 'duplicate']);
    expect(reasons).toEqual(['The same number stands in row 2 of a.csv, which is the one used']);
  });

  it('names the row as it is counted in the file: faulty rows and lines within a cell included', async () => {
    const { reasons } = await skipsOf({
      'a.csv': `mobile,note\n${aNumber(1)},"one\ntwo"\nbroken\n${number},x\n${number},y\n`,
    });
    expect(reasons).toEqual(['The same number stands in row 3 of a.csv, which is the one used']);
  });

  it('in two steps is a message in each', async () => {
    const { plan } = await aPlan({ job: { steps: [anSmsStep(), anSmsStep({ text: 'Bye' })] } });
    expect(plan.steps.map(({ counts }) => counts.planned)).toEqual([3, 3]);
  });
});
