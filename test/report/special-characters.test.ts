import { describe, expect, it } from 'vitest';
import type { SmsTemplate } from '../../src/job/job.js';
import { describeSpecialCharacters } from '../../src/report/account.js';
import { aNumber, anInput, anSmsStep, aPlan, aTemplate } from '../plan/a-plan.js';

const LONG = 'we open on Friday at our new store, come and see, there is cake and coffee for all.';
const PRICES = { prices: { input: anInput({ files: ['prices.csv'] }), currency: 'EUR', onMissing: 'refuse' as const } };
const LIST = { 'prices.csv': 'country,sms\nSG,0.05\n' };

type Written = Partial<SmsTemplate> & { prices?: object };

async function say(names: readonly string[], { text = `{{ name }} ${LONG}`, prices = {}, ...written }: Written = {}) {
  const people = `mobile,name\n${names.map((name, at) => `${aNumber(at)},${name}\n`).join('')}`;
  const steps = [anSmsStep({ template: aTemplate({ text, ...written }) })];
  const { step } = await aPlan({ job: { ...prices, steps }, files: { 'people.csv': people, ...LIST } });
  return describeSpecialCharacters(step, { currency: 'EUR', most: 2 });
}

describe('special characters of a step', () => {
  it('come with what they cost, and what it would cost without them', async () => {
    expect(await say(['Ann 🎉', 'Bo 🎉'], { prices: PRICES })).toBe(
      'special characters: 70 instead of 160 a part for 🎉 (U+1F389) 2; 🎉 doubles the price, 0.20 instead of 0.10 EUR',
    );
  });

  it('come with the parts where no prices are known', async () => {
    expect(await say(['Ann 🎉', 'Bo'])).toBe(
      'special characters: 70 instead of 160 a part for 🎉 (U+1F389) 1; 🎉 raises the parts, 3 instead of 2',
    );
  });

  it('are named, the commonest first, and counted where they are many', async () => {
    expect(await say(['A ☺', 'B ☺', 'C 🎉', 'D Ł'])).toBe(
      'special characters: 70 instead of 160 a part for ☺ (U+263A) 2, Ł (U+0141) 1, and 1 more; ☺, Ł and 🎉 double the parts, 8 instead of 4',
    );
  });

  it('of one text are all named, so that the saving comes when they are gone', async () => {
    expect(await say(['Ann 🎉 –', 'Bo – 🎉'], { prices: PRICES })).toBe(
      'special characters: 70 instead of 160 a part for – (U+2013 EN DASH) 2, 🎉 (U+1F389) 2; – and 🎉 double the price, 0.20 instead of 0.10 EUR',
    );
    expect(await say(['Ann', 'Bo'], { prices: PRICES })).toBeUndefined();
    expect(await say(['Ann 🎉 –'], { smartReplace: true })).toMatch(/for 🎉 \(U\+1F389\) 1; 🎉 doubles the parts/);
    expect(await say(['Ann –'], { smartReplace: true })).toBeUndefined();
    expect(await say(['Ann'], { text: `{{ name }} 🎉 – ${LONG}`, smartReplace: true })).toMatch(/; 🎉 doubles/);
    expect(await say(['Ann'], { text: `🎉 – ${LONG}` })).toMatch(/; (?:– and 🎉|🎉 and –) double the parts/);
  });

  it('that cost nothing more say so, and a step without any says nothing', async () => {
    expect(await say(['🎉'], { text: 'Hi {{ name }}' })).toMatch(/🎉 \(U\+1F389\) 1; no message takes more parts$/);
    expect(await say(['Ann'])).toBeUndefined();
  });

  it('are not to blame where the job asks for UCS-2', async () => {
    expect(await say(['Ann'], { encoding: 'UCS2' })).toBe(
      'special characters: 70 instead of 160 a part; encoding: UCS2 doubles the parts, 2 instead of 1',
    );
  });
});
