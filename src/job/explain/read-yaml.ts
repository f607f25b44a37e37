import { type ErrorCode, isAlias, isMap, isScalar, isSeq, Lexer, type Pair, Parser, parseDocument } from 'yaml';
import { type Finding, isSecret, namePath, type Path } from './finding.js';

/**
 * Text → a plain value, with the place of every part of it. Bounded before anything is built (size, depth, number of tokens): the
 * library recurses by depth. YAML 1.2, one document, no directives. Refuses what YAML allows and a job file does not: aliases,
 * anchors, tags, merge keys, keys that are not text, repeated keys, `${NAME}` in addresses. Never repeats the text: it may hold a secret by mistake.
 */

/** Longest job file, in bytes. */
export const MAX_JOB_BYTES = 1024 * 1024;
/** A job needs 8 levels. */
const MAX_DEPTH = 32;
/** A list of 10,000 files has half as many. */
const MAX_TOKENS = 100_000;

export interface Yaml {
  readonly value: unknown;
  readonly findings: readonly Finding[];
  /** The text is no YAML, or too much of it: there is no value. */
  readonly isBroken: boolean;
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
  readonly isUnreadable: boolean;
}

export function readYaml(text: string): Yaml {
  const spots = new Map<string, Spot>();
  const broken = findExcess(text) ?? findSyntaxFaults(text);
  const findings: Finding[] = [];
  const value = Array.isArray(broken) ? undefined : readNode(broken.contents, { path: [], offset: 0, spots, findings });
  const spotOf = (path: Path): Spot | undefined =>
    spots.get(JSON.stringify(path)) ?? (path.length === 0 ? undefined : spotOf(path.slice(0, -1)));
  return {
    value,
    findings: Array.isArray(broken) ? broken : findings,
    isBroken: Array.isArray(broken),
    offsetOf: (path) => spotOf(path)?.offset ?? 0,
    sourceOf: (path) => spots.get(JSON.stringify(path))?.source,
    isUnreadable: (path) => spotOf(path)?.isUnreadable ?? false,
  };
}

/**
 * Where in a job file a part of the job is written: `job.yaml:7:5`; of what is not there, its nearest parent. Undefined
 * for a text that is not YAML.
 */
export function findPlace({ text, file }: { text: string; file: string }, path: Path): string | undefined {
  const clean = text.replace(/^\uFEFF/, '');
  const yaml = readYaml(clean);
  return yaml.isBroken ? undefined : `${file}:${findPosition(clean, yaml.offsetOf(path))}`;
}

/** `line:column`, both from 1, as editors count. */
export function findPosition(text: string, offset: number): string {
  const before = text.slice(0, offset);
  return `${before.split('\n').length}:${offset - before.lastIndexOf('\n')}`;
}

/** What is refused without building it. */
function findExcess(text: string): Finding[] | undefined {
  // Characters first: a text of a gigabyte need not be counted in bytes.
  if (text.length > MAX_JOB_BYTES || Buffer.byteLength(text) > MAX_JOB_BYTES)
    return [{ at: 0, message: 'The file is longer than 1 MiB, expected a job file of a few hundred lines' }];
  const stranger = /[^\P{Cc}\t\n\r\u0085]|\uFFFD/u.exec(text);
  const STRANGER = 'There is a control character or a damaged character here, expected plain UTF-8 text';
  if (stranger !== null) return [{ at: stranger.index, message: STRANGER }];
  const parser = new Parser();
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      if (token.type !== 'directive' || /^%YAML\s+1\.2\s*$/.test(token.source)) continue;
      const message = 'A line that begins with % is a YAML directive, which a job file cannot use';
      return [{ at: token.offset, message, hint: 'Remove it.' }];
    }
    count += 1;
    const at = parser.offset;
    if (parser.stack.length > MAX_DEPTH)
      return [{ at, message: `The file is nested more than ${MAX_DEPTH} levels deep here, expected fewer than 10` }];
    if (count > MAX_TOKENS) return [{ at, message: `The file has more than ${MAX_TOKENS} parts, expected fewer` }];
  }
  return undefined;
}

function findSyntaxFaults(text: string) {
  // Repeated keys are found below: the library compares every key with every other.
  const document = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: false,
    prettyErrors: false,
  });
  if (document.errors.length === 0) return document;
  // A fault has others behind it at the same place.
  const first = new Map(document.errors.toReversed().map(({ pos, code }) => [pos[0], code]));
  return [...first].reverse().map(([at, code]): Finding => {
    const [message, hint] = SYNTAX[code] ?? ['This is not YAML', 'Look for a missing quote, colon, comma or bracket.'];
    return { at, message, hint };
  });
}

export const TAB_MESSAGE = 'A tab is used as indentation';

/** The library's own messages repeat the text, so each code has one here. */
const SYNTAX: Partial<Record<ErrorCode, readonly [message: string, hint?: string]>> = {
  BAD_DQ_ESCAPE: [
    'A backslash in double quotes begins an escape that YAML does not have',
    'Use single quotes, or write \\\\.',
  ],
  BAD_INDENT: [
    'The indentation is wrong here, or a bracket is not closed',
    'Keys of one map begin in the same column; lists are indented further.',
  ],
  BAD_SCALAR_START: ['A value cannot begin with this character', 'Put the value in quotes.'],
  BLOCK_AS_IMPLICIT_KEY: ['A list or map begins in the middle of a line', 'Put text with a colon in quotes; "-" too.'],
  BLOCK_IN_FLOW: ['A list with dashes is inside [ ] or { }', 'Put a dash that is meant as text in quotes: "-".'],
  MISSING_CHAR: [
    'A quote or bracket is not closed, or a separator is missing',
    'Look for a missing quote, bracket, comma or space after a colon.',
  ],
  MULTILINE_IMPLICIT_KEY: ['A key goes over several lines', 'Look for a missing colon, or a wrong indentation.'],
  MULTIPLE_DOCS: [
    'A second document begins here, expected one',
    'One job, one file: put it into a file of its own, or remove the line with --- or … .',
  ],
  TAB_AS_INDENT: [TAB_MESSAGE, 'Use spaces, in every line.'],
  UNEXPECTED_TOKEN: [
    'YAML does not expect what is written here',
    'Begin a list on a line of its own, put text that begins with "-" in quotes, and look for a missing quote or comma.',
  ],
  TAG_RESOLVE_FAILED: [
    'A value that begins with ! is a YAML tag, which a job file cannot use',
    'Put the value in quotes.',
  ],
};

interface Walk {
  readonly path: Path;
  readonly offset: number;
  readonly spots: Map<string, Spot>;
  readonly findings: Finding[];
}

function readNode(node: unknown, walk: Walk): unknown {
  const { path, offset, spots, findings } = walk;
  const foreign = findForeign(node);
  const refusal =
    foreign === undefined
      ? findReference(node, path)
      : { message: `${namePath(path)} ${foreign}`, hint: QUOTE_OR_WRITE_OUT };
  const source = isScalar(node) ? node.source : undefined;
  spots.set(JSON.stringify(path), { offset, source, isUnreadable: refusal !== undefined });
  if (refusal !== undefined) findings.push({ at: offset, ...refusal });
  if (foreign !== undefined) return undefined;
  if (isMap(node)) return readMap(node.items, walk);
  if (isSeq(node))
    return node.items.map((item, index) =>
      readNode(item, { ...walk, path: [...path, index], offset: startOf(item) ?? offset }),
    );
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

/** `${NAME}` is not supported; texts for people may hold it, such as a price. */
function findReference(node: unknown, path: Path): { message: string; hint: string } | undefined {
  const isAddressOrPath =
    ['service', 'output', 'notify', 'cluster'].includes(String(path[0])) || path.includes('files');
  if (!isAddressOrPath || !isScalar(node) || typeof node.value !== 'string') return undefined;
  const name = /\$\{([^}]*)\}?/.exec(node.value)?.[1];
  if (name === undefined) return undefined;
  const variable = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : 'NAME';
  return {
    message: `${namePath(path)} contains \${…}, which a job file does not replace`,
    hint: isSecret(path) ? `Write { env: ${variable} } in place of the whole value.` : 'Write the value out.',
  };
}

function readMap(pairs: readonly Pair[], walk: Walk): Record<string, unknown> {
  const { path, findings } = walk;
  const value: Record<string, unknown> = {};
  for (const pair of pairs) {
    const offset = startOf(pair.key) ?? startOf(pair.value) ?? walk.offset;
    const refuse = (message: string, hint: string) => findings.push({ at: offset, message, hint });
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
      value[key] = readNode(pair.value, { ...walk, path: [...path, key], offset });
    }
  }
  return value;
}

/** Numbers and words such as `true` are keys as they are written. */
function readKey(key: unknown): string | undefined {
  if (!isScalar(key) || findForeign(key) !== undefined || key.value === null) return undefined;
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
}

function startOf(node: unknown): number | undefined {
  return isAlias(node) || isMap(node) || isSeq(node) || isScalar(node) ? node.range?.[0] : undefined;
}
