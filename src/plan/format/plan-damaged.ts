import { UserError } from '../../domain/errors.js';

/** A plan file that is missing or changed: it must not be used to send, report or settle. */
export function planDamaged(path: string, found: string, expected = 'expected it as it was planned'): UserError {
  return new UserError('plan-damaged', `Cannot use ${path}: ${found}, ${expected}`, {
    hint: 'Nothing is sent, reported or settled by a damaged plan. Put the file back from a copy; or, if nothing of the run was sent yet, remove its directory and plan the job again.',
  });
}
