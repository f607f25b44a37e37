import type { Screen } from '../command/screen.js';
import { escapeText } from '../command/terminal.js';
import type { Balance } from '../domain/row.js';
import { type FigureColumn, formatFigures } from './figure-table.js';

/** A step in the account of a run. */
export interface BalanceRow {
  readonly number: number;
  readonly kind: string;
  readonly balance: Balance;
  /** The part of `unprocessed` that is under way; the table has a column of it where any step says so. */
  readonly inFlight?: number | undefined;
  /** What stands in place of the figures, where the step has none; not yet escaped. */
  readonly said?: string | undefined;
}

/** What became of the rows of each step: all rows read stand in it once. */
export function formatBalances(steps: readonly BalanceRow[], screen: Screen): string {
  const hasInFlight = steps.some(({ inFlight }) => inFlight !== undefined);
  const columns: readonly FigureColumn[] = [
    { title: 'read' },
    { title: 'accepted', style: 'green' },
    { title: 'rejected', style: 'red' },
    { title: 'skipped' },
    { title: 'in doubt', style: 'magenta' },
    ...(hasInFlight ? [{ title: 'in flight' }] : []),
    { title: 'not sent', style: 'magenta' },
  ];
  const rows = steps.map(({ number, kind, balance, inFlight = 0, said }) => {
    const name = `${number} ${escapeText(kind)}`;
    if (said !== undefined) return { name, figures: escapeText(said) };
    const { read, accepted, rejected, skipped, inDoubt, unprocessed } = balance;
    const flying = hasInFlight ? [inFlight] : [];
    return { name, figures: [read, accepted, rejected, skipped, inDoubt, ...flying, unprocessed - inFlight] };
  });
  return formatFigures(columns, rows, screen);
}
