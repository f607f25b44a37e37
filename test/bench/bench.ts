import { resolve } from 'node:path';
import { type Program, sandboxOf } from '../sandbox/sandbox-process.js';

export interface BenchOptions {
  /** Empty, and removed afterwards. */
  readonly directory: string;
  readonly rows: number;
  readonly runs: number;
}

/** The built command. */
export const COMMAND = resolve('dist/cli.js');

export const SANDBOX: Program = sandboxOf(COMMAND);
