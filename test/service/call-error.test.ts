import { describe, expect, test } from 'vitest';
import { readCampaign } from '../../src/service/areas/campaign.js';
import { readMessages } from '../../src/service/areas/chat.js';
import { readSession } from '../../src/service/areas/verification.js';
import {
  aCaller,
  attemptsIn,
  failureOf,
  KINDS,
  LOST,
  nameOf,
  READ,
  REFUSED,
  repeat,
  SECRET,
  TEXT,
  UPSERT,
} from './a-caller.js';
import { aResponse, ownError } from './an-answer.js';

describe('the error of a call', () => {
  const keyFault = {
    fault: { faultstring: 'Invalid access token', detail: { errorcode: 'oauth.v2.InvalidAccessToken' } },
  };

  const ends = [
    [
      'unauthorized',
      'a write',
      aResponse(ownError('gateway', 'access_denied', 'No'), 401),
      { status: 401, serviceCode: 'access_denied' },
    ],
    [
      'unauthorized',
      'a write',
      aResponse(ownError('gateway', 'forbidden', 'No'), 403),
      { status: 403, serviceCode: 'forbidden' },
    ],
    ['in-doubt', 'a write', aResponse('<html>', 401), { status: 401 }],
    ['in-doubt', 'a write', aResponse({ message: 'Forbidden' }, 403), { status: 403 }],
    ['unauthorized', 'a read', aResponse('<html>', 403), { status: 403 }],
    ['unauthorized', 'a write', aResponse(keyFault, 400), { status: 400, serviceCode: 'oauth.v2.InvalidAccessToken' }],
    ['unauthorized', 'a read', aResponse(keyFault, 500), { status: 500, serviceCode: 'oauth.v2.InvalidAccessToken' }],
    ['unauthorized', 'a write', aResponse(keyFault, 200), { status: 200, serviceCode: 'oauth.v2.InvalidAccessToken' }],
    ['redirected', 'an upsert', aResponse('', 301), { status: 301 }],
    ['redirected', 'a read', aResponse('', 307), { status: 307 }],
    ['in-doubt', 'a write', aResponse('', 302), { status: 302 }],
    ['redirected', 'a read', aResponse('', 303), { status: 303 }],
    ['in-doubt', 'a write', aResponse('', 303), { status: 303 }],
    [
      'refused',
      'a write',
      aResponse({ message: 'Bad', errors: [], referenceId: 'r-1' }, 400),
      { status: 400, serviceCode: 'http-400' },
    ],
    [
      'refused',
      'a read',
      aResponse(ownError('gateway', 'not_found', 'None'), 404),
      { status: 404, serviceCode: 'not_found' },
    ],
    ['in-doubt', 'a write', aResponse('<html>', 404), { status: 404 }],
    ['unavailable', 'a read', aResponse('<html>', 404), { status: 404 }],
    ['in-doubt', 'a write', LOST, { status: undefined }],
    ['in-doubt', 'a write', aResponse('', 500), { status: 500 }],
    ['in-doubt', 'a write', aResponse('', 101), { status: 101 }],
    ['in-doubt', 'a write', aResponse('{}'), { status: 200 }],
    ['in-doubt', 'a write', aResponse('', 206), { status: 206 }],
    ['bad-answer', 'a read', aResponse('<html>'), { status: 200 }],
    ['bad-answer', 'an upsert', aResponse('', 204), { status: 204 }],
    ['unavailable', 'a write', REFUSED, { status: undefined }],
    ['unavailable', 'a write', aResponse(ownError('gateway', 'busy', 'Busy'), 429), { status: 429 }],
    ['in-doubt', 'a write', aResponse('', 429), { status: 429 }],
    ['unavailable', 'a read', aResponse('', 503), { status: 503 }],
    ['unavailable', 'a read', aResponse('', 500), { status: 500 }],
    ['unavailable', 'an upsert', LOST, { status: undefined }],
  ] as const;

  test.each(ends.map(([code, kind, answer, more]) => ({ code, kind, answer, more, nameOfAnswer: nameOf(answer) })))(
    'is $code for $kind that ends with $nameOfAnswer',
    async ({ code, kind, answer, more }) => {
      const { call, told } = aCaller(repeat(answer));
      const endpoint = KINDS[kind];
      const error = await failureOf(call(endpoint, TEXT));
      expect(error).toMatchObject({ code, ...more });
      expect(attemptsIn(told) > 1).toBe(code === 'unavailable');
      expect(error.message).toMatch(new RegExp(`^Cannot .*${endpoint.name}`));
      expect(`${error.message} ${error.hint}`).not.toMatch(new RegExp(`${SECRET}|${TEXT}`));
    },
  );

  test('carries the words of the service', async () => {
    const error = await failureOf(
      aCaller([aResponse(ownError('gateway', 'not_found', 'Campaign not found.'), 404)]).call(READ, ''),
    );
    expect(error.message).toBe('Cannot read it: Campaign not found.');
  });

  test.each([LOST, aResponse('', 500), REFUSED])('never says of a read that it may have been done', async (answer) => {
    const certain = /^Nothing was (changed|done)\. Try again later\.$/;
    const reads = [
      aCaller(repeat(answer)).call({ ...READ, name: 'look at it' }, ''),
      aCaller(repeat(answer)).call(readCampaign, { campaignId: 101 }),
      aCaller(repeat(answer)).call(readSession, { sessionId: 's1' }),
      aCaller(repeat(answer)).call(readMessages, {}),
    ];
    for (const read of reads) expect((await failureOf(read)).hint).toMatch(certain);
  });

  test.each([
    [LOST, 'cannot be reached, or does not answer: UND_ERR_SOCKET'],
    [aResponse('', 500), 'fails: HTTP 500'],
    [aResponse('', 503), 'is too busy: HTTP 503'],
  ])('says in words why the service is unavailable', async (answer, words) => {
    const error = await failureOf(aCaller(repeat(answer)).call(READ, ''));
    expect(error.message).toBe(`Cannot read it: the service ${words}`);
  });

  test('says that it may have been done when an earlier attempt may have come through', async () => {
    const upsert = { ...UPSERT, name: 'read it into the book' };
    const doubtful = await failureOf(aCaller([LOST, ...repeat(REFUSED)]).call(upsert, TEXT));
    expect(doubtful.hint).toMatch(/may have been made/);
    const certain = await failureOf(aCaller(repeat(REFUSED)).call(UPSERT, TEXT));
    expect(certain.hint).toMatch(/Nothing was done/);
  });
});
