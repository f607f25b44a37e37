import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Where } from '../../src/job/schema/written-where.js';
import type { PlannedStep } from '../../src/plan/format/plan-file.js';
import { runsOf } from '../one-in.js';
import { aNumber, anInput, anSmsStep, aPlan } from './a-plan.js';

const WHERE: Where = [
  [
    { column: 'consent', tests: [{ op: 'equals', values: ['yes'], exact: false }] },
    { column: 'Land', tests: [{ op: 'equals', values: ['Deutschland'], exact: false }] },
    { column: 'spend', tests: [{ op: 'atLeast', bound: 100 }] },
  ],
];
const stop = anInput({ files: ['stop.csv'] });

async function aFunnel(rows: readonly string[], where: Where = WHERE): Promise<PlannedStep> {
  const step = anSmsStep({ input: anInput({ where }), suppress: [stop] });
  const files = {
    'people.csv': `mobile,consent,Land,spend\n${rows.join('\n')}\n`,
    'stop.csv': `mobile\n${aNumber(9)}\n`,
  };
  return (await aPlan({ job: { steps: [step] }, files })).step;
}

const ROWS = [
  `${aNumber(1)},yes,Deutschland,100`,
  `${aNumber(1)},yes,Deutschland,200`,
  `${aNumber(9)},yes,Deutschland,200`,
  `12,yes,Deutschland,200`,
  `${aNumber(2)},yes,Deutschland,n/a`,
  `${aNumber(3)},yes,Deutschland,1`,
  ...[4, 5].map((person) => `${aNumber(person)},yes,DE,100`),
  `${aNumber(6)},yes,Germany,100`,
  `${aNumber(7)},no,DE,1`,
  `${aNumber(8)},,DE,1`,
];

describe('the funnel of a step', () => {
  test('goes from the rows read to those that are sent, with what each condition left out', async () => {
    expect((await aFunnel(ROWS)).funnel).toEqual([
      {
        ...{ filter: 'consent: yes', code: 'filtered', omitted: 2, left: 9 },
        values: [
          { value: '', rows: 1 },
          { value: 'no', rows: 1 },
        ],
      },
      {
        ...{ filter: 'Land: Deutschland', code: 'filtered', omitted: 3, left: 6 },
        values: [
          { value: 'DE', rows: 2 },
          { value: 'Germany', rows: 1 },
        ],
        warning:
          'Land: Deutschland omits other spellings: DE 2, Germany 1 (Deutschland). To let them in write Land: { as: country, equals: Deutschland }',
      },
      {
        ...{ filter: 'spend: { atLeast: 100 }', code: 'filtered', omitted: 1, left: 5 },
        values: [{ value: '1', rows: 1 }],
      },
      { code: 'suppressed', omitted: 1, left: 4 },
      { code: 'duplicate', omitted: 1, left: 3 },
      { code: 'rejected', omitted: 2, left: 1 },
    ]);
  });

  test('has one stage for a list of maps, with the cells of all its columns', async () => {
    const [[consent, land] = []] = WHERE;
    const { funnel = [] } = await aFunnel(ROWS.slice(5), [[consent!], [land!]]);
    expect(funnel).toEqual([
      {
        ...{ filter: 'consent: yes or Land: Deutschland', code: 'filtered', omitted: 2, left: 4 },
        values: [
          { value: 'blank · DE', rows: 1 },
          { value: 'no · DE', rows: 1 },
        ],
        warning: expect.stringContaining('omits other spellings: DE 2 (Deutschland)'),
      },
    ]);
  });

  test.each([
    ['people.csv', 'mobile,Land\n'],
    ['people.ndjson', ''],
  ])('warns of other spellings of a country that `not` lets in: %s', async (name, head) => {
    const where: Where = [[{ column: 'Land', tests: [{ op: 'not', values: ['Deutschland'], exact: false }] }]];
    const rows = ['Deutschland', 'DE', 'Germany', 'DE', 'AT'].map((land, person) =>
      head === '' ? `${JSON.stringify({ mobile: aNumber(person), Land: land })}\n` : `${aNumber(person)},${land}\n`,
    );
    const steps = [anSmsStep({ input: anInput({ files: [name], where }) })];
    const { step } = await aPlan({ job: { steps }, files: { [name]: `${head}${rows.join('')}` } });
    expect(step.funnel?.[0]).toEqual({
      ...{ filter: 'Land: { not: Deutschland }', code: 'filtered', omitted: 1, left: 4 },
      values: [{ value: 'Deutschland', rows: 1 }],
      warning:
        'Land: { not: Deutschland } lets in other spellings: DE 2, Germany 1 (Deutschland). To omit them write Land: { as: country, not: Deutschland }',
    });
  });

  test.each<[string, Where[number][number]['tests'][number], string[]]>([
    ['no country is named', { op: 'equals', values: ['vip', 'no'], exact: false }, ['Norge', 'DE']],
    ['other countries are left out', { op: 'equals', values: ['DE'], exact: false }, ['Austria', 'CH', '', '?']],
    ['the letters count', { op: 'equals', values: ['Deutschland'], exact: true }, ['DE']],
    ['spellings count as one', { op: 'equals', as: 'country', values: ['DE'] }, ['Austria']],
  ])('warns of no spelling where %s', async (_what, condition, lands) => {
    const rows = lands.map((land, person) => `${aNumber(person)},yes,${land},1`);
    const { funnel = [] } = await aFunnel(rows, [[{ column: 'Land', tests: [condition] }]]);
    expect(funnel.map(({ code, warning }) => [code, warning])).toContainEqual(['filtered', undefined]);
  });

  test('adds up to the counts of the step, whatever the rows are', async () => {
    const cells = fc.tuple(
      fc.constantFrom('yes', 'no', ''),
      fc.constantFrom('Deutschland', 'DE'),
      fc.constantFrom('1', '100', 'x'),
    );
    const row = fc
      .tuple(fc.constantFrom('12', ...[1, 2, 3, 9].map(aNumber)), cells)
      .map(([number, rest]) => [number, ...rest].join(','));
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 40 }), async (rows) => {
        const { funnel = [], counts } = await aFunnel(rows);
        const omitted = (code: string) =>
          funnel.filter((stage) => stage.code === code).reduce((sum, stage) => sum + stage.omitted, 0);
        expect(funnel.at(-1)?.left).toBe(counts.planned);
        expect(omitted('rejected')).toBe(counts.rejected);
        expect(funnel.reduce((sum, stage) => sum + stage.omitted, 0)).toBe(counts.read - counts.planned);
        for (const [at, { left, omitted }] of funnel.entries())
          expect(left).toBe((funnel[at - 1]?.left ?? counts.read) - omitted);
      }),
      { numRuns: runsOf(30) },
    );
  });
});
