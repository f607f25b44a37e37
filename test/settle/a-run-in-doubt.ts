import { aPlanOfBatches, type MadePlan } from '../plan/a-plan.js';
import { aRun, aScriptedService, entriesOf, failure, reportOf } from '../run/a-run.js';

/** Three requests of two rows; the answer to the second is lost: rows 2 and 3 are in doubt. */
export const aRunInDoubt = async () => loseSecond(await aPlanOfBatches(6));

/** Applies a plan to its end; the answer to its second request is lost. */
export async function loseSecond(made: MadePlan): Promise<MadePlan> {
  await aRun({ made, service: aScriptedService((_sent, count) => (count === 2 ? failure(true) : undefined)) });
  await reportOf(made);
  return made;
}

/** Where in the journal the entry of a request stands. */
export function findEntry({ disk, directory }: MadePlan, type: string, request: number): number {
  return entriesOf(disk, directory).findIndex(
    (entry) => entry.type === type && 'request' in entry && entry.request === request,
  );
}
