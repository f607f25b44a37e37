import { expect, test } from 'vitest';
import { digestJob } from '../../src/cluster/work-on-run.js';
import { parseJob } from '../../src/job/load.js';

const SMS = { kind: 'sms', input: { files: 'a.csv' }, destination: 'mobile', template: { text: 'Hi' } };
const SERVICE = { account: 'acme', credentials: { apiKey: { env: 'VOLLEY_API_KEY' } } };

function digest(written: object, place = '/jobs/sale.json'): string {
  return digestJob(parseJob(JSON.stringify({ name: 'sale', service: SERVICE, steps: [SMS], ...written }), place));
}

test.each([
  ['its secrets are read from elsewhere', { service: { ...SERVICE, credentials: { apiKey: { file: 'key' } } } }],
  [
    'its texts and files are others, which the plan has',
    { steps: [{ ...SMS, template: { text: 'Ho' }, input: { files: 'b.csv' } }] },
  ],
])('a job is the same to a worker where %s', (_, written) => {
  expect(digest(written, '/etc/volley/sale.json')).toBe(digest({}));
});

test('the job of a plan is the same as that of its file', () => {
  const job = parseJob(JSON.stringify({ name: 'sale', service: SERVICE, steps: [SMS] }), '/jobs/sale.json');
  const { steps, service, ...planned } = JSON.parse(JSON.stringify(job));

  expect(digestJob({ service: Object.fromEntries(Object.entries(service).reverse()), steps, ...planned })).toBe(
    digestJob(job),
  );
});

test.each([
  ['another account', { service: { ...SERVICE, account: 'other' } }],
  ['another address', { service: { ...SERVICE, bases: { sms: 'https://sms.example.com' } } }],
  ['another patience', { service: { ...SERVICE, giveUpAfterSeconds: 7 } }],
  ['other limits', { steps: [{ ...SMS, limits: { requestsPerSecond: 7 } }] }],
  ['another guard', { guards: { maxFailedPercent: 7 } }],
  ['another step', { steps: [SMS, SMS] }],
])('%s is another job', (_, written) => {
  expect(digest(written)).not.toBe(digest({}));
});
