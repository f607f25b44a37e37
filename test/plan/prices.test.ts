import { describe, expect, it } from 'vitest';
import type { JobPrices } from '../../src/job/job.js';
import { aContactsStep, anInput, anSmsStep, aPlan, type PlanOptions, refusalOf } from './a-plan.js';

const LIST = 'country,prefix,sms,contact\nSG,,0.042,0.001\nMY,,0.05,0.002\n,+6591,0.03,\n';

function somePrices(changes: Partial<JobPrices> = {}): JobPrices {
  return { input: anInput({ files: ['prices.csv'] }), currency: 'EUR', onMissing: 'refuse', ...changes };
}

/** Two people in Singapore, of which one has a number with a price of its own, one in Malaysia, one in Germany. */
const PEOPLE = 'mobile,name\n+6590000001,Ann\n+6591000002,Bea\n+60123456789,Cem\n';

type Priced = PlanOptions['job'] & { list?: string; people?: string };

function aPricedJob({ list = LIST, people = PEOPLE, ...job }: Priced = {}): PlanOptions {
  return { job: { prices: somePrices(), ...job }, files: { 'people.csv': people, 'prices.csv': list } };
}

describe('a plan with prices', () => {
  it('says what each step costs by country, and which list it was calculated with', async () => {
    const { plan, step } = await aPlan(aPricedJob({ steps: [anSmsStep({ text: 'x'.repeat(161) })] }));

    expect(step.cost).toEqual({
      total: '0.244',
      countries: { SG: { rows: 2, parts: 4, cost: '0.144' }, MY: { rows: 1, parts: 2, cost: '0.10' } },
      withoutPrice: {},
      ucs2: { extraParts: 0, extraCost: '0.00', characters: {} },
      groups: [
        { country: 'SG', parts: 2, rowCost: '0.084', rows: 1 },
        { country: 'SG', parts: 2, rowCost: '0.06', rows: 1 },
        { country: 'MY', parts: 2, rowCost: '0.10', rows: 1 },
      ],
    });
    expect(plan.prices).toMatchObject({ file: 'prices.csv', currency: 'EUR', rows: 3 });
    expect(plan.prices?.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it('names the group of each planned row', async () => {
    const { rows } = await aPlan(aPricedJob());
    expect(rows.map((row) => row.state === 'planned' && [...row.facts, row.costGroup])).toEqual([
      ['+6590000001', '1', 0],
      ['+6591000002', '1', 1],
      ['+60123456789', '1', 2],
    ]);
  });

  it('has no cost without a list, and the same id with one', async () => {
    const plain = await aPlan({ files: { 'people.csv': PEOPLE } });
    const priced = await aPlan(aPricedJob());
    expect([plain.step.cost, plain.plan.prices]).toEqual([undefined, undefined]);
    expect([plain.plan.id, plain.requests]).toEqual([priced.plan.id, priced.requests]);
  });

  it('counts what UCS-2 adds, by the character that forces it', async () => {
    const people = `mobile,name\n+6590000001,${'a'.repeat(100)}’\n+6590000002,’\n+60123456789,${'b'.repeat(150)}–\n`;
    const { step } = await aPlan(aPricedJob({ people, steps: [anSmsStep({ text: '{{ name }}' })] }));

    expect(step.counts.segments).toBe(6);
    expect(step.cost?.ucs2).toEqual({
      extraParts: 3,
      extraCost: '0.142',
      characters: {
        '– (U+2013 EN DASH)': { rows: 1, extraParts: 2, extraCost: '0.10' },
        '’ (U+2019 RIGHT SINGLE QUOTATION MARK)': { rows: 1, extraParts: 1, extraCost: '0.042' },
      },
    });
  });

  it('counts what UCS-2 adds where the job asks for it', async () => {
    const template = { ...anSmsStep({ text: 'x'.repeat(100) }).template, encoding: 'UCS2' } as const;
    const { step } = await aPlan(aPricedJob({ steps: [anSmsStep({ template })] }));
    expect(step.cost?.ucs2.characters).toEqual({ '': { rows: 3, extraParts: 3, extraCost: '0.122' } });
  });

  it('has a price for each contact where the list has such prices', async () => {
    const steps = [aContactsStep()];
    expect((await aPlan(aPricedJob({ steps, list: 'country,sms\nSG,1\n' }))).step.cost).toBeUndefined();
    const list = `${LIST}SG,+6591,0.03,0.0005\n`;
    const countries = { MY: { rows: 1, parts: 0, cost: '0.002' }, SG: { rows: 2, parts: 0, cost: '0.0015' } };
    expect((await aPlan(aPricedJob({ steps, list }))).step.cost).toMatchObject({ total: '0.0035', countries });
  });

  it('is refused where a country has no price, with the rows of each', async () => {
    const { error, problems } = await refusalOf(aPricedJob({ list: 'prefix,sms\n+6591,0.03\n' }));
    expect(error.code).toBe('bad-input');
    expect(problems).toEqual([
      'prices.csv: no price for SG (1 message), MY (1 message), expected one for each country that step 1 (sms) goes to',
    ]);
  });

  it('counts rows of such a country as without a price where the job says zero', async () => {
    const prices = somePrices({ onMissing: 'zero' });
    const { step } = await aPlan(aPricedJob({ prices, list: 'country,sms\nSG,0.042\n' }));
    expect(step.cost).toMatchObject({ total: '0.084', withoutPrice: { MY: 1 } });
  });

  it.each([
    [
      'country,sms\nSG,0.05\nXX,-1\nSG,1\n',
      ['prices.csv:3: "XX" is not', 'prices.csv:3: sms is negative', 'prices.csv:4: the row is for'],
    ],
    ['country,sms\n', ['prices.csv: the price list has no rows, expected a price for each country']],
    [
      'country,sms\nSG,"0,05"\n',
      ['prices.csv:2: sms has a comma, which may separate decimals or thousands, expected a point: 0.05'],
    ],
    ['country,sms\nSG\n', ['prices.csv:2: ']],
  ])('is refused for the faults of its list: %j', async (list, expected) => {
    const { problems } = await refusalOf(aPricedJob({ list }));
    expect(problems).toHaveLength(expected.length);
    for (const [at, start] of expected.entries()) expect(problems[at]).toContain(start);
  });

  it('reads decimal commas of a list with semicolons', async () => {
    expect((await aPlan(aPricedJob({ list: 'Country;SMS\nSG;0,042\nMY;1\n' }))).step.cost?.total).toBe('1.084');
  });

  it('is refused without a list', async () => {
    const prices = somePrices({ input: anInput({ files: ['none.csv'] }) });
    const { problems } = await refusalOf(aPricedJob({ prices }));
    expect(problems).toEqual(['none.csv: there is no such file, expected a file that can be read']);
  });
});
