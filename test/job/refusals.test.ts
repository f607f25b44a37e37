import { describe, expect, test } from 'vitest';
import { parseJob } from '../../src/job/load.js';
import { aContactsStep, aJobFile, anSmsStep, aService, hintsOf, messagesOf, problemsOf } from './a-job-file.js';

const withSms = (changes: Record<string, unknown>) => aJobFile({ steps: [anSmsStep(changes)] });
const withContacts = (changes: Record<string, unknown>) => aJobFile({ steps: [aContactsStep(changes)] });
const withTemplate = (template: Record<string, unknown>) => withSms({ template: { text: 'Hello', ...template } });
const withInput = (input: Record<string, unknown>) => withSms({ input: { files: 'a.csv', ...input } });
const withService = (changes: Record<string, unknown>) => aJobFile({ service: aService(changes) });

describe('an address that the service posts to', () => {
  test.each([
    ' https://x.example/',
    'https://x.example/a b',
    'https://x.exam\tple/',
    'https://x.example/\u0000',
    'https://x.example/\u200B',
  ])('%j is refused for what URL passes over', (dlrCallbackUrl) => {
    expect(messagesOf(withTemplate({ dlrCallbackUrl })).join()).toContain(
      'expected an address without blanks and control characters',
    );
  });

  test.each(['http://x.example/', 'http://127.0.0.1.x.example/', 'https:///x', 'ftp://x.example/', 'x.example'])(
    '%s is refused with what is taken',
    (dlrCallbackUrl) => {
      expect(messagesOf(withTemplate({ dlrCallbackUrl }))).toEqual([
        `steps[0].template.dlrCallbackUrl is "${dlrCallbackUrl}", ${EXPECTED_ADDRESS}`,
      ]);
    },
  );

  test.each(['https://x.example/a?b=c', 'http://127.0.0.1:8080/', 'http://localhost/a', 'http://[::1]:80/'])(
    '%s is taken',
    (dlrCallbackUrl) => {
      expect(() => parseJob(withTemplate({ dlrCallbackUrl }), 'sale.yaml')).not.toThrow();
    },
  );
});

const EXPECTED_ADDRESS =
  'expected an address that begins with https:// (http:// only for this machine, such as http://127.0.0.1:8080)';

test('smartReplace beside UCS-2 is refused: it would replace nothing', () => {
  expect(messagesOf(withTemplate({ encoding: 'UCS2', smartReplace: true }))).toEqual([
    'steps[0].template.smartReplace is true, expected it without encoding: UCS2, which has every character',
  ]);
});

describe('a value out of its bounds', () => {
  test.each<[text: string, message: string]>([
    [aJobFile({ steps: [] }), 'steps is an empty list, expected at least 1 entry'],
    [aJobFile({ steps: null }), 'steps is empty, expected a list'],
    [
      aJobFile({ steps: [{}] }),
      'steps[0].kind is missing, expected one of contacts, sms, verification.start, verification.check, conversations, campaign, chat',
    ],
    [aJobFile({ steps: ['sms'] }), 'steps[0] is "sms", expected a map of keys and values'],
    [
      aJobFile({ name: 'Frühling 2026' }),
      'name cannot be the name of a directory, expected up to 64 of a-z 0-9 . _ - that begin with a letter or digit',
    ],
    [
      aJobFile({ name: '../x' }),
      'name cannot be the name of a directory, expected up to 64 of a-z 0-9 . _ - that begin with a letter or digit',
    ],
    [aJobFile({ output: { format: 'xml' } }), 'output.format is "xml", expected one of csv, ndjson, xlsx'],
    [aJobFile({ output: 5 }), 'output is 5, expected a directory, or { directory, format }'],
    [aJobFile({ output: '' }), 'output is empty, expected some text'],
    [aJobFile({ guards: { maxRejectedPercent: 101 } }), 'guards.maxRejectedPercent is 101, expected at most 100'],
    [aJobFile({ guards: { maxMessages: 1.5 } }), 'guards.maxMessages is 1.5, expected a whole number'],
    [aJobFile({ guards: { maxSegments: 0 } }), 'guards.maxSegments is 0, expected at least 1'],
    [withSms({ batchSize: 10_001 }), 'steps[0].batchSize is 10001, expected at most 10000'],
    [withSms({ batchSize: 0 }), 'steps[0].batchSize is 0, expected at least 1'],
    [withSms({ destination: 'a\tb' }), 'steps[0].destination is "a\\tb", expected text without control characters'],
    [withInput({ files: [] }), 'steps[0].input.files is an empty list, expected at least 1 entry'],
    [withInput({ files: [''] }), 'steps[0].input.files[0] is empty, expected some text'],
    [withInput({ files: { a: 1 } }), 'steps[0].input.files is a map, expected a path or a list of paths'],
    [withInput({ delimiter: ':' }), 'steps[0].input.delimiter is ":", expected one of ",", ";", "\\t", "|", tab'],
    [
      withInput({ encoding: 'latin-9000' }),
      'steps[0].input.encoding is "latin-9000", expected the name of an encoding, such as utf-8, windows-1252, utf-16le, big5, shift_jis or gbk',
    ],
    [
      withInput({ country: 'Singapore' }),
      'steps[0].input.country is "Singapore", expected a two-letter country code such as SG',
    ],
    [
      withInput({ country: 'QQ' }),
      'steps[0].input.country is "QQ", expected the two-letter code of a country (ISO 3166-1), such as SG',
    ],
    [withInput({ limits: { maxColumns: -1 } }), 'steps[0].input.limits.maxColumns is -1, expected at least 1'],
    [withTemplate({ text: '' }), 'steps[0].template.text is empty, expected some text'],
    [withTemplate({ encoding: 'GSM-7' }), 'steps[0].template.encoding is "GSM-7", expected one of AUTO, GSM7, UCS2'],
    [
      withTemplate({ source: 'SpringSale12' }),
      'steps[0].template.source is "SpringSale12", expected a sender name of 11 characters at most, not 12',
    ],
    [
      withTemplate({ source: '+1234567890123456' }),
      'steps[0].template.source is "+1234567890123456", expected a number of 16 characters at most',
    ],
    [
      withTemplate({ scheduled: '2026-12-01T09:00:00' }),
      'steps[0].template.scheduled is "2026-12-01T09:00:00", expected a time with its offset, such as 2026-12-01T09:00:00+08:00, or { at, timeZone }',
    ],
    [
      withTemplate({ expiry: '2026-02-30T09:00:00Z' }),
      'steps[0].template.expiry is "2026-02-30T09:00:00Z", expected a time with its offset, such as 2026-12-01T09:00:00+08:00, or { at, timeZone }',
    ],
    [
      withTemplate({ dlrCallbackUrl: 'ftp://x' }),
      'steps[0].template.dlrCallbackUrl is "ftp://x", expected an address that begins with https:// (http:// only for this machine, such as http://127.0.0.1:8080)',
    ],
    [withContacts({ groups: [] }), 'steps[0].groups is an empty list, expected at least 1 entry'],
    [withContacts({ groups: [1, 2, 1] }), 'steps[0].groups is a list, expected every group once'],
    [withContacts({ groups: [1.5] }), 'steps[0].groups[0] is 1.5, expected a whole number'],
    [
      withContacts({ groups: Array.from({ length: 11 }, (_, id) => id + 1) }),
      'steps[0].groups is a list, expected at most 10 entries',
    ],
    [
      withContacts({ customAttributes: 'all' }),
      'steps[0].customAttributes is "all", expected a map of attribute: column, the word rest, or { rest: { except, rename } }',
    ],
    [withContacts({ customAttributes: { tier: 5 } }), 'steps[0].customAttributes.tier is 5 (a number), expected text'],
    [
      withContacts({ customAttributes: { rest: { exept: ['a'] } } }),
      '"exept" is not a key of steps[0].customAttributes.rest, expected except',
    ],
    [
      withContacts({ customAttributes: { rest: { except: 'a' } } }),
      'steps[0].customAttributes.rest.except is "a", expected a list',
    ],
    [
      withContacts({ customAttributes: { rest: { rename: { a: 1 } } } }),
      'steps[0].customAttributes.rest.rename.a is 1 (a number), expected text',
    ],
    [
      withContacts({ customAttributes: { rest: { rename: { a: 'x', b: 'x' } } } }),
      'steps[0].customAttributes.rest.rename is a map, expected every attribute once',
    ],
    [withContacts({ groupsColumn: 7 }), 'steps[0].groupsColumn is 7 (a number), expected text'],
    [withContacts({ customAttributes: { '': 'a' } }), 'steps[0].customAttributes has an empty key, expected a name'],
    [
      withContacts({ customAttributes: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`a${n}`, 'b'])) }),
      'steps[0].customAttributes is a map, expected 50 attributes at most',
    ],
    [withService({ account: '..' }), 'service.account is "..", expected up to 50 of A-Z a-z 0-9 - . _ &'],
    [withService({ subAccountId: 'a/b' }), 'service.subAccountId is "a/b", expected 3 to 50 of A-Z a-z 0-9 - . _ &'],
    [
      withService({ account: 'a'.repeat(48) }),
      'service.account with _hq is not a subaccount, expected 3 to 50 of A-Z a-z 0-9 - . _ &',
    ],
    [withService({ timeouts: { connectSeconds: 0 } }), 'service.timeouts.connectSeconds is 0, expected at least 0.1'],
  ])('%#: %s', (text, message) => {
    expect(messagesOf(text)).toEqual([message]);
  });

  test.each([
    withTemplate({ source: 'SpringSale1' }),
    withTemplate({ source: '1234567890123456' }),
    withTemplate({ scheduled: '2026-12-01T09:00:00+08:00', expiry: '2026-12-02T00:00:00.5Z' }),
    withSms({ batchSize: 10_000, duplicates: 'keep' }),
    withContacts({ groups: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }),
    withService({ account: 'a'.repeat(48), subAccountId: 'a&b' }),
  ])('is none at the bound itself: %#', (text) => {
    expect(() => parseJob(text, 'sale.yaml')).not.toThrow();
  });
});

describe('an unknown key', () => {
  test.each<[text: string, hint: string]>([
    [withService({ regoin: 'asia' }), 'Did you mean region?'],
    [withService({ subAccount: 'acme_hq' }), 'Did you mean subAccountId?'],
    [withService({ apiKey: 'k' }), 'It belongs in service.credentials.'],
    [withSms({ country: 'SG' }), 'It belongs in steps.input.'],
    [withSms({ guards: {} }), 'It belongs in the top of the file.'],
    [withTemplate({ recieved: 1 }), 'Remove it.'],
    [aJobFile({ step: [] }), 'Did you mean steps?'],
    [aJobFile({ failon: 'nothing' }), 'Did you mean failOn?'],
    [aJobFile({ output: { directroy: 'a' } }), 'Did you mean directory?'],
    [withContacts({ fields: { msisdn: 'm', frstName: 'a' } }), 'Did you mean firstName?'],
    [withInput({ limits: { maxColums: 5 } }), 'Did you mean maxColumns?'],
    [withSms({ text: 'Hello' }), 'It belongs in steps.template.'],
    [withSms({ brand: 'ACME' }), 'It belongs in a step of kind verification.start.'],
    [withContacts({ duplicates: 'skip' }), 'It belongs in a step of kind sms or verification.start.'],
    [withContacts({ customAttributes: 'rset' }), 'Did you mean rest?'],
  ])('%#: suggests what was meant: %s', (text, hint) => {
    expect(hintsOf(text)).toEqual([hint]);
  });

  test('lists the keys there are when none is near', () => {
    expect(messagesOf(aJobFile({ guards: { bananas: 1 } }))).toEqual([
      '"bananas" is not a key of guards, expected one of maxRejectedPercent, maxMessages, maxSegments, maxCost, maxFailedPercent, requireTest',
    ]);
  });
});

describe('what YAML read differently', () => {
  test('a number where text is meant is to be quoted as it was written', () => {
    const text =
      'service: { sandbox: true, account: 0012 }\nsteps: [{ kind: sms, input: { files: 2026 }, destination: +6591234567, template: { source: 12345, text: true } }]';
    expect(hintsOf(text)).toEqual([
      'Put it in quotes: "0012".',
      'Put it in quotes: "2026".',
      'Put it in quotes: "+6591234567".',
      'Put it in quotes: "12345".',
      'Put it in quotes: "true".',
    ]);
  });

  test('a number in quotes is to lose them', () => {
    expect(problemsOf(withSms({ batchSize: '500' }))).toMatchObject([
      { message: 'steps[0].batchSize is "500", expected a number', hint: 'Remove the quotes.' },
    ]);
  });

  test('a key without a value', () => {
    expect(problemsOf('limits:\nservice: { sandbox: true }\nsteps: []')[0]).toMatchObject({
      where: 'sale.yaml:1:1',
      message: 'limits is empty, expected a map of keys and values',
      hint: 'Give it a value, or remove the key.',
    });
  });
});

describe('limits above the ceilings of the service', () => {
  test('are refused on a step', () => {
    expect(messagesOf(withSms({ limits: { requestsPerSecond: 1801, messagesPerSecond: 0.001 } }))).toEqual([
      'steps[0].limits.requestsPerSecond is 1801, expected at most 1800',
      'steps[0].limits.messagesPerSecond is 0.001, expected at least 0.01',
    ]);
  });

  test('are refused at the top for the first step that has the lowest', () => {
    const steps = [anSmsStep(), aContactsStep()];
    expect(messagesOf(aJobFile({ steps, limits: { requestsPerSecond: 5000 } }))).toEqual([
      expect.stringMatching(/^limits\.requestsPerSecond is 5000, expected at most \d+ for a step of kind sms$/),
    ]);
  });

  test('at the top do not concern a step with limits of its own', () => {
    const steps = [anSmsStep(), aContactsStep({ limits: { requestsPerSecond: 5 } })];
    const job = parseJob(aJobFile({ steps, limits: { requestsPerSecond: 1800 } }), 'sale.yaml');
    expect(job.steps.map(({ limits }) => limits.requestsPerSecond)).toEqual([1800, 5]);
  });

  test('of messages at the top do not concern contacts', () => {
    const steps = [anSmsStep(), aContactsStep()];
    const job = parseJob(aJobFile({ steps, limits: { messagesPerSecond: 20_000 } }), 'sale.yaml');
    expect(job.steps.map(({ limits }) => limits.messagesPerSecond)).toEqual([20_000, undefined]);
  });
});

describe('names', () => {
  test('get a suggestion that is one', () => {
    expect(hintsOf(aJobFile({ name: 'Frühling 2026!' }))).toEqual(['Write name: fruhling-2026.']);
    expect(hintsOf(aJobFile({ name: '销售' }))).toEqual(['Write name: spring-sale.']);
  });

  test('are asked for when the file has none to give', () => {
    expect(problemsOf(aJobFile(), 'Spring Sale.yaml')).toMatchObject([
      {
        message: expect.stringMatching(/^name is missing, and the file's name cannot be used/),
        hint: 'Write name: spring-sale.',
      },
    ]);
  });
});
