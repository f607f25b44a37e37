import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { UserError } from '../../src/domain/errors.js';
import { ceilings } from '../../src/job/limits.js';
import { readOptions, type ServiceOptions } from '../../src/library/create-service.js';

const SMALLEST: ServiceOptions = { account: 'acme', credentials: { apiKey: 'k' } };

function problemsOf(options: object): UserError {
  try {
    readOptions({ ...SMALLEST, ...options });
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error('the options were taken');
}

describe('options', () => {
  test('say little and mean the region asia, the default subaccount, one key for three areas, polite limits', () => {
    const { settings, secrets, limits } = readOptions(SMALLEST);
    expect(settings).toMatchObject({ subAccountId: 'acme_hq', giveUpAfterSeconds: 900 });
    expect(settings.bases).toMatchObject({ sms: 'https://sms.8x8.com', campaign: '' });
    expect(secrets).toEqual({ apiKey: 'k', sms: 'k', contacts: 'k', verification: 'k' });
    expect(limits.sms).toMatchObject({ requestsPerSecond: 20, messagesPerSecond: 1000, concurrency: 8 });
    expect(limits.chat).toMatchObject({ requestsPerSecond: 1, concurrency: 1 });
  });

  test('may name a region, a platform, a path prefix, and a key for an area', () => {
    const { settings, secrets } = readOptions({
      ...SMALLEST,
      region: 'europe',
      ccPlatform: 'NA12',
      bases: { contacts: 'https://proxy.example/prefix/' },
      credentials: { apiKey: 'k', contacts: 'own' },
    });
    const contacts = 'https://proxy.example/prefix';
    expect(settings.bases).toMatchObject({ sms: 'https://sms.8x8.uk', contacts, campaign: 'https://vcc-na12.8x8.com' });
    expect(secrets).toMatchObject({ sms: 'k', contacts: 'own' });
  });

  test('keep what they leave out of an area’s limits', () => {
    const { limits } = readOptions({ ...SMALLEST, limits: { sms: { concurrency: 2, requestsPerSecond: undefined } } });
    expect(limits.sms).toMatchObject({ requestsPerSecond: 20, messagesPerSecond: 1000, concurrency: 2 });
  });

  test.each([
    ['bases.sms', { bases: { sms: 'http://sms.example.com' } }, /expected https/],
    ['bases.sms', { bases: { sms: 'https://me:pw@sms.example.com' } }, /without user name/],
    ['region', { region: 'mars' }, /expected one of "asia"/],
    ['ccPlatform', { ccPlatform: 'XX1' }, /expected one of NA EU/],
    ['account', { account: undefined }, /expected string/],
    ['tenant', { tenant: 'acme 02' }, /without blanks/],
    ['account', { account: '..' }, /expected up to 50/],
    ['subAccountId', { account: 'a'.repeat(50) }, /3 to 50/],
    ['limits.chat.requestsPerSecond', { limits: { chat: { requestsPerSecond: 6 } } }, /<=5/],
    ['limits.chat', { limits: { chat: { messagesPerSecond: 6 } } }, /messagesPerSecond/],
    ['credentials.campaign.username', { credentials: { campaign: { username: 'a:b', dataToken: 'd' } } }, /colon/],
    ['giveUpAfterSeconds', { giveUpAfterSeconds: -1 }, /expected/],
    ['signal', { signal: new AbortController() }, /expected an AbortSignal/],
    ['options', { regoin: 'asia' }, /"regoin"/],
  ])('are refused by name: %s of %j', (where, options, message) => {
    const error = problemsOf(options);
    expect(error.code).toBe('bad-input');
    expect(error.problems).toMatchObject([{ where, message: expect.stringMatching(message) }]);
    expect(error.message).toContain(where);
  });

  test('are refused with all their problems at once', () => {
    expect(problemsOf({ region: 'mars', bases: { sms: 'nowhere' } }).problems).toHaveLength(2);
  });

  test.each(Object.keys(ceilings) as (keyof typeof ceilings)[])('never go beyond the ceilings of %s', (area) => {
    const { requestsPerSecond, concurrency } = ceilings[area];
    expect(
      readOptions({ ...SMALLEST, limits: { [area]: { requestsPerSecond, concurrency } } }).limits[area],
    ).toMatchObject({ requestsPerSecond, concurrency });
    for (const limits of [{ requestsPerSecond: requestsPerSecond + 1 }, { concurrency: concurrency + 1 }]) {
      expect(problemsOf({ limits: { [area]: limits } }).problems).toHaveLength(1);
    }
  });

  test.each([
    { apiKey: 's3cret with blanks' },
    { apiKey: 's3cret\n' },
    { apiKey: { s3cret: true } },
    { s3cret: 'x' },
    { campaign: { username: 'acme', dataToken: 's3cret\u00e9' } },
    's3cret',
  ])('are refused without repeating a secret: %j', (credentials) => {
    expect(inspect(problemsOf({ credentials }), { depth: 9 })).not.toContain('s3cret');
  });
});
