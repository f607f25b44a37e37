import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { UserError } from '../../src/domain/errors.js';
import { parseJob } from '../../src/job/load.js';
import { setField } from '../contract/contract-fields.js';
import { runsOf } from '../one-in.js';
import {
  ALL_CREDENTIALS,
  aCampaignStep,
  aChatStep,
  aCheckStep,
  aContactsStep,
  aConversationsStep,
  aJobFile,
  anSmsStep,
  aService,
  aStartStep,
} from './a-job-file.js';

/** Gives what parseJob says in refusing a text, undefined for a job; any other throw fails the test. */
function expectJobOrRefusal(text: string): UserError | undefined {
  try {
    parseJob(text, 'sale.yaml');
    return undefined;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    expect(error.code).toBe('bad-job');
    expect(error.problems.length).toBeGreaterThan(0);
    for (const problem of error.problems) {
      expect(problem.where).toMatch(/^sale\.yaml:\d+:\d+$|^sale\.yaml$/);
      expect(problem.message).not.toBe('');
    }
    return error;
  }
}

/** Letters that YAML gives a meaning, more often than others. */
const yamlish = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      ...'[]{}:,-?&*!|>%@`"\'#\n\t \r~<$0123',
      ...['name', 'steps', 'service', 'kind: ', '- ', '\n  ', '---\n'],
    ),
    fc.string({ minLength: 1, maxLength: 1, unit: 'binary' }),
  ),
  maxLength: 200,
});

describe('a job file of any kind gives a job or a refusal, never another throw', () => {
  test('any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expectJobOrRefusal(Buffer.from(bytes).toString('utf8'));
      }),
    );
  });

  test('any text that looks like YAML', () => {
    const property = fc.property(yamlish, (text) => {
      expectJobOrRefusal(text);
    });
    fc.assert(property, { numRuns: runsOf(200) });
  });

  test('any value, as YAML and as JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expectJobOrRefusal(JSON.stringify(value));
        expectJobOrRefusal(stringify(value));
      }),
      { numRuns: runsOf(300) },
    );
  });

  test('a faultless job with any value in any of its places', () => {
    const whole = JSON.parse(
      aJobFile({
        name: 'sale',
        service: aService({
          bases: { sms: 'https://a.example' },
          timeouts: { connectSeconds: 1 },
          ccPlatform: 'na12',
          credentials: ALL_CREDENTIALS,
        }),
        steps: [
          anSmsStep({ suppress: { files: 'a.csv' }, limits: { concurrency: 1 }, batchSize: 5 }),
          aContactsStep({ groups: [1], customAttributes: { a: 'b' } }),
          aStartStep({ brand: 'a', template: '{code}', limits: { concurrency: 1 } }),
          aCheckStep({ code: 'c' }),
          aConversationsStep({
            channel: { name: 'a', queue: 'b', webhook: { name: 'c', url: 'https://d.example' } },
            user: { name: 'n', additionalProperties: { a: 'b' } },
          }),
          aCampaignStep({ expect: ['RUNNING'], always: true }),
          aChatStep({ room: 'r', limits: { requestsPerSecond: 1 } }),
        ],
        limits: { requestsPerSecond: 1 },
        guards: { maxMessages: 5 },
        output: { directory: 'out' },
      }),
    ) as object;
    const places = placesIn(whole);
    expect(places.length).toBeGreaterThan(75);
    const anything = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom(null, '', 0, -1, `\${A}`, '-', '*', 'constructor', 'toString', {}, [], { constructor: 1 }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...places), anything, (place, value) => {
        expectJobOrRefusal(JSON.stringify(setField(whole, place, value)));
      }),
      { numRuns: runsOf(300) },
    );
  });

  test('a faultless job cut off anywhere', () => {
    const text = stringify(JSON.parse(aJobFile({ name: 'sale' })));
    for (let length = 0; length < text.length; length++) expectJobOrRefusal(text.slice(0, length));
  });
});

test('a secret that is written in the credentials is never repeated, whatever stands around it', () => {
  const secret = 'sk_live_51HxYz';
  const around = fc.string({ unit: fc.constantFrom(...' \n:,{}[]"\'&*!|>-?#%@`abc'), maxLength: 6 });
  fc.assert(
    fc.property(around, around, (before, after) => {
      const text = `service:\n  credentials: { apiKey: ${before}${secret}${after} }\nsteps: []\n`;
      const refusal = expectJobOrRefusal(text);
      if (refusal === undefined) return;
      expect(`${refusal.message} ${refusal.hint} ${JSON.stringify(refusal.problems)}`).not.toContain(secret);
    }),
    { numRuns: runsOf(300) },
  );
});

/** `steps.0.input.files`, and every other place in the value. */
function placesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...placesIn(inner).map((place) => `${key}.${place}`)]);
}
