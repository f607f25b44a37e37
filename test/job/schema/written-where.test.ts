import { expect, test } from 'vitest';
import { isRowStep } from '../../../src/job/job.js';
import { parseJob } from '../../../src/job/load.js';
import { aJobFile, anSmsStep } from '../a-job-file.js';

const withInput = (input: Record<string, unknown>) =>
  aJobFile({ steps: [anSmsStep({ input: { files: 'a.csv', ...input } })] });
const withWhere = (where: unknown) => withInput({ where });

function fill(where: unknown) {
  const [step] = parseJob(withWhere(where), 'sale.yaml').steps;
  return step !== undefined && isRowStep(step) ? step.input.where : undefined;
}

test('what is written short is written out', () => {
  expect(
    fill({
      consent: 'yes',
      country: ['SG', 'MY'],
      vip: true,
      level: 3,
      email: 'present',
      spend: { atLeast: 1, atMost: 2 },
    }),
  ).toEqual([
    [
      { column: 'consent', tests: [{ op: 'equals', values: ['yes'], exact: false }] },
      { column: 'country', tests: [{ op: 'equals', values: ['SG', 'MY'], exact: false }] },
      { column: 'vip', tests: [{ op: 'equals', values: ['true'], exact: false }] },
      { column: 'level', tests: [{ op: 'equals', values: [3], exact: false }] },
      { column: 'email', tests: [{ op: 'present' }] },
      {
        column: 'spend',
        tests: [
          { op: 'atLeast', bound: 1 },
          { op: 'atMost', bound: 2 },
        ],
      },
    ],
  ]);
});

test('a list of maps is a list of groups', () => {
  expect(
    fill([{ a: { not: ['x', 'y'], exact: true } }, { b: { after: '2026-01-01', format: 'd.M.yyyy' }, c: 'blank' }]),
  ).toEqual([
    [{ column: 'a', tests: [{ op: 'not', values: ['x', 'y'], exact: true }] }],
    [
      { column: 'b', tests: [{ op: 'after', bound: '2026-01-01', format: 'd.M.yyyy' }] },
      { column: 'c', tests: [{ op: 'blank' }] },
    ],
  ]);
});

test('an input without it is as it was: no key of it is in a plan', () => {
  const [step] = parseJob(withInput({}), 'sale.yaml').steps;
  expect(Object.keys(step !== undefined && isRowStep(step) ? step.input : {})).not.toContain('where');
});
