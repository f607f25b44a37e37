import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/domain/errors.js';
import type { Guards } from '../../src/job/job.js';
import { assertFitsSheets, checkGuards } from '../../src/plan/guards.js';
import { aCsvOf, aJob, anSmsStep, aPlan } from './a-plan.js';

/** Two steps over 4 rows, of which one is rejected: 6 messages of 2 parts. */
const { plan } = await aPlan({
  job: { steps: [anSmsStep({ text: 'x'.repeat(161) }), anSmsStep({ text: 'y'.repeat(161) })] },
  files: { 'people.csv': `${aCsvOf(3)}nope,x\n` },
});

const NO_COST = {
  countries: {},
  withoutPrice: {},
  ucs2: { extraParts: 0, extraCost: '0.00', characters: {} },
  groups: [],
};

function problemsOf(guards: Partial<Guards>): string[] {
  try {
    checkGuards(plan, { ...aJob().guards, ...guards });
    return [];
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    expect(error.code).toBe('guard');
    return error.problems.map(({ where, message }) => `${where}: ${message}`);
  }
}

describe('guards', () => {
  it('that are not set let every plan pass', () => {
    expect(problemsOf({})).toEqual([]);
  });

  it('let pass what is just at them', () => {
    expect(problemsOf({ maxRejectedPercent: 25, maxMessages: 6, maxSegments: 12 })).toEqual([]);
  });

  it('refuse a step with more rejections, each step by itself', () => {
    expect(problemsOf({ maxRejectedPercent: 24.9 })).toEqual([
      'step 1 (sms): 1 of 4 rows (25.0 %) would be rejected, expected at most maxRejectedPercent 24.9',
      'step 2 (sms): 1 of 4 rows (25.0 %) would be rejected, expected at most maxRejectedPercent 24.9',
    ]);
  });

  it('refuse more messages or segments than all steps may send together', () => {
    expect(problemsOf({ maxMessages: 5 })).toEqual(['plan: 6 messages would be sent, expected at most maxMessages 5']);
    expect(problemsOf({ maxSegments: 11 })).toEqual([
      'plan: 12 segments would be sent, expected at most maxSegments 11',
    ]);
  });

  it('refuse a plan that costs more than they allow, in the currency of its list', () => {
    const steps = plan.steps.map((step) => ({ ...step, cost: { ...NO_COST, total: '600.10' } }));
    const prices = { file: 'prices.csv', path: '/prices.csv', sha256: '', currency: 'EUR', rows: 1 };
    const check = (maxCost: string) => () => checkGuards({ steps, prices }, { ...aJob().guards, maxCost });
    expect(check('1200.20')).not.toThrow();
    expect(check('1200.199999')).toThrow(
      expect.objectContaining({
        problems: [{ where: 'plan', message: '1,200.20 EUR would be spent, expected at most maxCost 1200.199999' }],
      }),
    );
  });

  it('of zero let nothing pass', () => {
    expect(problemsOf({ maxRejectedPercent: 0, maxMessages: 0, maxSegments: 0 })).toHaveLength(4);
  });

  it('count no percent of a step that read nothing', () => {
    const empty = { ...plan.steps[0]!, counts: { ...plan.steps[0]!.counts, read: 0, rejected: 0 } };
    expect(() => checkGuards({ steps: [empty] }, { ...aJob().guards, maxRejectedPercent: 0 })).not.toThrow();
  });
});

describe('workbooks as outputs', () => {
  const withRows = (read: number, messages: number) =>
    plan.steps.map((step) => ({ ...step, counts: { ...step.counts, read, messages } }));
  const outputOf = (format: 'csv' | 'xlsx') => ({ output: { directory: 'out', format } });

  it('are refused where the rows of a step, or the messages of all, do not fit a sheet', () => {
    expect(() => assertFitsSheets(outputOf('xlsx'), withRows(1_048_576, 3))).toThrow(
      'Cannot plan the job: 1,048,576 rows would stand in one sheet (output.format: xlsx), expected at most 1,048,575',
    );
    expect(() => assertFitsSheets(outputOf('xlsx'), withRows(600_000, 600_000))).toThrow('1,200,000 rows');
  });

  it('are not where they fit, and CSV holds any', () => {
    assertFitsSheets(outputOf('xlsx'), withRows(1_048_575, 3));
    assertFitsSheets(outputOf('csv'), withRows(10_000_000, 10_000_000));
  });
});
