import { describe, expect, it } from 'vitest';
import { readHistory } from '../../../src/registry/history.js';
import { readRunRows } from '../../../src/report/read-run-rows.js';
import { settleByDecision } from '../../../src/settle/operator-decision.js';
import { aCsvOf, aFolder, aNumber, anSmsStep, aPlan, linesOf, type MadePlan, someLimits } from '../../plan/a-plan.js';
import { aRun, aScriptedService, entriesOf, reportOf } from '../../run/a-run.js';
import {
  anExported,
  anExportOf,
  aRunInDoubt,
  csvOf,
  depsOf,
  type ExportCells,
  lockedRun,
  MINUTE,
  other,
  SENT_AT,
  settleWith,
  withLock,
} from './an-export.js';

const files = aFolder({ 'people.csv': aCsvOf(6) });

/** An export that holds these rows of the run. */
const holding = (made: MadePlan, rows: readonly number[], cells: ExportCells = {}) =>
  csvOf(anExportOf(rows.map((row) => anExported(made, row, cells))));
const ACCEPTED = [0, 1, 4, 5];
const outputOf = ({ disk, directory }: MadePlan, name: string) =>
  linesOf(disk.readText(`${directory}/1-sms.${name}.csv`)).slice(1);

describe('rows in doubt that the export holds', () => {
  it('are accepted with their umid, or rejected with the reason that it gives', async () => {
    const made = await aRunInDoubt();
    const refused = { status_value: 'Rejected', status_errorcode: '14', status_errormessage: 'Spam content' };
    const rows = [...ACCEPTED.map((row) => anExported(made, row)), anExported(made, 3, refused)];
    const { settled, left } = await settleWith(made, csvOf([...rows, anExported(made, 2)]));
    expect([settled, left]).toEqual([{ accepted: 1, rejected: 1, notSent: 0 }, {}]);
    expect(await reportOf(made)).toMatchObject({ exitCode: 1, balance: { accepted: 5, rejected: 1, inDoubt: 0 } });
    expect(outputOf(made, 'results')[2]).toContain(`EXPORT,m-2,${made.plan.id}-1-2`);
    expect(outputOf(made, 'rejections')[0]).toContain('send,,14,Spam content');
  });

  it('are settled though the export shows nothing of what it lacks', async () => {
    const made = await aRunInDoubt();
    const csv = csvOf([anExported(made, 2)], ['umid', 'clientmessageid', 'subaccountid', 'msisdn', 'status_value']);
    const { settled, left } = await settleWith(made, csv);
    expect(settled).toEqual({ accepted: 1, rejected: 0, notSent: 0 });
    expect(left).toEqual({ 'it is not in the export, but export-1.csv has no column direction': 1 });
  });

  it('stand in the journal with the digest of the export, before the end that the run had', async () => {
    const made = await aRunInDoubt();
    const close = entriesOf(made.disk, made.directory).at(-1);
    await settleWith(made, holding(made, [...ACCEPTED, 2, 3]));
    const [settle, last] = entriesOf(made.disk, made.directory).slice(-2);
    expect(settle).toMatchObject({
      type: 'settle',
      step: 1,
      by: expect.stringMatching(/^export sha256 [0-9a-f]{64}$/),
    });
    expect(last).toEqual(close);
    expect((await readHistory(made.disk.files, '/out/sale')).map(({ state }) => state)).toEqual(['finished']);
  });

  it('that stand in it twice are accepted if either was, in whichever order they come', async () => {
    for (const states of [
      ['rejected', 'sent'],
      ['sent', 'rejected'],
    ]) {
      const made = await aRunInDoubt();
      const rows = states.map((status_value) => anExported(made, 2, { status_value }));
      expect((await settleWith(made, csvOf(rows))).settled).toMatchObject({ accepted: 1, rejected: 0 });
    }
  });

  it.each<[string, ExportCells]>([
    ['another number', { msisdn: aNumber(5) }],
    ['another number whose end alone is shown', { msisdn: '******99' }],
    ['another subaccount', { subaccountid: 'other' }],
  ])('with %s stay in doubt', async (_what, cells) => {
    const made = await aRunInDoubt();
    const rows = [...ACCEPTED.map((row) => anExported(made, row)), anExported(made, 2, cells), anExported(made, 3)];
    const { settled, left } = await settleWith(made, csvOf(anExportOf(rows)));
    expect(settled).toEqual({ accepted: 1, rejected: 0, notSent: 0 });
    expect(left).toEqual({ 'the export holds its id with another number or subaccount': 1 });
  });

  it.each(['', aNumber(2).slice(1), '+65 9000 0002', '65****02', '659000xxxx', '********'])(
    'may have their number written as "%s"',
    async (msisdn) => {
      const made = await aRunInDoubt();
      const { settled } = await settleWith(made, csvOf([anExported(made, 2, { msisdn })]));
      expect(settled.accepted).toBe(1);
    },
  );

  it('stay in doubt where only a message that came in has their id: an answer may carry that of what it answers', async () => {
    for (const rejected of [[], [2]]) {
      const made = await aRunInDoubt();
      const answer = anExported(made, 2, { direction: '0' });
      const refused = rejected.map((row) => anExported(made, row, { status_value: 'rejected' }));
      const rows = [...ACCEPTED.map((row) => anExported(made, row)), ...refused, answer, anExported(made, 3)];
      const { settled, left } = await settleWith(made, csvOf(anExportOf(rows)));
      expect(settled).toEqual({ accepted: 1, rejected: 0, notSent: 0 });
      expect(left).toEqual({ 'the export holds its id with a message that came in: it may be an answer to it': 1 });
    }
  });

  it('were accepted where an answer has their id beside them', async () => {
    const made = await aRunInDoubt();
    const rows = [anExported(made, 2, { direction: '0' }), anExported(made, 2)];
    expect((await settleWith(made, csvOf(rows))).settled.accepted).toBe(1);
  });
});

describe('rows in doubt that the export lacks', () => {
  it('were not sent, where it would hold them: they stand in unprocessed, and nothing is in doubt', async () => {
    const made = await aRunInDoubt();
    const { settled, left } = await settleWith(made, holding(made, [...ACCEPTED, 2]));
    expect([settled, left]).toEqual([{ accepted: 1, rejected: 0, notSent: 1 }, {}]);
    expect(await reportOf(made)).toMatchObject({
      state: 'finished',
      exitCode: 1,
      balance: { read: 6, accepted: 5, inDoubt: 0, unprocessed: 1 },
    });
    expect(outputOf(made, 'unprocessed')[0]).toMatch(/^\+6590000003,n3,1,people.csv,5,4,not-in-export,"The service's/);
  });

  it('are never sent by their own run, however often it is applied', async () => {
    const made = await aRunInDoubt();
    await settleWith(made, holding(made, ACCEPTED));
    const service = aScriptedService();
    const { end } = await aRun({ made, service, epoch: 9 });
    expect([end.reason, service.sent]).toEqual(['finished', []]);
  });

  /** How the export is spoilt, and what is then said of the rows in doubt. */
  const SPOILT: [string, (made: MadePlan) => string, RegExp][] = [
    ['a message that was accepted', (made) => holding(made, [0, 1, 4]), /lacks 1 message of this run/],
    ['all messages of the run', (made) => holding(made, []), /lacks 4 messages of this run/],
    [
      'messages to their country',
      (made) =>
        csvOf([
          other({ country: 'MY' }, -1440),
          ...ACCEPTED.map((row) => anExported(made, row, { country: 'MY' })),
          other({ country: 'MY' }, 1440),
        ]),
      /no message to SG/,
    ],
    [
      'what was sent half an hour before',
      (made) => csvOf([other({}, -29), ...ACCEPTED.map((row) => anExported(made, row)), other({}, 1440)]),
      /from before 2027-01-15T07:30:00Z/,
    ],
    [
      'what was sent an hour after',
      (made) => csvOf([other({}, -1440), ...ACCEPTED.map((row) => anExported(made, row)), other({}, 59)]),
      /from after 2027-01-15T09:00:00Z/,
    ],
    [
      'what was sent before and after from this subaccount',
      (made) =>
        csvOf([
          other({ subaccountid: 'b' }, -1440),
          ...ACCEPTED.map((row) => anExported(made, row)),
          other({ subaccountid: 'b' }, 1440),
        ]),
      /from before/,
    ],
    [
      'what was sent after, though something came in',
      (made) =>
        csvOf([other({}, -1440), ...ACCEPTED.map((row) => anExported(made, row)), other({ direction: '0' }, 1440)]),
      /from after/,
    ],
    [
      'times that are ours',
      (made) => holding(made, ACCEPTED, { createdat: new Date(SENT_AT + 8 * 60 * MINUTE).toISOString() }),
      /times of the export do not match those of the run: a message that was sent at 2027-01-15T08:00:00Z was created at 2027-01-15T16/,
    ],
    ['times that can be read', (made) => holding(made, ACCEPTED, { createdat: '01/02/2027 08:00' }), /createdat/],
    [
      'the rest of a line',
      (made) => `${holding(made, ACCEPTED)}"cut","off"\n`,
      /line 8 of export-1.csv cannot be read \(too-few-f/,
    ],
    [
      'the column of times',
      (made) =>
        csvOf(anExportOf(ACCEPTED.map((row) => anExported(made, row))), [
          ...(['umid', 'clientmessageid', 'subaccountid', 'msisdn', 'status_value', 'direction', 'country'] as const),
        ]),
      /no column createdat/,
    ],
  ];

  it.each(SPOILT)('stay in doubt where it lacks %s', async (_what, spoil, reason) => {
    const made = await aRunInDoubt();
    const before = made.disk.readText(`${made.directory}/journal.ndjson`);
    const { settled, left } = await settleWith(made, spoil(made));
    expect(settled).toEqual({ accepted: 0, rejected: 0, notSent: 0 });
    expect(Object.entries(left)).toEqual([[expect.stringMatching(reason), 2]]);
    expect(made.disk.readText(`${made.directory}/journal.ndjson`)).toBe(before);
  });

  it.each([
    '2027-01-15T08:00:00Z',
    '2027-01-15 08:00:00',
    '2027-01-15 08:00:00.1234567 UTC',
    '2027-01-15T16:00:00+0800',
  ])('may be settled by an export that writes its times as %s', async (createdat) => {
    const made = await aRunInDoubt();
    expect((await settleWith(made, holding(made, ACCEPTED, { createdat }))).settled.notSent).toBe(2);
  });

  it('stay in doubt in a run without accepted messages to two numbers, whatever the export holds', async () => {
    const nothing = await aRunInDoubt([1, 2, 3]);
    const { left } = await settleWith(nothing, holding(nothing, []));
    expect(Object.keys(left)).toEqual([expect.stringContaining('no accepted messages to two numbers')]);
  });

  it('stay in doubt where only a person said that the others were sent', async () => {
    const made = await aRunInDoubt([2]);
    const { directory, plan } = made;
    const path = `${directory}/journal.ndjson`;
    const known = async () => {
      const { rows } = await readRunRows(made.disk.files, { directory, plan });
      return [0, 1, 2, 3, 4, 5].filter((row) => rows.isKnownAccepted(1, row));
    };
    expect(await known()).toEqual([0, 1, 4, 5]);
    const word = { assume: 'sent', confirm: 2, person: 'ann' } as const;
    await withLock(made, async (lock) => settleByDecision(await lockedRun(made, lock), word, depsOf(made)));
    expect(made.disk.readText(path)).toContain('ASSUMED');
    expect(await known()).toEqual([0, 1, 4, 5]);
  });

  it('stay in doubt where nothing shows that the clock of their machine was right', async () => {
    const steps = [anSmsStep({ batchSize: 2, limits: someLimits({ concurrency: 1 }) })];
    const made = await aPlan({ files, job: { steps } });
    const path = `${made.directory}/journal.ndjson`;
    await aRun({ made });
    // As the process left it that died with the third request under way; another machine goes on.
    const lines = linesOf(made.disk.readText(path)).filter((line) => line !== '');
    const third = entriesOf(made.disk, made.directory).findIndex(
      (entry) => entry.type === 'intent' && entry.request === 3,
    );
    made.disk.write(path, `${lines.slice(0, third + 1).join('\n')}\n`);
    await aRun({ made, epoch: 2, deps: { owner: { host: 'there', pid: 1, instance: 'j' } } });
    const { left } = await settleWith(made, holding(made, [0, 1, 2, 3]));
    expect(Object.entries(left)).toEqual([[expect.stringContaining('clock of the machine'), 2]]);
  });
});

it('an export without the columns by which a row is known is refused, and so is one that is cut off in a quote', async () => {
  const made = await aRunInDoubt();
  await expect(settleWith(made, 'a,b\n1,2\n')).rejects.toThrow('it has no column umid');
  await expect(settleWith(made, `${holding(made, [2])}"half`)).rejects.toMatchObject({ code: 'bad-input' });
});
