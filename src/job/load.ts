import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import type { z } from 'zod';
import { AREAS, KINDS } from '../domain/areas.js';
import { countOf } from '../domain/count-of.js';
import { type Problem, quoteWord, UserError } from '../domain/errors.js';
import { isObject } from '../domain/is-object.js';
import { suggestNearest } from '../domain/text.js';
import { type Files, nodeFiles } from '../storage/files.js';
import { cut, type Finding, isSecret, namePath, type Path, showValue, valueAt } from './explain/finding.js';
import {
  findPosition,
  findUnquotedText,
  MAX_JOB_BYTES,
  readYaml,
  TAB_MESSAGE,
  type Yaml,
} from './explain/read-yaml.js';
import type { Job } from './job.js';
import { resolveJob } from './resolve-job.js';
import { findHome } from './schema/json-schema.js';
import { SECRET_EXPECTED } from './schema/service.js';
import { wordIssue } from './schema/words.js';
import { JOB_NAME, NAME_EXPECTED, suggestName, writtenJob, writtenJobWithoutSteps } from './schema/written-job.js';

const DATA_FILE = /\.(?:csv|tsv|ndjson|jsonl|xlsx?|gz|zip)$/i;

/** Disk errors about a path or a permission; other errors, such as too many open files, are not the job's fault. */
const OF_THE_PATH = ['EACCES', 'EPERM', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENAMETOOLONG', 'EINVAL'];

interface LoadOptions {
  /**
   * For a single call, which needs only the job's service: its steps may be faulty or missing, and are not loaded; the
   * access that they need is not required.
   */
  readonly withoutSteps?: boolean;
  /** The file's real location, from which its paths and its default name follow; defaults to the given path. */
  readonly file?: string;
}

/** Reads a job file. Refuses with one `bad-job` that carries every problem of the file, each with its line and column. */
export async function loadJob(
  path: string,
  { stat, readText }: Pick<Files, 'readText' | 'stat'> = nodeFiles,
  options: LoadOptions = {},
): Promise<Job> {
  const refuse = (so: string, hint: string) => new UserError('bad-job', `Cannot read the job ${path}: ${so}`, { hint });
  let text: string | undefined;
  try {
    const found = await stat(path);
    if (found?.isFile === false) throw refuse('it is not a file, expected a YAML file', 'Name the file itself.');
    if (found !== undefined && DATA_FILE.test(path)) {
      const hint = `Write a job from it: \`volley init ${quoteWord(path)}\``;
      throw refuse('this is a data file, expected a job file (YAML)', hint);
    }
    if (found !== undefined && found.bytes > MAX_JOB_BYTES) {
      const so = 'it is longer than 1 MiB, expected a job file of a few hundred lines';
      throw refuse(so, 'Is it one of the input files?');
    }
    text = await readText(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!OF_THE_PATH.includes(code)) throw error;
    throw refuse(`the system reports ${code}, expected a readable file`, 'Check its permissions.');
  }
  if (text === undefined) throw refuse('there is no such file, expected a YAML file', 'Check the path.');
  return parseJob(text, path, { ...options, file: await followLinks(path) });
}

const MAX_LINKS = 40;
/** Kubernetes shows a file of a ConfigMap as a link into this directory, itself a link whose target changes with each version. */
const OF_A_CONFIG_MAP = '..data/';

/**
 * Resolves links: a job has one memory, whatever path it was called by. Links of a ConfigMap are not followed, as
 * the file's own place changes with each version of it.
 */
async function followLinks(path: string): Promise<string> {
  let file = resolve(path);
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const target = await readlink(file).catch(() => undefined);
    if (target === undefined || target.startsWith(OF_A_CONFIG_MAP)) break;
    file = resolve(dirname(file), target);
  }
  const directory = await realpath(dirname(file)).catch(() => dirname(file));
  return join(directory, basename(file));
}

/**
 * Parses a job; `file` is its path, from which places, the default name and the paths of the job follow. Refuses as
 * `loadJob` does.
 */
export function parseJob(text: string, file: string, { withoutSteps = false, file: own = file }: LoadOptions = {}) {
  const source = readSource(text, file);
  const { value, isBroken } = source.yaml;
  const isRead = ({ at }: Finding) => !withoutSteps || typeof at === 'number' || at[0] !== 'steps';
  const findings = isBroken ? source.yaml.findings : source.yaml.findings.filter(isRead);
  if (isBroken) throw refuseJob(findings, source);
  if (!isJobLike(value)) throw refuseJob([noJob(file)], source);
  const name = basename(own, extname(own));
  const checked = (withoutSteps ? writtenJobWithoutSteps : writtenJob).safeParse(value, { error: wordIssue });
  const faults = [
    ...findings,
    ...(isObject(value) && value.name === undefined && !JOB_NAME.test(name) ? [noName(name)] : []),
    ...(checked.success ? [] : explainIssues(checked.error, source.yaml)),
  ];
  if (faults.length > 0 || !checked.success) throw refuseJob(faults, source);
  return resolveJob(checked.data, { name, directory: dirname(resolve(own)) });
}

/** Names of columns in the job turn out to be wrong when the input is read. */
const OF_THE_JOB: ReadonlySet<string> = new Set(['bad-job', 'bad-input']);

/** Returns the error with the lines of its problems in the file of the job. */
export async function placeProblems(error: UserError, file: string, files: Pick<Files, 'readText'>) {
  if (!OF_THE_JOB.has(error.code) || error.problems.every(({ at }) => at === undefined)) return error;
  // Where the file cannot be read any more, the step is named.
  const text = await files.readText(file).catch(() => undefined);
  const source = text === undefined ? undefined : readSource(text, file);
  if (source === undefined || source.yaml.isBroken) return error;
  const problems = error.problems.map(({ at, ...problem }) =>
    at === undefined ? problem : { ...problem, ...keyOf({ at }), where: placeOf({ at, message: '' }, source) },
  );
  const message = error.problems.reduce(
    (said, { where }, index) => said.replace(`${where}: `, `${problems[index]?.where}: `),
    error.message,
  );
  return new UserError(error.code, message, { ...error, problems });
}

type Source = ReturnType<typeof readSource>;

function readSource(text: string, file: string) {
  const clean = text.replace(/^\uFEFF/, '');
  return { file, text: clean, yaml: readYaml(clean) };
}

const KEYS = Object.keys(writtenJob.shape);

/** A text, or a map without any job key, is some other file: its content may be personal, so nothing of it is repeated. */
function isJobLike(value: unknown): boolean {
  if (typeof value === 'string') return false;
  if (!isObject(value)) return true;
  const keys = Object.keys(value);
  return keys.length === 0 || keys.some((key) => KEYS.includes(key) || suggestNearest(key, KEYS) !== undefined);
}

function noJob(file: string): Finding {
  const message = 'the file is not a job, expected keys and values such as name: and steps:';
  return { at: 0, message, hint: `If it is your data file: \`volley init ${quoteWord(file)}\`` };
}

function noName(fileName: string): Finding {
  const message = `name is missing, and the file's name cannot be used: ${NAME_EXPECTED}`;
  return { at: ['name'], message, hint: `Write name: ${suggestName(fileName)}.` };
}

function refuseJob(found: readonly Finding[], source: Source): UserError {
  const findings = nameCause(found, source);
  const order = (a: Finding, b: Finding) => offsetOf(a, source) - offsetOf(b, source);
  const problems = findings.toSorted(order).map((finding): Problem => {
    const { message, hint } = finding;
    return { where: placeOf(finding, source), ...keyOf(finding), message, hint };
  });
  const [first] = problems;
  const message =
    findings.length === 1 && first !== undefined
      ? `Cannot use the job ${source.file}: ${first.message} (${first.where})`
      : `${countOf(findings.length, 'problem')} in ${source.file}`;
  return new UserError('bad-job', message, {
    hint: 'Nothing was read or sent. Fix the job file and try again.',
    problems,
  });
}

/** An unquoted text causes misleading findings on its line; a tab causes others behind it. */
function nameCause(findings: readonly Finding[], source: Source): readonly Finding[] {
  const tab = findings.find(({ message }) => message === TAB_MESSAGE);
  if (tab !== undefined) return [tab];
  const text = findUnquotedText(source.text);
  if (text === undefined) return findings;
  const others = findings.filter((finding) => {
    const offset = offsetOf(finding, source);
    return offset < text.at || offset > text.end;
  });
  return others.length < findings.length ? [text, ...others] : findings;
}

function placeOf(finding: Finding, source: Source): string {
  return `${source.file}:${findPosition(source.text, offsetOf(finding, source))}`;
}

function keyOf({ at }: Pick<Finding, 'at'>): { key?: string } {
  return typeof at === 'number' || at.length === 0 ? {} : { key: namePath(at) };
}

function offsetOf({ at }: Finding, { yaml }: Source): number {
  return typeof at === 'number' ? at : yaml.spotOf(at).offset;
}

type Issue = z.core.$ZodIssue;

/**
 * The schema's issues for people: which key, what it is, what is expected. Their words are those of schema/words.ts. One for
 * each place, the first; none where YAML says already why it cannot be read.
 */
function explainIssues(error: z.ZodError, yaml: Yaml): Finding[] {
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
