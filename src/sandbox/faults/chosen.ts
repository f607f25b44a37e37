import { choosePlaces, type Random } from '../random.js';
import type { SandboxFault } from './fault.js';

/** A fault applied to a request, with its own random numbers for that request. */
export interface ChosenFault {
  readonly fault: SandboxFault;
  readonly random: Random;
}

/** The rows of a request that a fault is about: those whose number ends so, or a share of them, one at least. */
export function chooseRows({ fault, random }: ChosenFault, recipients: readonly string[]): boolean[] {
  const { endingWith } = fault;
  if (endingWith !== undefined) return recipients.map((recipient) => recipient.endsWith(endingWith));
  const count = fault.rows === 0 ? 0 : Math.max(1, Math.round(fault.rows * recipients.length));
  return choosePlaces(count, recipients.length, random);
}

/**
 * The first row fault that applies to a request about one row; `strict-numbers` depends on the number's form alone, and
 * is not among them.
 */
export function findRowFault(chosen: readonly ChosenFault[], recipient: string): SandboxFault | undefined {
  return chosen.find((each) => each.fault.kind !== 'strict-numbers' && chooseRows(each, [recipient])[0] === true)
    ?.fault;
}
