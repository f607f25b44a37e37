import { expect, test } from 'vitest';
import { aNumber, anSmsStep, aPlan } from './a-plan.js';

const ROWS = ['nope,a', `${aNumber(0)},b`, '+65 9123 45,c', 'other,d', '+65 9123 46,e', '+65 9123 47,f', ',g', 'n/a,h'];

test('a plan says which reasons most rejected rows have, with the first row of each, its cell masked', async () => {
  const { plan } = await aPlan({
    job: { steps: [anSmsStep({ text: 'Hi {{ name }}' })] },
    files: { 'people.csv': `mobile,name\n${ROWS.join('\n')}\n` },
  });
  const reasons = plan.steps[0]?.reasons ?? [];
  expect(reasons.map(({ code, rows }) => [code, rows])).toEqual([
    ['too-short', 3],
    ['not-a-number', 2],
    ['empty', 1],
  ]);
  expect(reasons[0]?.example).toMatchObject({
    file: expect.stringMatching(/people\.csv$/),
    line: 4,
    row: 3,
    field: 'mobile',
  });
  expect(reasons[0]?.example.value).toBe('+65 **** 45');
  expect(reasons[1]?.example.value).toBe('');
});
