import { expect } from 'vitest';
import type { Summary } from '../../src/report/summary.js';
import { expectEveryRowOnce, readOutput } from '../e2e/account.js';
import type { Fault, Means } from './fault.js';
import type { FaultyServer } from './faulty-server.js';
import type { Kind } from './kinds.js';

export type Fate = 'accepted' | 'rejected' | 'in-doubt' | 'unprocessed';

const OUTPUT_OF_FATE = {
  accepted: 'results',
  rejected: 'rejections',
  'in-doubt': 'in-doubt',
  unprocessed: 'unprocessed',
} as const satisfies Record<Fate, string>;

/**
 * What holds of every run, whatever happened to it: every row in one output, nothing twice, and nothing said that is not so.
 * Gives what became of each row, as the outputs say.
 */
export function expectLaw(summary: Summary, kind: Kind, { service: { kept }, strayed }: FaultyServer) {
  expectEveryRowOnce(summary);
  const fates = new Map(
    Object.entries(OUTPUT_OF_FATE).flatMap(([fate, output]) =>
      readOutput(summary, 1, output).map((row) => [row[kind.column] ?? '', fate as Fate] as const),
    ),
  );
  const timesOf = (row: string) => kept.timesOf(kind.name, row);
  const rowsThat = (isSo: (row: string, fate: Fate) => boolean) =>
    [...fates].flatMap(([row, fate]) => (isSo(row, fate) ? [`${fate} ${row}`] : []));

  const maxTimes = kind.isRepeatable ? Number.POSITIVE_INFINITY : 1;
  expect(rowsThat((row) => timesOf(row) > maxTimes)).toEqual([]);
  expect(rowsThat((row, fate) => fate === 'accepted' && timesOf(row) === 0)).toEqual([]);
  expect(rowsThat((row, fate) => fate === 'rejected' && timesOf(row) > 0)).toEqual([]);
  expect(rowsThat((row, fate) => fate === 'unprocessed' && timesOf(row) > 0 && !kind.isRepeatable)).toEqual([]);
  const strangers = readOutput(summary, 1, 'results').filter((row) => {
    const id = row[kind.idColumn] ?? '';
    return id !== '' && kept.of(kind.name, row[kind.column] ?? '').every((one) => one.id !== id);
  });
  expect(strangers).toEqual([]);
  expect(strayed).toBe(0);
  return fates;
}

const STOPS: readonly Means[] = ['stop', 'elsewhere'];

export function isStopping({ means }: Fault): boolean {
  return STOPS.includes(means);
}

/** What becomes of a row of the request that met the fault; jobs/reference/limits-and-answers.md, "What an answer means". A list where either may be. */
export function fatesAfter(
  { means, leavesOpen = () => true }: Fault,
  kind: Kind,
  { place, isProcessed }: { place: number; isProcessed: boolean },
): readonly Fate[] {
  const held: Fate = kind.isAsked && isProcessed ? 'accepted' : 'in-doubt';
  switch (means) {
    case 'not-sent':
    case 'turned-away':
    case 'answered':
      return ['accepted'];
    case 'refused':
      // A batch is halved, and its halves are not refused.
      return [kind.rowsPerRequest > 1 ? 'accepted' : 'rejected'];
    case 'stop':
      return ['unprocessed'];
    case 'elsewhere':
      return [kind.isRepeatable ? 'unprocessed' : held];
    case 'unknown':
      return [kind.isRepeatable ? 'accepted' : held];
    case 'unread':
      return [leavesOpen(place) ? held : 'accepted'];
    case 'race':
      return ['accepted', 'in-doubt'];
    case 'stray':
      return ['accepted', 'in-doubt', 'rejected'];
  }
}
