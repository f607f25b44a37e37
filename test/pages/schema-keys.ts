export interface SchemaKey {
  /** `job`, `step`, `input`, `limits`, or a kind of step. */
  readonly of: string;
  /** Below what it belongs to: `template.text`. */
  readonly path: string;
  /** The default as text, where it is a plain value. */
  readonly value: string | undefined;
  /** In every form that what it belongs to can have. */
  readonly isRequired: boolean;
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly default?: unknown;
  readonly const?: unknown;
}

/** What has a table of its own wherever it occurs. */
const SHARED: Readonly<Record<string, string>> = { input: 'input', suppress: 'input', limits: 'limits' };

/** Every key of a job file, once for each thing that it belongs to. */
export function listSchemaKeys(schema: unknown): SchemaKey[] {
  const found = new Map<string, SchemaKey>();
  walk(schema as Schema, { of: 'job', prefix: '' }, found);
  return [...found.values()];
}

type Place = Readonly<{ of: string; prefix: string }>;

function walk(schema: Schema, place: Place, found: Map<string, SchemaKey>): void {
  for (const [name, value] of Object.entries(schema.properties ?? {})) {
    const isOutermost = place.prefix === '';
    const of = isOutermost ? ownerOf(name, place) : place.of;
    const path = `${place.prefix}${name}`;
    const isRequired = isOutermost && schema.required?.includes(name) === true;
    found.set(`${of}: ${path}`, { of, path, value: formatDefault(value), isRequired });
    if (name === 'steps') for (const step of listForms(value)) walk(step, { of: kindOf(step), prefix: '' }, found);
    else walk(value, placeBelow(name, place), found);
  }
  for (const form of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) walk(form, place, found);
  if (schema.items !== undefined) walk(schema.items, place, found);
}

function placeBelow(name: string, { of, prefix }: Place): Place {
  const shared = prefix === '' && of !== 'input' ? SHARED[name] : undefined;
  return shared === undefined ? { of, prefix: `${prefix}${name}.` } : { of: shared, prefix: '' };
}

const OF_EVERY_STEP = ['kind', 'input', 'limits'];

function ownerOf(name: string, { of }: Place): string {
  const isKind = !['job', 'input', 'limits'].includes(of);
  return isKind && OF_EVERY_STEP.includes(name) ? 'step' : of;
}

function formatDefault({ default: value }: Schema): string | undefined {
  return value === undefined || typeof value === 'object' ? undefined : String(value);
}

function listForms({ items }: Schema): readonly Schema[] {
  return items?.anyOf ?? items?.oneOf ?? [];
}

function kindOf({ properties }: Schema): string {
  return String(properties?.kind?.const);
}
