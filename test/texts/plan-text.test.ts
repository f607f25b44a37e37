import { describe, expect, it } from 'vitest';
import { PLAIN_SCREEN } from '../../src/command/screen.js';
import { describeProgress } from '../../src/console/reading.js';
import { DAYS, type Window } from '../../src/hours/window.js';
import { RunState } from '../../src/journal/replay.js';
import type { Plan } from '../../src/plan/format/plan-file.js';
import { formatPlan as formatPlanAt, summarizePlan } from '../../src/texts/plan-text.js';
import { aContactsStep, aCsvOf, aNumber, anSmsStep, aPlan, someLimits } from '../plan/a-plan.js';

const NOW_MS = Date.parse('2026-11-22T12:00:00Z');
const formatPlan = (plan: Plan, directory: string, more: Partial<Parameters<typeof formatPlanAt>[2]> = {}) =>
  formatPlanAt(plan, directory, { nowMs: NOW_MS, ...more });

describe('a plan, as a person reads it', () => {
  it('says what would be sent, what not and why, how long it takes, and how to send it', async () => {
    const limits = someLimits({ messagesPerSecond: 1 });
    const job = { steps: [anSmsStep({ text: 'Hi {{ name }} ☺', limits })] };
    const { plan, directory } = await aPlan({ job, files: { 'people.csv': `${aCsvOf(90)}nope,x\n${aNumber(0)},y\n` } });
    const text = formatPlan(plan, directory);
    expect(text.split('\n').slice(0, 5)).toEqual([
      `Plan ${plan.id} of job sale: nothing was sent.`,
      `To account acme, subaccount acme_hq.`,
      '',
      '  step   read  to send  rejected  skipped  requests  SMS parts',
      '  1 sms    92       90         1        1        90         90',
    ]);
    for (const line of [
      '    +65******00      │ Hi n0 ☺',
      '    1 rejected:',
      '      1  not a phone number (not-a-number): correct it; are columns shifted?',
      '    92 read → 91 after duplicates (−1) → 90 after rejections (−1) → 90 to send',
      `  volley apply ${directory} --confirm ${plan.id}`,
    ]) {
      expect(text.split('\n')).toContain(line);
    }
    expect(text.replace(/\s+/g, ' ')).toMatch(
      /1 sms: 90 messages · from the sender of the account · at once · .*people\.csv · to SG 90 · special characters: 70 instead of 160 a part for ☺ \(U\+263A\) 90;/,
    );
    expect(text).toMatch(/people\.csv:92 {2}mobile/);
  });

  it('says that a window is open only while an answer may come within it, as the run has it', async () => {
    const window: Window = {
      days: [...DAYS],
      from: '09:00',
      to: '13:00',
      timeZone: 'UTC',
      unknown: 'reject',
      outside: 'stop',
    };
    const { plan, directory } = await aPlan({ job: { steps: [anSmsStep({ window })] } });
    const { answerSeconds } = plan.job.service.timeouts;
    const balance = { read: 0, accepted: 0, rejected: 0, skipped: 0, inDoubt: 0, unprocessed: 1 };
    const said = (secondsLeft: number) => {
      const nowMs = Date.parse('2026-11-22T13:00:00Z') - secondsLeft * 1000;
      const progress = describeProgress(plan, { balance, state: new RunState(), isRunning: true, nowMs });
      return [
        formatPlan(plan, directory, { nowMs }).includes('UTC is open now'),
        progress.includes('may not leave now'),
      ];
    };
    expect(said(answerSeconds + 1)).toEqual([true, false]);
    expect(said(answerSeconds)).toEqual([false, true]);
  });

  it('fits one screen of 40 lines with several steps, and still says who, what, when, how many, what it skips and why', async () => {
    const text = 'Hi {{ name }} ☺, 20% off at ACME until Sunday. Show this message in our shop. Reply STOP to opt out.';
    const files = { 'people.csv': `${aCsvOf(90)}nope,x\n6.59123E+09,x\n+651,x\n${aNumber(0)},y\n` };
    const { plan, directory } = await aPlan({ job: { steps: [anSmsStep({ text, batchSize: 5 })] }, files });
    const [step, written] = [plan.steps[0]!, plan.job.steps[0]!];
    const numbers = [1, 2];
    const steps = numbers.map((number) => ({ ...step, number }));
    const several = { ...plan, job: { ...plan.job, steps: numbers.map(() => written) }, steps };

    const screen = PLAIN_SCREEN;
    const account = formatPlan(several, directory, { screen });
    const lines = account.split('\n');
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(lines.filter((line) => line.length > 80 && !line.includes(directory))).toEqual([]);
    expect(lines.filter((line) => line.includes('│ Hi n'))).toHaveLength(2);
    const prose = account.replace(/\s+/g, ' ');
    expect(prose).toMatch(/2 sms: 90 messages · from the sender of the account · at once/);
    expect(prose).toMatch(
      /takes at least \d+ s · from \S*people\.csv · to SG 90 · special .*☺ doubles the parts, 180 instead of 90/,
    );
    expect(prose).toMatch(
      /3 rejected: 1 .+ 1 .+ 1 .+ 94 read → 93 after duplicates \(−1\) → 90 after rejections \(−3\) → 90 to send/,
    );
    expect(prose).toContain(`volley apply ${directory} --confirm ${plan.id}`);
  });

  it('names smartReplace where it makes a character of UCS-2 plain, and the job does not have it', async () => {
    const { plan } = await aPlan({ job: { steps: [anSmsStep({ text: 'Hi {{ name }} – ☺' })] } });
    const ucs2 = { '– (U+2013 EN DASH)': 2, '☺ (U+263A)': 1 };
    const [step] = plan.job.steps;
    if (step?.kind !== 'sms') throw new Error('expected an sms step');
    const show = (template = step.template) =>
      formatPlan(
        { ...plan, job: { ...plan.job, steps: [{ ...step, template }] }, steps: [{ ...plan.steps[0]!, ucs2 }] },
        '/out',
      ).replace(/\s+/g, ' ');
    expect(show()).toContain(
      '☺ (U+263A) 1; no message takes more parts · smartReplace: true in the template makes – plain where the text has no other',
    );
    expect(show({ ...step.template, smartReplace: true })).not.toContain('makes');
    expect(show({ ...step.template, encoding: 'UCS2' })).not.toContain('makes');
  });

  it('lists the countries that are most, and how many more there are', async () => {
    const { plan } = await aPlan();
    const countries = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`C${index}`, index + 1]));
    const text = formatPlan({ ...plan, steps: [{ ...plan.steps[0]!, countries }] }, '/out');
    expect(text).toContain('to C10 11, C9 10,');
    expect(text).toMatch(/C6\s+7, and 6 more/);
  });

  it('says from whom, when, until when, and where receipts go', async () => {
    const { plan } = await aPlan();
    const [step] = plan.job.steps;
    if (step?.kind !== 'sms') throw new Error('expected an sms step');
    const template = {
      ...step.template,
      source: undefined,
      scheduled: { at: '2026-12-01T09:00:00+08:00', timeZone: 'Asia/Singapore' },
      expiry: { at: '2026-12-02T09:00:00+08:00' },
    };
    const dlrCallbackUrl = 'https://hooks.example.com/r';
    const text = formatPlan(
      { ...plan, job: { ...plan.job, steps: [{ ...step, template, dlrCallbackUrl }] } },
      '/out',
    ).replace(/\s+/g, ' ');
    for (const said of [
      'on 1 December 2026 at 09:00 Asia/Singapore',
      'until 2 December 2026 at 09:00 UTC+08:00',
      'https://hooks.example.com/r',
    ])
      expect(text).toContain(said);
  });

  it('of a plan that a guard refuses, or with nothing to send, does not say how to send it', async () => {
    const { plan, directory } = await aPlan();
    expect(formatPlan(plan, directory)).toContain('volley apply');
    expect(formatPlan(plan, directory, { isRefused: true })).not.toContain('volley apply');
    const nothing = await aPlan({ files: { 'people.csv': 'mobile,name\nnope,x\n' } });
    const text = formatPlan(nothing.plan, nothing.directory);
    expect(text).toContain('There is nothing in it to send.');
    expect(text).not.toContain('volley apply');
    expect(text).toContain(`volley report ${nothing.directory}`);
  });

  it.each([60, 80, 120])('keeps to a screen of %i columns, save for what is to be copied', async (columns) => {
    const { plan } = await aPlan({
      job: {
        steps: [anSmsStep({ text: 'Hi {{ name }}, a text of several words that goes over the end of every line ☺' })],
      },
      files: { 'people.csv': `${aCsvOf(9)}nope,x\n${aNumber(0)},y\n` },
    });
    const text = formatPlan(plan, '/out', { screen: { ...PLAIN_SCREEN, columns } });
    expect(text.split('\n').filter((line) => line.length > columns && !line.includes('volley apply'))).toEqual([]);
  });

  it('shows each field of a contact with its value, and no whole number or address', async () => {
    const { plan, directory } = await aPlan({
      job: { steps: [aContactsStep({ fields: { msisdn: 'mobile', firstName: 'name', email: 'mail' }, groups: [7] })] },
      files: { 'people.csv': `mobile,name,mail\n${aNumber(0)},n0,ann.lee@example.com\n` },
    });
    const text = formatPlan(plan, directory).replace(/\s+(│ )?/g, ' ');
    expect(text).toContain('firstName → n0, msisdn → +65******00, email → a***@example.com, groups → 7');
    for (const said of [aNumber(0), 'ann.lee']) expect(text).not.toContain(said);
  });

  it('carries nothing from a file that would steer the terminal', async () => {
    const files = { 'people.csv': `mobile,name\n${aNumber(0)},"\u001b[2J\u202e\nStep 2: fine"\n` };
    const { plan } = await aPlan({ job: { steps: [anSmsStep({ text: 'Hi {{ name }}' })] }, files });
    const evil = {
      ...plan,
      steps: [{ ...plan.steps[0]!, inputs: [{ ...plan.steps[0]!.inputs[0]!, file: 'a\u001b]0;x\u0007.csv' }] }],
    };
    expect(formatPlan(evil, '/out')).not.toMatch(/\p{Cf}|[^\P{Cc}\n]/u);
    expect(formatPlan(evil, '/out')).not.toMatch(/^Step 2/m);
    expect(formatPlan(evil, '/out')).toContain('│ Step 2: fine');
  });
});

it('a plan, for a machine has no texts, no columns’ content and no settings of the job', async () => {
  const { plan, directory } = await aPlan({ job: { steps: [anSmsStep({ text: 'Hi {{ name }}' })] } });
  const told = JSON.stringify(summarizePlan(plan, directory));
  const expected = { plan: plan.id, job: 'sale', state: 'planned', steps: [{ counts: { planned: 3 } }] };
  expect(JSON.parse(told)).toMatchObject(expected);
  expect(told).not.toMatch(/Hi n0|\+6590|VOLLEY_API_KEY/);
});
