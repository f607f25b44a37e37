import { z } from 'zod';
import type { Path } from './finding.js';

/** What the schema says about a place: the keys that are known there, and what it is for. */
export interface SchemaPlace {
  readonly keys: readonly string[] | undefined;
  readonly description: string | undefined;
}

/** Walks a schema along a path; `value` decides between the kinds of a union. */
export function describePlace(schema: z.core.$ZodType, path: Path, value: unknown): SchemaPlace {
  let place: z.core.$ZodType | undefined = schema;
  let here = value;
  let description = descriptionOf(schema);
  for (const part of path) {
    const parent: z.core.$ZodType | undefined = place && unwrap(place, here);
    place = parent && childOf(parent, part);
    description = place && descriptionOf(place);
    here = isMapping(here) || Array.isArray(here) ? (here as Record<string | number, unknown>)[part] : undefined;
  }
  const inner = place && unwrap(place, here);
  return { keys: inner instanceof z.core.$ZodObject ? Object.keys(inner._zod.def.shape) : undefined, description };
}

/** Every place of a schema where a key is known, as dotted names: `service.region`, `steps.input.country`. */
export function findHomes(schema: z.core.$ZodType, key: string, trail = ''): string[] {
  if (schema instanceof z.core.$ZodObject) {
    return Object.entries(schema._zod.def.shape).flatMap(([name, inner]) => [
      ...(name === key ? [trail] : []),
      ...findHomes(inner, key, trail === '' ? name : `${trail}.${name}`),
    ]);
  }
  return innerOf(schema).flatMap((inner) => findHomes(inner, key, trail));
}

/** Down through optional, default and unions to what the value is meant to be. */
function unwrap(schema: z.core.$ZodType, value: unknown): z.core.$ZodType | undefined {
  if (schema instanceof z.core.$ZodDiscriminatedUnion) {
    const { discriminator, options } = schema._zod.def;
    const wanted = isMapping(value) ? value[discriminator] : undefined;
    return options.find((option) => option._zod.propValues?.[discriminator]?.has(wanted as z.core.util.Primitive));
  }
  if (schema instanceof z.core.$ZodUnion) {
    // Each union of the schema has one option that is more than a word, or its first map names the keys.
    const options = schema._zod.def.options
      .map((option) => (option instanceof z.core.$ZodPipe ? option._zod.def.in : option))
      .filter((option) => isMapping(value) || !(option instanceof z.core.$ZodObject));
    return options.find((option) => isStructure(option, value)) ?? options[0];
  }
  const inner = innerOf(schema);
  const isWrapper = !(schema instanceof z.core.$ZodArray) && !(schema instanceof z.core.$ZodRecord);
  return isWrapper && inner[0] !== undefined ? unwrap(inner[0], value) : schema;
}

function isStructure(schema: z.core.$ZodType, value: unknown): boolean {
  if (Array.isArray(value)) return schema instanceof z.core.$ZodArray;
  return isMapping(value) && (schema instanceof z.core.$ZodObject || schema instanceof z.core.$ZodRecord);
}

function childOf(schema: z.core.$ZodType, part: string | number): z.core.$ZodType | undefined {
  if (schema instanceof z.core.$ZodObject) {
    const shape = schema._zod.def.shape;
    return Object.hasOwn(shape, part) ? shape[part] : undefined;
  }
  return innerOf(schema)[0];
}

function innerOf(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  if (schema instanceof z.core.$ZodUnion) return schema._zod.def.options;
  if (schema instanceof z.core.$ZodArray) return [schema._zod.def.element];
  if (schema instanceof z.core.$ZodRecord) return [schema._zod.def.valueType];
  if (
    schema instanceof z.core.$ZodOptional ||
    schema instanceof z.core.$ZodDefault ||
    schema instanceof z.core.$ZodPrefault
  ) {
    return [schema._zod.def.innerType];
  }
  // What a person writes, before it is transformed.
  if (schema instanceof z.core.$ZodPipe) return [schema._zod.def.in];
  return [];
}

function descriptionOf(schema: z.core.$ZodType): string | undefined {
  return z.globalRegistry.get(schema)?.description ?? innerOfWrapper(schema)?.description;
}

function innerOfWrapper(schema: z.core.$ZodType): { description: string | undefined } | undefined {
  const isStructured = [z.core.$ZodUnion, z.core.$ZodArray, z.core.$ZodRecord].some((kind) => schema instanceof kind);
  const inner = isStructured ? undefined : innerOf(schema)[0];
  return inner && { description: descriptionOf(inner) };
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
