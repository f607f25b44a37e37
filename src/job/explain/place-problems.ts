import { type Problem, UserError } from '../../domain/errors.js';
import type { Files } from '../../storage/files.js';
import { findPlace } from './read-yaml.js';

/** Names of columns in the job turn out to be wrong when the input is read. */
const OF_THE_JOB: ReadonlySet<string> = new Set(['bad-job', 'bad-input']);

/** Runs a task on a job; problems that it throws get the line of the job file, if there is one. */
export async function placeProblems<T>(
  { file, files }: { file: string | undefined; files: Pick<Files, 'readText'> },
  task: () => Promise<T>,
): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (!(error instanceof UserError) || !OF_THE_JOB.has(error.code) || file === undefined) throw error;
    if (error.problems.every(({ at }) => at === undefined)) throw error;
    // Where the file cannot be read any more, the step is named.
    const text = await files.readText(file).catch(() => undefined);
    if (text === undefined) throw error;
    const problems = error.problems.map((problem) => placeProblem(problem, { text, file }));
    const message = error.problems.reduce(
      (said, { where }, index) => said.replace(`${where}: `, `${problems[index]?.where}: `),
      error.message,
    );
    throw new UserError(error.code, message, { ...(error.hint === undefined ? {} : { hint: error.hint }), problems });
  }
}

/** The problem with the line on which it is written in the job file. */
function placeProblem(problem: Problem, source: { text: string; file: string }): Problem {
  const { at, ...said } = problem;
  const where = at === undefined ? undefined : findPlace(source, at);
  return where === undefined ? problem : { ...said, where };
}
