import { describe, expect, it, test } from 'vitest';
import { aNumber, anInput, anSmsStep, aPlan, aTemplate } from './a-plan.js';

const files = {
  'people.csv': `mobile,name\n${['Ann', 'Bea – the 2nd', 'O’Neil…', '李', 'D’A'].map((name, at) => `${aNumber(at)},${name}\n`).join('')}`,
};
const step = (text: string, smartReplace?: true) =>
  anSmsStep({ input: anInput(), template: aTemplate({ text, ...(smartReplace && { smartReplace }) }) });

describe('smartReplace', () => {
  it('makes one part of two, counts what it replaced, and leaves a text that needs UCS-2 anyway', async () => {
    const long = 'x'.repeat(90);
    const without = await aPlan({ job: { steps: [step(`{{ name }} ${long}`)] }, files });
    const { step: planned, requests } = await aPlan({ job: { steps: [step(`{{ name }} ${long}`, true)] }, files });
    expect([without.step.counts.segments, planned.counts.segments]).toEqual([9, 6]);
    expect(planned.replaced).toEqual({
      '’ (U+2019 RIGHT SINGLE QUOTATION MARK)': 2,
      '– (U+2013 EN DASH)': 1,
      '… (U+2026 HORIZONTAL ELLIPSIS)': 1,
    });
    const texts = requests.flatMap(({ json }) => json.messages.map((each) => (each as { text?: string }).text));
    const expected = ['Ann', 'Bea - the 2nd', "O'Neil...", '李', "D'A"];
    expect(texts.map((text) => text?.slice(0, -long.length - 1))).toEqual(expected);
    expect(Object.keys(planned.ucs2)).toEqual(['李 (U+674E)']);
  });

  it('replaces what the template has: once for a text that all share', async () => {
    const { step: planned, requests } = await aPlan({ job: { steps: [step('Open – now', true)] }, files });
    expect(planned.replaced).toEqual({ '– (U+2013 EN DASH)': 5 });
    expect(requests[0]?.json.template).toMatchObject({ text: 'Open - now' });
    const own = await aPlan({ job: { steps: [step('{{ name }}: open – now', true)] }, files });
    expect(own.step.replaced).toMatchObject({ '– (U+2013 EN DASH)': 4 });
  });
});

test('a plan that replaces nothing says nothing of it; smartReplace is part of its id', async () => {
  const plain = await aPlan({ job: { steps: [step('Open')] }, files });
  const asked = await aPlan({ job: { steps: [step('Open', true)] }, files });
  expect(Object.keys(asked.step)).not.toContain('replaced');
  expect(asked.plan.id).not.toBe(plain.plan.id);
});
