import { dirname } from 'node:path';
import { envOf, type Host, openLog } from '../../command/deps.js';
import { placeDiskErrors } from '../../command/disk-error.js';
import { lockDepsOf, namePerson } from '../../command/env.js';
import { printResult } from '../../command/print.js';
import { openRunDirectory } from '../../command/run-directory.js';
import { type CommandEnd, logCommand, type NameFields } from '../../command/runner.js';
import { type Screen, screenOf, showCommand, showPath } from '../../command/screen.js';
import { SecretKeeper } from '../../command/terminal.js';
import { countOf, format } from '../../domain/count-of.js';
import type { Balance } from '../../domain/row.js';
import type { Plan } from '../../plan/format/plan-file.js';
import { assertPlanWhole } from '../../plan/format/planned-files.js';
import { withFields } from '../../ports/log.js';
import { writeRunReport } from '../../registry/tests/write-run-report.js';
import { EXIT } from '../../report/exit-code.js';
import { checkNames } from '../../report/name-check.js';
import { readRunRows } from '../../report/read-run-rows.js';
import { balanceAtRest } from '../../report/row-balance.js';
import { addBalances } from '../../report/summary.js';
import { awaitWorkers, workersEndInMs } from '../../run/await-workers.js';
import { abandonRun, assertUnfinished, holdsRows } from '../../settle/abandon-run.js';
import { acquireLock } from '../../storage/lock.js';
import { formatNextStep } from '../../texts/text-lines.js';
import { readAddress } from '../cluster/read-address.js';
import { openJobRegistry } from '../session/session.js';

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
  /** Of a dry run: how long the command would wait until no worker of a database sends any more of it. */
  readonly waitSeconds: number;
}

/** `volley abandon RUN`: lets a plan, or a run that stopped, go for good, behind the job's lock. It never sends again. */
export function abandonNamedRun(flags: AbandonFlags, host: Host): Promise<number> {
  return logCommand(host, { command: 'abandon', directory: flags.run }, (name) => abandonNamed(flags, { host, name }));
}

async function abandonNamed(
  flags: AbandonFlags,
  { host, name }: { host: Host; name: NameFields },
): Promise<CommandEnd> {
  const { files } = envOf(host);
  const { directory, plan } = await openRunDirectory(flags.run, files, { adopt: flags.adopt });
  name({ job: plan.job.name, run: plan.id });
  const end = await placeDiskErrors(dirname(directory), () => abandonBehindLock({ directory, plan, flags }, host));
  const { unprocessed, inDoubt } = end.balance;
  const state = flags.dryRun ? 'dry-run' : 'abandoned';
  const json = { job: plan.job.name, plan: plan.id, directory, state, exitCode: EXIT.ok, error: null };
  await printResult(host, flags, {
    json: { ...json, filesAreFree: !end.isHolder, waitSeconds: end.waitSeconds, balance: end.balance },
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
  const runtime = envOf(host);
  const { files, clock, owner } = runtime;
  const jobDirectory = dirname(directory);
  const log = withFields(openLog(host, new SecretKeeper()), () => ({ job: plan.job.name, run: plan.id }));
  const lock = await acquireLock(lockDepsOf(runtime, log), jobDirectory);
  try {
    const registry = await openJobRegistry({ jobDirectory, lock, log, runtime, adopt: flags.adopt });
    await registry.assertOwn(plan.id);
    await assertPlanWhole(files, directory, plan);
    const run = { directory, plan, lock, registry };
    await assertUnfinished(run, { files, clock, owner });
    const { leaseMs, isInFlight } = (await readRunRows(files, run)).state;
    const { lastRenewedAt, lastWrittenMsAgo } = lock;
    const led = { leaseMs, isInFlight, lastRenewedAt, lastWrittenMsAgo };
    const waitMs = workersEndInMs(led, clock.now());
    if (!flags.dryRun) {
      await awaitWorkers(led, { clock, onNotice: (notice) => log.warn(notice) });
      await abandonRun(run, namePerson(runtime), { files, clock, owner });
    }
    const { state } = await readRunRows(files, run);
    const held = state.leaseMs === undefined ? 'no' : await isInDatabase(plan, host);
    if (held !== 'no') {
      const so =
        held === 'yes' ? 'its database still holds rows of people' : 'its database may still hold rows of people';
      log.warn(`${so} of this run: \`volley cluster drop ${plan.id}\` deletes them`);
    }
    const isHolder = holdsRows(run);
    if (flags.dryRun || !isHolder) {
      const balance = addBalances(plan.steps.map((step) => balanceAtRest(step, state, plan.job)));
      return { isHolder, balance, waitSeconds: flags.dryRun ? Math.ceil(waitMs / 1000) : 0 };
    }
    const summary = await writeRunReport(
      checkNames(files, () => lock.assertHeld()),
      directory,
      plan,
    );
    await registry.noteEnded(summary);
    return { isHolder, balance: summary.balance, waitSeconds: 0 };
  } finally {
    await lock.release();
  }
}

/** Whether the database that it was sent over knows it: 'unknown' where it cannot be asked. */
async function isInDatabase({ id, job }: Plan, host: Host): Promise<'yes' | 'no' | 'unknown'> {
  if (job.cluster === undefined) return 'unknown';
  try {
    const store = await envOf(host).loadStore(await readAddress(job.cluster.database, host), () => {});
    const isThere = await store.hasRuns({ only: id }).finally(() => store.close());
    return isThere ? 'yes' : 'no';
  } catch {
    return 'unknown';
  }
}

function formatAbandoned(
  { job, plan, directory, state }: { job: string; plan: string; directory: string; state: string },
  { balance, isHolder, waitSeconds }: Abandoned,
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
  if (waitSeconds > 0) {
    lines.push(`It would first wait up to ${waitSeconds} s: until then workers may still send what they have of it.\n`);
  }
  if (!isHolder) lines.push('It had taken nothing: the next volley plan or volley run plans its files anew.\n');
  else if (unprocessed > 0 && state !== 'dry-run') {
    const command = showCommand(screen, 'retry', showPath(screen, directory), '--only', 'unprocessed');
    const what = 'to send what it did not send; with --job and its file, under a corrected job';
    lines.push(formatNextStep({ what, command }, screen));
  }
  return lines.join('');
}
