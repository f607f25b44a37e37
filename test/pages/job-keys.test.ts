import { expect, test } from 'vitest';
import { jobJsonSchema } from '../../src/job/schema/json-schema.js';
import { listNames, REFERENCE_PAGES, readPage, readTables, type Table } from './page.js';
import { listSchemaKeys } from './schema-keys.js';

const tables = REFERENCE_PAGES.flatMap((path) => readTables(readPage(path).prose));

/** What a key belongs to, by the head of the table that documents it. */
const HEADS: Readonly<Record<string, string>> = {
  key: 'job',
  'key of every step': 'step',
  'key of an input': 'input',
  limit: 'limits',
};

const documented = tables.flatMap((table) => listDocumented(table));
const keys = listSchemaKeys(jobJsonSchema());

test('the reference has a table for everything that has keys', () => {
  expect(new Set(keys.map(({ of }) => of))).toEqual(new Set(documented.map(({ of }) => of)));
});

test('the reference documents no key of a job file twice, and none that does not exist', () => {
  const known = new Set(keys.map(nameKey));

  expect(documented.map(nameKey).filter((name, at, all) => all.indexOf(name) !== at)).toEqual([]);
  expect(documented.map(nameKey).filter((name) => !known.has(name))).toEqual([]);
});

test('the reference documents every key of a job file: in a row of its own, in that of the key around it, or key by key', () => {
  const lacking = keys.filter(({ of, path }) => {
    const own = documented.find((row) => row.of === of && row.path === path);
    const around = documented.filter((row) => row.of === of && path.startsWith(`${row.path}.`));
    const words = around.flatMap(({ cells }) => cells.flatMap(listNames)).flatMap((name) => name.split(/[^\w$]+/));
    const isMap = documented.some((row) => row.of === of && row.path.startsWith(`${path}.`));
    return own === undefined && !isMap && !words.includes(path.slice(path.lastIndexOf('.') + 1));
  });

  expect(lacking.map(nameKey)).toEqual([]);
});

test('the reference gives the default of every key that has one', () => {
  const wrong = keys.filter(({ of, path, value }) => {
    const own = documented.find((row) => row.of === of && row.path === path);
    return own !== undefined && value !== undefined && !listNames(own.cells[1] ?? '').includes(value);
  });

  expect(wrong).toEqual([]);
});

test('the reference shows the keys in bold that must be given', () => {
  const required = keys.filter(({ isRequired }) => isRequired).map(nameKey);
  const plain = documented.filter((row) => !row.isBold && required.includes(nameKey(row)));

  expect(required.length).toBeGreaterThan(10);
  expect(plain.map(nameKey)).toEqual([]);
});

type DocumentedKey = Readonly<{ of: string; path: string; isBold: boolean; cells: readonly string[] }>;

/** The keys in the first column; none of a table about something else. */
function listDocumented({ head: [first = ''], rows }: Table): DocumentedKey[] {
  const of = HEADS[first] ?? /^`kind: (.*)`$/.exec(first)?.[1];
  if (of === undefined) return [];
  const names = rows.flatMap((cells) => listNames(cells[0] ?? '').map((path) => ({ path, cells })));
  // Of the object that a command prints.
  return names
    .filter(({ path }) => !path.startsWith('error.'))
    .map(({ path, cells }) => ({ of, path, isBold: cells[0]?.startsWith('**') === true, cells }));
}

function nameKey({ of, path }: { readonly of: string; readonly path: string }): string {
  return `${of}: ${path}`;
}
