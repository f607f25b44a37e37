import { basename, dirname, extname, resolve } from 'node:path';
import { z } from 'zod';
import { countOf } from '../domain/count-of.js';
import { type Problem, UserError } from '../domain/errors.js';
import { suggestNearest } from '../domain/suggest.js';
import { type Files, nodeFiles } from '../storage/files.js';
import { explainIssues } from './explain/explain-issues.js';
import { type Finding, isMapping } from './explain/finding.js';
import { quoteWord } from './explain/quote-word.js';
import { findPosition, MAX_JOB_BYTES, readYaml, TAB_MESSAGE, type Yaml } from './explain/read-yaml.js';
import { findUnquotedText } from './explain/unquoted-text.js';
import { followLinks } from './follow-links.js';
import type { Job } from './job.js';
import { checkName, findBrokenRules } from './job-rules.js';
import { resolveJob } from './resolve-job.js';
import { wordIssue } from './schema/words.js';
import { type CheckedStep, writtenJob } from './schema/written-job.js';

const MAX_PROBLEMS = 100;
const DATA_FILE = /\.(?:csv|tsv|ndjson|jsonl|xlsx?|gz|zip)$/i;
/** For a data file in place of a job. */
const writeJobFor = (path: string) => `Write a job from it: \`volley init ${quoteWord(path)}\``;

/** Disk errors about a path or a permission; other errors, such as too many open files, are not the job's fault. */
const OF_THE_PATH = ['EACCES', 'EPERM', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENAMETOOLONG', 'EINVAL'];

export interface LoadOptions {
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
  deps: Pick<Files, 'readText' | 'stat'> = nodeFiles,
  options: LoadOptions = {},
): Promise<Job> {
  const refuse = (what: string, hint: string) =>
    new UserError('bad-job', `Cannot read the job ${path}: ${what}`, { hint });
  let text: string | undefined;
  try {
    const found = await deps.stat(path);
    if (found !== undefined && !found.isFile)
      throw refuse('it is not a file, expected a YAML file', 'Name the file itself.');
    if (found !== undefined && DATA_FILE.test(path)) {
      throw refuse('this is a data file, expected a job file (YAML)', writeJobFor(path));
    }
    if (found !== undefined && found.bytes > MAX_JOB_BYTES) {
      throw refuse(
        'it is longer than 1 MiB, expected a job file of a few hundred lines',
        'Is it one of the input files?',
      );
    }
    text = await deps.readText(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!OF_THE_PATH.includes(code)) throw error;
    throw refuse(`the system reports ${code}, expected a readable file`, 'Check its permissions.');
  }
  if (text === undefined) throw refuse('there is no such file, expected a YAML file', 'Check the path.');
  const file = await followLinks(path);
  return parseJob(text, path, { ...options, file });
}

/**
 * Parses a job; `file` is its path, from which places, the default name and the paths of the job follow. Refuses as
 * `loadJob` does.
 */
export function parseJob(
  text: string,
  file: string,
  { withoutSteps = false, file: own = file }: LoadOptions = {},
): Job {
  const clean = text.replace(/^\uFEFF/, '');
  const yaml = readYaml(clean);
  const source = { file, text: clean, yaml };
  if (yaml.isBroken) throw refuseJob(nameCause(yaml.findings, source), source);
  if (!isJobLike(yaml.value)) throw refuseJob([noJob(file)], source);
  const name = basename(own, extname(own));
  // Only a map can have steps to ignore.
  const isPartial = withoutSteps && isMapping(yaml.value);
  const checked = (isPartial ? writtenJobOfAnySteps : writtenJob).safeParse(yaml.value, { error: wordIssue });
  const findings = [
    ...yaml.findings,
    ...dropRepeats(
      [
        ...findBrokenRules(isPartial ? leaveOutSteps(yaml.value) : yaml.value),
        ...checkName(yaml.value, name),
        ...(checked.success ? [] : explainIssues(checked.error, yaml)),
      ],
      yaml,
    ),
  ];
  if (findings.length > 0 || !checked.success) {
    throw (isPartial ? refusePartOfJob : refuseJob)(nameCause(findings, source), source);
  }
  return resolveJob(checked.data, { name, directory: dirname(resolve(own)) });
}

const writtenJobOfAnySteps = writtenJob.extend({
  steps: z
    .unknown()
    .optional()
    .transform((): CheckedStep[] => []),
});

/** The job without its steps, for the rules: a sandbox job, since that needs no access. */
function leaveOutSteps({ steps: _steps, ...job }: Record<string, unknown>): unknown {
  return { ...job, service: isMapping(job.service) ? { ...job.service, sandbox: true } : job.service };
}

const KEYS = Object.keys(writtenJob.shape);

/** A text, or a map without any job key, is some other file: its content may be personal, so nothing of it is repeated. */
function isJobLike(value: unknown): boolean {
  if (typeof value === 'string') return false;
  if (!isMapping(value)) return true;
  const keys = Object.keys(value);
  return keys.length === 0 || keys.some((key) => KEYS.includes(key) || suggestNearest(key, KEYS) !== undefined);
}

const noJob = (file: string): Finding => ({
  at: 0,
  message: 'the file is not a job, expected keys and values such as name: and steps:',
  hint: `If it is your data file: \`volley init ${quoteWord(file)}\``,
});

/** An unquoted text causes misleading findings on its line; a tab causes others behind it. */
function nameCause(findings: readonly Finding[], source: Source): readonly Finding[] {
  const tab = findings.find(({ message }) => message === TAB_MESSAGE);
  if (tab !== undefined) return [tab];
  const text = findUnquotedText(source.text);
  if (text === undefined) return findings;
  const isOfIt = (finding: Finding) => {
    const offset = offsetIn(source, finding);
    return offset >= text.at && offset <= text.end;
  };
  return findings.some(isOfIt) ? [text, ...findings.filter((finding) => !isOfIt(finding))] : findings;
}

/** One finding per place, the first; none where one says already why it cannot be read. */
function dropRepeats(findings: readonly Finding[], yaml: Yaml): Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ at }) => {
    if (typeof at === 'number') return true;
    const key = JSON.stringify(at);
    if (yaml.isUnreadable(at) || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

interface Source {
  readonly file: string;
  readonly text: string;
  readonly yaml: Yaml;
}

function offsetIn({ yaml }: Source, { at }: Finding): number {
  return typeof at === 'number' ? at : yaml.offsetOf(at);
}

function refuseJob(findings: readonly Finding[], source: Source): UserError {
  const problems = toProblems(findings, source);
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

/** The refusal for a single call, which names the first problem. */
function refusePartOfJob(findings: readonly Finding[], source: Source): UserError {
  const problems = toProblems(findings, source);
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return new UserError('bad-job', `Cannot use the job ${source.file}: ${first?.message} (${first?.where})${more}`, {
    hint: 'Nothing was sent. Fix the job file and try again.',
    problems,
  });
}

function toProblems(findings: readonly Finding[], source: Source): Problem[] {
  const placed = findings.map((finding) => ({ finding, offset: offsetIn(source, finding) }));
  const shown = placed.toSorted((a, b) => a.offset - b.offset).slice(0, MAX_PROBLEMS);
  const problems = shown.map(({ finding: { message, hint }, offset }) => ({
    where: `${source.file}:${findPosition(source.text, offset)}`,
    message,
    ...(hint === undefined ? {} : { hint }),
  }));
  const more = findings.length - shown.length;
  return more === 0
    ? problems
    : [
        ...problems,
        { where: source.file, message: `${more} more ${more === 1 ? 'problem is' : 'problems are'} not shown` },
      ];
}
