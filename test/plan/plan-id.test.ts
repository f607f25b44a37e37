import { expect, test } from 'vitest';
import { isRowStep } from '../../src/job/job.js';
import { parseJob } from '../../src/job/load.js';
import { identifyPlan } from '../../src/plan/inputs/select-inputs.js';

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
const CONTACTS = { kind: 'contacts', input: FILES, fields: { email: 'mail', msisdn: 'mobile' } };
const CHANNEL = {
  webhook: { url: 'https://example.com', version: '2', name: 'hook' },
  queue: 'q',
  description: 'shop',
  name: 'bot',
};
const SCHEDULED = { timeZone: 'Asia/Singapore', at: '2026-12-01 10:00' };
const TEMPLATE = {
  dlrCallbackUrl: 'https://example.com',
  expiry: '2026-12-03T10:00:00Z',
  scheduled: SCHEDULED,
  smartReplace: true,
  encoding: 'GSM7',
  text: 'Hi',
  source: 'ACME',
};

/** With every key, in another order than the schema has. */
const STEPS: Readonly<Record<string, Record<string, unknown>>> = {
  'contacts with the rest': {
    groupsColumn: 'more',
    groups: [7],
    customAttributes: { rest: { rename: { a: 'b' }, except: ['c'] } },
    ...CONTACTS,
    input: INPUT,
  },
  'contacts with attributes': { customAttributes: { tier: 'Tier', rest: 'Rest' }, ...CONTACTS },
  'plain contacts': CONTACTS,
  sms: {
    duplicates: 'keep',
    batchSize: 5,
    suppress: { country: 'my', files: 'stop.csv' },
    template: TEMPLATE,
    destination: 'to',
    input: INPUT,
    kind: 'sms',
  },
  'plain sms': { template: { text: 'Hi' }, destination: 'to', input: FILES, kind: 'sms' },
  'verification.start': {
    duplicates: 'keep',
    whenTooEarly: 'reject',
    resetSession: true,
    resendingInterval: 20,
    codeValidity: 60,
    codeLength: 5,
    source: 'ACME',
    template: '{code} {brand}',
    brand: 'Acme',
    destination: 'to',
    input: FILES,
    kind: 'verification.start',
  },
  'verification.check': { code: 'code', session: 'id', input: FILES, kind: 'verification.check' },
  conversations: {
    history: 'talk',
    languages: ['id'],
    user: { additionalProperties: { tier: 'Tier' }, phone: 'to', email: 'mail', name: 'name', language: 'lang' },
    queueColumn: 'line',
    queue: 'q',
    channel: CHANNEL,
    input: FILES,
    kind: 'conversations',
  },
  'plain conversations': { channel: '25', input: FILES, kind: 'conversations' },
  campaign: { always: true, set: 'PAUSED', expect: 'RUNNING', campaign: 5, kind: 'campaign' },
  chat: { when: 'failure', room: 'ops', text: '{{ job }}', kind: 'chat' },
};

/** The same with the keys of every map the other way round. */
function turnRound<T>(value: T): T {
  if (Array.isArray(value)) return value.map(turnRound) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, turnRound(inner)]);
  return Object.fromEntries(entries.reverse()) as T;
}

function idOf(step: Record<string, unknown>): string {
  const rows = { kind: 'sms', input: FILES, destination: 'to', template: { text: 'Hi' } };
  const written = { service: { sandbox: true }, steps: step.kind === 'sms' ? [step] : [step, rows] };
  const job = parseJob(JSON.stringify(written), '/jobs/sale.yaml');
  const steps = job.steps.map((each, index) => {
    return { step: each, number: index + 1, listed: [], inputs: [], suppression: [], leftOut: [] };
  });
  return identifyPlan(job, { steps, spool: undefined }, '');
}

test('the id does not hang on the order of columns and operators in `where`, and does on that of what is sent of a customer', () => {
  const filtered = (where: object) => idOf({ ...STEPS['plain sms'], input: { ...FILES, where } });
  const one = filtered({ consent: 'yes', age: { atLeast: 18, atMost: 99 } });
  expect(filtered({ age: { atMost: 99, atLeast: 18 }, consent: 'yes' })).toBe(one);
  expect(filtered({ age: { atMost: 98, atLeast: 18 }, consent: 'yes' })).not.toBe(one);
  const sent = (additionalProperties: object) =>
    idOf({ ...STEPS['plain conversations'], user: { name: 'name', additionalProperties } });
  expect(sent({ tier: 'Tier', since: 'Since' })).not.toBe(sent({ since: 'Since', tier: 'Tier' }));
});

test.each(Object.entries(STEPS))('the id of a plan of %s does not hang on the order of keys', (_name, step) => {
  const rows = { kind: 'sms', input: FILES, destination: 'to', template: { text: 'Hi' } };
  const written = { service: { sandbox: true }, steps: step.kind === 'sms' ? [step] : [step, rows] };
  const job = parseJob(JSON.stringify(written), '/jobs/sale.yaml');
  const file = { path: '/jobs/a.csv', shown: 'a.csv', format: 'csv' } as const;
  const inputs = [{ file, sha256: 'f00d', bytes: 1, contentSha256: 'f00d' }];
  const steps = job.steps.map((each, index) => ({
    step: each,
    number: index + 1,
    listed: [],
    inputs: isRowStep(each) ? inputs : [],
    suppression: [],
    leftOut: [],
  }));

  const identify = (steps: Parameters<typeof identifyPlan>[1]['steps']) =>
    identifyPlan(job, { steps, spool: undefined }, '');
  const id = identify(steps);
  expect(identify(turnRound(steps))).toBe(id);
  const others = steps.map((each) => ({ ...each, step: { ...each.step, other: 1 } }));
  expect(identify(others)).not.toBe(id);
});
