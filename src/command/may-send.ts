import type { Guards } from '../job/job.js';
import type { Plan } from '../plan/format/plan-file.js';
import { type PastRun, readHistory } from '../registry/read-runs.js';
import type { Registry } from '../registry/registry.js';
import { assertOwned } from '../retry/assert-owned.js';
import { assertReleased } from '../run/checks-before.js';
import { assertInputsUnchanged } from '../run/resume.js';
import { assertStagePassed, type StagePass } from '../run/waiting-stage.js';
import type { Context } from './context.js';

/**
 * Refuses a plan that was made before, or a run, that may not be sent; behind the lock, before a person is asked. Gives the runs of the job. In this order:
 *
 *   1. it is as it was left: no copy, no lost end, not pruned
 *   2. no one let it go, and no other run took its files since; a finished run has nothing to send, and passes here
 *   3. a stage of it that waits for a person may pass
 *   4. its input is what was planned
 *   5. rows of other runs are its own
 *   6. it was tested and approved, where the job asks for it
 */
export async function assertMaySend(
  { env }: Context,
  registry: Registry,
  to: {
    directory: string;
    plan: Plan;
    guards: Guards;
    pass?: StagePass | undefined;
    ignoreChangedInputs?: boolean;
    /** Where they are read already. */
    history?: readonly PastRun[];
  },
): Promise<readonly PastRun[]> {
  const { files, loadReader } = env;
  const { plan, ignoreChangedInputs = false } = to;
  const { state, directories } = registry;
  await registry.assertOwn(plan.id);
  registry.assertNotTaken(plan);
  const history = to.history ?? (await readHistory(files, directories.jobDirectory, state));
  if (history.some((run) => run.plan.id === plan.id && run.state === 'finished')) return history;
  await assertStagePassed(files, to, to.pass);
  if (!ignoreChangedInputs) {
    const { digestInput } = await loadReader();
    await assertInputsUnchanged(to, { files, digestInput });
  }
  await assertOwned({ files, registry: state, history }, to);
  await assertReleased(files, to, state);
  return history;
}
