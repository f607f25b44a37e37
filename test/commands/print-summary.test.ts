import { describe, expect, it } from 'vitest';
import { formatSummary } from '../../src/commands/print-summary.js';
import { emptyBalance, type Summary } from '../../src/report/summary.js';

function aSummary(changes: Partial<Summary> = {}, step: Partial<Summary['steps'][number]> = {}): Summary {
  const balance = { ...emptyBalance(), read: 1234, accepted: 1234, ...changes.balance };
  const files = { results: '1-sms.results.csv', rejections: '1-sms.rejections.csv' };
  const one = {
    number: 1,
    kind: 'sms',
    balance,
    inputs: [],
    requests: { planned: 2, settled: 2 },
    messages: 1,
    segments: 1,
  };
  return {
    format: 1,
    job: 'sale',
    plan: 'p1',
    retryOf: null,
    directory: '/out/sale/p1',
    state: 'finished',
    stop: null,
    startedAt: null,
    endedAt: null,
    exitCode: 0,
    deliveries: null,
    notDelivered: null,
    ...changes,
    balance,
    steps: [{ ...one, rejections: {}, skips: {}, files, action: null, ...step }],
  };
}

const REAL = { isSandbox: false };

describe('the account of a run', () => {
  it('names what there is of each outcome, and the file it stands in', () => {
    expect(formatSummary(aSummary(), REAL)).toBe(
      'Run p1 of job sale is finished: every row is accounted for.\n\n' +
        'Step 1 (sms): 1,234 rows read, 2 of 2 requests settled\n' +
        '  accepted        1,234\n                        → /out/sale/p1/1-sms.results.csv\n\n' +
        'All in all: 1,234 of 1,234 rows accepted.\n' +
        'Everything about this run: /out/sale/p1\n',
    );
  });

  it.each<[string, Partial<Summary>, string]>([
    [
      'stopped',
      { state: 'stopped', stop: { reason: 'unavailable', detail: 'HTTP 503' }, exitCode: 75 },
      'stopped before its end (unavailable: HTTP 503).',
    ],
    ['unfinished', { state: 'unfinished', exitCode: 75 }, 'is under way, or its process died.'],
    ['planned', { state: 'planned', exitCode: 75 }, 'is planned; nothing was sent.'],
  ])('says of a run that is %s how it stands', (_state, changes, said) => {
    expect(formatSummary(aSummary(changes), REAL).split('\n')[0]).toBe(`Run p1 of job sale ${said}`);
  });

  it.each([
    [75, {}, 'Run the same command to go on.'],
    [4, {}, 'A person must look at it'],
    [3, { inDoubt: 1 }, 'never sent again by themselves'],
    [1, { rejected: 1 }, 'Mend the rejections file'],
  ])('says at exit code %i what to do next', (exitCode, balance, next) => {
    expect(formatSummary(aSummary({ exitCode, balance: { ...emptyBalance(), ...balance } }), REAL)).toContain(next);
  });

  it('of the sandbox says that no message left, and where its ledger is', () => {
    const text = formatSummary(aSummary(), { isSandbox: true });
    expect(text).toContain('no message left this machine');
    expect(text).toMatch(/\/out\/sale\/.*ledger\.ndjson$/m);
    expect(text).not.toContain('delivered');
  });

  it.each([
    [1, '1 receipt or event was not delivered: outside of this machine.'],
    [1234, '1,234 receipts and events were not delivered: outside of this machine.'],
  ])('of the sandbox says in one line that %i was not delivered', (notDelivered, line) => {
    expect(formatSummary(aSummary({ notDelivered }), { isSandbox: true }).split('\n')).toContain(line);
  });

  it.each([
    ['accepted', 'POSTED', 'Posted to the chat room', 'posted to the chat room'],
    ['rejected', 'impossible-change', 'it is stopped', 'not done (impossible-change): it is stopped'],
    ['in-doubt', 'no-answer', 'no answer came', 'in doubt (no-answer): no answer came'],
  ] as const)(
    'says what came of a step without rows that is %s, and of what was done no code',
    (status, code, reason, told) => {
      const text = formatSummary(aSummary({}, { number: 4, kind: 'chat', action: { status, code, reason } }), REAL);
      expect(text).toContain(`\nStep 4 (chat): ${told}\n`);
    },
  );

  it('counts rejections by code', () => {
    const balance = { ...emptyBalance(), read: 3, rejected: 3 };
    expect(formatSummary(aSummary({ balance }, { rejections: { 'bad-number': 2, 1002: 1 } }), REAL)).toContain(
      '3: bad-number 2, 1002 1',
    );
  });

  it('carries nothing of an answer that would steer the terminal, or pass for a line of ours', () => {
    const evil = '\u001b[2J\nStep 2 (sms): all is well';
    const balance = { ...emptyBalance(), read: 1, rejected: 1 };
    const stop = { reason: 'guard', detail: evil };
    const text = formatSummary(
      aSummary({ balance, state: 'stopped', stop, directory: `/out/${evil}` }, { rejections: { [evil]: 1 } }),
      REAL,
    );
    expect(text).not.toMatch(/[^\P{Cc}\n]/u);
    expect(text).not.toMatch(/^Step 2/m);
  });
});
