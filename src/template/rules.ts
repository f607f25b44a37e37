import { type Template as LiquidTemplate, TypeGuards, type Value } from 'liquidjs';
import type { Problem } from '../domain/errors.js';
import { findBadDirective } from './date.js';
import { findBadInputFormat } from './date-input.js';
import { listValues, type VariableUse, walkNodes } from './walk.js';

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
