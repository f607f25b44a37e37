import { createHash } from 'node:crypto';
import type { Env } from '../../src/command/env.js';
import type { SourceRecord } from '../../src/domain/row.js';
import { findColumn } from '../../src/input/own-columns.js';
import { COLUMNS, cellsOf, type Scenario } from './scenario.js';

/** The rows of the scenario as the reader of files would give them. */
export function createSimReader({ files, rows }: Scenario): Awaited<ReturnType<Env['loadReader']>> {
  const digest = (path: string) =>
    createHash('sha256')
      .update(files[path] ?? '')
      .digest('hex');
  return {
    listInputs: async (patterns) => patterns.map((path) => ({ path, shown: path.slice(1), format: 'csv' })),
    digestInput: async (path) => ({ sha256: digest(path), bytes: Buffer.byteLength(files[path] ?? '') }),
    digestContent: async () => undefined,
    findColumn,
    readRecords: (file) => ({
      columns: [...COLUMNS],
      ownColumns: [],
      notices: [],
      close: async () => {},
      open: async () => {},
      sha256: digest(file.path),
      batches: async function* () {
        yield rows.map(
          (row, at): SourceRecord => ({
            cells: cellsOf(row),
            line: at + 2,
            row: at + 1,
            fault: undefined,
          }),
        );
      },
    }),
  };
}
