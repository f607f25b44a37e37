import { describe, expect, it } from 'vitest';
import { ROW_KINDS, type RowKind } from '../../../src/domain/areas.js';
import { isOwnHeader, listOwnColumns, PLACE_COLUMNS, readNames } from '../../../src/domain/output-columns.js';
import { kindOf } from '../../../src/kinds/kinds.js';
import { findRefusal } from '../../../src/plan/reimport/reimported-rows.js';
import { LISTED_OUTPUTS, type Output, outputColumns } from '../../../src/report/outputs.js';

const KINDS = Object.keys(ROW_KINDS) as RowKind[];
const PAIRS = KINDS.flatMap((from) => KINDS.map((to) => ({ from, to })));

function isRefused(output: Output, { from, to }: (typeof PAIRS)[number]): boolean {
  const { columns } = outputColumns(output, kindOf({ kind: from }).resultColumns, ['name']);
  const own = columns.filter((name) => name.startsWith('_'));
  return findRefusal(own, to) !== undefined;
}

describe('an output as input', () => {
  it.each(PAIRS)('of $from, for $to: rejections are taken, what may be sent otherwise is not', (pair) => {
    const refused = LISTED_OUTPUTS.filter((output) => isRefused(output, pair));
    const own = pair.from === pair.to ? ['results'] : [];
    expect(refused).toEqual([...own, 'skipped', 'in-doubt', 'unprocessed']);
  });

  it.each(PAIRS)(
    'of $from, for $to, is known with its header in capitals, small letters and blanks',
    ({ from, to }) => {
      const changes: ((name: string) => string)[] = [
        (name) => name.toUpperCase(),
        (name) => name.toLowerCase(),
        (name) => name.toLocaleUpperCase('tr'),
        (name) => ` ${name} `,
      ];
      for (const output of LISTED_OUTPUTS) {
        const { columns } = outputColumns(output, kindOf({ kind: from }).resultColumns, ['name']);
        for (const change of changes) {
          const names = readNames(columns.map(change));
          expect([output, isOwnHeader(names)]).toEqual([output, true]);
          expect(findRefusal(listOwnColumns(names), to)).toEqual(findRefusal(listOwnColumns(columns), to));
        }
      }
    },
  );

  it.each(KINDS)('of results that came from results of %s refuses that kind too, whatever came between', (first) => {
    for (const second of KINDS) {
      if (second === first) continue;
      const before = kindOf({ kind: first }).resultColumns;
      const { columns } = outputColumns('results', kindOf({ kind: second }).resultColumns, ['name', ...before]);
      const refused = KINDS.filter((kind) => findRefusal(columns, kind) !== undefined);
      expect(refused.toSorted(), second).toEqual([first, second].toSorted());
    }
  });

  it.each(KINDS)('of results of %s without the columns that are of that kind alone is refused to all', (from) => {
    const others = KINDS.filter((kind) => kind !== from).flatMap((kind) => kindOf({ kind }).resultColumns);
    const shared = kindOf({ kind: from }).resultColumns.filter((name) => others.includes(name));
    const own = [...PLACE_COLUMNS, '_status', ...shared];
    expect(KINDS.map((kind) => findRefusal(own, kind)?.message)).toEqual(
      KINDS.map(() => expect.stringContaining('without the columns that show the kind of step')),
    );
  });

  it('of deliveries is not taken for messages', () => {
    const deliveries = [
      '_step',
      '_file',
      '_line',
      '_row',
      '_umid',
      '_state',
      '_detail',
      '_errorCode',
      '_error',
      '_time',
    ];
    expect(findRefusal(deliveries, 'sms')?.message).toContain('deliveries');
    expect(findRefusal(deliveries, 'contacts')).toBeUndefined();
  });

  it('says what kind it is, and what to do about it', () => {
    const refusalOf = (output: Output) => {
      const { resultColumns } = kindOf({ kind: 'sms' });
      const { columns } = outputColumns(output, resultColumns, []);
      return findRefusal(columns, 'sms');
    };
    expect(refusalOf('skipped')?.message).toContain('skipped');
    expect(refusalOf('in-doubt')?.hint).toMatch(/volley settle.*volley retry.*begin with _/);
    expect(refusalOf('unprocessed')).toEqual(refusalOf('in-doubt'));
  });
});
