import { dirname, resolve } from 'node:path';
import { envOf, type Host, openLog } from '../command/deps.js';
import { placeDiskErrors } from '../command/disk-error.js';
import { lockDepsOf, namePerson } from '../command/env.js';
import { printResult } from '../command/print.js';
import { openNamedRun } from '../command/run-directory.js';
import { type CommandEnd, logCommand, type NameFields } from '../command/runner.js';
import { type Screen, screenOf, showCommand, showPath } from '../command/screen.js';
import { escapeText, SecretKeeper } from '../command/terminal.js';
import { countOf, format } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import type { Plan } from '../plan/format/plan-file.js';
import { assertPlanWhole } from '../plan/format/planned-files.js';
import { withFields } from '../ports/log.js';
import { writeRunReport } from '../registry/tests/write-run-report.js';
import { EXIT } from '../report/exit-code.js';
import { checkNames } from '../report/name-check.js';
import { readRunRows } from '../report/read-run-rows.js';
import { countUnderWay } from '../report/row-balance.js';
import type { Summary } from '../report/summary.js';
import { settleByDecision } from '../settle/operator-decision.js';
import { type ExportEnd, settleByExport } from '../settle/settle-export.js';
import { settleByReceipts } from '../settle/settle-receipts.js';
import { addSettled, type LockedRun, NONE_SETTLED, type SettledCounts } from '../settle/settle-rows.js';
import { acquireLock } from '../storage/lock.js';
import { openJobRegistry } from './session/session.js';

export interface SettleFlags {
  readonly run: string;
  /** CSV files of the service's message export. */
  readonly exported: readonly string[] | undefined;
  readonly assume: string | undefined;
  /** As typed: how many rows are in doubt. */
  readonly confirm: string | undefined;
  /** Accepts a job directory that was copied or restored. */
  readonly adopt?: boolean;
  readonly json: boolean | undefined;
}

type Means =
  | { readonly kind: 'export'; readonly paths: readonly string[] }
  | { readonly kind: 'word'; readonly assume: 'sent' | 'not-sent'; readonly confirm: number };

/**
 * `volley settle RUN`: decides rows in doubt by the receipts on disk, then by the service's message export or an
 * operator's decision, and writes the run's outputs again. Sends nothing. Returns 3 while rows remain in doubt.
 */
export function settleRun(flags: SettleFlags, host: Host): Promise<number> {
  return logCommand(host, { command: 'settle', directory: flags.run }, (name) => settleNamed(flags, { host, name }));
}

async function settleNamed(flags: SettleFlags, { host, name }: { host: Host; name: NameFields }): Promise<CommandEnd> {
  const means = chooseMeans(flags);
  const runtime = envOf(host);
  const { directory, plan } = await openNamedRun(flags.run, { files: runtime.files, begun: true, adopt: flags.adopt });
  name({ job: plan.job.name, run: plan.id });
  const { end, underWay, summary } = await placeDiskErrors(dirname(directory), () =>
    settleBehindLock(means, { directory, plan, adopt: flags.adopt }, host),
  );
  const left = Object.entries(end.left).map(([reason, rows]) => ({ reason, rows }));
  if (underWay > 0) left.push({ reason: UNDER_WAY, rows: underWay });
  const { job, plan: id, balance } = summary;
  const { inDoubt } = balance;
  const exitCode = inDoubt > 0 ? EXIT.inDoubt : EXIT.ok;
  const state = inDoubt > 0 ? 'in-doubt' : 'settled';
  const json = { job, plan: id, directory, state, exitCode, error: null, settled: end.settled, inDoubt, left };
  await printResult(host, flags, { json, text: formatSettled(json, screenOf(host)) });
  const { accepted, rejected, notSent } = end.settled;
  name({ state, accepted, rejected, notSent, inDoubt });
  const settled = `settled ${countOf(accepted + rejected + notSent, 'row')}`;
  return { exitCode, reason: inDoubt > 0 ? `${settled}; ${countOf(inDoubt, 'row')} in doubt` : settled };
}

async function settleBehindLock(
  means: Means,
  { directory, plan, adopt }: { directory: string; plan: Plan; adopt: boolean | undefined },
  host: Host,
): Promise<{ end: ExportEnd; underWay: number; summary: Summary }> {
  const runtime = envOf(host);
  const { files, clock, owner } = runtime;
  const log = withFields(openLog(host, new SecretKeeper()), () => ({ job: plan.job.name, run: plan.id }));
  const lock = await acquireLock(lockDepsOf(runtime, log), dirname(directory));
  try {
    const registry = await openJobRegistry({ jobDirectory: dirname(directory), lock, log, runtime, adopt });
    await registry.assertOwn(plan.id);
    const outputs = checkNames(files, () => lock.assertHeld());
    await assertPlanWhole(files, directory, plan);
    const readRun = async () => ({ ...(await readRunRows(files, { directory, plan })), lock });
    let run = await readRun();
    const received = await settleByReceipts(run, { files, clock, owner });
    if (received !== NONE_SETTLED) run = await readRun();
    let end: ExportEnd;
    try {
      const { settled, left } = await settleBy(means, run, host);
      end = { settled: addSettled(received, settled), left };
    } catch (error) {
      if (received === NONE_SETTLED) throw error;
      await writeRunReport(outputs, directory, plan);
      throw reportReceived(error, received);
    }
    const summary = await writeRunReport(outputs, directory, plan);
    await registry.noteEnded(summary);
    return { end, underWay: countUnderWay(run.state, plan).rows, summary };
  } finally {
    await lock.release();
  }
}

const UNDER_WAY = 'they were under way when a process ended: finish the run first, with the command that began it';

/** The decision is refused; rows that receipts settled before stay settled. */
function reportReceived(error: unknown, { accepted, rejected }: SettledCounts): unknown {
  if (!(error instanceof UserError)) return error;
  const { code, message, problems } = error;
  const hint = `Delivery receipts have settled ${countOf(accepted + rejected, 'row')} by now; review the in-doubt files of the run again.`;
  return new UserError(code, message, { hint, problems });
}

function chooseMeans({ exported, assume, confirm }: SettleFlags): Means {
  if ((exported === undefined) === (assume === undefined)) {
    throw new UserError('bad-flag', 'Cannot settle: expected one of --export and --assume', {
      hint: '--export settles by proof; --assume is your own decision, for where there is no export.',
    });
  }
  if (exported !== undefined) {
    if (confirm !== undefined)
      throw new UserError('bad-flag', 'Cannot settle: --confirm is given without --assume, expected both');
    return { kind: 'export', paths: exported.map((path) => resolve(path)) };
  }
  if (assume !== 'sent' && assume !== 'not-sent') {
    throw new UserError('bad-flag', `Cannot settle: --assume is ${JSON.stringify(assume)}, expected sent or not-sent`);
  }
  if (confirm === undefined || !/^\d{1,15}$/.test(confirm)) {
    const found = confirm === undefined ? 'there is no --confirm' : `--confirm is ${JSON.stringify(confirm)}`;
    throw new UserError('bad-flag', `Cannot settle: ${found}, expected the number of rows in doubt`, {
      hint: '`volley status` shows it, and so does summary.json.',
    });
  }
  return { kind: 'word', assume, confirm: Number(confirm) };
}

async function settleBy(means: Means, run: LockedRun, host: Host): Promise<ExportEnd> {
  const runtime = envOf(host);
  const { files, clock, owner } = runtime;
  if (means.kind === 'word') {
    const settled = await settleByDecision(run, { ...means, person: namePerson(runtime) }, { files, clock, owner });
    return { settled, left: {} };
  }
  const reader = await runtime.loadReader();
  const exported = await reader.listInputs(means.paths, dirname(means.paths[0] ?? ''));
  return settleByExport(run, exported, { files, clock, owner, reader });
}

function formatSettled(
  end: {
    job: string;
    plan: string;
    directory: string;
    settled: ExportEnd['settled'];
    inDoubt: number;
    left: readonly { reason: string; rows: number }[];
  },
  screen: Screen,
): string {
  const { accepted, rejected, notSent } = end.settled;
  const count = accepted + rejected + notSent;
  const run = showPath(screen, end.directory);
  const decide = showCommand(screen, 'settle', run, '--assume', 'sent', '--confirm', String(end.inDoubt));
  const lines = [
    `Run ${end.plan} of job ${end.job}: ${countOf(count, 'row')} settled, ${format(end.inDoubt)} in doubt.`,
    `  accepted    ${format(accepted).padStart(9)}`,
    `  rejected    ${format(rejected).padStart(9)}`,
    `  not sent    ${format(notSent).padStart(9)}`,
    ...end.left.map(({ reason, rows }) => `  in doubt    ${format(rows).padStart(9)}  ${reason}`),
    ...(notSent > 0 ? [`Send what was not sent: ${showCommand(screen, 'retry', run, '--only', 'not-sent')}`] : []),
    ...(end.left.some(({ reason }) => reason !== UNDER_WAY)
      ? [`Decide yourself, for all ${format(end.inDoubt)} in doubt (sent or not-sent): ${decide}`]
      : []),
    `The outputs were written again: ${run}`,
  ];
  return `${lines.map(escapeText).join('\n')}\n`;
}
