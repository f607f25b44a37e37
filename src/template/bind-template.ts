import { type Liquid, LiquidError, type Template as LiquidTemplate, Output, TypeGuards, type Value } from 'liquidjs';
import { type ByteCells, unescapeJson } from '../domain/bytes/row-block.js';
import {
  BACKSLASH,
  DELETE,
  OPENING,
  OPENING_BRACE,
  QUOTE,
  SPACE,
  type TextBuffer,
} from '../domain/bytes/text-buffer.js';
import { UserError } from '../domain/errors.js';
import type { Cell } from '../domain/row.js';
import { clip, isBlank, isNestedJson } from '../domain/text.js';
import type { Columns } from '../normalize/columns.js';
import {
  describeMissing,
  describeNested,
  FOUND,
  MAX_SOURCE_LENGTH,
  MissingCell,
  type RenderFault,
  showVariable,
} from './missing.js';

/** A template bound to the columns of a file. */
export interface BoundTemplate {
  /** Appends the text of a row to `json`, as JSON writes it; nothing where the row is refused. Never throws for a row's content. */
  render(cells: ByteCells, json: TextBuffer): Rendering;
}

export type Rendering = { readonly ok: true; readonly text: string } | RefusedRendering;

/** The first fault, and the other missing or wrong values of the row in the order of the template. */
export interface RefusedRendering extends RenderFault {
  readonly ok: false;
  readonly others: readonly RenderFault[];
}

/** A name of a template, where it is used. */
export interface VariableUse {
  readonly name: string;
  /** From 1, in the template's own text. */
  readonly line: number;
  readonly column: number;
  /** What is read of it: `{{ name.size }}` gives `['size']`. */
  readonly properties: readonly unknown[];
}

/** A parsed template; `pieces` if it can be rendered without LiquidJS. */
interface TemplateSource {
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
  const columnsShown = [...indexes];
  const render = pieces === undefined ? bindLiquid(engine, nodes, indexes) : bindPieces(pieces, indexes);
  return {
    render: (cells, json) => {
      const start = json.length;
      const rendering = render(cells, json);
      const result = rendering.ok ? (refuseNested(rendering.text, columnsShown, cells) ?? rendering) : rendering;
      if (!result.ok) json.endAt(start);
      return result;
    },
  };
}

/** Refuses a text that shows an object or a list of NDJSON as it stands in the file; a condition may ask what is in it. */
function refuseNested(
  text: string,
  columns: readonly (readonly [name: string, index: number])[],
  cells: ByteCells,
): RefusedRendering | undefined {
  let faults: RenderFault[] | undefined;
  for (const [name, index] of columns) {
    const first = cells.firstOf(index);
    if (first !== OPENING && first !== OPENING_BRACE) continue;
    const cell = cells.cell(index);
    if (isNestedJson(cell) && text.includes(cell)) faults = [...(faults ?? []), describeNested(name)];
  }
  return refuse(faults);
}

/** The text without variables; throws UserError 'bad-job' where it cannot be rendered, since that fails for every row. */
export function renderConstant(engine: Liquid, nodes: LiquidTemplate[]): string {
  const rendering = renderLiquid(engine, nodes, { indexes: new Map(), cells: [] });
  if (!rendering.ok) throw new UserError('bad-job', rendering.reason);
  return rendering.text;
}

/**
 * The fast path: a template that is only text and plain variables, each with at most one `default` of a literal, as a list
 * of pieces. Rendering it is 40 times faster than walking LiquidJS's tree, and a property test shows it to be the same.
 */
type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string; readonly fallback: string | undefined };

/** Compiles a template into its pieces; undefined where it needs LiquidJS itself. */
export function compilePieces(nodes: readonly LiquidTemplate[]): readonly Piece[] | undefined {
  const pieces: Piece[] = [];
  for (const node of nodes) {
    const piece = compilePiece(node);
    if (piece === undefined) return undefined;
    pieces.push(piece);
  }
  return pieces;
}

function compilePiece(node: LiquidTemplate): Piece | undefined {
  if (TypeGuards.isHTMLToken(node.token)) return { kind: 'text', text: node.token.getContent() };
  if (!(node instanceof Output)) return undefined;
  const name = readName(node.value);
  const fallback = readFallback(node.value);
  if (name === undefined || fallback === undefined) return undefined;
  return { kind: 'variable', name, fallback: fallback.text };
}

/** The name, where the expression is nothing but a name. */
function readName({ initial }: Value): string | undefined {
  const [token, ...more] = initial.postfix;
  if (more.length > 0 || !TypeGuards.isPropertyAccessToken(token) || token.variable !== undefined) return undefined;
  const [root, ...properties] = token.props;
  if (properties.length > 0) return undefined;
  return TypeGuards.isWordToken(root) || TypeGuards.isQuotedToken(root) ? root.content : undefined;
}

/** The literal of the one `default`, or no text where there is no filter; undefined where there are other filters. */
function readFallback({ filters }: Value): { readonly text: string | undefined } | undefined {
  // Invariant: LiquidJS puts the engine's outputEscape behind the filters of every output; it is no filter of the template.
  const [filter, ...more] = filters.slice(0, -1);
  if (filter === undefined) return { text: undefined };
  if (more.length > 0 || filter.name !== 'default' || filter.args.length !== 1) return undefined;
  const [argument] = filter.args;
  if (TypeGuards.isQuotedToken(argument)) return { text: argument.content };
  if (TypeGuards.isNumberToken(argument)) return { text: String(argument.content) };
  return undefined;
}

/** The bytes of the cells are copied as they stand: no string is made of each. */
function bindPieces(pieces: readonly Piece[], indexes: ReadonlyMap<string, number>): BoundTemplate['render'] {
  const toJson = (text: string) => Buffer.from(JSON.stringify(text).slice(1, -1));
  const parts = pieces.map((piece) => {
    if (piece.kind === 'text') return toJson(piece.text);
    const { name, fallback } = piece;
    return { name, index: indexes.get(name) ?? -1, fallback: fallback === undefined ? undefined : toJson(fallback) };
  });
  return (cells, json) => {
    const start = json.length + 1;
    let missing: string[] | undefined;
    json.appendByte(QUOTE);
    for (const part of parts) {
      if (Buffer.isBuffer(part)) json.appendBytes(part);
      else if (!isBlankCell(cells, part.index))
        json.appendBytes(cells.bytes, cells.startOf(part.index), cells.endOf(part.index));
      else if (part.fallback !== undefined) json.appendBytes(part.fallback);
      else missing = [...(missing ?? []), part.name];
    }
    const text = unescapeJson(json.textFrom(start));
    json.appendByte(QUOTE);
    return refuse(missing?.map(describeMissing)) ?? { ok: true, text };
  };
}

/** Whether a cell is blank; its first byte mostly shows that it is not. */
function isBlankCell(cells: ByteCells, index: number): boolean {
  const first = cells.firstOf(index);
  if (first === undefined) return true;
  return (first <= SPACE || first >= DELETE || first === BACKSLASH) && isBlank(cells.cell(index));
}

function bindLiquid(
  engine: Liquid,
  nodes: LiquidTemplate[],
  indexes: ReadonlyMap<string, number>,
): BoundTemplate['render'] {
  return (cells, json) => {
    const rendering = renderLiquid(engine, nodes, { indexes, cells: cells.texts });
    if (rendering.ok) json.append(JSON.stringify(rendering.text));
    return rendering;
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
