import { Violation } from '../world/violation.js';
import { personOf } from './walk-rejections.js';
import type { WalkRuns } from './walk-runs.js';
import type { WalkWorld } from './walk-world.js';

/** Of the person who is sent tests. */
export const OWN_NUMBER = '+6598000001';

/** No one is sent to twice, under whatever number; what an export settled is as the ledger has it. */
export function assertLaw({ taken }: WalkWorld, runs: WalkRuns): void {
  const seen = new Map<string, string>();
  for (const { destination, clientMessageId } of taken) {
    // A test may be sent again; its own messages are sent once.
    const person = destination === OWN_NUMBER ? clientMessageId : personOf(destination);
    const first = seen.get(person);
    if (first !== undefined) throw new Violation(`${destination} was accepted as ${first} and as ${clientMessageId}`);
    seen.set(person, clientMessageId);
  }
  const ids = new Set(taken.map(({ clientMessageId }) => clientMessageId));
  for (const run of runs.names) {
    for (const entry of runs.entriesOf(run)) {
      if (entry.type !== 'settle' || entry.by.startsWith('person')) continue;
      for (const [row, index] of entry.rows) {
        const status = entry.verdicts[index]?.status;
        const id = `${run}-${entry.step}-${row}`;
        if (status !== 'in-doubt' && (status === 'accepted') !== ids.has(id))
          throw new Violation(`${id} is settled as ${status} by ${entry.by}`);
      }
    }
  }
}

/** Once all is done, a person who was not sent to is rejected, in doubt, or was said to be sent. */
export function assertNothingLost(world: WalkWorld, runs: WalkRuns): void {
  const sentTo = new Set(world.taken.map(({ destination }) => destination));
  // A row that a person wrongly said to be not sent stays there, or in a plan that retried it and was abandoned; a receipt tells of it.
  const isLost = ({ _clientMessageId: id = '', _destination: number = '' }) =>
    !world.hasSeen(id) && !sentTo.has(number);
  for (const run of runs.names.filter((each) => runs.isBegun(each) && !runs.isTest(each))) {
    // They stay listed where a run that they come from was deleted by hand: no command sends them then.
    const left = runs.isCutOff(run) ? 0 : runs.readOutput(run, 'unprocessed').filter(isLost).length;
    if (left > 0) throw new Violation(`run ${run} has ${left} rows unprocessed when all is done`);
    for (const { _destination: number = '', _status: status } of runs.readOutput(run, 'results')) {
      if (status !== 'ASSUMED' && !sentTo.has(number)) throw new Violation(`${number} is accepted, and got nothing`);
    }
  }
}
