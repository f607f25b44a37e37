import { dirname } from 'node:path';
import { countOf, format } from '../../domain/count-of.js';
import type { Balance } from '../../domain/row.js';
import type { Plan } from '../../plan/format/plan-file.js';
import { assertPlanWhole } from '../../plan/format/planned-files.js';
import { withFields } from '../../ports/log.js';
import { writeRunReport } from '../../registry/tests/write-run-report.js';
import { EXIT } from '../../report/exit-code.js';
import { checkNames } from '../../report/name-check.js';
import { readRunRows } from '../../report/read-run-rows.js';
import { balanceOf } from '../../report/row-balance.js';
import { addBalances } from '../../report/summary.js';
import { awaitWorkers } from '../../run/await-workers.js';
import { abandonRun, assertUnfinished, holdsRows } from '../../settle/abandon-run.js';
import { acquireLock } from '../../storage/lock.js';
import { formatNextStep } from '../account/account-lines.js';
import { openJobRegistry } from '../session/session.js';
import { type Host, openLog, runtimeOf } from '../support/deps.js';
import { type CommandEnd, logCommand, type NameFields } from '../support/log-command.js';
import { namePerson } from '../support/person.js';
import { openRunDirectory } from '../support/run-directory.js';
import { lockDepsOf } from '../support/runtime.js';
import { placeDiskErrors } from '../terminal/disk-error.js';
import { printResult } from '../terminal/print.js';
import { type Screen, screenOf, showCommand, showPath } from '../terminal/screen.js';
import { SecretKeeper } from '../terminal/terminal.js';

export interface AbandonFlags {
  readonly run: string;
  readonly dryRun: boolean;
  readonly adopt?: boolean;
  readonly json: boolean | undefined;
}

/** What is let go. */
interface Abandoned {
  readonly balance: Balance;
  /** It has its files and rows; else they are free, as if it had never been planned. */
  readonly isHolder: boolean;
}

/** `volley abandon RUN`: lets a plan, or a run that stopped, go for good, behind the job's lock. It never sends again. */
export function abandonNamedRun(flags: AbandonFlags, host: Host): Promise<number> {
  return logCommand(host, { command: 'abandon', directory: flags.run }, (name) => abandonNamed(flags, { host, name }));
}

async function abandonNamed(
  flags: AbandonFlags,
  { host, name }: { host: Host; name: NameFields },
): Promise<CommandEnd> {
  const { files } = runtimeOf(host);
  const { directory, plan } = await openRunDirectory(flags.run, files, { adopt: flags.adopt });
  name({ job: plan.job.name, run: plan.id });
  const end = await placeDiskErrors(dirname(directory), () => abandonBehindLock({ directory, plan, flags }, host));
  const { unprocessed, inDoubt } = end.balance;
  const state = flags.dryRun ? 'dry-run' : 'abandoned';
  const json = { job: plan.job.name, plan: plan.id, directory, state, exitCode: EXIT.ok, error: null };
  await printResult(host, flags, {
    json: { ...json, filesAreFree: !end.isHolder, balance: end.balance },
    text: formatAbandoned(json, end, screenOf(host)),
  });
  name({ state, unprocessed, inDoubt });
  const did = flags.dryRun ? 'would not be sent' : 'are not sent by it';
  return { exitCode: EXIT.ok, reason: `${countOf(unprocessed, 'row')} ${did}` };
}

async function abandonBehindLock(
  { directory, plan, flags }: { directory: string; plan: Plan; flags: AbandonFlags },
  host: Host,
): Promise<Abandoned> {
  const runtime = runtimeOf(host);
  const { files, clock, owner } = runtime;
  const jobDirectory = dirname(directory);
  const lock = await acquireLock(lockDepsOf(runtime), jobDirectory);
  try {
    const log = withFields(openLog(host, new SecretKeeper()), () => ({ job: plan.job.name, run: plan.id }));
    const registry = await openJobRegistry({ jobDirectory, lock, log, runtime, adopt: flags.adopt });
    await registry.assertOwn(plan.id);
    await assertPlanWhole(files, directory, plan);
    const run = { directory, plan, lock, registry };
    await assertUnfinished(run, { files, clock, owner });
    if (!flags.dryRun) {
      const { leaseMs, isInFlight } = (await readRunRows(files, run)).state;
      const { lastRenewedAt, lastWrittenMsAgo } = lock;
      await awaitWorkers(
        { leaseMs, isInFlight, lastRenewedAt, lastWrittenMsAgo },
        { clock, onNotice: (notice) => log.warn(notice) },
      );
      await abandonRun(run, namePerson(runtime), { files, clock, owner });
    }
    const { state } = await readRunRows(files, run);
    if (state.leaseMs !== undefined) {
      log.warn(`its database may still hold rows of people of this run: volley cluster drop ${plan.id} deletes them`);
    }
    const isHolder = holdsRows(run);
    if (flags.dryRun || !isHolder) {
      return { isHolder, balance: addBalances(plan.steps.map((step) => balanceOf(step, state))) };
    }
    const summary = await writeRunReport(
      checkNames(files, () => lock.assertHeld()),
      directory,
      plan,
    );
    await registry.noteEnded(summary);
    return { isHolder, balance: summary.balance };
  } finally {
    await lock.release();
  }
}

function formatAbandoned(
  { job, plan, directory, state }: { job: string; plan: string; directory: string; state: string },
  { balance, isHolder }: Abandoned,
  screen: Screen,
): string {
  const { accepted, inDoubt, unprocessed } = balance;
  const did = state === 'dry-run' ? 'would be abandoned' : 'is abandoned: it never sends again';
  const lines = [
    `Run ${plan} of job ${job} ${did}.\n`,
    `  accepted    ${format(accepted).padStart(9)}${accepted > 0 ? '  they stay sent' : ''}\n`,
    `  in doubt    ${format(inDoubt).padStart(9)}${inDoubt > 0 ? '  see volley settle' : ''}\n`,
    `  not sent    ${format(unprocessed).padStart(9)}\n`,
  ];
  if (!isHolder) lines.push('It had taken nothing: the next volley plan or volley run plans its files anew.\n');
  else if (unprocessed > 0 && state !== 'dry-run') {
    const command = showCommand(screen, 'retry', showPath(screen, directory), '--only', 'unprocessed');
    const what = 'to send what it did not send; --job JOB does so under a corrected job';
    lines.push(formatNextStep({ what, command }, screen));
  }
  return lines.join('');
}
