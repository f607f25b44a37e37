import { describe, expect, it } from 'vitest';
import { findRefusal } from '../../src/plan/own-outputs.js';
import { OUTPUTS, type Output, outputColumns } from '../../src/report/rows.js';
import { kindOf } from '../../src/steps/table.js';

const KINDS = ['contacts', 'sms', 'verification.start', 'verification.check', 'conversations'] as const;
const PAIRS = KINDS.flatMap((from) => KINDS.map((to) => ({ from, to })));

function isRefused(output: Output, { from, to }: (typeof PAIRS)[number]): boolean {
  const columns = outputColumns(output, kindOf({ kind: from }).resultColumns, ['name']);
  const own = columns.filter((name) => name.startsWith('_'));
  return findRefusal(own, kindOf({ kind: to }).resultColumns) !== undefined;
}

describe('an output as input', () => {
  it.each(PAIRS)('of $from, for $to: rejections are taken, what may be sent otherwise is not', (pair) => {
    const refused = OUTPUTS.filter((output) => isRefused(output, pair));
    const own = pair.from === pair.to ? ['results'] : [];
    expect(refused).toEqual([...own, 'skipped', 'in-doubt', 'unprocessed']);
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
    expect(findRefusal(deliveries, kindOf({ kind: 'sms' }).resultColumns)?.message).toContain('deliveries');
    expect(findRefusal(deliveries, kindOf({ kind: 'contacts' }).resultColumns)).toBeUndefined();
  });

  it('says what kind it is, and what to do about it', () => {
    const refusalOf = (output: Output) => {
      const { resultColumns } = kindOf({ kind: 'sms' });
      const own = outputColumns(output, resultColumns, []);
      return findRefusal(own, resultColumns);
    };
    expect(refusalOf('skipped')?.message).toContain('skipped');
    expect(refusalOf('in-doubt')?.hint).toMatch(/volley settle.*volley retry.*begin with _/);
    expect(refusalOf('unprocessed')).toEqual(refusalOf('in-doubt'));
  });
});
