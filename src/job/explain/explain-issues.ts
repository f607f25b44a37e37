import type { z } from 'zod';
import { AREAS, KINDS } from '../../domain/areas.js';
import { suggestNearest } from '../../domain/text.js';
import { findHome } from '../schema/json-schema.js';
import { SECRET_EXPECTED } from '../schema/service.js';
import { cut, type Finding, isSecret, namePath, type Path, showValue, valueAt } from './finding.js';
import type { Yaml } from './read-yaml.js';

type Issue = z.core.$ZodIssue;

/**
 * The schema's issues for people: which key, what it is, what is expected. Their words are those of schema/words.ts. One for
 * each place, the first; none where YAML says already why it cannot be read.
 */
export function explainIssues(error: z.ZodError, yaml: Yaml): Finding[] {
  const found = new Map<string, Finding>();
  for (const finding of error.issues.flatMap((issue) => explainIssue(issue, [], yaml))) {
    const place = JSON.stringify(finding.at);
    if (!found.has(place) && !yaml.spotOf(finding.at).isUnreadable) found.set(place, finding);
  }
  return [...found.values()];
}

type IssueFinding = Finding & { readonly at: Path };

function explainIssue(issue: Issue, prefix: Path, yaml: Yaml): IssueFinding[] {
  const path = [...prefix, ...(issue.path as Path)];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => explainUnknownKey(key, issue.message.split(', '), path, yaml.value));
  if (issue.code === 'invalid_union') {
    const nearest = findNearestBranch(issue.errors);
    if (nearest !== undefined) return nearest.flatMap((inner) => explainIssue(inner, path, yaml));
  }
  const [said = '', hint] = issue.message.split('\n');
  if (said.startsWith('expected ')) return [explainValue(path, said, hint, yaml)];
  const about = issue.code === 'invalid_key' ? path.slice(0, -1) : path;
  return [{ at: path, message: `${namePath(about)}${said.startsWith(':') ? '' : ' '}${said}`, hint }];
}

/**
 * The branch of a union that the person meant: the one that was right furthest down, then the one with the fewest faults; undefined
 * when that is not clear.
 */
function findNearestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const shaped = branches.filter((issues) => !issues.some((issue) => issue.path.length === 0 && isOfShape(issue)));
  const order = (a: readonly Issue[], b: readonly Issue[]) => depthOf(b) - depthOf(a) || a.length - b.length;
  const [first, second] = shaped.toSorted(order);
  return first !== undefined && (second === undefined || order(first, second) < 0) ? first : undefined;
}

function depthOf(issues: readonly Issue[]): number {
  return Math.min(...issues.map(({ code, path }) => path.length + (code === 'unrecognized_keys' ? 1 : 0)));
}

function isOfShape(issue: Issue): boolean {
  if (issue.code === 'invalid_union') return findNearestBranch(issue.errors) === undefined;
  return issue.code === 'invalid_type' || issue.code === 'invalid_value';
}

/** What other products call our keys, in lower case and in one word. */
const NAMES_ELSEWHERE: Readonly<Record<string, string>> = {
  window: 'quiethours sendingwindow sendwindow deliverywindow timewindow businesshours sendinghours donotdisturb',
  ramp: 'canary rampup rollout sample stages',
};

/** How steps are called, by their kinds and areas. */
const STEPS: ReadonlySet<string> = new Set([...AREAS, ...Object.keys(KINDS)]);

/** A key that `known` does not have, and where it belongs. */
function explainUnknownKey(key: string, known: readonly string[], path: Path, job: unknown): IssueFinding {
  const at = [...path, key];
  const where = path.length === 0 ? 'a job file' : namePath(path);
  const so = `${isSecret(path) ? 'A key here' : JSON.stringify(cut(key))} is not a key of ${where}`;
  const word = key.toLowerCase().replace(/[_-]/g, '');
  const meant = known.find((each) => NAMES_ELSEWHERE[each]?.split(' ').includes(word));
  const nearest = meant ?? suggestNearest(key, known);
  if (nearest !== undefined) return { at, message: `${so}, expected ${nearest}`, hint: `Did you mean ${nearest}?` };
  const expected = `${so}, expected ${known.length === 1 ? '' : 'one of '}${known.join(', ')}`;
  // Other maps have keys that are called so.
  if (path.at(-1) === 'limits' && STEPS.has(key))
    return { at, message: expected, hint: 'Give the step limits of its own.' };
  const isStep = path[0] === 'steps' && path.length === 2;
  const home = findHome(key, path, isStep ? valueAt(job, [...path, 'kind']) : undefined);
  return { at, message: expected, hint: home === undefined ? 'Remove it.' : `It belongs in ${home}.` };
}

/** "<key> is <what it is>, expected …", and how to fix what YAML read differently from what was meant. */
function explainValue(path: Path, expected: string, hint: string | undefined, yaml: Yaml): IssueFinding {
  const value = valueAt(yaml.value, path);
  const name = namePath(path);
  if (value === undefined) return { at: path, message: `${name} is missing, ${expected}`, hint };
  const isPlain = typeof value === 'number' || typeof value === 'boolean';
  const kind = expected === 'expected text' && !isSecret(path) && isPlain ? ` (a ${typeof value})` : '';
  const message = `${name} is ${showValue(path, value)}${kind}, ${expected}`;
  return { at: path, message, hint: hint ?? findHint(path, value, expected, yaml) };
}

function findHint(path: Path, value: unknown, expected: string, yaml: Yaml): string | undefined {
  if (value === null) return 'Give it a value, or remove the key.';
  if (expected === `expected ${SECRET_EXPECTED}` && typeof value !== 'object')
    return 'Put the secret into an environment variable or a file, and remove it from the job file.';
  if (/^expected (text|a path|a directory)/.test(expected) && (typeof value === 'number' || typeof value === 'boolean'))
    return isSecret(path)
      ? 'Put it in quotes.'
      : `Put it in quotes: "${cut(yaml.spotOf(path).source ?? String(value))}".`;
  const isNumberInQuotes = typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value));
  return /^expected (a|a whole) number$/.test(expected) && isNumberInQuotes ? 'Remove the quotes.' : undefined;
}
