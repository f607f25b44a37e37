import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectAccountOrRefusal, useWholeJobs } from './a-whole-job.js';
import { runs } from './chance.js';
import { aHostileFile } from './hostile-files.js';

const runWhole = useWholeJobs();

const LIMITS = { requestsPerSecond: 1800, concurrency: 4 };
const anSmsStep = (files: string, more: object = {}) => ({
  kind: 'sms',
  input: { files, country: 'SG' },
  destination: 'mobile',
  template: { source: 'ACME', text: 'Hi {{ name | default: "you" }}' },
  limits: { ...LIMITS, messagesPerSecond: 25_000 },
  ...more,
});
const aContactsStep = (files: string) => ({
  kind: 'contacts',
  input: { files, country: 'SG' },
  fields: { firstName: 'name', msisdn: 'mobile' },
  customAttributes: 'rest',
  limits: LIMITS,
});

const PEOPLE = 'name,mobile\nAnn,+6591000001\nBob,+6591000002\n';

describe('any bytes make a run with its account in order, or a refusal with its place, and never anything else', () => {
  test('as the input of a step', async () => {
    const seen = { account: 0, refusal: 0 };
    const property = fc.asyncProperty(aHostileFile, fc.boolean(), async ({ name, bytes }, isSms) => {
      const step = isSms ? anSmsStep(name) : aContactsStep(name);
      seen[expectAccountOrRefusal(await runWhole({ files: { [name]: bytes }, steps: [step] }))] += 1;
    });
    await fc.assert(property, runs(25));
    expect(Math.min(seen.account, seen.refusal)).toBeGreaterThan(5);
  });

  test('as a suppression list, where a refusal sends nothing to anybody', async () => {
    const seen = { account: 0, refusal: 0 };
    const property = fc.asyncProperty(aHostileFile, async ({ name, bytes }) => {
      const list = `list/${name}`;
      const step = anSmsStep('people.csv', { suppress: { files: list } });
      const ended = await runWhole({ files: { 'people.csv': PEOPLE, [list]: bytes }, steps: [step] });
      seen[expectAccountOrRefusal(ended)] += 1;
    });
    await fc.assert(property, runs(10));
    expect(Math.min(seen.account, seen.refusal)).toBeGreaterThan(0);
  });
});
