import { describe, expect, it } from 'vitest';
import { aNumber, type MadePlan } from '../../plan/a-plan.js';
import { anExported, anExportOf, aRunInDoubt, csvOf, type ExportCells, other, settleWith } from './an-export.js';

/** Rows 2 and 3 are in doubt. */
const ACCEPTED = [0, 1, 4, 5];
const NOTHING = { accepted: 0, rejected: 0, notSent: 0 };
const accepted = (made: MadePlan, cells: ExportCells = {}) => ACCEPTED.map((row) => anExported(made, row, cells));
const reasonsOf = (left: Readonly<Record<string, number>>) => Object.keys(left).join('\n');

describe('a time that no message can have', () => {
  it.each(['0001-01-01T00:00:00Z', '1970-01-01 00:00:00', '1999-12-31T23:59:59Z'])(
    'does not show that the export begins earlier: %s',
    async (createdat) => {
      const made = await aRunInDoubt();
      const { settled, left } = await settleWith(
        made,
        csvOf([other({ createdat }), ...accepted(made), other({}, 1440)]),
      );
      expect(settled).toEqual(NOTHING);
      expect(reasonsOf(left)).toMatch(/from before/);
    },
  );

  it('does not show that the export ends later: 9999-12-31, and any that is yet to come', async () => {
    for (const last of [other({ createdat: '9999-12-31T23:59:59Z' }), other({}, 2880 + 11)]) {
      const made = await aRunInDoubt();
      const { settled, left } = await settleWith(made, csvOf([other({}, -1440), ...accepted(made), last]));
      expect(settled).toEqual(NOTHING);
      expect(reasonsOf(left)).toMatch(/from after/);
    }
  });

  it('is none that differs by the clock of another machine alone', async () => {
    const made = await aRunInDoubt();
    const csv = csvOf([other({}, -1440), ...accepted(made), other({}, 2880 + 9)]);
    expect((await settleWith(made, csv)).settled.notSent).toBe(2);
  });
});

describe('a text whose quotes are not doubled', () => {
  const columns = ['umid', 'subaccountid', 'direction', 'country', 'status_value', 'msisdn', 'createdat'] as const;
  type Column = (typeof columns)[number] | 'clientmessageid' | 'body';
  /** Without a quote around any cell. */
  const bareOf = (rows: readonly ExportCells[], order: readonly Column[]) =>
    [order, ...rows.map((row) => order.map((name) => row[name] ?? ''))].map((cells) => `${cells.join(',')}\n`).join('');

  it('hides the rows behind it: none is then taken for not sent, and the place is named', async () => {
    const made = await aRunInDoubt();
    const [first, ...rest] = accepted(made);
    // Rows 2 and 3 were sent, and stand between the first message and its other quote.
    const hidden = [2, 3].map((row) => anExported(made, row, { body: 'Hi' }));
    const rows = [{ ...first, body: 'Hi' }, ...rest, other({ body: '"Hi' }), ...hidden, other({ body: 'there"' })];
    const { settled, left } = await settleWith(made, bareOf(anExportOf(rows), [...columns, 'clientmessageid', 'body']));
    expect(settled).toEqual(NOTHING);
    expect(reasonsOf(left)).toMatch(/line 7 of export-1.csv holds other rows in one cell/);
  });

  it('is known by an id of the run that stands in another cell than its own', async () => {
    const made = await aRunInDoubt();
    const rows = [...accepted(made), other({ status_details: `Hi,${made.plan.id.toUpperCase()}-1-2` })];
    const { settled, left } = await settleWith(made, csvOf(anExportOf(rows)));
    expect(settled).toEqual(NOTHING);
    expect(reasonsOf(left)).toMatch(/line 7 of export-1.csv holds other rows in one cell/);
  });

  it('gives no message the state of another one', async () => {
    const made = await aRunInDoubt();
    const refused = other({ status_value: 'rejected', msisdn: '********', body: '"Hi', clientmessageid: 'x' });
    const sent = anExported(made, 2, { body: 'there"' });
    const csv = bareOf(anExportOf([...accepted(made), refused, sent]), [...columns, 'body', 'clientmessageid']);
    const { settled, left } = await settleWith(made, csv);
    expect(settled).toEqual(NOTHING);
    expect(reasonsOf(left)).toMatch(/holds other rows in one cell/);
  });

  it('is not every text of several lines', async () => {
    const made = await aRunInDoubt();
    const body = 'Dear all,\r\nacme_hq, your shop, opens\n"soon"';
    const csv = csvOf(anExportOf(accepted(made, { body })));
    expect((await settleWith(made, csv)).settled.notSent).toBe(2);
  });
});

it.each(['%-1-2', "'%-1-2", '%-1-02', '%-1-6', '%-2-2', '%-1-'])(
  'an id of the run that no message has (%s) shows that the export was changed',
  async (form) => {
    const made = await aRunInDoubt();
    const id = form.replace('%', form === '%-1-2' ? made.plan.id.toUpperCase() : made.plan.id);
    const rows = [...accepted(made), other({ clientmessageid: id })];
    const { settled, left } = await settleWith(made, csvOf(anExportOf(rows)));
    expect(settled).toEqual(NOTHING);
    expect(reasonsOf(left)).toMatch(/holds an id of this run that no message has/);
  },
);

it('a message that was accepted is not found in one that came in with its id', async () => {
  const made = await aRunInDoubt();
  const [first, ...rest] = accepted(made);
  const { settled, left } = await settleWith(made, csvOf(anExportOf([{ ...first, direction: '0' }, ...rest])));
  expect(settled).toEqual(NOTHING);
  expect(reasonsOf(left)).toMatch(/lacks 1 message of this run/);
});

describe('an export of several files', () => {
  const before = other({}, -1440);
  const after = other({}, 1440);

  it('is read as one: each holds what another lacks', async () => {
    const made = await aRunInDoubt();
    const [first, ...rest] = accepted(made);
    const { settled, left } = await settleWith(
      made,
      csvOf([first!, other({}, 0), before]),
      csvOf([...rest, anExported(made, 2), after]),
    );
    expect([settled, left]).toEqual([{ accepted: 1, rejected: 0, notSent: 1 }, {}]);
  });

  it('may hide all digits of its numbers, and hold files without a row', async () => {
    const made = await aRunInDoubt();
    const msisdn = '********';
    const [first, second, ...rest] = accepted(made, { msisdn });
    const files = [[{ ...before, msisdn }, first!, second!], [], [...rest, { ...after, msisdn }]];
    expect((await settleWith(made, ...files.map((rows) => csvOf(rows)))).settled.notSent).toBe(2);
  });

  it.each<[string, (made: MadePlan) => (readonly ExportCells[])[], RegExp]>([
    [
      'no one knows what was created between them',
      (made) => [
        [before, ...accepted(made)],
        [other({}, 30), after],
      ],
      /none of the files covers the time from 2027-01-15T08:00:00Z to 2027-01-15T08:30:00Z: give all files/,
    ],
    [
      'no one knows what was created before the second one',
      (made) => [[before], [other({}, -20), ...accepted(made), after]],
      /none of the files covers the time from 2027-01-14T08:00:00Z to 2027-01-15T07:40:00Z/,
    ],
    [
      'one may have been filtered by country',
      (made) => [
        [before, after],
        [other({ country: 'MY' }, -1440), ...accepted(made, { country: 'MY' }), other({ country: 'MY' }, 1440)],
      ],
      /a file of the export has no message to SG/,
    ],
    [
      'each may have been filtered by number',
      (made) =>
        ACCEPTED.map((row) => [0, -1440, 1440].map((at) => anExported(made, row, other({ msisdn: aNumber(row) }, at)))),
      /a file of the export has no messages to two numbers/,
    ],
    ['one lacks a column', (made) => [[before, ...accepted(made), after], []], /export-2.csv has no column createdat/],
  ])('leaves rows in doubt where %s', async (what, filesOf, reason) => {
    const made = await aRunInDoubt();
    const bare = ['umid', 'clientmessageid', 'subaccountid', 'msisdn', 'status_value', 'direction', 'country'] as const;
    const isBare = (index: number) => what.includes('column') && index === 1;
    const texts = filesOf(made).map((rows, index) => (isBare(index) ? csvOf(rows, bare) : csvOf(rows)));
    const { settled, left } = await settleWith(made, ...texts);
    expect(settled).toEqual(NOTHING);
    expect(reasonsOf(left)).toMatch(reason);
  });
});
