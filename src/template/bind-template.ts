import { type Liquid, LiquidError, type Template as LiquidTemplate } from 'liquidjs';
import { UserError } from '../domain/errors.js';
import type { Cell } from '../domain/row.js';
import { isBlank } from '../domain/text.js';
import type { Columns } from '../normalize/columns.js';
import { type ByteText, compileByteText } from './byte-text.js';
import { BadDate } from './date.js';
import { FOUND, type FoundFault, MissingCell, MissingValue } from './missing.js';
import type { Piece } from './pieces.js';
import type { VariableUse } from './walk.js';

/** A template bound to the columns of a file. */
export interface BoundTemplate {
  /** Never throws for a row's content. */
  render(cells: readonly Cell[]): Rendering;
  /** All missing or wrong values of a row that cannot be rendered, in the order of the template; empty for other failures. */
  listFaults(cells: readonly Cell[]): readonly RenderFault[];
  /** Absent where no text takes it. */
  readonly byBytes?: ByteText | undefined;
}

export type Rendering =
  | {
      readonly ok: true;
      readonly text: string;
      /** Characters of it that were replaced, each once. */
      readonly replaced?: string | undefined;
    }
  | {
      readonly ok: false;
      /** The variable at fault, as the template writes it; empty if there is none. */
      readonly variable: string;
      readonly code: 'missing-value' | 'bad-date' | 'not-rendered';
      readonly reason: string;
    };

export type RenderFault = Extract<Rendering, { readonly ok: false }>;

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
  if (pieces !== undefined)
    return {
      render: compileRender(pieces, indexes),
      listFaults: (cells) => listMissing(pieces, indexes, cells),
      byBytes: compileByteText(pieces, indexes),
    };
  return {
    render: (cells) => renderLiquid(engine, nodes, buildScope(indexes, cells)),
    listFaults: (cells) => {
      const found: FoundFault[] = [];
      // A failure here may be caused by the faults found before.
      renderLiquid(engine, nodes, buildScope(indexes, cells, found));
      return found.map((fault) =>
        fault.kind === 'missing'
          ? describeMissing(fault.variable)
          : describeBadDate(shorten(fault.source), fault.message),
      );
    },
  };
}

/** Renders a text without variables once; throws UserError 'bad-job' where that fails, since it would fail for every row. */
export function bindConstant(engine: Liquid, nodes: LiquidTemplate[]): BoundTemplate {
  const rendering = renderLiquid(engine, nodes, {});
  if (!rendering.ok) throw new UserError('bad-job', rendering.reason);
  return { render: () => rendering, listFaults: () => [] };
}

function compileRender(pieces: readonly Piece[], indexes: ReadonlyMap<string, number>): BoundTemplate['render'] {
  const steps = pieces.map((piece) => {
    if (piece.kind === 'text') return piece.text;
    return { index: indexes.get(piece.name) ?? -1, name: piece.name, fallback: piece.fallback };
  });
  return (cells) => {
    let text = '';
    for (const step of steps) {
      if (typeof step === 'string') {
        text += step;
        continue;
      }
      const cell = cells[step.index];
      if (!isBlank(cell)) text += cell;
      else if (step.fallback !== undefined) text += step.fallback;
      else return describeMissing(step.name);
    }
    return { ok: true, text };
  };
}

function listMissing(
  pieces: readonly Piece[],
  indexes: ReadonlyMap<string, number>,
  cells: readonly Cell[],
): readonly RenderFault[] {
  const names = pieces.flatMap((piece) =>
    piece.kind === 'variable' && piece.fallback === undefined && isBlank(cells[indexes.get(piece.name) ?? -1])
      ? [piece.name]
      : [],
  );
  return names.map(describeMissing);
}

/** `found` takes the faults that would be thrown. */
function buildScope(indexes: ReadonlyMap<string, number>, cells: readonly Cell[], found?: FoundFault[]): object {
  const scope: Record<string | symbol, unknown> = Object.create(null);
  if (found !== undefined) scope[FOUND] = found;
  for (const [name, index] of indexes) {
    const cell = cells[index];
    scope[name] = isBlank(cell) ? new MissingCell([name], found) : cell;
  }
  return scope;
}

function renderLiquid(engine: Liquid, nodes: LiquidTemplate[], scope: object): Rendering {
  try {
    return { ok: true, text: engine.renderSync(nodes, scope) };
  } catch (error) {
    return describeFailure(error);
  }
}

function describeFailure(error: unknown): RenderFault {
  const cause = LiquidError.is(error) ? (error.originalError ?? error) : error;
  // The template source that failed, never row content: it is shown and logged.
  const source = LiquidError.is(error) ? shorten(error.token.getText()) : 'the template';
  const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
  if (cause instanceof MissingValue && cause.variable !== undefined) return describeMissing(cause.variable);
  if (name === 'InternalUndefinedVariableError') return describeMissing(source);
  if (cause instanceof BadDate) return describeBadDate(source, message);
  if (message.startsWith('template render limit')) {
    throw new UserError('bad-job', 'Cannot use the template: one row takes too long, expected less than 10 seconds', {
      hint: 'Look for loops within loops in the text.',
    });
  }
  const isTooLarge = message.startsWith('memory alloc limit');
  const reason = isTooLarge ? 'it produces more than a million characters, expected a message' : message;
  return fail('not-rendered', `Cannot render ${source}: ${reason}`);
}

const MAX_SOURCE_LENGTH = 80;

function shorten(source: string): string {
  return source.length > MAX_SOURCE_LENGTH ? `${source.slice(0, MAX_SOURCE_LENGTH)}…` : source;
}

function fail(code: 'bad-date' | 'not-rendered', reason: string): RenderFault {
  return { ok: false, variable: '', code, reason };
}

function describeBadDate(source: string, message: string): RenderFault {
  return fail('bad-date', `Cannot render ${source}: ${message}`);
}

function describeMissing(variable: string): RenderFault {
  const reason = `Cannot fill ${showVariable(variable)}: the row has no value, expected one, or a default in the template: {{ … | default: "…" }}`;
  return { ok: false, variable, code: 'missing-value', reason };
}

/** As a template would write it. */
function showVariable(name: string): string {
  return /^[\p{L}_][\p{L}\p{N}_.[\]-]*$/u.test(name) ? `{{ ${name} }}` : `{{ ['${name}'] }}`;
}
