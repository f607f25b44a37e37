import { isAlias, isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import { type Finding, namePath, type Path } from './finding.js';

/**
 * YAML nodes → a plain value, with the place of every part of it. Refuses what YAML allows and a job file does not:
 * aliases, anchors, tags, merge keys, keys that are not text, repeated keys.
 */
export interface Tree {
  readonly value: unknown;
  readonly findings: readonly Finding[];
  /** Where a part is written: its key, or what it begins with in a list; for what is not there, its nearest parent. */
  offsetOf(path: Path): number;
  /** A scalar as it is written, before it became a number or a boolean. */
  sourceOf(path: Path): string | undefined;
  /** True when a finding already says why the value cannot be read. */
  isUnreadable(path: Path): boolean;
}

interface Spot {
  readonly offset: number;
  readonly source: string | undefined;
  readonly unreadable: boolean;
}

interface Walk {
  readonly spots: Map<string, Spot>;
  readonly findings: Finding[];
}

/** The depth of the nodes must be bounded (read-yaml.ts). */
export function readTree(root: Node | null): Tree {
  const walk: Walk = { spots: new Map(), findings: [] };
  const value = readNode(walk, root, { path: [], offset: 0 });
  return {
    value,
    findings: walk.findings,
    offsetOf: (path) => findSpot(walk, path)?.offset ?? 0,
    sourceOf: (path) => walk.spots.get(spotKey(path))?.source,
    isUnreadable: (path) => findSpot(walk, path)?.unreadable ?? false,
  };
}

function readNode(walk: Walk, node: unknown, at: { path: Path; offset: number }): unknown {
  const refusal = findForeign(node);
  walk.spots.set(spotKey(at.path), {
    offset: at.offset,
    source: isScalar(node) ? node.source : undefined,
    unreadable: refusal !== undefined,
  });
  if (refusal !== undefined) {
    walk.findings.push({ at: at.offset, message: `${namePath(at.path)} ${refusal}`, hint: QUOTE_OR_WRITE_OUT });
    return undefined;
  }
  if (isMap(node)) return readMap(walk, node.items, at.path);
  if (isSeq(node)) {
    return node.items.map((item, index) =>
      readNode(walk, item, { path: [...at.path, index], offset: startOf(item) ?? at.offset }),
    );
  }
  return isScalar(node) ? node.value : null;
}

const QUOTE_OR_WRITE_OUT = 'Write the value out where it is needed; put text that begins with & * or ! in quotes.';

function findForeign(node: unknown): string | undefined {
  if (isAlias(node)) return 'is a YAML alias (*), which a job file cannot use';
  if (!isMap(node) && !isSeq(node) && !isScalar(node)) return undefined;
  if (node.anchor !== undefined) return 'has a YAML anchor (&), which a job file cannot use';
  if (node.tag !== undefined) return 'has a YAML tag (!), which a job file cannot use';
  return undefined;
}

function readMap(walk: Walk, pairs: readonly Pair[], path: Path): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const pair of pairs) {
    const offset = startOf(pair.key) ?? startOf(pair.value) ?? findSpot(walk, path)?.offset ?? 0;
    const refuse = (message: string, hint: string) => walk.findings.push({ at: offset, message, hint });
    const key = readKey(pair.key);
    if (key === undefined) {
      refuse(
        `A key of ${namePath(path)} is not text, expected a word and a colon`,
        'Put text that contains { [ ? & * or ! in quotes.',
      );
    } else if (key === '<<') {
      refuse(`${namePath(path)} has a YAML merge key (<<), which a job file cannot use`, 'Write the keys out.');
    } else if (key === '__proto__') {
      refuse(`${namePath(path)} has the key __proto__, expected any other name`, 'Remove it.');
    } else if (Object.hasOwn(value, key)) {
      refuse(`${namePath([...path, key])} is written twice, expected once`, 'Remove one of them.');
    } else {
      value[key] = readNode(walk, pair.value, { path: [...path, key], offset });
    }
  }
  return value;
}

/** Numbers and words such as `true` are keys as they are written. */
function readKey(key: unknown): string | undefined {
  if (!isScalar(key) || findForeign(key) !== undefined || key.value === null) return undefined;
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
}

function findSpot(walk: Walk, path: Path): Spot | undefined {
  for (let length = path.length; length >= 0; length--) {
    const spot = walk.spots.get(spotKey(path.slice(0, length)));
    if (spot !== undefined) return spot;
  }
  return undefined;
}

function startOf(node: unknown): number | undefined {
  return isAlias(node) || isMap(node) || isSeq(node) || isScalar(node) ? node.range?.[0] : undefined;
}

function spotKey(path: Path): string {
  return JSON.stringify(path);
}
