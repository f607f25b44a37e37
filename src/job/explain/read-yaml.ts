import {
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Pair,
  Parser,
  parseDocument,
  type YAMLError,
} from 'yaml';
import { cut, type Finding, isSecret, namePath, type Path } from './finding.js';

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
  /** Where a part is written; for what is not there, its nearest parent. */
  spotOf(path: Path): Spot;
}

interface Spot {
  /** Where its key begins; in a list, where its value begins. */
  readonly offset: number;
  /** A scalar as it is written, before it became a number or a boolean. */
  readonly source?: string | undefined;
  /** A finding already says why the value cannot be read. */
  readonly isUnreadable: boolean;
}

export function readYaml(text: string): Yaml {
  const excess = findExcess(text);
  if (excess !== undefined) return refuse(excess);
  // Repeated keys are found below: the library compares every key with every other.
  const { errors, contents } = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: false,
    prettyErrors: false,
  });
  if (errors.length > 0) return refuse(listSyntaxFaults(errors));
  return readDocument(contents);
}

function refuse(findings: readonly Finding[]): Yaml {
  return { value: undefined, findings, isBroken: true, spotOf: () => ({ offset: 0, isUnreadable: false }) };
}

/** `line:column`, both from 1, as editors count. */
export function findPosition(text: string, offset: number): string {
  const before = text.slice(0, offset);
  return `${before.split('\n').length}:${offset - before.lastIndexOf('\n')}`;
}

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

/** The first fault at each place: it has others behind it. */
function listSyntaxFaults(errors: readonly YAMLError[]): Finding[] {
  const first = new Map(errors.toReversed().map(({ pos, code }) => [pos[0], code]));
  return [...first].reverse().map(([at, code]) => {
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

function readDocument(contents: unknown): Yaml {
  const spots = new Map<string, Spot>();
  const findings: Finding[] = [];

  function readNode(node: unknown, path: Path, offset: number): unknown {
    const foreign = findForeign(node);
    const refusal =
      foreign === undefined
        ? findReference(node, path)
        : { message: `${namePath(path)} ${foreign}`, hint: QUOTE_OR_WRITE_OUT };
    const source = isScalar(node) ? node.source : undefined;
    spots.set(JSON.stringify(path), { offset, source, isUnreadable: refusal !== undefined });
    if (refusal !== undefined) findings.push({ at: path, ...refusal });
    if (foreign !== undefined) return undefined;
    if (isMap(node)) return readMap(node.items, path, offset);
    if (isSeq(node)) return node.items.map((item, at) => readNode(item, [...path, at], startOf(item) ?? offset));
    return isScalar(node) ? node.value : null;
  }

  function readMap(pairs: readonly Pair[], path: Path, parent: number): Record<string, unknown> {
    const value: Record<string, unknown> = {};
    for (const pair of pairs) {
      const offset = startOf(pair.key) ?? startOf(pair.value) ?? parent;
      const key = readKey(pair.key);
      const refusal = findKeyFault(key, path, value);
      if (refusal !== undefined) findings.push({ at: offset, ...refusal });
      else if (key !== undefined) value[key] = readNode(pair.value, [...path, key], offset);
    }
    return value;
  }

  const value = readNode(contents, [], 0);
  const spotOf = (path: Path): Spot => spots.get(JSON.stringify(path)) ?? spotOf(path.slice(0, -1));
  return { value, findings, isBroken: false, spotOf };
}

interface Refusal {
  readonly message: string;
  readonly hint: string;
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
function findReference(node: unknown, path: Path): Refusal | undefined {
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

function findKeyFault(key: string | undefined, path: Path, value: object): Refusal | undefined {
  const name = namePath(path);
  if (key === undefined) {
    const message = `A key of ${name} is not text, expected a word and a colon`;
    return { message, hint: 'Put text that contains { [ ? & * or ! in quotes.' };
  }
  if (key === '<<') {
    return { message: `${name} has a YAML merge key (<<), which a job file cannot use`, hint: 'Write the keys out.' };
  }
  if (key === '__proto__') {
    return { message: `${name} has the key __proto__, expected any other name`, hint: 'Remove it.' };
  }
  if (!Object.hasOwn(value, key)) return undefined;
  return { message: `${namePath([...path, key])} is written twice, expected once`, hint: 'Remove one of them.' };
}

/** Numbers and words such as `true` are keys as they are written. */
function readKey(key: unknown): string | undefined {
  if (!isScalar(key) || findForeign(key) !== undefined || key.value === null) return undefined;
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
}

function startOf(node: unknown): number | undefined {
  return isAlias(node) || isMap(node) || isSeq(node) || isScalar(node) ? node.range?.[0] : undefined;
}

/** `text:` followed by neither a quote nor a block, and the rest of its line. */
const TEXT_KEY = /(^\s*(?:-\s+)?|[{,]\s*)(text|template)(\s*:\s+)((?!\{(?![{%]))[^\s"'|>&*#][^\n]*)$/;
/** What only quoted text may hold. */
const NEEDS_QUOTES = /\{\{|\{%|:\s/;

/**
 * The commonest beginner's fault: an unquoted text with {{ }} or a colon, which YAML reads as something else. Call it
 * when a job cannot be used: follow-up faults are on the same line.
 */
export function findUnquotedText(text: string): (Finding & { readonly at: number; readonly end: number }) | undefined {
  let start = 0;
  for (const line of text.split('\n')) {
    const [found = '', before = '', key = '', , rest = ''] = TEXT_KEY.exec(line) ?? [];
    // In braces the next key ends it, or the brace.
    const isInBraces = /[{,]/.test(before);
    const [first = '', ...others] = isInBraces ? rest.split(/, {0,4}\w{1,40}:\s/) : [rest];
    const end = first.trimEnd();
    const written = isInBraces && others.length === 0 ? end.replace(/\}$/, '').trimEnd() : end;
    if (NEEDS_QUOTES.test(written)) {
      return {
        at: start + line.length - found.length + before.length,
        end: start + line.length,
        message: `${key} is not in quotes, expected quotes around a text with {{ }} or a colon`,
        hint: `Put the text in quotes: ${key}: ${quote(cut(written))}`,
      };
    }
    start += line.length + 1;
  }
  return undefined;
}

function quote(text: string): string {
  return text.includes('"') ? `'${text.replaceAll("'", "''")}'` : `"${text.replaceAll('\\', '\\\\')}"`;
}
