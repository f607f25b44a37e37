import { Composer, type CST, type ErrorCode, Lexer, type Node, Parser } from 'yaml';
import type { Finding } from './finding.js';

/**
 * Text → YAML nodes, bounded before anything is built: size, depth and number of tokens. YAML 1.2 core schema, one
 * document, no directives. The composer recurses by depth and compares what it builds, so both bounds are checked
 * before it is called.
 */

/** Longest job file, in bytes. */
export const MAX_JOB_BYTES = 1024 * 1024;
/** A job needs 8 levels. */
const MAX_DEPTH = 32;
/** A list of 10,000 files has half as many. */
const MAX_TOKENS = 100_000;

/** What a text holds: its root node (null when it is empty), or what is wrong with it as YAML. */
export type ReadYaml =
  | { readonly root: Node | null; readonly findings?: undefined }
  | { readonly root?: undefined; readonly findings: readonly Finding[] };

/** Refuses what is too big or too deep without building it. Never repeats the text: it may hold a secret by mistake. */
export function readYaml(text: string): ReadYaml {
  const refuse = (at: number, message: string, hint?: string): ReadYaml => ({ findings: [{ at, message, hint }] });

  if (isTooLong(text)) return refuse(0, 'The file is longer than 1 MiB, expected a job file of a few hundred lines');
  const stranger = /[^\P{Cc}\t\n\r\u0085]|\uFFFD/u.exec(text);
  if (stranger !== null) {
    return refuse(
      stranger.index,
      'There is a control character or a damaged character here, expected plain UTF-8 text',
    );
  }

  const tokens: CST.Token[] = [];
  const parser = new Parser();
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    count += 1;
    if (parser.stack.length > MAX_DEPTH) {
      return refuse(
        parser.offset,
        `The file is nested more than ${MAX_DEPTH} levels deep here, expected fewer than 10`,
      );
    }
    if (count > MAX_TOKENS) return refuse(parser.offset, `The file has more than ${MAX_TOKENS} parts, expected fewer`);
  }
  for (const token of parser.end()) tokens.push(token);

  const directive = tokens.find((token) => token.type === 'directive' && !/^%YAML\s+1\.2\s*$/.test(token.source));
  if (directive !== undefined) {
    return refuse(
      directive.offset,
      'A line that begins with % is a YAML directive, which a job file cannot use',
      'Remove it.',
    );
  }
  return compose(tokens);
}

function compose(tokens: readonly CST.Token[]): ReadYaml {
  // Duplicate keys are found in tree.ts: the composer compares every key with every other.
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: false,
    prettyErrors: false,
  });
  const documents = [...composer.compose(tokens, true)];
  const findings: Finding[] = documents.flatMap((document) =>
    document.errors.map((error) => ({ at: error.pos[0], ...explainSyntax(error.code) })),
  );
  const second = documents[1];
  if (second !== undefined) {
    findings.push({
      at: second.range[0],
      message: 'A second document begins here, expected one',
      hint: 'One job, one file: put it into a file of its own, or remove the line with --- or … .',
    });
  }
  if (findings.length > 0) return { findings };
  return { root: documents[0]?.contents ?? null };
}

/** Follow-up errors are dropped. */
export const TAB_MESSAGE = 'A tab is used as indentation';

/** The parser's own messages repeat the text, so each code has one here. */
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

function explainSyntax(code: ErrorCode): Pick<Finding, 'message' | 'hint'> {
  const [message, hint] = SYNTAX[code] ?? ['This is not YAML', 'Look for a missing quote, colon, comma or bracket.'];
  return { message, hint };
}

/** Check characters first: a text of a gigabyte need not be counted in bytes. */
function isTooLong(text: string): boolean {
  return text.length > MAX_JOB_BYTES || Buffer.byteLength(text) > MAX_JOB_BYTES;
}
