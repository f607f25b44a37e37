import { expect, test } from 'vitest';
import { isRowStep } from '../../src/job/job.js';
import { parseJob } from '../../src/job/load.js';
import { identifyPlan } from '../../src/plan/select-inputs.js';

const FILES = { files: 'a.csv' };
const INPUT = {
  ...FILES,
  format: 'csv',
  encoding: 'UTF-8',
  delimiter: 'tab',
  country: 'sg',
  countryColumn: 'land',
  where: { consent: 'yes', age: { atLeast: 18 } },
};
const CHANNEL = {
  webhook: { url: 'https://example.com', version: '2', name: 'hook' },
  queue: 'q',
  description: 'shop',
  name: 'bot',
};
const SCHEDULED = { timeZone: 'Asia/Singapore', at: '2026-12-01 10:00' };
const TEMPLATE = {
  expiry: '2026-12-03T10:00:00Z',
  scheduled: SCHEDULED,
  smartReplace: true,
  encoding: 'GSM7',
  text: 'Hi',
  source: 'ACME',
};

/** Those with maps in maps, with every key. */
const STEPS: Readonly<Record<string, Record<string, unknown>>> = {
  contacts: {
    groups: [7],
    customAttributes: { rest: { rename: { a: 'b' }, except: ['c'] } },
    kind: 'contacts',
    input: INPUT,
    fields: { email: 'mail', msisdn: 'mobile' },
  },
  sms: {
    duplicates: 'keep',
    batchSize: 5,
    suppress: { country: 'my', files: 'stop.csv' },
    template: TEMPLATE,
    destination: 'to',
    input: INPUT,
    kind: 'sms',
  },
  conversations: {
    user: { additionalProperties: { tier: 'Tier' }, phone: 'to', email: 'mail', name: 'name', language: 'lang' },
    queue: 'q',
    channel: CHANNEL,
    input: FILES,
    kind: 'conversations',
  },
};

/** The same with the keys of every map the other way round. */
function turnRound<T>(value: T): T {
  if (Array.isArray(value)) return value.map(turnRound) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, turnRound(inner)]);
  return Object.fromEntries(entries.reverse()) as T;
}

type Change = (steps: Parameters<typeof identifyPlan>[1]['steps']) => typeof steps;

function idOf(written: Record<string, unknown>, change: Change = (steps) => steps): string {
  const job = parseJob(JSON.stringify({ service: { sandbox: true }, steps: [written] }), '/jobs/sale.yaml');
  const file = { path: '/jobs/a.csv', shown: 'a.csv', format: 'csv' } as const;
  const inputs = [{ file, sha256: 'f00d', bytes: 1, contentSha256: 'f00d' }];
  const steps = job.steps.map((step, index) => ({
    ...{ step, number: index + 1, listed: [], suppression: [], leftOut: [] },
    inputs: isRowStep(step) ? inputs : [],
  }));
  return identifyPlan(job, { steps: change(steps), spool: undefined }, '');
}

test('the id does not hang on the order of columns and operators in `where`, and does on that of what is sent of a customer', () => {
  const filtered = (where: object) => idOf({ ...STEPS.sms, input: { ...FILES, where } });
  const one = filtered({ consent: 'yes', age: { atLeast: 18, atMost: 99 } });
  expect(filtered({ age: { atMost: 99, atLeast: 18 }, consent: 'yes' })).toBe(one);
  expect(filtered({ age: { atMost: 98, atLeast: 18 }, consent: 'yes' })).not.toBe(one);
  const sent = (additionalProperties: object) =>
    idOf({ ...STEPS.conversations, user: { name: 'name', additionalProperties } });
  expect(sent({ tier: 'Tier', since: 'Since' })).not.toBe(sent({ since: 'Since', tier: 'Tier' }));
});

test.each(Object.entries(STEPS))('the id of a plan of %s does not hang on the order of keys', (_name, step) => {
  const id = idOf(step);
  expect(idOf(step, turnRound)).toBe(id);
  expect(idOf(step, (steps) => steps.map((each) => ({ ...each, step: { ...each.step, other: 1 } })))).not.toBe(id);
});
