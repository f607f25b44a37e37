import { z } from 'zod';
import { writtenJob } from './written-job.js';

/** The JSON Schema of a job file, in draft-07, which is what editors understand. */
export function jobJsonSchema(): object {
  const { $schema, ...rest } = z.toJSONSchema(writtenJob, { target: 'draft-7', io: 'input' });
  return { $schema, title: 'Volley job', ...rest };
}

/** Exactly what `volley schema` prints and `jobs/job.schema.json` holds. */
export function renderJobJsonSchema(): string {
  return `${JSON.stringify(jobJsonSchema(), null, 2)}\n`;
}

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  readonly const?: unknown;
}

let known: Node | undefined;

/**
 * Where a key belongs that was written at `path`, in words: `service.credentials`, `steps.input`, `a step of kind sms`. In a step of a
 * known `kind` first deeper in the same kind, then in other kinds.
 */
export function findHome(key: string, path: readonly (string | number)[], kind: unknown): string | undefined {
  known ??= jobJsonSchema() as Node;
  const steps = known.properties?.steps?.items?.oneOf ?? [];
  const kindOf = (step: Node) => step.properties?.kind?.const;
  if (kind !== undefined) {
    const own = steps.find((step) => kindOf(step) === kind);
    const [deeper] = own === undefined ? [] : findHomes(own, key, 'steps');
    if (deeper !== undefined) return deeper;
    const others = steps.filter(({ properties = {} }) => Object.hasOwn(properties, key));
    if (others.length > 0) return `a step of kind ${others.map(kindOf).join(' or ')}`;
  }
  const home = findHomes(known, key, '').find((place) => place.split('.').at(-1) !== path.at(-1));
  return home === '' ? 'the top of the file' : home;
}

/** Every place below a node where a key is known, as dotted names. */
function findHomes({ properties = {}, items, anyOf = [], oneOf = [] }: Node, key: string, trail: string): string[] {
  const here = Object.entries(properties).flatMap(([name, inner]) => [
    ...(name === key ? [trail] : []),
    ...findHomes(inner, key, trail === '' ? name : `${trail}.${name}`),
  ]);
  const inner = [...(items === undefined ? [] : [items]), ...anyOf, ...oneOf];
  return [...here, ...inner.flatMap((node) => findHomes(node, key, trail))];
}
