import { describe, expect, test } from 'vitest';
import { parseJob } from '../../src/job/load.js';
import {
  aContactsStep,
  aJobFile,
  anSmsStep,
  aService,
  everythingSaid,
  messagesOf,
  placesOf,
  problemsOf,
  refusalOf,
} from './a-job-file.js';

const withSms = (changes: Record<string, unknown>) => aJobFile({ steps: [anSmsStep(changes)] });
const withTemplate = (template: Record<string, unknown>) => withSms({ template: { text: 'Hello', ...template } });
const withService = (changes: Record<string, unknown>) => aJobFile({ service: aService(changes) });

const reference = (name: string) => `\${${name}}`;
const REFUSED = `contains ${reference('…')}, which a job file does not replace`;

describe('secrets', () => {
  test.each([
    ['for every area', { apiKey: 'sk_live_1' }],
    ['for one area', { sms: { apiKey: 'sk_live_1' }, apiKey: { env: 'A' } }],
    ['in place of credentials', 'sk_live_1'],
    ['as a key', { sk_live_1: null, apiKey: { env: 'A' } }],
    ['as a key with a value', { apiKey: { sk_live_1: 'sk_live_1' } }],
    ['in env', { apiKey: { env: 'sk live-sk_live_1' } }],
    ['as a list', { apiKey: ['sk_live_1'] }],
    ['beside env', { apiKey: { env: 'A', value: 'sk_live_1' } }],
    ['for an unknown area', { smss: 'sk_live_1', apiKey: { env: 'A' } }],
  ])('written plainly %s are refused and not repeated', (_name, credentials) => {
    const refusal = refusalOf(withService({ credentials }));
    expect(everythingSaid(refusal)).not.toContain('sk_live_1');
    expect(refusal.problems).toHaveLength(1);
  });

  test('written plainly are refused with the place where they go', () => {
    expect(problemsOf(withService({ credentials: { apiKey: 12345 } }))).toMatchObject([
      {
        message:
          'service.credentials.apiKey is a number, expected { env: NAME } or { file: PATH }: a job file must not contain secrets',
        hint: 'Put the secret into an environment variable or a file, and remove it from the job file.',
      },
    ]);
  });

  test('are not written as references', () => {
    expect(problemsOf(withService({ credentials: { apiKey: reference('VOLLEY_API_KEY') } }))).toMatchObject([
      {
        message: `service.credentials.apiKey ${REFUSED}`,
        hint: 'Write { env: VOLLEY_API_KEY } in place of the whole value.',
      },
    ]);
    expect(messagesOf(withService({ credentials: { apiKey: { env: reference('KEY') } } }))).toEqual([
      `service.credentials.apiKey.env ${REFUSED}`,
    ]);
  });

  test('are missing for an area that a step uses', () => {
    const service = aService({ credentials: { contacts: { apiKey: { env: 'A' } } } });
    expect(messagesOf(aJobFile({ service, steps: [anSmsStep(), anSmsStep(), aContactsStep()] }))).toEqual([
      'service.credentials has no key for sms, expected apiKey or sms',
    ]);
  });

  test('and the account are needed without the sandbox', () => {
    expect(
      placesOf('service: {}\nsteps: [{ kind: sms, input: { files: a }, destination: a, template: { text: a } }]'),
    ).toEqual([
      "1:1 service.account is missing, expected the account's identifier",
      '1:1 service.credentials is missing, expected where to find the API key',
    ]);
  });
});

describe('a reference in braces', () => {
  test('is refused in addresses and paths', () => {
    expect(
      messagesOf(
        aJobFile({
          service: aService({ bases: { sms: `https://${reference('HOST')}` }, account: reference('ACCOUNT') }),
          steps: [anSmsStep({ input: { files: [`${reference('HOME')}/a.csv`] } })],
          output: reference('OUT'),
        }),
      ).sort(),
    ).toEqual([
      `output ${REFUSED}`,
      `service.account ${REFUSED}`,
      `service.bases.sms ${REFUSED}`,
      `steps[0].input.files[0] ${REFUSED}`,
    ]);
  });

  test('is only text in a message', () => {
    const text = `Now ${reference('{ price }')}`;
    const job = parseJob(withTemplate({ text }), 'sale.yaml');
    expect(job.steps[0]).toMatchObject({ template: { text } });
  });
});

describe('base addresses', () => {
  test.each([
    ['http://sms.8x8.com', 'expected https:// (http:// only for this machine itself)'],
    ['http://127.0.0.1.example.com', 'expected https:// (http:// only for this machine itself)'],
    ['http://localhost.example.com', 'expected https:// (http:// only for this machine itself)'],
    ['ftp://localhost', 'expected https:// (http:// only for this machine itself)'],
    ['sms.8x8.com', 'expected an address such as https://sms.example.com'],
    ['https://a.example/?b', 'expected an address without ? and #'],
    ['https://a.example/#b', 'expected an address without ? and #'],
  ])('%s is refused', (base, expected) => {
    expect(messagesOf(withService({ bases: { sms: base } }))).toEqual([
      `service.bases.sms is ${JSON.stringify(base)}, ${expected}`,
    ]);
  });

  test('with a password are refused without repeating it', () => {
    const refusal = refusalOf(withService({ bases: { sms: 'https://ann:hunter2@a.example' } }));
    expect(refusal.message).toContain('expected an address without user name and password');
    expect(everythingSaid(refusal)).not.toContain('hunter2');
  });

  test.each(['http://localhost:80', 'http://127.9.9.9:1', 'http://[::1]:4010', 'https://a.example/prefix'])(
    '%s is taken',
    (base) => {
      expect(parseJob(withService({ bases: { sms: base } }), 'sale.yaml').service.bases.sms).toBe(
        new URL(base).href.replace(/\/$/, ''),
      );
    },
  );
});
