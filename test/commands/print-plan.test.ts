import { describe, expect, it } from 'vitest';
import { formatPlan, summarizePlan } from '../../src/commands/print-plan.js';
import { aContactsStep, aCsvOf, aNumber, anSmsStep, aPlan, someLimits } from '../plan/a-plan.js';

describe('a plan, as a person reads it', () => {
  it('says what would be sent, what not and why, how long it takes, and how to send it', async () => {
    const limits = someLimits({ messagesPerSecond: 1 });
    const { plan, directory } = await aPlan({
      job: { steps: [anSmsStep({ text: 'Hi {{ name }} ☺', limits })] },
      files: { 'people.csv': `${aCsvOf(90)}nope,x\n${aNumber(0)},y\n` },
    });
    const text = formatPlan(plan, directory);
    expect(text.split('\n').slice(0, 3)).toEqual([
      `Plan ${plan.id} of job sale: nothing was sent.`,
      '',
      'Step 1 (sms): 92 rows read from people.csv',
    ]);
    for (const line of [
      '  to send    90 rows in 90 requests: 90 messages, 90 segments',
      '  rejected   1: not-a-number 1',
      '  skipped    1: duplicate 1',
      '  countries  SG 90',
      '  UCS-2      forced by ☺ (U+263A) 90',
      '  time       at least 1 min 30 s at the limits of the job',
      '  example    +65******00: Hi n0 ☺',
      `Send exactly this: volley apply ${directory} --confirm ${plan.id}`,
    ]) {
      expect(text.split('\n')).toContain(line);
    }
  });

  it('lists the twelve codes that are most, and how many more there are', async () => {
    const { plan } = await aPlan();
    const codes = Object.fromEntries(Array.from({ length: 14 }, (_, index) => [`code-${index}`, index + 1]));
    const text = formatPlan({ ...plan, steps: [{ ...plan.steps[0]!, rejections: codes }] }, '/out');
    expect(text).toContain(': code-13 14, code-12 13,');
    expect(text).toContain('code-2 3, and 2 more');
  });

  it('shows no whole number and nothing of a contact', async () => {
    const { plan, directory } = await aPlan({
      job: { steps: [aContactsStep({ fields: { msisdn: 'mobile', firstName: 'name' } })] },
    });
    const text = formatPlan(plan, directory);
    expect(text).not.toContain(aNumber(0));
    expect(text).not.toContain('n0');
  });

  it('carries nothing from a file that would steer the terminal', async () => {
    const { plan } = await aPlan({
      job: { steps: [anSmsStep({ text: 'Hi {{ name }}' })] },
      files: { 'people.csv': `mobile,name\n${aNumber(0)},"\u001b[2J\u202e\nStep 2: fine"\n` },
    });
    const evil = {
      ...plan,
      steps: [{ ...plan.steps[0]!, inputs: [{ ...plan.steps[0]!.inputs[0]!, file: 'a\u001b]0;x\u0007.csv' }] }],
    };
    expect(formatPlan(evil, '/out')).not.toMatch(/\p{Cf}|[^\P{Cc}\n]/u);
    expect(formatPlan(evil, '/out')).not.toMatch(/^Step 2/m);
  });
});

describe('a plan, for a machine', () => {
  it('has no texts, no columns’ content and no settings of the job', async () => {
    const { plan, directory } = await aPlan({ job: { steps: [anSmsStep({ text: 'Hi {{ name }}' })] } });
    const told = JSON.stringify(summarizePlan(plan, directory));
    expect(JSON.parse(told)).toMatchObject({
      plan: plan.id,
      job: 'sale',
      state: 'planned',
      steps: [{ counts: { planned: 3 } }],
    });
    expect(told).not.toMatch(/Hi n0|\+6590|VOLLEY_API_KEY/);
  });
});
