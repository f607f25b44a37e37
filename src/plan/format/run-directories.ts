import { join } from 'node:path';
import type { Files } from '../../storage/files.js';

/** Where the runs of a job are, by plan id. The directory of the job is read once: who makes a run holds the job's lock. */
export class RunDirectories {
  readonly jobDirectory: string;
  readonly #names: ReadonlyMap<string, string>;

  private constructor(jobDirectory: string, names: readonly string[]) {
    this.jobDirectory = jobDirectory;
    this.#names = new Map(names.map((name) => [readRunName(name), name]));
  }

  static async read(files: Files, jobDirectory: string): Promise<RunDirectories> {
    return new RunDirectories(jobDirectory, await files.list(jobDirectory));
  }

  /** Of a run that is gone: where it would be. */
  of(id: string): string {
    return join(this.jobDirectory, this.#names.get(id) ?? id);
  }
}

/** The plan id in the name of a run directory. */
export function readRunName(name: string): string {
  return name;
}
