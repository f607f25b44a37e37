import { createHash } from 'node:crypto';
import type { Env } from '../../src/command/env.js';
import { RowWriter } from '../../src/domain/bytes/row-writer.js';
import { buildRow } from '../../src/input/csv/csv-reader.js';
import { readHeader } from '../../src/input/header.js';
import { refuse } from '../../src/input/record-reader.js';

export interface InputTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Of one that is on the disk, too. */
  readonly bytes?: number;
}

/** Reads tables as the reader of files does; a pattern is a path, or `/in/*.csv`. */
export function createTableReader(tables: ReadonlyMap<string, InputTable>): Awaited<ReturnType<Env['loadReader']>> {
  const tableOf = (path: string) => {
    const table = tables.get(path);
    if (table === undefined) throw refuse({ where: path, message: 'there is no such file' });
    return table;
  };
  const digest = (path: string) =>
    createHash('sha256')
      .update(JSON.stringify(tableOf(path)))
      .digest('hex');
  return {
    listInputs: async (patterns) => {
      const isIn = (path: string) =>
        patterns.some((pattern) => (pattern === '/in/*.csv' ? path.startsWith('/in/') : path === pattern));
      const paths = [...tables.keys()].filter(isIn).sort();
      return paths.map((path) => ({ path, shown: path.slice(1), format: 'csv' }));
    },
    digestInput: async (path) => ({ sha256: digest(path), bytes: tableOf(path).bytes ?? 1 }),
    digestContent: async () => undefined,
    readRecords: ({ path }) => {
      const table = tableOf(path);
      const header = readHeader(table.columns, { where: path, maxColumns: 100 });
      return {
        columns: header.columns,
        ownColumns: header.own === undefined ? [] : [header.own.columns],
        notices: [],
        close: async () => {},
        open: async () => {},
        sha256: digest(path),
        blocks: async function* () {
          const writer = new RowWriter(header.columns.length);
          for (const [at, cells] of table.rows.entries())
            writer.add({ ...buildRow([...cells], header, at + 2), row: at + 1 });
          yield { rows: writer.take() };
        },
      };
    },
  };
}
