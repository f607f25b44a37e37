import { type Liquid, LiquidError, type Template as LiquidTemplate } from 'liquidjs';
import { countOf } from '../domain/count-of.js';
import { type Problem, UserError } from '../domain/errors.js';
import type { BindProblems, FindColumn } from '../domain/find-column.js';
import { suggestNearest } from '../domain/suggest.js';
import { type BoundTemplate, bindColumns, bindConstant } from './bind-template.js';
import { createEngine, REFUSED_FILTERS, REFUSED_TAGS } from './engine.js';
import { compilePieces } from './pieces.js';
import { findTemplateProblems } from './rules.js';
import { listVariableUses } from './walk.js';

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
  /** Finds the columns that the text names; problems where there is no such column. `findColumn` matches a name as files' headers are matched. */
  bind(columns: readonly string[], findColumn: FindColumn): BoundTemplate | BindProblems;
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
    bind: (columns, findColumn) => bindColumns(source, columns, findColumn),
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
