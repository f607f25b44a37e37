import { describe, expect, it } from 'vitest';
import { readHistory } from '../../src/registry/read-runs.js';
import { RegistryState } from '../../src/registry/registry-state.js';
import { aNumber, type MadePlan } from '../plan/a-plan.js';
import { entriesOf, journalOf, outputOf, reportOf } from '../run/a-run.js';
import { aRunInDoubt } from './a-run-in-doubt.js';
import { anExported, csvOf, type ExportCells, other, settleWith } from './an-export.js';

/** Rows 2 and 3 are in doubt. */
const ACCEPTED = [0, 1, 4, 5];
const NOTHING = { accepted: 0, rejected: 0, notSent: 0 };
const exportedOf = (made: MadePlan, rows: readonly number[], cells: ExportCells = {}) =>
  rows.map((row) => anExported(made, row, cells));
const holding = (made: MadePlan, rows: readonly number[], cells: ExportCells = {}) =>
  csvOf([other(), ...exportedOf(made, rows, cells), other()]);
const reasonsOf = (left: Readonly<Record<string, number>>) => Object.keys(left).join('\n');

describe('rows in doubt that the export holds', () => {
  it('are accepted with their umid, or rejected with the reason that it gives', async () => {
    const made = await aRunInDoubt();
    const refused = { status_value: 'Rejected', status_errorcode: '14', status_errormessage: 'Spam content' };
    const rows = [...exportedOf(made, ACCEPTED), anExported(made, 3, refused), anExported(made, 2)];
    const { settled, left } = await settleWith(made, csvOf(rows));
    expect([settled, left]).toEqual([{ accepted: 1, rejected: 1, notSent: 0 }, {}]);
    expect(await reportOf(made)).toMatchObject({ exitCode: 1, balance: { accepted: 5, rejected: 1, inDoubt: 0 } });
    expect(outputOf(made, 'results')[2]).toContain(`EXPORT,m-2,${made.plan.id}-1-2`);
    expect(outputOf(made, 'rejections')[0]).toContain('send,,14,Spam content');
  });

  it('stand in the journal with the digests of all its files, before the end that the run had', async () => {
    const made = await aRunInDoubt();
    const close = entriesOf(made.disk, made.directory).at(-1);
    await settleWith(made, holding(made, [2]), holding(made, [3]));
    const [settle, last] = entriesOf(made.disk, made.directory).slice(-2);
    const by = expect.stringMatching(/^export sha256 [0-9a-f]{64} [0-9a-f]{64}$/);
    expect(settle).toMatchObject({
      type: 'settle',
      step: 1,
      by,
      rows: [[2], [3]].map(([row]) => [row, 0, `m-${row}`]),
    });
    expect(last).toEqual(close);
    expect((await readHistory(made.disk.files, '/out/sale', new RegistryState())).map(({ state }) => state)).toEqual([
      'finished',
    ]);
  });

  it('stay in doubt where their state does not say that they were sent, or refused', async () => {
    for (const state of ['queued', 'cancelled', '']) {
      const made = await aRunInDoubt();
      const { settled, left } = await settleWith(made, holding(made, [2, 3], { status_value: state }));
      expect(settled).toEqual(NOTHING);
      expect(left).toEqual({ [`the export says "${state}" of it, which decides nothing`]: 2 });
    }
  });

  it.each<[string, readonly string[], object]>([
    ['accepted where one of its files is older than the other', ['queued', 'sent'], { accepted: 1, rejected: 0 }],
    ['rejected where one of its files is older than the other', ['rejected', 'queued'], { accepted: 0, rejected: 1 }],
    ['in doubt where it contradicts itself', ['sent', 'rejected'], { accepted: 0, rejected: 0 }],
  ])('twice are %s, in whichever order they come', async (_what, states, settled) => {
    for (const order of [states, [...states].reverse()]) {
      const made = await aRunInDoubt();
      const rows = order.map((status_value) => anExported(made, 2, { status_value }));
      expect((await settleWith(made, csvOf(rows))).settled).toMatchObject(settled);
    }
  });

  it.each<[string, ExportCells]>([
    ['another number', { msisdn: aNumber(5) }],
    ['another number whose end alone is shown', { msisdn: '******99' }],
    ['another subaccount', { subaccountid: 'other' }],
  ])('with %s stay in doubt', async (_what, cells) => {
    const made = await aRunInDoubt();
    const rows = [...exportedOf(made, ACCEPTED), anExported(made, 2, cells), anExported(made, 3)];
    const { settled, left } = await settleWith(made, csvOf(rows));
    expect(settled).toEqual({ accepted: 1, rejected: 0, notSent: 0 });
    expect(left).toEqual({ 'the export holds its id with another number or subaccount': 1 });
  });

  it.each(['', aNumber(2).slice(1), '+65 9000 0002', '65****02', '659000xxxx', '********'])(
    'may have their number written as "%s"',
    async (msisdn) => {
      const made = await aRunInDoubt();
      expect((await settleWith(made, csvOf([anExported(made, 2, { msisdn })]))).settled.accepted).toBe(1);
    },
  );

  it('stay in doubt where a message that came in has their id: an answer may carry that of what it answers', async () => {
    for (const rejected of [[], [2]]) {
      const made = await aRunInDoubt();
      const answer = anExported(made, 2, { direction: '0' });
      const rows = [...exportedOf(made, rejected, { status_value: 'rejected' }), answer, anExported(made, 3)];
      const { settled, left } = await settleWith(made, csvOf(rows));
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
  it('stay in doubt, though it holds every other message of the run, and of hours before and after it', async () => {
    const made = await aRunInDoubt();
    const before = journalOf(made);
    const { settled, left } = await settleWith(made, holding(made, ACCEPTED));
    expect([settled, left]).toEqual([NOTHING, { 'the export lacks it, which proves nothing': 2 }]);
    expect(await reportOf(made)).toMatchObject({ exitCode: 3, balance: { accepted: 4, inDoubt: 2, unprocessed: 0 } });
    expect(journalOf(made)).toBe(before);
  });

  it('stay in doubt beside those that it holds, and a line that cannot be read is named', async () => {
    const made = await aRunInDoubt();
    const { settled, left } = await settleWith(made, `${holding(made, [2])}"cut","off"\n`);
    expect(settled).toEqual({ accepted: 1, rejected: 0, notSent: 0 });
    expect(reasonsOf(left)).toMatch(
      /lacks it, which proves nothing; line 5 of export-1.csv cannot be read \(too-few-f/,
    );
  });
});

describe('a text whose quotes are not doubled', () => {
  const columns = ['umid', 'subaccountid', 'direction', 'status_value', 'msisdn', 'body', 'clientmessageid'] as const;
  /** Without a quote around any cell. */
  const bareOf = (rows: readonly ExportCells[]) =>
    [columns, ...rows.map((row) => columns.map((name) => row[name] ?? ''))]
      .map((cells) => `${cells.join(',')}\n`)
      .join('');

  it('gives no message the state of another one', async () => {
    const made = await aRunInDoubt();
    const refused = other({ status_value: 'rejected', msisdn: '********', body: '"Hi', clientmessageid: 'x' });
    const { settled, left } = await settleWith(made, bareOf([refused, anExported(made, 2, { body: 'there"' })]));
    expect(settled).toEqual(NOTHING);
    expect(reasonsOf(left)).toMatch(/line 2 of export-1.csv holds other rows in one cell/);
  });

  it('is known by an id of the run that stands in another cell than its own', async () => {
    const made = await aRunInDoubt();
    const swallowed = anExported(made, 2, { status_details: `Hi,${made.plan.id.toUpperCase()}-1-3` });
    expect((await settleWith(made, csvOf([swallowed]))).settled).toEqual(NOTHING);
  });

  it('is not every text of several lines', async () => {
    const made = await aRunInDoubt();
    const body = 'Dear all,\r\nacme_hq, your shop, opens\n"soon"';
    expect((await settleWith(made, holding(made, [2, 3], { body }))).settled.accepted).toBe(2);
  });
});

it('an export without the columns by which a row is known is refused, and so is one that is cut off in a quote', async () => {
  const made = await aRunInDoubt();
  await expect(settleWith(made, 'a,b\n1,2\n')).rejects.toThrow('it has no column umid');
  await expect(settleWith(made, `${holding(made, [2])}"half`)).rejects.toMatchObject({ code: 'bad-input' });
});
