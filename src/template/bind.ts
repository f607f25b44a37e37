import { type Liquid, LiquidError, type Template as LiquidTemplate } from 'liquidjs';
import type { Cell } from '../domain.js';
import { UserError } from '../errors.js';
import { suggestNearest } from '../job/suggest.js';
import { listColumns } from '../normalize/mask.js';
import { isBlank } from './blank.js';
import { type ByteText, compileByteText } from './byte-text.js';
import { BadDate } from './date.js';
import { MissingCell, MissingValue } from './missing.js';
import type { Piece } from './pieces.js';
import type { VariableUse } from './walk.js';

export type FindColumn = (columns: readonly string[], wanted: string) => { readonly index: number } | undefined;

/** A template that knows where its variables stand in a row. */
export interface BoundTemplate {
  /** Never throws for what a row holds. */
  render(cells: readonly Cell[]): Rendering;
  /** Absent where no text takes it. */
  readonly byBytes?: ByteText | undefined;
}

export type Rendering =
  | { readonly ok: true; readonly text: string }
  | {
      readonly ok: false;
      /** The variable at fault, as the template writes it; empty where it is none. */
      readonly variable: string;
      readonly code: 'missing-value' | 'bad-date' | 'not-rendered';
      readonly reason: string;
    };

/** One for each column that the template names and that is not there. */
export interface BindProblems {
  readonly problems: readonly { readonly column: string; readonly message: string; readonly hint?: string }[];
}

/** A parsed template; `pieces` where it is plain enough to be rendered without LiquidJS. */
export interface TemplateSource {
  readonly engine: Liquid;
  readonly nodes: LiquidTemplate[];
  readonly uses: readonly VariableUse[];
  readonly pieces: readonly Piece[] | undefined;
}

/** Finds every variable's column, or says of each that has none which columns there are. */
export function bindColumns(
  { engine, nodes, uses, pieces }: TemplateSource,
  columns: readonly string[],
  findColumn: FindColumn,
): BoundTemplate | BindProblems {
  const indexes = new Map<string, number>();
  const problems: { column: string; message: string; hint?: string }[] = [];
  for (const use of uses) {
    if (indexes.has(use.name)) continue;
    const found = findColumn(columns, use.name);
    if (found === undefined) problems.push(describeUnknown(use, columns));
    indexes.set(use.name, found?.index ?? -1);
  }
  if (problems.length > 0) return { problems };
  if (pieces !== undefined)
    return { render: compileRender(pieces, indexes), byBytes: compileByteText(pieces, indexes) };
  return { render: (cells) => renderLiquid(engine, nodes, buildScope(indexes, cells)) };
}

/** Renders a text without variables once; throws UserError 'bad-job' where that fails, since it would fail for every row. */
export function bindConstant(engine: Liquid, nodes: LiquidTemplate[]): BoundTemplate {
  const rendering = renderLiquid(engine, nodes, {});
  if (!rendering.ok) throw new UserError('bad-job', rendering.reason);
  return { render: () => rendering };
}

function describeUnknown(use: VariableUse, columns: readonly string[]) {
  const nearest = suggestNearest(use.name, columns);
  return {
    column: use.name,
    message: `Cannot fill ${showVariable(use.name)} at line ${use.line}, column ${use.column} of the template: none, or more than one, of the columns fits, expected one of ${listColumns(columns)}`,
    ...(nearest !== undefined && { hint: `Did you mean "${nearest}"?` }),
  };
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

function buildScope(indexes: ReadonlyMap<string, number>, cells: readonly Cell[]): object {
  const scope: Record<string, unknown> = Object.create(null);
  for (const [name, index] of indexes) {
    const cell = cells[index];
    scope[name] = isBlank(cell) ? new MissingCell(name) : cell;
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

function describeFailure(error: unknown): Rendering {
  const cause = LiquidError.is(error) ? (error.originalError ?? error) : error;
  // The source that failed, never what stood in the row: it is shown to people, and logged.
  const source = LiquidError.is(error) ? shorten(error.token.getText()) : 'the template';
  const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
  if (cause instanceof MissingValue && cause.variable !== undefined) return describeMissing(cause.variable);
  if (name === 'InternalUndefinedVariableError') return describeMissing(source);
  if (cause instanceof BadDate) return fail('bad-date', `Cannot render ${source}: ${message}`);
  if (message.startsWith('template render limit')) {
    throw new UserError(
      'bad-job',
      'Cannot use the template: it takes too long for one row, expected less than 10 seconds',
      {
        hint: 'Look for loops within loops in the text.',
      },
    );
  }
  const isTooLarge = message.startsWith('memory alloc limit');
  const reason = isTooLarge ? 'it makes more than a million characters, expected a message' : message;
  return fail('not-rendered', `Cannot render ${source}: ${reason}`);
}

const MAX_SOURCE_LENGTH = 80;

function shorten(source: string): string {
  return source.length > MAX_SOURCE_LENGTH ? `${source.slice(0, MAX_SOURCE_LENGTH)}…` : source;
}

function fail(code: 'bad-date' | 'not-rendered', reason: string): Rendering {
  return { ok: false, variable: '', code, reason };
}

function describeMissing(variable: string): Rendering {
  const reason = `Cannot fill ${showVariable(variable)}: the row has no value for it, expected one, or a default in the template: {{ … | default: "…" }}`;
  return { ok: false, variable, code: 'missing-value', reason };
}

/** As a template would write it. */
function showVariable(name: string): string {
  return /^[\p{L}_][\p{L}\p{N}_.[\]-]*$/u.test(name) ? `{{ ${name} }}` : `{{ ['${name}'] }}`;
}
