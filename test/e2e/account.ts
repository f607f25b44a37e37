import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect } from 'vitest';
import { restoreCell } from '../../src/domain/formula-cell.js';
import type { OpenDoubt, StepSummary, Summary } from '../../src/report/summary.js';
import type { SmsEntry } from '../../src/sandbox/sms/batch-schema.js';
import { numbersOf } from './a-job.js';
import type { Workspace } from './a-workspace.js';

/** What a person reads on stdout. */
export async function readAccount(workspace: Workspace, ...args: string[]): Promise<string> {
  return (await workspace.volley(...args, '--no-json', '--log-level', 'silent')).stdout;
}

/** From `Next:` on; '' where nothing is left to do. */
export function nextIn(account: string): string {
  return /^Next: [\s\S]*$/m.exec(account)?.[0] ?? '';
}

export type Row = Readonly<Record<string, string>>;
export type OutputName = keyof StepSummary['files'];
const OUTPUT_NAMES = ['results', 'rejections', 'skipped', 'in-doubt', 'unprocessed'] as const;
const COUNTED_AS = {
  results: 'accepted',
  rejections: 'rejected',
  skipped: 'skipped',
  'in-doubt': 'inDoubt',
  unprocessed: 'unprocessed',
} as const;

/** The rows of one output of a run; what keeps a spreadsheet from running a cell is taken off. */
export function readOutput(summary: Summary, step: number, output: OutputName): Row[] {
  const name = summary.steps[step - 1]?.files[output] ?? '';
  const text = readFileSync(join(summary.directory, name), 'utf8');
  if (!name.endsWith('.ndjson')) return parse(text, { columns: true, cast: (cell) => restoreCell(cell) });
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** The rejections of a run as they are fixed: as text. */
export const rejectionsOf = (directory: string, step = '1-sms') =>
  readFileSync(join(directory, `${step}.rejections.csv`), 'utf8');

const WITHOUT_ROWS = ['campaign', 'chat'];

/** Promise 3, from the files alone: every row of every input stands in exactly one output, and the figures say the same. */
export function expectEveryRowOnce(printed: Summary & { readonly openDoubt?: OpenDoubt; readonly error?: unknown }) {
  // What is printed tells of the other runs of the job, too.
  const { openDoubt: _openDoubt, error: _error, ...summary } = printed;
  expect(JSON.parse(readFileSync(join(summary.directory, 'summary.json'), 'utf8'))).toEqual(summary);
  for (const step of summary.steps) {
    if (WITHOUT_ROWS.includes(step.kind)) {
      expect([step.balance.read, step.files]).toEqual([0, {}]);
      continue;
    }
    const outputs = OUTPUT_NAMES.map((output) => [output, readOutput(summary, step.number, output)] as const);
    const counted = Object.fromEntries(outputs.map(([output, rows]) => [COUNTED_AS[output], rows.length]));
    expect(step.balance).toEqual({ read: step.inputs.reduce((sum, { rows }) => sum + rows, 0), ...counted });
    const found = outputs.flatMap(([, rows]) => rows.map((row) => `${row._file} ${row._row}`)).sort();
    const wanted = step.inputs.flatMap(({ file, rows }) =>
      Array.from({ length: rows }, (_, row) => `${file} ${row + 1}`),
    );
    expect(found).toEqual(wanted.sort());
  }
}

/**
 * The accepted rows of a run's SMS steps against the ledger, joined by clientMessageId: each is there once, with the same umid,
 * batch and number. `text` gives what a row's person must read.
 */
export function expectLedgerAgrees(
  summary: Summary,
  ledger: readonly SmsEntry[],
  text: (row: Row, step: number) => string,
): void {
  const sent = summary.steps.filter(({ kind }) => kind === 'sms');
  const told = sent.flatMap(({ number }) =>
    readOutput(summary, number, 'results').map((row) => [
      row._clientMessageId,
      row._umid,
      row._batchId,
      row._destination,
      row._segments,
      text(row, number),
    ]),
  );
  const held = ledger.map((entry) => [
    entry.clientMessageId,
    entry.umid,
    entry.batchId,
    entry.destination,
    String(entry.parts),
    entry.text,
  ]);
  expect(told.sort(byFirst)).toEqual(held.sort(byFirst));
}

function byFirst([a]: readonly unknown[], [b]: readonly unknown[]): number {
  return String(a) < String(b) ? -1 : 1;
}

/** People of `people(count)`, by the ledger, the outputs, and a run that follows: none was sent twice, none is lost. */
export async function expectEachOnce(workspace: Workspace, count: number): Promise<void> {
  const again = await workspace.run();
  expect(JSON.parse(again.stdout).state).toBe('nothing-new');
  const sent = await workspace.destinations();
  expect(sent).toEqual([...new Set(sent)]);
  const summary = JSON.parse(workspace.read(`out/sale/${workspace.runs()[0]}/summary.json`));
  expectEveryRowOnce(summary);
  const accepted = readOutput(summary, 1, 'results').map((row) => row.mobile ?? '');
  const inDoubt = readOutput(summary, 1, 'in-doubt').map((row) => row.mobile ?? '');
  expect(accepted.filter((number) => !sent.includes(number))).toEqual([]);
  expect([...accepted, ...inDoubt].sort()).toEqual(numbersOf(count));
}
