import { quoteWord, UserError } from '../domain/errors.js';
import type { Guards, Job } from '../job/job.js';
import type { Plan, PlanAt } from '../plan/format/plan-file.js';
import { type PastRun, readHistory } from '../registry/read-runs.js';
import type { Registry } from '../registry/registry.js';
import { readRunRows } from '../report/run-rows.js';
import { assertOwned } from '../retry/assert-owned.js';
import { assertReleased } from '../run/checks-before.js';
import { assertInputsUnchanged } from '../run/resume.js';
import { assertStagePassed, type StagePass } from '../run/send/sending-stages.js';
import { asksFor, countToSend, formatQuestion } from '../texts/sending-question.js';
import type { Context } from './context.js';

/** How a person answers before they are asked; none of it where a program applies a plan. */
export interface GivenAnswer {
  /** Send, whatever it is. */
  readonly yes?: boolean | undefined;
  /** What was reviewed: the id of the plan, or how many it goes to. */
  readonly confirm?: string | undefined;
  readonly json?: boolean | undefined;
}

/** A plan id has 12 characters. */
const COUNT = /^\d{1,10}$/;

/** Refuses another plan than the one that was reviewed. */
export function assertNamed(plan: Plan, directory: string, { confirm }: GivenAnswer): void {
  if (confirm === undefined || COUNT.test(confirm) || confirm === plan.id) return;
  throw new UserError('plan-mismatch', `Cannot apply ${directory}: its plan is ${plan.id}, expected ${confirm}`, {
    hint: 'Review the plan again; nothing was sent.',
  });
}

/**
 * Asks the person at the terminal whether a plan, or what is left of its run, shall be sent to the service; `--yes` and `--confirm`
 * answer before. Throws 'not-confirmed' unless they type how many it goes to. Without a terminal it asks nothing, and the embedded sandbox
 * needs no answer. Called right before the plan claims anything, once all else allows it.
 */
export async function confirmSending(
  context: Context,
  { directory, plan, settings }: PlanAt & { settings: Job },
  answer: GivenAnswer,
): Promise<void> {
  const { terminal, env, screen } = context;
  assertNamed(plan, directory, answer);
  const expected = COUNT.test(answer.confirm ?? '') ? Number(answer.confirm) : undefined;
  // A program that reads the JSON of a command has no one who types.
  const isProgram = answer.json === true && !terminal.isStdoutTerminal;
  const isAnswered = answer.yes === true || answer.confirm !== undefined;
  const asks = terminal.readLine !== undefined && !isProgram && !isAnswered && !settings.service.sandbox;
  if (!asks && expected === undefined) return;
  const { state } = await readRunRows(env.files, { directory, plan });
  const toSend = countToSend(plan, state);
  const [first] = toSend.parts;
  if (first === undefined) return;
  const command = `volley apply ${quoteWord(directory)} --confirm ${plan.id}`;
  if (expected !== undefined && expected !== first.count) {
    throw new UserError(
      'plan-mismatch',
      `Cannot send plan ${plan.id}: it goes to ${asksFor(first)}, expected ${expected} (--confirm)`,
      { hint: `Nothing was sent. Review the plan; to send it as it is: \`${command}\`.` },
    );
  }
  if (!asks) return;
  terminal.writeStderr(formatQuestion(plan, toSend, { settings, nowMs: env.clock.now(), screen }));
  const typed = await readAnswer(context);
  if (typed === undefined) terminal.writeStderr('\n');
  if (typed?.replaceAll(/[\s,]/g, '') === String(first.count)) return;
  throw new UserError('not-confirmed', `Cannot send plan ${plan.id}: the answer was not ${first.count}`, {
    hint: `Nothing was sent. The plan is kept. To send it: \`${command}\`.`,
  });
}

/** Reads the line that is typed; undefined at the end of input. A signal ends the command. */
function readAnswer({ terminal, stop }: Context): Promise<string | undefined> {
  const hint = 'Nothing was sent. Run the same command again.';
  return new Promise((resolve, reject) => {
    const interrupt = () =>
      reject(new UserError('interrupted', 'Cannot send the plan: the question was interrupted', { hint }));
    if (stop.isRequested) return interrupt();
    stop.nothingNew.addEventListener('abort', interrupt, { once: true });
    terminal.readLine?.().then(resolve, reject);
  });
}

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
  to: PlanAt & {
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
