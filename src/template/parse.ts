import { type Liquid, LiquidError, type Template as LiquidTemplate, TypeGuards, type Value } from 'liquidjs';
import { countOf } from '../domain/count-of.js';
import { type Problem, UserError } from '../domain/errors.js';
import { suggestNearest } from '../domain/suggest.js';
import type { Columns } from '../normalize/columns.js';
import { type BoundTemplate, bindColumns, bindConstant } from './bind-template.js';
import { findBadDirective } from './date.js';
import { findBadInputFormat } from './date-input.js';
import { createEngine, REFUSED_FILTERS, REFUSED_TAGS } from './engine.js';
import { compilePieces } from './pieces.js';
import { listValues, listVariableUses, type VariableUse, walkNodes } from './walk.js';

/**
 * A message text with variables, in Liquid. It is parsed once, bound to the columns of each file, and rendered row by row.
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

/** Throws UserError 'bad-job', with the line and column in the template, for invalid Liquid and refused features. */
export function parseTemplate(text: string): Template {
  const engine = createEngine();
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
  if (uses.length === 0) {
    const bound = bindConstant(engine, nodes);
    const rendering = bound.render([]);
    return { variables: [], constant: rendering.ok ? rendering.text : '', bind: () => bound };
  }
  const source = { engine, nodes, uses, pieces: compilePieces(nodes) };
  return {
    variables: [...new Set(uses.map(({ name }) => name))],
    constant: undefined,
    bind: (columns) => bindColumns(source, columns),
  };
}

function parseNodes(engine: Liquid, text: string): LiquidTemplate[] {
  try {
    return engine.parse(text);
  } catch (error) {
    const problem = describeParseError(error, engine);
    throw new UserError('bad-job', problem.message, {
      ...(problem.hint && { hint: problem.hint }),
      problems: [problem],
    });
  }
}

function describeParseError(error: unknown, engine: Liquid): Problem {
  if (!LiquidError.is(error)) {
    const reason = error instanceof Error ? error.message : String(error);
    return { where: 'template.text', message: `Cannot read the template: ${reason}, expected Liquid` };
  }
  const [line, column] = error.token.getPosition();
  const place = `line ${line}, column ${column}`;
  const reason = (error.originalError?.message ?? error.message).replace(/, line:\d+, col:\d+$/, '');
  const explained = explain(reason, engine);
  return {
    where: `template.text:${line}:${column}`,
    message: `Cannot read the template at ${place}: ${explained.what}`,
    ...(explained.hint !== undefined && { hint: explained.hint }),
  };
}

function explain(reason: string, engine: Liquid): { what: string; hint?: string } {
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
): { what: string; hint?: string } {
  if (Object.hasOwn(refused, name)) return { what: `the ${kind} "${name}" is not for messages: ${refused[name]}` };
  const nearest = suggestNearest(name, known);
  const what = `there is no ${kind} "${name}", expected one of Liquid's`;
  return nearest === undefined ? { what } : { what, hint: `Did you mean "${nearest}"?` };
}

/** What a text cell has: `{{ name.size }}`, `{{ name.first }}`, `{{ name[0] }}`. */
const TEXT_PROPERTIES: ReadonlySet<unknown> = new Set(['size', 'first', 'last']);

/** Everything in a parsed template that would be wrong in every row: the clock, dates without a format, properties of a text. */
export function findTemplateProblems(nodes: readonly LiquidTemplate[], uses: readonly VariableUse[]): Problem[] {
  const problems: Problem[] = [];
  for (const node of walkNodes(nodes)) {
    const [line, column] = node.token.getPosition();
    for (const value of listValues(node)) {
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
