import type { z } from 'zod';
import { suggestNearest } from '../../domain/suggest.js';
import { SECRET_EXPECTED } from '../schema/credentials.js';
import { type CheckedJob, writtenJob } from '../schema/written-job.js';
import { describePlace } from './describe-place.js';
import { explainUnknownKey } from './explain-key.js';
import { cut, type Finding, isSecret, namePath, type Path, showValue, valueAt } from './finding.js';

type Issue = z.core.$ZodIssue;

/** What explaining needs to know of the file: its value, and how a scalar was written. */
export interface Written {
  readonly value: unknown;
  sourceOf(path: Path): string | undefined;
}

/** The schema's issues for people: which key, what it is, what is expected. */
export function explainIssues(error: z.ZodError<CheckedJob>, written: Written): Finding[] {
  return error.issues.flatMap((issue) => explainIssue(issue, [], written));
}

function explainIssue(issue: Issue, prefix: Path, written: Written): Finding[] {
  const path = [...prefix, ...issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => explainUnknownKey(key, path, written.value));
    case 'invalid_union': {
      const nearest = findNearestBranch(issue.errors);
      if (nearest !== undefined) return nearest.flatMap((inner) => explainIssue(inner, path, written));
      const kinds = 'options' in issue ? issue.options?.map(String) : undefined;
      return [kinds === undefined ? explainShape(path, written, issue) : explainChoice(path, written, kinds)];
    }
    case 'invalid_type':
      return [explainValue(path, written, `expected ${EXPECTED_TYPE[issue.expected] ?? issue.expected}`)];
    case 'invalid_value':
      return [explainChoice(path, written, issue.values.map(String))];
    case 'too_small':
      return [explainSize(path, written, { bound: Number(issue.minimum), origin: issue.origin, side: 'at least' })];
    case 'too_big':
      return [explainSize(path, written, { bound: Number(issue.maximum), origin: issue.origin, side: 'at most' })];
    case 'invalid_key':
      return [{ at: path, message: `${namePath(path.slice(0, -1))} has an empty key, expected a name` }];
    default:
      // invalid_format and custom: schema-values.ts words them as "expected …".
      return [withHint(explainValue(path, written, issue.message), hintOf(issue))];
  }
}

const EXPECTED_TYPE: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a map of keys and values',
  record: 'a map of keys and values',
  array: 'a list',
};

/** Of a union the branch that the person was in: the one that was right furthest down, then the one with the fewest faults; undefined when that is not clear. */
function findNearestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const shaped = branches.filter((issues) => !issues.some((issue) => issue.path.length === 0 && isShapeIssue(issue)));
  const order = (a: readonly Issue[], b: readonly Issue[]) => depthOf(b) - depthOf(a) || a.length - b.length;
  const [first, second] = shaped.toSorted(order);
  return first !== undefined && (second === undefined || order(first, second) < 0) ? first : undefined;
}

/** How far down the first fault stands. */
function depthOf(issues: readonly Issue[]): number {
  return Math.min(...issues.map(({ code, path }) => path.length + (code === 'unrecognized_keys' ? 1 : 0)));
}

function isShapeIssue(issue: Issue): boolean {
  return issue.code === 'invalid_type' || issue.code === 'invalid_value';
}

/** A hint that the schema gives with its refusal. */
function hintOf(issue: Issue): string | undefined {
  return issue.code === 'custom' && typeof issue.params?.hint === 'string' ? issue.params.hint : undefined;
}

function withHint(finding: Finding, hint: string | undefined): Finding {
  return hint === undefined ? finding : { ...finding, hint };
}

function explainChoice(path: Path, written: Written, choices: readonly string[]): Finding {
  const value = valueAt(written.value, path);
  const shown = choices.map((choice) => (/^[\w.-]+$/.test(choice) ? choice : JSON.stringify(choice))).join(', ');
  const nearest = typeof value === 'string' ? suggestNearest(value, choices) : undefined;
  const finding = explainValue(path, written, choices.length === 1 ? `expected ${shown}` : `expected one of ${shown}`);
  return nearest === undefined ? finding : { ...finding, hint: `Did you mean ${nearest}?` };
}

/** A value that matches no option; a misspelt word gets the nearest one. */
function explainShape(path: Path, written: Written, issue: Extract<Issue, { code: 'invalid_union' }>): Finding {
  const words = issue.errors.flatMap((branch) =>
    branch.flatMap((inner) =>
      inner.code === 'invalid_value' && inner.path.length === 0 ? inner.values.map(String) : [],
    ),
  );
  const value = valueAt(written.value, path);
  const nearest = typeof value === 'string' ? suggestNearest(value, words) : undefined;
  const finding = explainValue(path, written, issue.message);
  return nearest === undefined ? finding : { ...finding, hint: `Did you mean ${nearest}?` };
}

function explainSize(
  path: Path,
  written: Written,
  size: { bound: number; origin: string; side: 'at least' | 'at most' },
): Finding {
  const value = valueAt(written.value, path);
  const { bound, origin, side } = size;
  if (origin === 'string' && value === '')
    return { at: path, message: `${namePath(path)} is empty, expected some text` };
  const unit = origin === 'string' ? ' characters' : origin === 'array' ? ' entries' : '';
  return explainValue(path, written, `expected ${side} ${bound}${bound === 1 ? unit.replace(/ies$/, 'y') : unit}`);
}

/** "<key> is <what it is>, expected …", and how to fix what YAML read differently from what was meant. */
function explainValue(path: Path, written: Written, expected: string): Finding {
  const value = valueAt(written.value, path);
  if (value === undefined) {
    const { description } = describePlace(writtenJob, path, written.value);
    return { at: path, message: `${namePath(path)} is missing, ${expected}`, hint: description };
  }
  const kind =
    expected === 'expected text' && !isSecret(path) && isScalarButNoText(value) ? ` (a ${typeof value})` : '';
  return {
    at: path,
    message: `${namePath(path)} is ${showValue(path, value)}${kind}, ${expected}`,
    hint: findHint({ path, value, expected, source: written.sourceOf(path) }),
  };
}

function findHint(fault: {
  path: Path;
  value: unknown;
  expected: string;
  source: string | undefined;
}): string | undefined {
  const { path, value, expected, source } = fault;
  if (value === null) return 'Give it a value, or remove the key.';
  if (expected === SECRET_EXPECTED && typeof value !== 'object') {
    return 'Put the secret into an environment variable or a file, and remove it from the job file.';
  }
  if (/^expected (text|a path|a directory)/.test(expected) && isScalarButNoText(value)) {
    return isSecret(path) ? 'Put it in quotes.' : `Put it in quotes: "${cut(source ?? String(value))}".`;
  }
  const isNumberInQuotes = typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value));
  if (/expected (a|a whole) number$/.test(expected) && isNumberInQuotes) return 'Remove the quotes.';
  return undefined;
}

function isScalarButNoText(value: unknown): value is number | boolean {
  return typeof value === 'number' || typeof value === 'boolean';
}
