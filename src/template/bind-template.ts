import { type Liquid, LiquidError, type Template as LiquidTemplate } from 'liquidjs';
import { UserError } from '../domain/errors.js';
import type { Cell } from '../domain/row.js';
import { clip, isBlank, isNestedJson } from '../domain/text.js';
import type { Columns } from '../normalize/columns.js';
import { type ByteText, compileByteText } from './byte-text.js';
import {
  describeMissing,
  describeNested,
  FOUND,
  MAX_SOURCE_LENGTH,
  MissingCell,
  type RenderFault,
  showVariable,
} from './missing.js';
import type { Piece } from './pieces.js';
import type { VariableUse } from './walk.js';

/** A template bound to the columns of a file. */
export interface BoundTemplate {
  /** Never throws for a row's content. */
  render(cells: readonly Cell[]): Rendering;
  /** Absent where no text takes it. */
  readonly byBytes?: ByteText | undefined;
}

export type Rendering = { readonly ok: true; readonly text: string } | RefusedRendering;

/** The first fault, and the other missing or wrong values of the row in the order of the template. */
export interface RefusedRendering extends RenderFault {
  readonly ok: false;
  readonly others: readonly RenderFault[];
}

/** A parsed template; `pieces` if it can be rendered without LiquidJS. */
export interface TemplateSource {
  readonly engine: Liquid;
  readonly nodes: LiquidTemplate[];
  readonly uses: readonly VariableUse[];
  readonly pieces: readonly Piece[] | undefined;
}

/** Finds every variable's column. */
export function bindColumns({ engine, nodes, uses, pieces }: TemplateSource, columns: Columns): BoundTemplate {
  const indexes = new Map<string, number>();
  for (const { name, line, column } of uses) {
    if (indexes.has(name)) continue;
    const about = `Cannot fill ${showVariable(name)} at line ${line}, column ${column} of the template`;
    indexes.set(name, columns.find(name, about, { at: ['template', 'text'] }));
  }
  const render: BoundTemplate['render'] =
    pieces === undefined ? (cells) => renderLiquid(engine, nodes, { indexes, cells }) : compileRender(pieces, indexes);
  return {
    render: (cells) => refuseNested(render(cells), { indexes, cells }),
    byBytes: pieces && compileByteText(pieces, indexes),
  };
}

/** Refuses a text that shows an object or a list of NDJSON as it stands in the file; a condition may ask what is in it. */
function refuseNested(
  rendering: Rendering,
  { indexes, cells }: { indexes: ReadonlyMap<string, number>; cells: readonly Cell[] },
): Rendering {
  if (!rendering.ok) return rendering;
  const { text } = rendering;
  const shown = [...indexes].filter(([, index]) => {
    const cell = cells[index] ?? '';
    return isNestedJson(cell) && text.includes(cell);
  });
  return refuse(shown.map(([name]) => describeNested(name))) ?? rendering;
}

/** Renders a text without variables once; throws UserError 'bad-job' where that fails, since it would fail for every row. */
export function bindConstant(engine: Liquid, nodes: LiquidTemplate[]): BoundTemplate {
  const rendering = renderLiquid(engine, nodes, { indexes: new Map(), cells: [] });
  if (!rendering.ok) throw new UserError('bad-job', rendering.reason);
  return { render: () => rendering };
}

function compileRender(pieces: readonly Piece[], indexes: ReadonlyMap<string, number>): BoundTemplate['render'] {
  const steps = pieces.map((piece) => {
    if (piece.kind === 'text') return piece.text;
    return { index: indexes.get(piece.name) ?? -1, name: piece.name, fallback: piece.fallback };
  });
  return (cells) => {
    let text = '';
    let missing: string[] | undefined;
    for (const step of steps) {
      if (typeof step === 'string') {
        text += step;
        continue;
      }
      const cell = cells[step.index];
      if (!isBlank(cell)) text += cell;
      else if (step.fallback !== undefined) text += step.fallback;
      else missing = [...(missing ?? []), step.name];
    }
    return refuse(missing?.map(describeMissing)) ?? { ok: true, text };
  };
}

function renderLiquid(
  engine: Liquid,
  nodes: LiquidTemplate[],
  { indexes, cells }: { indexes: ReadonlyMap<string, number>; cells: readonly Cell[] },
): Rendering {
  const found: RenderFault[] = [];
  const scope: Record<string | symbol, unknown> = Object.create(null);
  scope[FOUND] = found;
  for (const [name, index] of indexes) {
    const cell = cells[index];
    scope[name] = isBlank(cell) ? new MissingCell([name], found) : cell;
  }
  try {
    const text = engine.renderSync(nodes, scope);
    return refuse(found) ?? { ok: true, text };
  } catch (error) {
    // What was found before may be its cause.
    return refuse(found) ?? { ok: false, ...describeFailure(error), others: [] };
  }
}

function refuse(faults: readonly RenderFault[] | undefined): RefusedRendering | undefined {
  const [first, ...others] = faults ?? [];
  return first && { ok: false, ...first, others };
}

function describeFailure(error: unknown): RenderFault {
  const cause = LiquidError.is(error) ? (error.originalError ?? error) : error;
  // The template source that failed, never row content: it is shown and logged.
  const source = LiquidError.is(error) ? clip(error.token.getText(), MAX_SOURCE_LENGTH) : 'the template';
  const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
  if (name === 'InternalUndefinedVariableError') return describeMissing(source);
  if (message.startsWith('template render limit')) {
    throw new UserError('bad-job', 'Cannot use the template: one row takes too long, expected less than 10 seconds', {
      hint: 'Look for loops within loops in the text.',
    });
  }
  const isTooLarge = message.startsWith('memory alloc limit');
  const reason = isTooLarge ? 'it produces more than a million characters, expected a message' : message;
  return { variable: '', code: 'not-rendered', reason: `Cannot render ${source}: ${reason}` };
}
