import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { KINDS, type Kind } from '../../../src/domain/areas.js';
import { ceilings, defaultLimits } from '../../../src/job/limits.js';
import { jobJsonSchema, renderJobJsonSchema } from '../../../src/job/schema/json-schema.js';

interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Record<string, SchemaNode>;
  readonly additionalProperties?: unknown;
  readonly items?: SchemaNode;
  readonly anyOf?: SchemaNode[];
  readonly oneOf?: SchemaNode[];
  readonly const?: string;
  readonly maximum?: number;
}

/** Every node of the schema with a name to find it by. */
function* walk(node: SchemaNode, name = '$'): Generator<[name: string, node: SchemaNode]> {
  yield [name, node];
  for (const [key, inner] of Object.entries(node.properties ?? {})) yield* walk(inner, `${name}.${key}`);
  for (const inner of [...(node.anyOf ?? []), ...(node.oneOf ?? [])]) yield* walk(inner, `${name}|`);
  if (node.items !== undefined) yield* walk(node.items, `${name}[]`);
}

const nodes = [...walk(jobJsonSchema() as SchemaNode)];

describe('the JSON Schema', () => {
  test('in jobs/job.schema.json is current (npx volley schema > jobs/job.schema.json makes it so)', async () => {
    const committed = await readFile(new URL('../../../jobs/job.schema.json', import.meta.url), 'utf8');
    expect(committed === renderJobJsonSchema()).toBe(true);
  });

  test('describes every property, for editors show it', () => {
    const silent = nodes.flatMap(([name, node]) =>
      Object.entries(node.properties ?? {})
        .filter(([, property]) => (property.description ?? '') === '')
        .map(([key]) => `${name}.${key}`),
    );
    expect(nodes.length).toBeGreaterThan(50);
    expect(silent).toEqual([]);
  });

  test('allows no unknown key', () => {
    const open = nodes.filter(([, node]) => node.properties !== undefined && node.additionalProperties !== false);
    expect(open.map(([name]) => name)).toEqual([]);
  });

  test('tells the steps apart by their kind, and bounds each by the ceiling of its area', () => {
    const steps = (jobJsonSchema() as SchemaNode).properties?.steps?.items?.oneOf ?? [];
    const bounds = steps.map(({ properties }) => [
      properties?.kind?.const,
      properties?.limits?.properties?.requestsPerSecond?.maximum,
    ]);
    expect(bounds).toEqual(Object.entries(KINDS).map(([kind, { area }]) => [kind, ceilings[area].requestsPerSecond]));
  });

  test('wants a campaign step to set or to expect something', () => {
    const step = nodes.find(([, { properties }]) => properties?.campaign !== undefined && properties.set !== undefined);
    expect(step?.[1].anyOf).toEqual([{ required: ['set'] }, { required: ['expect'] }]);
  });

  test('asks for no key that has a default', () => {
    const step = nodes.find(([, node]) => node.properties?.batchSize !== undefined)?.[1] as SchemaNode & {
      required: string[];
    };
    expect(step.required.toSorted()).toEqual(['destination', 'input', 'kind', 'template']);
    expect(step.properties?.batchSize).toMatchObject({ default: 1000, minimum: 1, maximum: 10_000 });
  });
});

describe('ceilings', () => {
  test('are the published ones where the service publishes any', () => {
    expect(ceilings.sms).toMatchObject({ requestsPerSecond: 1800, messagesPerSecond: 25_000 });
    expect(ceilings.chat.requestsPerSecond).toBe(5);
  });

  test.each(Object.entries(KINDS))('leave room above the default limits of %s', (kind, { area }) => {
    for (const unit of ['requestsPerSecond', 'messagesPerSecond', 'segmentsPerSecond', 'concurrency'] as const) {
      expect(defaultLimits[kind as Kind][unit] ?? 0).toBeLessThan(ceilings[area][unit] ?? Number.POSITIVE_INFINITY);
    }
  });
});
