import type { Rejection } from '../domain/row.js';
import type { cellText } from './step-kind.js';

export type RowPartCells = Parameters<typeof cellText>[0];

/** Reads a part of a request from a row. Tagged, so that no row content can be taken for a rejection. */
export type ReadRowPart<T> = (cells: RowPartCells) => { readonly ok: true; readonly value: T } | RefusedRowPart;

export interface RefusedRowPart {
  readonly ok: false;
  /** At least one. */
  readonly faults: readonly Rejection[];
}

export function refuseRowPart(...faults: readonly Omit<Rejection, 'stage'>[]): RefusedRowPart {
  return { ok: false, faults: faults.map(({ field, code, reason }) => ({ stage: 'normalize', field, code, reason })) };
}
