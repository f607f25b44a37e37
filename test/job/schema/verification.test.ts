import { describe, expect, test } from 'vitest';
import { aCheckStep, aJobFile, aStartStep, fillOne, hintsOf, messagesOf } from '../a-job-file.js';

const startOf = (changes: Record<string, unknown>) => fillOne('verification.start', aStartStep(changes));
const refused = (changes: Record<string, unknown>) => aJobFile({ steps: [aStartStep(changes)] });

describe('a verification.start step', () => {
  test('has every default filled', () => {
    expect(startOf({ input: { files: 'a.csv', country: 'sg' } })).toEqual({
      kind: 'verification.start',
      input: expect.objectContaining({ files: ['/jobs/a.csv'], country: 'SG' }),
      destination: 'mobile',
      brand: undefined,
      template: undefined,
      source: undefined,
      codeLength: undefined,
      codeValidity: undefined,
      resendingInterval: 10,
      resetSession: undefined,
      whenTooEarly: 'wait',
      duplicates: 'skip',
      limits: { requestsPerSecond: 10, messagesPerSecond: undefined, segmentsPerSecond: undefined, concurrency: 8 },
    });
  });

  test('keeps every key that is written', () => {
    const written = {
      brand: 'ACME',
      template: '{brand}: {code} is your code, {code}',
      source: 'ACME',
      codeLength: 6,
      codeValidity: 600,
      resendingInterval: 60,
      resetSession: false,
      whenTooEarly: 'reject',
      duplicates: 'keep',
    };
    expect(startOf({ ...written, limits: { requestsPerSecond: 3, concurrency: 2 } })).toMatchObject({
      ...written,
      limits: { requestsPerSecond: 3, concurrency: 2 },
    });
  });

  test.each<[changes: Record<string, unknown>, message: string]>([
    [{ destination: undefined }, 'steps[0].destination is missing, expected text'],
    [{ brand: 'b'.repeat(31) }, `steps[0].brand is "${'b'.repeat(31)}", expected at most 30 characters`],
    [{ brand: 'a\nb' }, 'steps[0].brand is "a\\nb", expected text without control characters'],
    [{ template: 'Hello' }, 'steps[0].template is "Hello", expected text with {code} in it'],
    [
      { template: '{code} {name}' },
      'steps[0].template is "{code} {name}", expected no { or } other than {code} and {brand}',
    ],
    [{ template: '{{ code }}' }, 'steps[0].template is "{{ code }}", expected no { or } other than {code} and {brand}'],
    [{ template: '{code' }, 'steps[0].template is "{code", expected no { or } other than {code} and {brand}'],
    [
      { template: '{brand} {code}' },
      'steps[0].brand is missing, expected the name that replaces {brand} in the template',
    ],
    [
      { source: 'SpringSale12' },
      'steps[0].source is "SpringSale12", expected a sender name of 11 characters at most, not 12',
    ],
    [{ codeLength: 2 }, 'steps[0].codeLength is 2, expected at least 3'],
    [{ codeLength: 11 }, 'steps[0].codeLength is 11, expected at most 10'],
    [{ codeLength: 4.5 }, 'steps[0].codeLength is 4.5, expected a whole number'],
    [{ codeValidity: 29 }, 'steps[0].codeValidity is 29, expected at least 30'],
    [{ codeValidity: 7201 }, 'steps[0].codeValidity is 7201, expected at most 7200'],
    [{ resendingInterval: 9 }, 'steps[0].resendingInterval is 9, expected at least 10'],
    [{ resendingInterval: 7201 }, 'steps[0].resendingInterval is 7201, expected at most 7200'],
    [{ resetSession: 'yes' }, 'steps[0].resetSession is "yes", expected true or false'],
    [{ whenTooEarly: 'skip' }, 'steps[0].whenTooEarly is "skip", expected one of wait, reject'],
    [{ duplicates: 'drop' }, 'steps[0].duplicates is "drop", expected one of skip, keep'],
    [{ limits: { requestsPerSecond: 101 } }, 'steps[0].limits.requestsPerSecond is 101, expected at most 100'],
    [{ limits: { concurrency: 65 } }, 'steps[0].limits.concurrency is 65, expected at most 64'],
  ])('%#: %o is refused', (changes, message) => {
    expect(messagesOf(refused(changes))).toEqual([message]);
  });

  test.each([
    { brand: 'b'.repeat(30), codeLength: 3, codeValidity: 30, resendingInterval: 10 },
    {
      codeLength: 10,
      codeValidity: 7200,
      resendingInterval: 7200,
      limits: { requestsPerSecond: 100, concurrency: 64 },
    },
  ])('takes the bounds themselves: %o', (changes) => {
    expect(startOf(changes)).toMatchObject(changes);
  });

  test('takes the limits at the top', () => {
    const step = fillOne('verification.start', aStartStep(), { limits: { requestsPerSecond: 2, concurrency: 1 } });
    expect(step.limits).toMatchObject({ requestsPerSecond: 2, concurrency: 1 });
  });

  test('has no messages to limit', () => {
    expect(messagesOf(refused({ limits: { messagesPerSecond: 5 } }))).toEqual([
      '"messagesPerSecond" is not a key of steps[0].limits, expected one of requestsPerSecond, concurrency',
    ]);
    const step = fillOne('verification.start', aStartStep(), {
      limits: { messagesPerSecond: 5, segmentsPerSecond: 5 },
    });
    expect(step.limits).toMatchObject({ messagesPerSecond: undefined, segmentsPerSecond: undefined });
  });
});

describe('a verification.check step', () => {
  test('has every default filled, and only reads where no code is named', () => {
    expect(fillOne('verification.check', aCheckStep())).toEqual({
      kind: 'verification.check',
      input: expect.objectContaining({ files: ['/jobs/codes.csv'] }),
      session: 'sessionId',
      code: undefined,
      limits: { requestsPerSecond: 20, messagesPerSecond: undefined, segmentsPerSecond: undefined, concurrency: 8 },
    });
    expect(fillOne('verification.check', aCheckStep({ code: 'Code' })).code).toBe('Code');
  });

  test('says what a missing session is', () => {
    const text = aJobFile({ steps: [aCheckStep({ session: undefined })] });
    expect(messagesOf(text)).toEqual(['steps[0].session is missing, expected text']);
    expect(hintsOf(text)).toEqual([
      "Column of the session's id, such as _sessionId in the results of verification.start.",
    ]);
  });

  test('shares the key and the ceiling of its area', () => {
    expect(messagesOf(aJobFile({ steps: [aCheckStep()], limits: { requestsPerSecond: 101 } }))).toEqual([
      'limits.requestsPerSecond is 101, expected at most 100 for a step of kind verification.check',
    ]);
  });
});
