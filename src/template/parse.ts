import {
  type Context,
  CycleTag,
  defaultOperators,
  EchoTag,
  type Emitter,
  evalToken,
  ForTag,
  Liquid,
  LiquidError,
  type Template as LiquidTemplate,
  type Tag,
  TypeGuards,
  toValueSync,
  Value,
} from 'liquidjs';
import { countOf } from '../domain/count-of.js';
import { messageOf, type Problem, UserError } from '../domain/errors.js';
import { suggestNearest } from '../domain/text.js';
import type { Columns } from '../normalize/columns.js';
import { type BoundTemplate, bindColumns, compilePieces, renderConstant, type VariableUse } from './bind-template.js';
import { findBadDirective, findBadInputFormat } from './dates-and-numbers.js';
import { dateFilter, MissingCell, passMissing } from './missing.js';

/**
 * A message text with variables, in Liquid. It is parsed, bound to the columns of a file, and rendered row by row.
 * A variable is a column: `{{ first_name }}`, or `{{ ["First Name"] }}` where the name has blanks or punctuation.
 * An empty cell refuses its row, unless a `default` filter says what to write instead; in a condition it is just false.
 */
export interface Template {
  /** Columns that the text names, in conditions and loops too, in the order of their first use. */
  readonly variables: readonly string[];
  /** The text where every row has the same; else undefined. */
  readonly constant: string | undefined;
  /** Finds the columns that the text names. */
  bind(columns: Columns): BoundTemplate;
}

/** To make one takes longer than to parse a text; it keeps nothing of what it parses and renders. */
let engine: Liquid | undefined;

/** Throws UserError 'bad-job', with the line and column in the template, for invalid Liquid and refused features. */
export function parseTemplate(text: string): Template {
  engine ??= createEngine();
  const nodes = parseNodes(engine, text);
  const uses = listVariableUses(engine, nodes);
  const problems = findTemplateProblems(nodes, uses);
  const [problem] = problems;
  if (problem !== undefined) {
    const message =
      problems.length === 1
        ? problem.message
        : `Cannot use the template: it has ${countOf(problems.length, 'problem')}`;
    throw new UserError('bad-job', message, { problems });
  }
  const source = { engine, nodes, uses, pieces: compilePieces(nodes) };
  return {
    variables: [...new Set(uses.map(({ name }) => name))],
    constant: uses.length === 0 ? renderConstant(engine, nodes) : undefined,
    bind: (columns) => bindColumns(source, columns),
  };
}

function parseNodes(engine: Liquid, text: string): LiquidTemplate[] {
  try {
    return engine.parse(text);
  } catch (error) {
    const problem = describeParseError(error, engine);
    throw new UserError('bad-job', problem.message, { hint: problem.hint, problems: [problem] });
  }
}

function describeParseError(error: unknown, engine: Liquid): Problem {
  if (!LiquidError.is(error)) {
    return { where: 'template.text', message: `Cannot read the template: ${messageOf(error)}, expected Liquid` };
  }
  const [line, column] = error.token.getPosition();
  const place = `line ${line}, column ${column}`;
  const reason = (error.originalError?.message ?? error.message).replace(/, line:\d+, col:\d+$/, '');
  const explained = explain(reason, engine);
  return {
    where: `template.text:${line}:${column}`,
    message: `Cannot read the template at ${place}: ${explained.what}`,
    hint: explained.hint,
  };
}

function explain(reason: string, engine: Liquid): { what: string; hint?: string | undefined } {
  const filter = /^undefined filter: (\w+)/.exec(reason)?.[1];
  if (filter !== undefined) return explainName('filter', filter, REFUSED_FILTERS, Object.keys(engine.filters));
  const tag = /^tag "(\w+)" not found/.exec(reason)?.[1];
  if (tag !== undefined) return explainName('tag', tag, REFUSED_TAGS, Object.keys(engine.tags));
  return { what: `${reason}, expected Liquid such as {{ first_name | default: "there" }}` };
}

function explainName(
  kind: string,
  name: string,
  refused: Readonly<Record<string, string>>,
  known: readonly string[],
): { what: string; hint?: string | undefined } {
  if (Object.hasOwn(refused, name)) return { what: `the ${kind} "${name}" is not for messages: ${refused[name]}` };
  const nearest = suggestNearest(name, known);
  return {
    what: `there is no ${kind} "${name}", expected one of Liquid's`,
    hint: nearest && `Did you mean "${nearest}"?`,
  };
}

/** What a text cell has: `{{ name.size }}`, `{{ name.first }}`, `{{ name[0] }}`. */
const TEXT_PROPERTIES: ReadonlySet<unknown> = new Set(['size', 'first', 'last']);

/** Everything in a parsed template that would be wrong in every row: the clock, dates without a format, properties of a text. */
function findTemplateProblems(nodes: readonly LiquidTemplate[], uses: readonly VariableUse[]): Problem[] {
  const problems: Problem[] = [];
  for (const node of walkNodes(nodes)) {
    const [line, column] = node.token.getPosition();
    // Every filtered expression that the node holds itself.
    for (const value of node.arguments?.() ?? []) {
      if (!(value instanceof Value)) continue;
      const wrong = findLooseOperand(value) ?? findDateProblem(value);
      if (wrong !== undefined) problems.push({ where: `template.text:${line}:${column}`, ...wrong });
    }
  }
  for (const use of uses) {
    const property = use.properties.find((name) => typeof name === 'string' && !TEXT_PROPERTIES.has(name));
    if (property === undefined) continue;
    problems.push({
      where: `template.text:${use.line}:${use.column}`,
      message: `Cannot read ${use.name}.${property} in the template: a cell is text and has no ${property}, expected a column`,
      hint: `A column whose name has a dot is written {{ ['${use.name}.${property}'] }}`,
    });
  }
  return problems;
}

/** LiquidJS silently reads `{{ First Name }}` as `{{ First }}`. */
function findLooseOperand({ initial }: Value): Omit<Problem, 'where'> | undefined {
  let operands = 0;
  for (const token of initial.postfix) {
    if (!TypeGuards.isOperatorToken(token)) operands += 1;
    else if (token.operator !== 'not') operands -= 1;
  }
  if (operands <= 1) return undefined;
  const written = initial.postfix.map((token) => token.getText()).join(' ');
  return {
    message: `Cannot read "${written}" in the template: nothing connects its words, expected one value, or and, or, ==, contains …`,
    hint: `A column name with spaces is written {{ ['${written}'] }}`,
  };
}

function findDateProblem({ initial, filters }: Value): Omit<Problem, 'where'> | undefined {
  const date = filters.find(({ name }) => name === 'date');
  if (date === undefined) return undefined;
  const [source] = initial.postfix;
  if (TypeGuards.isQuotedToken(source) && /^\s*(now|today)\s*$/i.test(source.content)) {
    return {
      message: `Cannot use "${source.content}" as a date in the template: a plan must be the same on every day, expected a column or a fixed date`,
      hint: 'Write the day itself: {{ "2026-11-01" | date: "%d %b" }}',
    };
  }
  const [format, input, ...more] = date.args;
  if (format === undefined || more.length > 0) {
    return {
      message:
        'Cannot use the date filter in the template: expected a format after it, how the file writes its dates if not in ISO 8601, and no time zone',
      hint: 'A date is shown with the clock time that is written in it: {{ day | date: "%d %b %Y" }} or {{ day | date: "%d %b %Y", "dd.MM.yyyy" }}',
    };
  }
  const wrong =
    (TypeGuards.isQuotedToken(format) ? findBadDirective(format.content) : undefined) ??
    (TypeGuards.isQuotedToken(input) ? findBadInputFormat(input.content) : undefined);
  return wrong === undefined ? undefined : { message: `Cannot use the date filter in the template: ${wrong}` };
}

/** Every node of a parsed template, those inside conditions and loops included, in the order of the text. */
function* walkNodes(nodes: readonly LiquidTemplate[]): Generator<LiquidTemplate> {
  for (const node of nodes) {
    yield node;
    if (node.children !== undefined) yield* walkNodes(toValueSync(node.children(false, true)) as LiquidTemplate[]);
  }
}

/** Every use of a name that the template does not define itself, so that it must be a column. */
export function listVariableUses(engine: Liquid, nodes: LiquidTemplate[]): VariableUse[] {
  const { globals } = engine.analyzeSync(nodes, { partials: false });
  return Object.values(globals)
    .flat()
    .map(({ segments, location }) => ({
      name: String(segments[0]),
      line: location.row,
      column: location.col,
      properties: segments.slice(1),
    }))
    .sort((left, right) => left.line - right.line || left.column - right.column);
}

/** Tags that a message has no use for, or that reach for files: what to say instead of "no such tag". */
const REFUSED_TAGS: Readonly<Record<string, string>> = {
  include: 'a template reads no other files; write the text here',
  render: 'a template reads no other files; write the text here',
  layout: 'a template reads no other files; write the text here',
  block: 'a template reads no other files; write the text here',
  tablerow: 'it writes HTML; use {% for %}',
};

const RANDOM = 'its result is random, and a plan must be the same each time';
const UNCHECKED =
  'it contains an expression in a string, which cannot be checked before the rows are read; use {% for %} with {% if %}';
const OTHER_DATE = 'write the date with a format: {{ day | date: "%d %b %Y" }}';
/** LiquidJS filters that are refused, and why. */
const REFUSED_FILTERS: Readonly<Record<string, string>> = {
  sample: RANDOM,
  shuffle: RANDOM,
  date_to_xmlschema: OTHER_DATE,
  date_to_rfc822: OTHER_DATE,
  date_to_string: OTHER_DATE,
  date_to_long_string: OTHER_DATE,
  where_exp: UNCHECKED,
  reject_exp: UNCHECKED,
  group_by_exp: UNCHECKED,
  has_exp: UNCHECKED,
  find_exp: UNCHECKED,
  find_index_exp: UNCHECKED,
};

/** Characters of a template. A message has 1,530 at most; the rest is conditions. */
const MAX_TEMPLATE_LENGTH = 100_000;
/** Characters and list entries that one row may make: stops `(1..1000000000)`, and stops it on every machine alike. */
const MAX_MEMORY = 1_000_000;
/** The last resort against an endless template; far above any real rendering time. */
const MAX_RENDER_MS = 10_000;

/** LiquidJS, strict, without files, clock and randomness. Every cell that it is given is a string or a `MissingCell`. */
export function createEngine(): Liquid {
  const engine = new Liquid({
    strictVariables: true,
    lenientIf: true,
    strictFilters: true,
    ownPropertyOnly: true,
    templates: {},
    parseLimit: MAX_TEMPLATE_LENGTH,
    memoryLimit: MAX_MEMORY,
    renderLimit: MAX_RENDER_MS,
    operators: { ...defaultOperators, contains: containsPresent },
    outputEscape: (value) => {
      MissingCell.refuse(value);
      return value;
    },
  });
  for (const tag of Object.keys(REFUSED_TAGS)) delete engine.tags[tag];
  for (const filter of Object.keys(REFUSED_FILTERS)) delete engine.filters[filter];
  for (const [name, filter] of Object.entries(engine.filters)) {
    if (name !== 'default') engine.registerFilter(name, passMissing(filter));
  }
  engine.registerFilter('date', passMissing(dateFilter));
  engine.registerTag('echo', requireArguments(EchoTag));
  engine.registerTag('cycle', requireArguments(CycleTag));
  engine.registerTag('for', requireArguments(ForTag));
  return engine;
}

/** Finds nothing with a missing cell: LiquidJS would look for the word "null". */
function* containsPresent(left: unknown, right: unknown, context: Context): Generator<unknown, boolean, unknown> {
  if (right instanceof MissingCell) return false;
  return (yield defaultOperators.contains?.(left, right, context)) as boolean;
}

type PrintingTag = typeof EchoTag | typeof CycleTag | typeof ForTag;

/** The tag, refusing a row that lacks what the tag would print or loop over; LiquidJS would print nothing. */
function requireArguments(base: PrintingTag): PrintingTag {
  // biome-ignore lint/suspicious/noExplicitAny: TypeScript takes `any[]` only for the constructor of a mixin.
  const Base = base as new (...args: any[]) => Tag & LiquidTemplate;
  class StrictTag extends Base {
    override *render(context: Context, emitter: Emitter): Generator<unknown, unknown, unknown> {
      for (const argument of this.arguments?.() ?? []) {
        if (argument instanceof Value) MissingCell.refuse(yield argument.value(context, false));
        else if (TypeGuards.isRangeToken(argument)) {
          MissingCell.refuse(yield evalToken(argument.lhs, context));
          MissingCell.refuse(yield evalToken(argument.rhs, context));
        } else MissingCell.refuse(yield evalToken(argument, context));
      }
      return yield super.render(context, emitter);
    }
  }
  return StrictTag as unknown as PrintingTag;
}
