import { describe, expect, it } from 'vitest';
import { RowOrdinals } from '../../src/plan/tally.js';
import { aNumber, anSmsStep, aPlan } from './a-plan.js';

describe('figures of a step', () => {
  it('count rejections and skips by code, countries and what forces UCS-2', async () => {
    const rows = [
      `${aNumber(0)},Ann`,
      `+60123456789,Bea`,
      `${aNumber(1)},Zoe 😀 ë`,
      `${aNumber(2)},😀`,
      `${aNumber(0)},Ann again`,
      'nope,Cy',
      ',Di',
      ',Ed',
      `${aNumber(3)},`,
    ];
    const job = { steps: [anSmsStep({ text: 'Hi {{ name }}' })] };
    const { step } = await aPlan({ job, files: { 'people.csv': `mobile,name\n${rows.join('\n')}\n` } });
    expect(step.counts).toMatchObject({ read: 9, planned: 4, rejected: 4, skipped: 1 });
    expect(step.rejections).toEqual({ empty: 2, 'not-a-number': 1, 'missing-value': 1 });
    expect(Object.keys(step.rejections)[0]).toBe('empty');
    expect(step.skips).toEqual({ duplicate: 1 });
    expect(step.countries).toEqual({ SG: 3, MY: 1 });
    expect(step.ucs2).toEqual({ '😀 (U+1F600)': 2, 'ë (U+00EB)': 1 });
  });

  it('show the first three texts as they would be sent', async () => {
    const { step } = await aPlan({
      job: { steps: [anSmsStep({ text: 'Hi {{ name }}' })] },
      files: {
        'people.csv': `mobile,name\nnope,X\n${[0, 1, 2, 3].map((each) => `${aNumber(each)},n${each}\n`).join('')}`,
      },
    });
    expect(step.examples).toEqual([0, 1, 2].map((each) => ({ to: aNumber(each), text: `Hi n${each}` })));
  });

  it('say which reasons most rejected rows have, with the first row of each, its cell masked', async () => {
    const rows = [
      'nope,a',
      `${aNumber(0)},b`,
      '+65 9123 45,c',
      'other,d',
      '+65 9123 46,e',
      '+65 9123 47,f',
      ',g',
      'n/a,h',
    ];
    const job = { steps: [anSmsStep({ text: 'Hi {{ name }}' })] };
    const { plan } = await aPlan({ job, files: { 'people.csv': `mobile,name\n${rows.join('\n')}\n` } });
    const reasons = plan.steps[0]?.reasons ?? [];
    expect(reasons.map(({ code, rows }) => [code, rows])).toEqual([
      ['too-short', 3],
      ['not-a-number', 2],
      ['empty', 1],
    ]);
    const expected = { file: expect.stringMatching(/people\.csv$/), line: 4, row: 3, field: 'mobile' };
    expect(reasons[0]?.example).toMatchObject(expected);
    expect(reasons[0]?.example.value).toBe('+65 **** 45');
    expect(reasons[1]?.example.value).toBe('');
  });
});

it('the place of a row among all files of a step is named by its file and its number in it, files without rows passed over', () => {
  const rows = new RowOrdinals();
  const take = (file: string, count: number) => {
    rows.beginFile(file);
    for (let row = 0; row < count; row++) rows.take();
  };
  take('a.csv', 2);
  take('empty.csv', 0);
  take('b.csv', 1);
  const expected = ['row 1 of a.csv', 'row 2 of a.csv', 'row 1 of b.csv'];
  expect([0, 1, 2].map((ordinal) => rows.describe(ordinal))).toEqual(expected);
});
