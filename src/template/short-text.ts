import type { Cell } from '../domain.js';
import type { TextBuffer } from '../text-buffer.js';
import { isBlank } from './blank.js';
import type { Piece } from './pieces.js';
import { countSeptets, GSM7_SINGLE } from './segments.js';

/**
 * The fast path of a text that is one part of GSM-7 and has a value for each variable, as most have: it is counted and written
 * without being made. Of such a text it says and writes what rendering, `checkText` and JSON.stringify come to.
 */
export interface ShortText {
  /** Whether the cells make such a text; any other is to be rendered. */
  fits(cells: readonly Cell[]): boolean;
  /** Writes the text as JSON, quotes included, from cells that fit. */
  write(cells: readonly Cell[], text: TextBuffer): void;
}

/** `indexes`: of the cell of each variable. Undefined where no text can be such a one. */
export function compileShortText(
  pieces: readonly Piece[],
  indexes: ReadonlyMap<string, number>,
): ShortText | undefined {
  const written = pieces.map((piece) => (piece.kind === 'text' ? piece.text : ''));
  const fixed = countSeptets(written.join(''));
  const variables = pieces.flatMap((piece) => (piece.kind === 'variable' ? [indexes.get(piece.name) ?? -1] : []));
  if (fixed === undefined || variables.length === 0) return undefined;
  const parts = pieces.map((piece) => {
    if (piece.kind === 'variable') return indexes.get(piece.name) ?? -1;
    return Buffer.from(JSON.stringify(piece.text).slice(1, -1));
  });
  return {
    fits: (cells) => {
      let septets = fixed;
      for (const index of variables) {
        const cell = cells[index];
        const more = isBlank(cell) ? undefined : countSeptets(cell);
        if (more === undefined) return false;
        septets += more;
      }
      return septets <= GSM7_SINGLE;
    },
    write: (cells, text) => {
      text.appendShort('"');
      for (const part of parts) {
        if (typeof part === 'number') text.appendEscaped(cells[part] ?? '');
        else text.appendBytes(part);
      }
      text.appendShort('"');
    },
  };
}
