import { expect, test } from 'vitest';
import { jobJsonSchema } from '../../src/job/json-schema.js';
import { ceilings, defaultLimits } from '../../src/throttle/ceilings.js';
import { listNames, REFERENCE_PAGES, readPage, readRows, readSection } from './page.js';

const pages = REFERENCE_PAGES.map(readPage);

test('the reference names every key of a job file, with its default', () => {
  const words = new Set(pages.flatMap(({ spans }) => spans).flatMap((span) => span.split(/[^\w$]+/)));
  const rows = pages.flatMap(({ prose }) => readRows(prose));
  const lacking = walkKeys(jobJsonSchema()).filter(({ key, value }) => {
    if (value === undefined) return !words.has(key);
    const own = rows.filter(([names = '']) => listNames(names).some((name) => name.split('.').at(-1) === key));
    return !own.some(([, shown = '']) => listNames(shown).includes(value));
  });

  expect(lacking).toEqual([]);
});

test('the reference gives the limits that the code has', () => {
  const show = (limit: number | undefined, otherwise: string) => limit?.toLocaleString('en-US') ?? otherwise;
  const names = ['requestsPerSecond', 'messagesPerSecond', 'segmentsPerSecond', 'concurrency'] as const;

  const section = readSection(readPage('jobs/reference/limits-and-answers.md'), 'Limits');
  const written = readRows(section).filter(([name = '']) => name.startsWith('`'));

  expect(written.map((cells) => cells.slice(0, 5))).toEqual(
    names.map((name) => [
      `\`${name}\``,
      show(defaultLimits.sms[name], 'none'),
      show(ceilings.sms[name], '–'),
      show(defaultLimits.contacts[name], '–'),
      show(ceilings.contacts[name], '–'),
    ]),
  );
});

interface SchemaKey {
  readonly key: string;
  /** The default as text, where it is a plain value. */
  readonly value: string | undefined;
}

/** Every key that the schema has, at whatever depth. */
function walkKeys(node: unknown): SchemaKey[] {
  if (typeof node !== 'object' || node === null) return [];
  const properties: Record<string, unknown> = Reflect.get(node, 'properties') ?? {};
  const own = Object.entries(properties).map(([key, schema]) => ({ key, value: readDefault(schema) }));
  return [...own, ...Object.values(node).flatMap(walkKeys)];
}

function readDefault(schema: unknown): string | undefined {
  const value: unknown = Reflect.get(Object(schema), 'default');
  return value === undefined || typeof value === 'object' ? undefined : String(value);
}
