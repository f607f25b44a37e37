import { resolve } from 'node:path';

export interface BenchOptions {
  /** Empty, and removed afterwards. */
  readonly directory: string;
  readonly rows: number;
  readonly runs: number;
}

/** The built command. */
export const COMMAND = resolve('dist/cli.js');
