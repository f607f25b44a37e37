import { expect } from 'vitest';
import { cellsOf } from '../../src/domain/bytes/row-writer.js';
import { TextBuffer } from '../../src/domain/bytes/text-buffer.js';
import type { Cell } from '../../src/domain/row.js';
import type { BoundTemplate, Rendering } from '../../src/template/bind-template.js';

/** What a template makes of a row; its JSON is that of the text, and none where the row is refused. */
export function renderRow({ render }: BoundTemplate, cells: readonly Cell[]): Rendering {
  const json = new TextBuffer();
  json.append('before');
  const rendering = render(cellsOf(cells), json);
  expect(json.bytes.toString('utf8')).toBe(`before${rendering.ok ? JSON.stringify(rendering.text) : ''}`);
  return rendering;
}
