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
  const tooMany = (step: number, percent: number) =>
    `step ${step} (sms): 1 of 4 rows (25.0 %) would be rejected, expected at most maxRejectedPercent ${percent}`;
  const MESSAGES = 'plan: 6 messages would be sent, expected at most maxMessages';
  const SEGMENTS = 'plan: 12 segments would be sent, expected at most maxSegments';

  it.each<[what: string, guards: Partial<Guards>, ...problems: string[]]>([
    ['that are not set let every plan pass', {}],
    ['let pass what is just at them', { maxRejectedPercent: 25, maxMessages: 6, maxSegments: 12 }],
    [
      'refuse a step with more rejections, each step by itself',
      { maxRejectedPercent: 24.9 },
      ...[tooMany(1, 24.9), tooMany(2, 24.9)],
    ],
    ['refuse more messages than all steps may send together', { maxMessages: 5 }, `${MESSAGES} 5`],
    ['refuse more segments than all steps may send together', { maxSegments: 11 }, `${SEGMENTS} 11`],
    [
      'of zero let nothing pass',
      { maxRejectedPercent: 0, maxMessages: 0, maxSegments: 0 },
      ...[tooMany(1, 0), tooMany(2, 0), `${MESSAGES} 0`, `${SEGMENTS} 0`],
    ],
  ])('%s', (_, guards, ...problems) => {
    expect(problemsOf(guards)).toEqual(problems);
  });

  it('refuse a plan that costs more than they allow, in the currency of its list', () => {
    const steps = plan.steps.map((step) => ({ ...step, cost: { ...NO_COST, total: '600.10' } }));
    const prices = { file: 'prices.csv', path: '/prices.csv', sha256: '', currency: 'EUR', rows: 1 };
    const check = (maxCost: string) => () => checkGuards({ steps, prices }, { ...aJob().guards, maxCost });
    expect(check('1200.20')).not.toThrow();
    const problems = [{ where: 'plan', message: '1,200.20 EUR would be spent, expected at most maxCost 1200.199999' }];
    expect(check('1200.199999')).toThrow(expect.objectContaining({ problems }));
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
