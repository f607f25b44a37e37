import { join } from 'node:path';
import { UserError } from '../../domain/errors.js';
import type { Files } from '../../storage/files.js';
import { JOURNAL_FILE, PLAN_FILE, RUN_FILE } from './plan-file.js';

/** A directory of a plan or a run, or what is left of one. */
export interface RunDirectory {
  readonly run: string;
  readonly path: string;
  readonly hasPlan: boolean;
  /** The run was begun. */
  readonly hasJournal: boolean;
}

/**
 * Where the runs of a job are, by plan id. A directory is named `2026-11-22T0930-k3v9q2m8x4aa`: when it was planned, in UTC, and the
 * plan id, so that names sort by time. The directory of the job is read once: who makes a run holds
 * the job's lock.
 */
export class RunDirectories {
  readonly jobDirectory: string;
  readonly #names: readonly string[];
  readonly #namesOf = new Map<string, string[]>();

  private constructor(jobDirectory: string, names: readonly string[]) {
    this.jobDirectory = jobDirectory;
    this.#names = names;
    for (const name of names) {
      const id = readRunName(name);
      this.#namesOf.set(id, [...(this.#namesOf.get(id) ?? []), name]);
    }
  }

  static async read(files: Files, jobDirectory: string): Promise<RunDirectories> {
    return new RunDirectories(jobDirectory, await files.list(jobDirectory));
  }

  /** Lists the directories of plans and runs, in the order of their names; a pruned run has neither plan nor journal. */
  async *list(files: Files, isWanted: (path: string) => boolean = () => true): AsyncGenerator<RunDirectory> {
    for (const name of this.#names) {
      // What a planner is at, or left behind.
      const path = join(this.jobDirectory, name);
      if (name.startsWith('.') || !isWanted(path)) continue;
      const isThere = async (file: string) => (await files.stat(join(path, file))) !== undefined;
      const hasPlan = await isThere(PLAN_FILE);
      const hasJournal = await isThere(JOURNAL_FILE);
      if (hasPlan || hasJournal || (await isThere(RUN_FILE)))
        yield { run: readRunName(name), path, hasPlan, hasJournal };
    }
  }

  /** The directory of a run that is there. Refuses, with 'bad-plan', two that end in one id: one is a copy, and would send everything again. */
  find(id: string): string | undefined {
    const [name, ...others] = this.#namesOf.get(id) ?? [];
    if (others.length > 0) {
      throw new UserError(
        'bad-plan',
        `Cannot use run ${id}: ${[name, ...others].join(' and ')} end in its id, expected one directory of it in ${this.jobDirectory}`,
        { hint: 'Move the copy out of that directory: it would send everything again.' },
      );
    }
    return name === undefined ? undefined : join(this.jobDirectory, name);
  }

  /** The directory of a run; of one that is gone, where it would be. */
  of(id: string): string {
    return this.find(id) ?? join(this.jobDirectory, id);
  }

  /** Where a plan is made: where it stands already, else in a directory of a new name. */
  place(id: string, nowMs: number): string {
    this.remember(id, `${new Date(nowMs).toISOString().slice(0, 16).replace(':', '')}-${id}`);
    return this.of(id);
  }

  /** Notes how the directory of a run that is not there was, or will be, named. */
  remember(id: string, name: string): void {
    if (!this.#namesOf.has(id)) this.#namesOf.set(id, [name]);
  }
}

const START = /^\d{4}-\d{2}-\d{2}T\d{4}-/;

/** The plan id in the name of a run directory. */
export function readRunName(name: string): string {
  return name.replace(START, '');
}
