import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { ROW_KINDS, type RowKind } from '../../src/domain/areas.js';
import type { Where } from '../../src/job/schema/written-where.js';
import { checkGuards } from '../../src/plan/guards.js';
import { fillOne } from '../job/a-job-file.js';
import { COLUMNS, EXAMPLES, rowOf } from '../kinds/examples.js';
import { runsOf } from '../one-in.js';
import { aJob, aNumber, anInput, anSmsStep, aPlan, refusalOf, statesOf } from './a-plan.js';

const CONSENT: Where = [[{ column: 'consent', tests: [{ op: 'equals', values: ['yes'], exact: false }] }]];
const SPEND: Where = [[{ column: 'spend', tests: [{ op: 'atLeast', bound: 100 }] }]];
const input = (where?: Where, changes = {}) => anInput({ ...(where === undefined ? {} : { where }), ...changes });

const STEPS = (Object.keys(ROW_KINDS) as RowKind[]).map((kind) =>
  fillOne(kind, { kind, input: { files: 'people.csv' }, ...EXAMPLES[kind].step(COLUMNS) }),
);

const PEOPLE = [
  ['name', 'mobile', 'session', 'code', 'consent'],
  ...['yes', 'no', undefined, ' YES', ''].map((consent, at) => {
    // Nothing in the third row could be sent.
    return consent === undefined ? ['', '12', ' ', '', 'no'] : [...Object.values(rowOf(at + 1)), consent];
  }),
];
const AS_CSV = PEOPLE.map((cells) => `${cells.join(',')}\n`).join('');
const [NAMES = [], ...ROWS] = PEOPLE;
const AS_NDJSON = ROWS.map(
  (cells) => `${JSON.stringify(Object.fromEntries(cells.map((cell, at) => [NAMES[at], cell])))}\n`,
).join('');

describe.each(STEPS)('a step of kind $kind', (step) => {
  it.each([
    ['people.csv', AS_CSV],
    ['people.ndjson', AS_NDJSON],
  ])('skips the rows that its where omits, before anything about them is checked: %s', async (name, content) => {
    const filtered = { ...step, input: input(CONSENT, { files: [name] }) };
    const { step: planned, rows, plan } = await aPlan({ job: { steps: [filtered] }, files: { [name]: content } });
    expect(statesOf(rows)).toEqual(['planned', 'filtered', 'filtered', 'planned', 'filtered']);
    expect(planned.counts).toMatchObject({ read: 5, planned: 2, rejected: 0, skipped: 3 });
    expect(planned.skips).toEqual({ filtered: 3 });
    expect(rows.flatMap((row) => (row.state === 'skipped' ? [row.skip.reason] : []))).toEqual(
      Array(3).fill('filter: consent: yes'),
    );
    expect(() => checkGuards(plan, { ...aJob().guards, maxRejectedPercent: 0 })).not.toThrow();
  });
});

test('rows that are left out are neither duplicates nor the reason of one, and cost the guard none of its share', async () => {
  const people = `mobile,spend\n${aNumber(0)},1\n${aNumber(0)},100\n${aNumber(0)},200\n${aNumber(1)},x\n${aNumber(2)},\n`;
  const steps = [anSmsStep({ input: input(SPEND) })];
  const { rows, plan } = await aPlan({ job: { steps }, files: { 'people.csv': people } });
  expect(statesOf(rows)).toEqual(['filtered', 'planned', 'duplicate', 'bad-filter-value', 'filtered']);
  expect(rows[3]).toMatchObject({
    rejection: {
      stage: 'filter',
      field: 'spend',
      reason:
        'Cannot compare spend as the filter says: it is "x", expected a number such as 1250.50, without a unit, of at most 15 digits, or a blank cell. Where a file writes 1.234 for 1234, say so with format: "1.234,56"; where it has three decimals, with format: "1234.56"',
    },
  });
  expect(() => checkGuards(plan, { ...aJob().guards, maxRejectedPercent: 33 })).toThrow('guard');
  expect(() => checkGuards(plan, { ...aJob().guards, maxRejectedPercent: 34 })).not.toThrow();
});

test('a row that cannot be read is rejected, whatever where says', async () => {
  const files = { 'people.csv': `mobile,consent\n${aNumber(0)}\n${aNumber(1)},yes,more\n` };
  const { rows } = await aPlan({ job: { steps: [anSmsStep({ input: input(CONSENT) })] }, files });
  expect(statesOf(rows)).toEqual(['too-few-fields', 'too-many-fields']);
});

test('a key of NDJSON that comes late, or has a dot in its name, is a column of where', async () => {
  const where: Where = [[{ column: 'profile.name', tests: [{ op: 'present' }] }]];
  const lines = [{}, { 'profile.name': 'Bea' }, { 'profile.name': null }].map(
    (more, at) => `${JSON.stringify({ mobile: aNumber(at), ...more })}\n`,
  );
  const steps = [anSmsStep({ input: input(where, { files: ['people.ndjson'] }) })];
  const { rows } = await aPlan({ job: { steps }, files: { 'people.ndjson': lines.join('') } });
  expect(statesOf(rows)).toEqual(['filtered', 'planned', 'filtered']);
});

test('a column that is not there refuses the plan, with its place in the job', async () => {
  const steps = [anSmsStep(), anSmsStep({ input: input(CONSENT) })];
  const { error } = await refusalOf({ job: { steps }, files: { 'people.csv': 'mobile,Consents\n' } });
  expect(error.problems).toEqual([
    {
      where: 'people.csv:1',
      at: ['steps', 1, 'input', 'where', 'consent'],
      message: "input.where: no column matches 'consent'; columns: mobile, Consents (in people.csv:1)",
      hint: 'Did you mean "Consents"?',
    },
  ]);
});

test('where is part of the id of a plan; a job without it has the id that it had', async () => {
  const idOf = async (where?: Where) =>
    (await aPlan({ job: { steps: [anSmsStep({ input: input(where) })] }, files })).plan.id;
  const files = { 'people.csv': AS_CSV };
  const ids = [await idOf(), await idOf(CONSENT), await idOf(SPEND_LIKE), await idOf([...CONSENT, ...SPEND_LIKE])];
  expect(new Set(ids).size).toBe(4);
  expect(ids[0]).toBe((await aPlan({ files })).plan.id);
});

const SPEND_LIKE: Where = [[{ column: 'name', tests: [{ op: 'present' }] }]];

test('each row stands in the plan once, whatever where takes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('100', '99', '', 'x', ' 250 '), { minLength: 1, maxLength: 60 }),
      async (spends) => {
        const people = `mobile,spend\n${spends.map((spend, at) => `${aNumber(at)},${spend}\n`).join('')}`;
        const steps = [anSmsStep({ input: input(SPEND) })];
        const { step, rows } = await aPlan({ job: { steps }, files: { 'people.csv': people } });
        const { read, planned, rejected, skipped } = step.counts;
        expect([read, planned + rejected + skipped, rows.length]).toEqual(Array(3).fill(spends.length));
      },
    ),
    { numRuns: runsOf(30) },
  );
});
