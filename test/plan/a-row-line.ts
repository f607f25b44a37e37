import { TextBuffer } from '../../src/domain/bytes/text-buffer.js';
import { appendPlannedRow, appendRefusedRow, type RowLine } from '../../src/plan/format/row-line.js';

/** A line of a plan's rows, as the planner writes it. */
export function aRowLine({ cells, ...row }: RowLine): string {
  const text = new TextBuffer();
  const of = {
    appendFragment: () => {},
    appendFacts: (buffer: TextBuffer) => {
      if (row.state === 'planned') for (const fact of row.facts) buffer.append(`,${JSON.stringify(fact)}`);
    },
    appendCells: (buffer: TextBuffer) => buffer.append(JSON.stringify(cells)),
  };
  if (row.state === 'planned') appendPlannedRow(text, { ...row, costGroup: row.costGroup }, row.request, of);
  else if (row.state === 'rejected') appendRefusedRow(text, row, { kind: 'rejected', rejection: row.rejection }, of);
  else appendRefusedRow(text, row, { kind: 'skipped', skip: row.skip }, of);
  return text.bytes.toString('utf8');
}
