import type { Context } from '../command/context.js';
import { namePerson } from '../command/env.js';
import { readAddress } from '../command/open-service.js';
import { openRunDirectory } from '../command/run-directory.js';
import { formatNextStep, type Screen } from '../command/screen.js';
import { type HeldRun, withRun } from '../command/with-job.js';
import { countOf, format } from '../domain/count-of.js';
import type { RunState } from '../journal/replay.js';
import { listUnrestored } from '../kinds/campaign.js';
import type { Plan } from '../plan/format/plan-file.js';
import { readWaiting } from '../registry/waiting-messages.js';
import { balanceOfRun, readRunRows } from '../report/run-rows.js';
import { findSentAgain } from '../retry/claiming-plan.js';
import { awaitWorkers } from '../run/run-times.js';
import { abandonRun, assertUnfinished, holdsRows } from '../settle/settle-rows.js';
import { nextOfSentAgain } from '../texts/next-step.js';
import { formatWaitingRun } from '../texts/summary-text.js';
import { adopt, defineVerb, json, theRun } from './verb.js';

/** `volley abandon RUN`: lets a plan, or a run that stopped, go for good, behind the job's lock. It never sends again. */
export const abandon = defineVerb({
  args: { run: theRun },
  flags: { adopt, json },
  examples: [['out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa', '']],
  run: async ({ run: written }, context) => {
    const { screen } = context;
    const { directory, plan } = await openRunDirectory(context, written);
    const end = await withRun(context, { directory, plan }, (run) => letGo(run, context));
    const { balance, isHolder } = end;
    const { unprocessed, inDoubt } = balance;
    const about = { job: plan.job.name, plan: plan.id, directory, state: 'abandoned' };
    context.name({ state: about.state, unprocessed, inDoubt });
    return {
      json: { ...about, filesAreFree: !isHolder, balance },
      text: formatAbandoned(about, end, screen),
      reason: `${countOf(unprocessed, 'row')} not sent by it`,
    };
  },
});

/** `isHolder`: it has its files and rows; else they are free, as if it had never been planned. */
async function letGo(run: HeldRun, context: Context) {
  const { env, log } = context;
  const { files, clock } = env;
  const { plan } = run;
  const led = await assertUnfinished(run, env);
  await awaitWorkers(led, { clock, onNotice: (notice) => log.warn(notice) });
  await abandonRun(run, namePerson(context), env);
  const { state } = await readRunRows(files, run);
  for (const { campaign, did, missing } of listUnrestored(plan.job.steps, (number) => mayHaveActed(state, number))) {
    const so = `campaign ${campaign} may still be ${did.set}, as step ${did.number} set it: step ${missing.number}, which sets it to ${missing.set}, did not run`;
    log.warn(`${so}: \`volley campaign set ${campaign} ${missing.set}\`, with --job and the job file added, sets it`);
  }
  const held = state.leaseMs === undefined ? 'no' : await isInDatabase(plan, context);
  if (held !== 'no') {
    const so = `its database ${held === 'yes' ? 'still holds' : 'may still hold'} rows of people`;
    log.warn(`${so} of this run: \`volley cluster drop ${plan.id}\` deletes them`);
  }
  const isHolder = holdsRows(run);
  if (isHolder) {
    const waiting = await readWaiting(files, run, clock.now());
    const sentAgain = findSentAgain(run.registry.state, plan);
    return { isHolder, balance: (await run.report()).balance, waiting, sentAgain };
  }
  return { isHolder, balance: balanceOfRun(plan, state, false) };
}

function mayHaveActed(state: RunState, number: number): boolean {
  const { wasBegun, verdict } = state.step(number).action ?? {};
  return wasBegun === true || (verdict !== undefined && verdict.status !== 'rejected');
}

/** Whether the database that it was sent over knows it: 'unknown' where it cannot be asked. */
async function isInDatabase({ id, job }: Plan, context: Context): Promise<'yes' | 'no' | 'unknown'> {
  if (job.cluster === undefined) return 'unknown';
  try {
    const { database } = job.cluster;
    const readUrl = () => readAddress(database, context);
    const store = await context.env.loadStore(readUrl, () => {});
    const found = await store.findRun({ run: id }).finally(() => store.close());
    return found === undefined ? 'no' : 'yes';
  } catch {
    return 'unknown';
  }
}

function formatAbandoned(
  { job, plan, directory }: { job: string; plan: string; directory: string },
  { balance, isHolder, waiting, sentAgain }: Awaited<ReturnType<typeof letGo>>,
  screen: Screen,
): string {
  const { accepted, inDoubt, unprocessed } = balance;
  const lines = [
    `Run ${plan} of job ${job} is abandoned: it never sends again.\n`,
    `  ${format(accepted)} accepted, ${format(inDoubt)} in doubt, ${format(unprocessed)} not sent.\n`,
  ];
  if (waiting !== undefined) lines.push(formatWaitingRun(waiting, screen));
  if (!isHolder) lines.push('It had taken nothing: the next volley plan or volley run plans its files anew.\n');
  else if (unprocessed > 0) {
    const command = ['retry', directory, '--only', 'unprocessed'];
    const what = 'to send what it did not send; with --job and its file, under a corrected job';
    lines.push(formatNextStep(sentAgain === undefined ? { what, command } : nextOfSentAgain(sentAgain), screen));
  }
  return lines.join('');
}
