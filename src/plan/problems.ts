import { countOf } from '../domain/count-of.js';
import { type Problem, UserError, type UserErrorCode } from '../domain/errors.js';

/** Gathers the problems of all files, to report them at once. */
export class ProblemList {
  readonly #problems: Problem[] = [];
  readonly #task: string;
  readonly #hint: string;
  readonly #code: UserErrorCode;

  /** `task` completes "Cannot …". */
  constructor(
    task = 'plan the job',
    hint = 'Nothing was sent. Fix what is named above and run the same command again.',
    code: UserErrorCode = 'bad-input',
  ) {
    this.#task = task;
    this.#hint = hint;
    this.#code = code;
  }

  get isEmpty(): boolean {
    return this.#problems.length === 0;
  }

  add(problem: Problem): void {
    this.#problems.push(problem);
  }

  /** Runs the task; gathers a UserError that it throws (except an interruption), and the result is undefined. */
  async gather<T>(where: string, task: () => Promise<T>): Promise<T | undefined> {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof UserError) || error.code === 'interrupted') throw error;
      const { message, hint, problems } = error;
      if (problems.length > 0) this.#problems.push(...problems);
      else this.#problems.push({ where, message, hint });
      return undefined;
    }
  }

  throwIfAny(): void {
    // Each step that has a list finds the same problems in it.
    const problems = [...new Map(this.#problems.map((problem) => [JSON.stringify(problem), problem])).values()];
    const count = problems.length;
    if (count === 0) return;
    throw new UserError(
      this.#code,
      `Cannot ${this.#task}: there ${count === 1 ? 'is' : 'are'} ${countOf(count, 'problem')}`,
      { hint: this.#hint, problems },
    );
  }
}
