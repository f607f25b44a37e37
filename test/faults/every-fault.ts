import { describe, test } from 'vitest';
import type { RowKind } from '../../src/domain/areas.js';
import { EXAMPLES } from '../kinds/examples.js';
import { ALL, oneIn } from '../one-in.js';
import { withScene } from './a-fault-run.js';
import { SINGLE_FAULTS, STATUS_FAULTS, SUCCESS_FAULTS } from './answer-faults.js';
import type { Fault } from './fault.js';
import type { Strike } from './faulty-server.js';
import { aKind, type Kind, MIDDLE, POSITIONS } from './kinds.js';
import { endure, meetAmongOthers, meetOnce } from './meet.js';
import { BROKEN_BODIES, WIRE_FAULTS } from './wire-faults.js';

const FAULTS = [...WIRE_FAULTS, ...BROKEN_BODIES, ...STATUS_FAULTS, ...SUCCESS_FAULTS, ...SINGLE_FAULTS];

export type Choice = (fault: Fault) => boolean;

/** Where two differ only in whether the request was processed, the one in which it was. */
export const isNoTwin: Choice = ({ hasTwin }) => hasTwin !== true;

/** The kind of the step decides what the answer means. */
export const isRead: Choice = ({ means }) => means === 'unread' || means === 'answered';

/**
 * Faults that the kind can meet; in the short form those of the choice: what hardly differs from the rest is left out, and of the
 * rest one in twenty-four is done with each commit. `VOLLEY_TESTS=all npx vitest run test/faults/` does all there is.
 */
export function faultsOf({ name }: Kind, isChosen: Choice): Fault[] {
  const faults = FAULTS.filter((fault) => fault.kinds?.includes(name) !== false && (ALL || isChosen(fault)));
  return oneIn(Math.min(24, faults.length), faults);
}

/** An answer that is whole is the same on every connection. */
export const isOfTheWire: Choice = (fault) => WIRE_FAULTS.includes(fault) || BROKEN_BODIES.includes(fault);

/** A test for each fault, at the first, a middle and the last of the job's requests; in the short form at all of them only the chosen ones. */
export function testEveryFault(name: RowKind, isAtEach: Choice): void {
  testFaults(name, { isChosen: () => true, positionsOf: (fault) => (isAtEach(fault) ? POSITIONS : [MIDDLE]) });
}

/** The same for a kind that hardly differs from those: in the short form the chosen ones, at the middle request. */
export function testChosenFaults(name: RowKind, isChosen: Choice): void {
  testFaults(name, { isChosen, positionsOf: () => [MIDDLE] });
}

function testFaults(
  name: RowKind,
  { isChosen, positionsOf }: { isChosen: Choice; positionsOf: (fault: Fault) => readonly number[] },
): void {
  const kind = aKind(name);
  describe.concurrent(`a job of ${name} before a server that`, () => {
    test.each(named(faultsOf(kind, isChosen)))('%s', (_, fault) =>
      atEach(fault, positionsOf(fault), (at) =>
        withScene(kind, strikeOf(kind, { fault, at, lasts: 'once' }), (scene) => meetOnce(kind, fault, { at, scene })),
      ),
    );
  });
}

/** A test for each fault that stays from a request on, until someone fixes the server; stalls only in the long form, as they take long. */
export function testLastingFaults(name: RowKind): void {
  const kind = aKind(name);
  const isChosen: Choice = (fault) => isNoTwin(fault) && fault.isStall !== true && fault.means !== 'answered';
  describe.concurrent(`a job of ${name} before a server that, until it is fixed,`, () => {
    test.each(named(faultsOf(kind, isChosen)))('%s', (_, fault) =>
      atEach(fault, [MIDDLE], (at) =>
        withScene(kind, strikeOf(kind, { fault, at, lasts: 'until-healed' }), (scene) => endure(kind, { at, scene })),
      ),
    );
  });
}

/** A test for each fault that ends at once, which meets one of several requests in flight. */
export function testFaultsAmongOthers(name: RowKind): void {
  const kind = aKind(name);
  const faults = faultsOf(kind, isNoTwin).filter(({ isStall }) => isStall !== true);
  describe.concurrent(`a job of ${name}, three requests at a time, before a server that`, () => {
    test.each(named(faults))('%s', (_, fault) =>
      withScene(
        kind,
        strikeOf(kind, { fault, at: MIDDLE, lasts: 'once' }),
        (scene) => meetAmongOthers(kind, fault, scene),
        { concurrency: 3 },
      ),
    );
  });
}

/** For titles, which cut short what they take from an object. */
export function named(faults: readonly Fault[]): (readonly [string, Fault])[] {
  return faults.map((fault) => [fault.what, fault]);
}

async function atEach({ isNeverFirst }: Fault, positions: readonly number[], meet: (at: number) => Promise<void>) {
  const possible = (ALL ? POSITIONS : positions).filter((at) => at > 1 || isNeverFirst !== true);
  await Promise.all(possible.map(meet));
}

function strikeOf({ name }: Kind, strike: Omit<Strike, 'isTarget'>): Strike {
  // What is read before or after a request, such as a session, is another one.
  return { ...strike, isTarget: (request) => EXAMPLES[name].rowsIn(request).length > 0 };
}
