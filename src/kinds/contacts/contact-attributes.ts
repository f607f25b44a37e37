import { isResultColumn } from '../../domain/output-columns.js';
import type { ContactsStep } from '../../job/job.js';
import type { ColumnProblem, Columns } from '../../normalize/columns.js';
import type { ContactBinding } from '../../normalize/contact.js';

type Attributes = ContactBinding['attributeColumns'];

/** Finds the columns of a contact's attributes; `taken` are those that the step names for something else. */
export function bindAttributes(
  customAttributes: ContactsStep['customAttributes'],
  columns: Columns,
  taken: ReadonlySet<number>,
): Attributes {
  const { rest } = customAttributes;
  // An attribute may be called so.
  if (rest === undefined || typeof rest === 'string') {
    return Object.entries(customAttributes).map(([name, column]) => ({
      name,
      index: columns.find(column, `customAttributes.${name}`),
    }));
  }
  const except = new Set(rest.except.map((column) => columns.find(column, 'customAttributes.rest.except')));
  const names = Object.entries(rest.rename).map(([column, name]) => ({
    name,
    index: columns.find(column, 'customAttributes.rest.rename'),
  }));
  const renamed = new Map(names.map(({ name, index }) => [index, name]));
  const isOmitted = (index: number): boolean => taken.has(index) || except.has(index);
  const attributes = columns.names.flatMap((column, index) => {
    const name = renamed.get(index) ?? (isResultColumn(column) ? '' : column);
    return name === '' || isOmitted(index) ? [] : [{ name, index }];
  });
  for (const { name, index } of names) {
    const column = columns.names[index];
    if (column === undefined || (renamed.get(index) === name && !isOmitted(index))) continue;
    columns.problems.push(isOmitted(index) ? describeIdle(column) : describeTwice(column));
  }
  columns.problems.push(...listRepeated(attributes, columns.names));
  return attributes;
}

function describeIdle(column: string) {
  return {
    message: `the job renames the column "${column}" in customAttributes.rest.rename and uses or omits it elsewhere, expected one of the two`,
    hint: 'A column that fields, groupsColumn or except uses is not part of the rest: remove it there, or from rename.',
  };
}

function describeTwice(column: string) {
  return {
    message: `the job renames the column "${column}" twice in customAttributes.rest.rename, expected one name for it`,
    hint: 'Names of columns are matched without regard to case and punctuation.',
  };
}

/** Two columns under one name would be one attribute, and one of the two values lost. */
function listRepeated(attributes: Attributes, columns: readonly string[]): ColumnProblem[] {
  const first = new Map<string, number>();
  return attributes.flatMap(({ name, index }) => {
    const earlier = first.get(name);
    if (earlier === undefined) {
      first.set(name, index);
      return [];
    }
    const [one, other] = [columns[earlier] ?? '', columns[index] ?? ''];
    return [
      {
        message: `the columns "${one}" and "${other}" would both become the attribute "${name}", expected a name for each`,
        hint: 'Give one of them another name in customAttributes.rest.rename (column: attribute), or put it into except.',
      },
    ];
  });
}
