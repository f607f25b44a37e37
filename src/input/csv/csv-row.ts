import { DELETE, SPACE } from '../../domain/bytes/text-buffer.js';
import { restoreCell } from '../../domain/formula-cell.js';
import { HIDDEN_ID } from '../../domain/output-columns.js';
import type { Rejection, SourceRecord } from '../../domain/row.js';
import type { Header } from '../header.js';
import { countLineEnds } from '../text/lines.js';

/** A row with as many cells as there are columns; one that had too few fields or too many carries a fault. */
export function buildRow(cells: string[], header: Header, line: number): Omit<SourceRecord, 'row'> {
  const fault = cells.length === header.width ? undefined : describeWidth(cells, header);
  while (cells.length < header.width) cells.push('');
  if (cells.length > header.width) cells.length = header.width;
  const { kept, own, delimiter } = header;
  if (kept === undefined || own === undefined) return { cells, line, fault };
  const row = { cells: kept.map((index) => restoreCell(cells[index] ?? '', delimiter)), line, fault };
  return own.id === -1 ? row : { ...row, ownId: fault === undefined ? readId(cells[own.id]) : HIDDEN_ID };
}

function readId(cell = ''): string {
  return restoreCell(cell).trim();
}

function describeWidth(cells: readonly string[], { width }: Header): Rejection {
  const found = `the row has ${cells.length} ${cells.length === 1 ? 'field' : 'fields'}, expected ${width} as in the header`;
  if (cells.length < width) return { stage: 'read', field: '', code: 'too-few-fields', reason: found };
  const surplus = cells.slice(width).map((cell) => JSON.stringify(cell));
  const advice = isBlankRow(cells.slice(width)) ? '; where each row ends with a delimiter, so must the header' : '';
  const reason = `${found}; surplus: ${surplus.join(', ')}${advice}`;
  return { stage: 'read', field: '', code: 'too-many-fields', reason };
}

/** Whether a row holds nothing: no cell, or only blanks, such as the one that does not break. */
export function isBlankRow(cells: readonly string[]): boolean {
  for (const cell of cells) {
    // Almost every row has text in its first cell: check one character before trimming the cell.
    const first = cell.charCodeAt(0);
    if ((first > SPACE && first < DELETE) || cell.trim() !== '') return false;
  }
  return true;
}

/**
 * Whether a field looks as if a quote that was never closed had taken in whole rows: it spans lines, and cut into
 * lines each has just the delimiters that a row of its own would have.
 */
export function looksLikeUnclosedQuote(cells: readonly string[], delimiter: string): boolean {
  const width = cells.length;
  if (width < 2) return false;
  return cells.some((cell, column) => {
    if (countLineEnds(cell) === 0) return false;
    const counts = cell.split(/\r\n|\n|\r/).map((line) => line.split(delimiter).length - 1);
    const last = counts.length - 1;
    return counts.every((count, index) => {
      if (index === 0) return count === width - 1 - column;
      return count === (index === last ? column : width - 1);
    });
  });
}
