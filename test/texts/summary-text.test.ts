import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { describeRunEnd } from '../../src/command/failure.js';
import { PLAIN_SCREEN } from '../../src/command/screen.js';
import type { Reason } from '../../src/plan/reasons.js';
import { emptyBalance, type Summary } from '../../src/report/summary.js';
import { explainEnd, formatSummary } from '../../src/texts/summary-text.js';
import { aSummary } from './a-summary.js';

const REAL = { isSandbox: false, nowMs: 0 };

const rejectionsFor = (codes: readonly string[], rows: number, example: Reason['example']) =>
  codes.map((code) => ({ output: 'rejections' as const, code, rows, said: '', example }));

describe('the account of a run', () => {
  it('has the figures of each step in one table, and says where its files are', () => {
    expect(formatSummary(aSummary(), REAL)).toBe(
      'Run p1 of job sale is finished: every row is accounted for.\n' +
        '1,234 of 1,234 rows accepted.\n\n' +
        '  step    read  accepted  rejected  skipped  in doubt  not sent\n' +
        '  1 sms  1,234     1,234         –        –         –         –\n\n' +
        'All files of this run: /out/sale/p1\n',
    );
  });

  it('adds the steps up, with one line for each', () => {
    const one = aSummary({ balance: { ...emptyBalance(), read: 10, accepted: 8, rejected: 1, skipped: 1 } });
    const two = aSummary({ balance: { ...emptyBalance(), read: 5, accepted: 2, inDoubt: 2, unprocessed: 1 } });
    const steps = [one.steps[0]!, { ...two.steps[0]!, number: 2, kind: 'contacts' }];
    const text = formatSummary({ ...one, steps }, REAL);
    expect(text.split('\n').slice(3, 7)).toEqual([
      '  step        read  accepted  rejected  skipped  in doubt  not sent',
      '  1 sms         10         8         1        1         –         –',
      '  2 contacts     5         2         –        –         2         1',
      '  total         15        10         1        1         2         1',
    ]);
  });

  it('gives the commonest reasons in words, each with a row, what to do, and the file with all of them', () => {
    const balance = { ...emptyBalance(), read: 9, accepted: 2, rejected: 4, skipped: 1, inDoubt: 2 };
    const example = { file: 'a.csv', path: '/data/a.csv', line: 37, row: 36, field: 'mobile', value: '+65******21' };
    const step = {
      skips: { suppressed: 1 },
      files: { rejections: '1-sms.rejections.csv', skipped: '1-sms.skipped.csv', 'in-doubt': '1-sms.in-doubt.csv' },
      reasons: [
        { output: 'rejections' as const, code: 'bad-number', rows: 2, said: '', example },
        {
          output: 'rejections' as const,
          code: '7777',
          rows: 1,
          said: 'Not today',
          example: { ...example, line: 40, field: '' },
        },
        {
          output: 'in-doubt' as const,
          code: 'no-answer',
          rows: 2,
          said: 'x',
          example: { ...example, line: 50, field: '', value: '' },
        },
      ],
    };
    const text = formatSummary(aSummary({ balance }, step), {
      ...REAL,
      screen: { ...PLAIN_SCREEN, directory: '/data' },
    });
    expect(text).toContain(
      '1 sms: 4 rejected, mostly as follows → 1-sms.rejections.csv\n' +
        '      2  no such number in its country (bad-number): check its digits\n' +
        '         a.csv:37  mobile +65******21\n' +
        '      1  the service says: Not today (7777): see the reasons in the file\n' +
        '         a.csv:40  +65******21\n' +
        '1 sms: 2 in doubt → 1-sms.in-doubt.csv\n' +
        '      2  sent, and no answer came (no-answer): settle it\n' +
        '         a.csv:50\n' +
        '1 sms: 1 skipped: 1 on a suppression list → 1-sms.skipped.csv\n',
    );
  });

  it.each([40, 60, 80, 120])('keeps to a screen of %i columns, save for paths and commands to copy', (columns) => {
    const balance = { ...emptyBalance(), read: 2_345_678, accepted: 1_111_111, rejected: 1_111_111, inDoubt: 123_456 };
    const place = { file: 'a', path: '/a.csv', line: 3_700_000, row: 1 };
    const example = { ...place, field: 'The mobile number', value: '+65******21' };
    const reasons = rejectionsFor(['bad-number', 'missing-value'], 1, example);
    const text = formatSummary(aSummary({ balance, exitCode: 3 }, { reasons, kind: 'verification.check' }), {
      isSandbox: true,
      nowMs: 0,
      screen: { ...PLAIN_SCREEN, columns },
    });
    expect(text.split('\n').filter((line) => line.length > columns && !line.startsWith('  volley settle'))).toEqual([]);
  });

  it('has colour where it means something, and none where none is wanted', () => {
    const balance = { ...emptyBalance(), read: 2, accepted: 1, rejected: 1 };
    const colored = formatSummary(aSummary({ balance }), { ...REAL, screen: { ...PLAIN_SCREEN, hasColor: true } });
    for (const said of ['\u001b[32m', '\u001b[31m']) expect(colored).toContain(said);
    expect(stripVTControlCharacters(colored)).toBe(formatSummary(aSummary({ balance }), REAL));
  });

  it.each<[string, Partial<Summary>, string]>([
    [
      'stopped',
      { state: 'stopped', stop: { reason: 'unavailable', detail: 'HTTP 503' }, exitCode: 75 },
      'stopped before its end: it cannot go on for now (HTTP 503).',
    ],
    ['unfinished', { state: 'unfinished', exitCode: 75 }, 'is still running, or its process died.'],
    ['planned', { state: 'planned', exitCode: 75 }, 'is planned; nothing was sent.'],
  ])('says of a run that is %s how it stands', (_state, changes, said) => {
    const wide = { ...REAL, screen: { ...PLAIN_SCREEN, columns: 120 } };
    expect(formatSummary(aSummary(changes), wide).split('\n')[0]).toBe(`Run p1 of job sale ${said}`);
  });

  it.each([
    [75, {}, 'the same command resumes the run\n  volley run jobs/sale.yaml\n'],
    [3, { inDoubt: 1 }, '1 row in doubt may or may not have been sent'],
    [3, { inDoubt: 2 }, '\n  volley settle /out/sale/p1 --export messages.csv\n'],
    [1, { unprocessed: 1 }, '\n  volley retry /out/sale/p1 --only not-sent\n'],
    [1, { rejected: 1 }, 'correct the rows in /out/sale/p1/1-sms.rejections.csv'],
  ])('says at exit code %i what to do next, and the command for it', (exitCode, balance, next) => {
    const summary = aSummary({ exitCode, balance: { ...emptyBalance(), ...balance } });
    expect(formatSummary(summary, { ...REAL, job: 'jobs/sale.yaml' })).toContain(next);
  });

  it.each([
    ['contacts', 'not-sent', 'merged into the one that is there'],
    ['verification.check', 'not-sent', 'their codes would pass for right'],
    ['verification.start', 'sent', 'look for them at the service'],
    ['conversations', 'sent', 'look for them at the service'],
  ] as const)('of rows in doubt of %s advises to count them as %s', (kind, assume, why) => {
    const balance = { ...emptyBalance(), read: 2, inDoubt: 2 };
    const text = formatSummary(aSummary({ exitCode: 3, balance }, { kind, balance }), REAL).replace(/\s+/g, ' ');
    for (const said of [`--assume ${assume} --confirm 2`, why]) expect(text).toContain(said);
  });

  it.each([
    [
      'unauthorized',
      'check that key or token, and account and subaccount of the job; then the same command resumes the run, or says how to go on if the job names another address or account now\n  volley run jobs/sale.yaml\n',
    ],
    [
      'redirected',
      'check service.region or service.bases; then the same command resumes the run, or says how to go on if the job names another address or account now\n  volley run jobs/sale.yaml\n',
    ],
    [
      'guard',
      'correct the job where this is not as it should be; then the same command resumes the run, or says how to go on\n  volley run jobs/sale.yaml\n',
    ],
    ['refused', 'fix what was refused; then the same command resumes the run\n  volley run jobs/sale.yaml\n'],
    [
      'request-refused',
      'fix that in the job, and plan the rest with it\n  volley retry /out/sale/p1 --only unprocessed --job jobs/sale.yaml\n',
    ],
  ] as const)(
    'of a run that stopped for a person (%s) says the reason itself, and what to do about it',
    (reason, next) => {
      const summary = aSummary({ state: 'stopped', exitCode: 4, stop: { reason, detail: 'it is so.' } });
      expect(explainEnd(summary)).toContain('it is so; ');
      const job = 'jobs/sale.yaml';
      const text = formatSummary(summary, { ...REAL, job, screen: { ...PLAIN_SCREEN, columns: 200 } });
      expect(text.split('\n')[0]).toMatch(/stopped before its end: .*it is so/);
      expect(text).toContain(`Next: ${next}`);
      const { error } = describeRunEnd(summary);
      expect(error).toMatchObject({ code: reason, message: expect.stringContaining('it is so') });
      expect(error?.hint?.toLowerCase()).toContain(next.split(/[;,\n]/, 1)[0]?.toLowerCase());
    },
  );

  it.each([
    ['in-between', 'if it stays so, check service.bases'],
    ['unclear', 'look at the campaign'],
    ['unknown-id', 'look for it at the service and delete it; if it stays so, check service.bases'],
    [undefined, 'fix what was refused'],
  ] as const)('of a step without rows asks for no fix of a refusal where nothing was refused: %s', (fault, next) => {
    const stop = { reason: 'refused', detail: 'step 1 (campaign): it is so', fault } as const;
    const text = formatSummary(aSummary({ state: 'stopped', exitCode: 4, stop }), REAL);
    expect(text.replace(/\s+/g, ' ')).toContain(`Next: ${next}`);
  });

  it('of a run that was refused within a stage says to let it go before the rest is planned', () => {
    const stop = { reason: 'request-refused', detail: 'it is so' } as const;
    const summary = aSummary(
      { state: 'stopped', exitCode: 4, stop },
      { stages: { rows: [5, 45], passed: 0, waiting: null } },
    );
    expect(formatSummary(summary, REAL)).toContain('volley abandon /out/sale/p1\n');
  });

  it.each([
    [{ 'bad-number': 15, 'too-short': 3 }, {}, '; 18 of 447 numbers could not be used.'],
    [{ 'bad-number': 15, 'missing-value': 3 }, {}, '; 18 of 447 rows could not be used.'],
    [
      { 'bad-number': 18 },
      { inDoubt: 2, unprocessed: 1 },
      '; 18 of 447 numbers could not be used, 2 rows in doubt, 1 row not sent.',
    ],
  ])(
    'of a finished run says how much of the audience could not be used, not that it failed: %j',
    (rejections, more, said) => {
      const balance = { ...emptyBalance(), read: 2000, skipped: 1553, accepted: 429, rejected: 18, ...more };
      const summary = aSummary({ exitCode: 1, balance }, { rejections });
      expect(formatSummary(summary, { ...REAL, screen: { ...PLAIN_SCREEN, columns: 120 } }).split('\n')[0]).toBe(
        `Run p1 of job sale is finished${said}`,
      );
      expect(explainEnd(summary)).toMatch(/^finished; .*18 of 447 (numbers|rows) could not be used \(bad-number/);
    },
  );

  it('after rejections of a job that asks for tests names plan, since run would be refused', () => {
    const summary = aSummary({ exitCode: 1, balance: { ...emptyBalance(), rejected: 1 } });
    const text = formatSummary(summary, { ...REAL, job: 'jobs/sale.yaml', requiresTest: true });
    expect(text.replace(/\s+/g, ' ')).toContain(
      'plan and test it again. Nothing is sent twice. volley plan jobs/sale.yaml',
    );
    expect(text).not.toContain('volley run');
  });

  it.each([
    [false, 'once the messages look right on your phones, plan the job'],
    [true, 'the sandbox accepted them: plan the job'],
  ])('after an accepted test (sandbox: %s) says what to do next', (isSandbox, next) => {
    const summary = aSummary({ testOf: { plan: null, numbers: 1 } });
    const text = formatSummary(summary, { isSandbox, nowMs: 0, job: 'jobs/sale.yaml' });
    expect(text).toContain(`Next: ${next}\n  volley plan jobs/sale.yaml\n`);
  });

  it('names the command that sends a plan, or resumes a run, where no job file is known', () => {
    const planned = formatSummary(aSummary({ state: 'planned', exitCode: 75 }), REAL);
    expect(planned).toMatch(/Next: send it\n {2}volley apply \/out\/sale\/p1\n$/);
    const stopped = formatSummary(aSummary({ state: 'unfinished', exitCode: 75 }), REAL);
    expect(stopped).toMatch(/resumes the run\n {2}volley apply \/out\/sale\/p1\n$/);
  });

  it('of the sandbox says that no message left, and where its ledger is', () => {
    const text = formatSummary(aSummary(), { isSandbox: true, nowMs: 0 });
    expect(text).toContain('no message left this machine');
    expect(text).toMatch(/\/out\/sale\/.*ledger\.ndjson$/m);
  });

  it.each([
    ['accepted', 'POSTED', 'Posted to the chat room', 'posted to the chat room'],
    ['rejected', 'impossible-change', 'it is stopped', 'not done (impossible-change): it is stopped'],
    ['in-doubt', 'no-answer', 'no answer came', 'in doubt (no-answer): no answer came'],
  ] as const)(
    'says what came of a step without rows that is %s, and of what was done no code',
    (status, code, reason, told) => {
      const text = formatSummary(aSummary({}, { number: 4, kind: 'chat', action: { status, code, reason } }), REAL);
      expect(text).toContain(`  4 chat  ${told}\n`);
      if (status !== 'accepted') expect(text).toContain(`\n4 chat: ${told}\n`);
    },
  );

  it('has an example of each reason of one step, and of several steps of the commonest alone, so that four fit a screen of 40 lines', () => {
    const balance = { ...emptyBalance(), read: 9, rejected: 9 };
    const example = { file: 'a.csv', path: '/data/a.csv', line: 37, row: 36, field: 'mobile', value: '' };
    const reasons = rejectionsFor(['bad-number', 'too-short', 'lost-plus'], 3, example);
    const withSteps = (count: number) => {
      const [step] = aSummary({ balance }, { reasons }).steps;
      const steps = Array.from({ length: count }, (_, at) => ({ ...step!, number: at + 1 }));
      return formatSummary({ ...aSummary({ balance }), steps }, { ...REAL, screen: PLAIN_SCREEN });
    };
    const examplesOf = (text: string) => text.split('a.csv:37').length - 1;
    expect(examplesOf(withSteps(1))).toBe(3);
    expect(examplesOf(withSteps(4))).toBe(4);
    expect(withSteps(4).split('\n').length).toBeLessThanOrEqual(40);
  });

  it('carries nothing of an answer that would steer the terminal, or pass for a line of Volley', () => {
    const evil = '\u001b[2J\nStep 2 (sms): all is well';
    const balance = { ...emptyBalance(), read: 2, rejected: 1, skipped: 1 };
    const stop = { reason: 'guard', detail: evil } as const;
    const example = { file: evil, path: `/${evil}`, line: 1, row: 1, field: evil, value: evil };
    const reason = { output: 'rejections' as const, code: evil, rows: 1, said: evil, example };
    const text = formatSummary(
      aSummary(
        { balance, state: 'stopped', stop, directory: `/out/${evil}` },
        { reasons: [reason], skips: { [evil]: 1 } },
      ),
      REAL,
    );
    expect(text).not.toMatch(/[^\P{Cc}\n]/u);
    expect(text).not.toMatch(/^Step 2/m);
  });
});

describe('the account of messages for a later time', () => {
  const scheduled = { at: '2026-11-24T10:00:00+01:00', timeZone: 'Europe/Berlin' };
  const at = (nowMs: number) => ({ isSandbox: false, nowMs, screen: { ...PLAIN_SCREEN, command: 'npx volley' } });
  const beforeMs = Date.parse(scheduled.at) - 3_600_000;

  it('says until when the service holds them, and what takes them back', () => {
    expect(formatSummary(aSummary({}, { scheduled }), at(beforeMs))).toContain(
      '1 sms: the service holds 1,234 messages until 24 November 2026 at 10:00\n' +
        '    Europe/Berlin (in 60 min)\nTo take them back before that:\n  npx volley cancel /out/sale/p1\n',
    );
  });

  it('says nothing of that once the time has come, or where none was accepted', () => {
    const balance = { ...emptyBalance(), read: 5, rejected: 5 };
    expect(formatSummary(aSummary({}, { scheduled }), at(Date.parse(scheduled.at)))).not.toContain('holds');
    expect(formatSummary(aSummary({ balance }, { scheduled }), at(beforeMs))).not.toContain('holds');
    expect(formatSummary(aSummary(), at(beforeMs))).not.toContain('holds');
  });
});
