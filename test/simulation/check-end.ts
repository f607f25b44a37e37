import { InternalError, UserError } from '../../src/domain/errors.js';
import type { Process } from '../world/process.js';
import { Violation } from '../world/violation.js';
import { exitCodeOfPrinted, parsePrinted } from './life-account.js';
import type { Scenario } from './scenario.js';

/** A process may be turned away, stopped, or fail with its disk, and as `mayFail` says; anything else is a bug. */
export function checkEnd(
  { error, name, exitCode, stdout }: Process,
  scenario: Scenario,
  mayFail: (error: unknown) => boolean = () => false,
): void {
  const isExpected =
    error === undefined ||
    (error instanceof UserError && ['lock-held', 'interrupted'].includes(error.code)) ||
    (error instanceof InternalError && error.code === 'write-failed') ||
    isDiskError(error, 'ENOSPC') ||
    // A process that was ousted may find that its unfinished files were cleared away.
    (scenario.rival !== undefined && isDiskError(error, 'ENOENT')) ||
    mayFail(error);
  if (!isExpected) throw new Violation(`${name} fails: ${error instanceof Error ? error.stack : error}`);
  if (exitCode === undefined || error !== undefined) return;
  const expected = exitCodeOfPrinted(stdout, scenario);
  if (exitCode !== expected)
    throw new Violation(`${name} ends with ${exitCode}, and prints what calls for ${expected}`);
}

/** A finished run that is repeated says so, and how many rows are in doubt. */
export function checkRepeated({ error, stdout }: Process, inDoubt: readonly string[]): void {
  if (error !== undefined) throw new Violation(`a finished run repeated fails: ${error}`);
  const { state, openDoubt } = parsePrinted(stdout);
  if (state === 'nothing-new' && openDoubt.rows === inDoubt.length) return;
  throw new Violation(`a finished run repeated is ${state}, with ${openDoubt.rows} of ${inDoubt.length} rows in doubt`);
}

function isDiskError(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
