import { dirname } from 'node:path';
import { createPlanDeps, envOf, type Host, openLog } from '../command/deps.js';
import { placeDiskErrors } from '../command/disk-error.js';
import { lockDepsOf, namePerson } from '../command/env.js';
import { placeProblems } from '../command/place-problems.js';
import { printResult } from '../command/print.js';
import { createProgressView } from '../command/progress.js';
import { openNamedRun } from '../command/run-directory.js';
import { type CommandEnd, logCommand, type NameFields } from '../command/runner.js';
import { type Screen, screenOf } from '../command/screen.js';
import { onFirstSignal } from '../command/signals.js';
import { escapeText, SecretKeeper } from '../command/terminal.js';
import { countOf, format } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { fixDates } from '../job/fix-dates.js';
import { loadJob } from '../job/load.js';
import type { RetryOf } from '../plan/format/plan-file.js';
import { assertPlanWhole } from '../plan/format/planned-files.js';
import { withFields } from '../ports/log.js';
import { writeRunReport } from '../registry/tests/write-run-report.js';
import { EXIT } from '../report/exit-code.js';
import { checkNames } from '../report/name-check.js';
import { type RetryEnd, retryRun } from '../retry/retry-run.js';
import { assertSameJob } from '../run/resume.js';
import { acquireLock } from '../storage/lock.js';
import { explainPlan } from '../texts/explain-end.js';
import { formatPlan, listCounts, summarizePlan } from '../texts/plan-text.js';
import { openJobRegistry } from './session/session.js';

export interface RetryFlags {
  readonly run: string;
  readonly only: string;
  /** As typed: codes, separated by commas. */
  readonly code: string | undefined;
  /** A job file: the rows are planned as it stands now, not as it stood when the run was planned. */
  readonly job?: string | undefined;
  /** Accepts a job directory that was copied or restored. */
  readonly adopt?: boolean;
  readonly json: boolean | undefined;
}

/**
 * `volley retry RUN`: makes a plan of rows that were not processed, claims them for it, each once, and writes the
 * run's outputs again. Sends nothing: `volley apply` does. A signal before the claim changes nothing.
 */
export function retryRows(flags: RetryFlags, host: Host): Promise<number> {
  return logCommand(host, { command: 'retry', directory: flags.run }, (name) => retryNamed(flags, { host, name }));
}

async function retryNamed(flags: RetryFlags, { host, name }: { host: Host; name: NameFields }): Promise<CommandEnd> {
  const choice = chooseRows(flags);
  const runtime = envOf(host);
  const { files, clock, owner } = runtime;
  const { directory, plan } = await openNamedRun(flags.run, { files, begun: true, adopt: flags.adopt });
  if (plan.testOf !== undefined) {
    throw new UserError('bad-plan', `Cannot retry rows of ${directory}: it is a test, expected a run`, {
      hint: 'Send the test again with `volley test`.',
    });
  }
  const job =
    flags.job === undefined ? undefined : assertSameJob(plan, fixDates(await loadJob(flags.job), clock.now()));
  const about = { job: plan.job.name, retryOf: plan.id };
  name(about);
  const log = withFields(openLog(host, new SecretKeeper()), () => about);
  const signalled = new AbortController();
  const stopListening = onFirstSignal(host, () => signalled.abort());
  const view = createProgressView(host, log);
  let end: RetryEnd;
  try {
    end = await placeDiskErrors(dirname(directory), async () => {
      const lock = await acquireLock(lockDepsOf(runtime, log), dirname(directory));
      try {
        const registry = await openJobRegistry({
          jobDirectory: dirname(directory),
          lock,
          log,
          runtime,
          adopt: flags.adopt,
        });
        await registry.assertOwn(plan.id);
        await assertPlanWhole(files, directory, plan);
        const planDeps = await createPlanDeps(host, { onProgress: view.planned, signal: signalled.signal });
        const deps = { files, clock, owner, plan: planDeps };
        const made = await placeProblems({ file: flags.job, files }, () =>
          retryRun({ directory, plan, lock, registry, job }, { ...choice, person: namePerson(runtime) }, deps),
        );
        const outputs = checkNames(files, () => lock.assertHeld());
        await registry.noteEnded(await writeRunReport(outputs, directory, plan));
        return made;
      } finally {
        await lock.release();
      }
    });
  } finally {
    view.close();
    stopListening();
  }
  const { left, codes } = end;
  const asked = { retryOf: plan.id, only: choice.only, codes: choice.codes, left };
  const made = end.made === undefined ? end.anew : [end.made];
  const [first, ...others] = made;
  const more = others.length === 0 ? {} : { others: others.map((each) => each.directory) };
  const ended = { exitCode: EXIT.ok, error: null };
  const json =
    first === undefined
      ? { job: plan.job.name, state: 'nothing-to-retry', directory, ...ended, ...asked, rejected: codes }
      : { ...summarizePlan(first.plan, first.directory, clock.now()), ...ended, ...more, ...asked };
  const head =
    first === undefined
      ? formatNothing(plan.id, choice, end)
      : formatMade(made, end, { screen: screenOf(host), nowMs: clock.now() });
  await printResult(host, flags, { json, text: `${head}${formatLeft(plan.id, left)}` });
  if (first === undefined) return { exitCode: EXIT.ok, reason: 'nothing to retry' };
  const { reason, fields } = explainPlan(first.plan);
  name(fields);
  return { exitCode: EXIT.ok, reason };
}

type Choice = Pick<RetryOf, 'only' | 'codes'>;

function chooseRows({ only, code }: RetryFlags): Choice {
  if (only !== 'rejected' && only !== 'unprocessed' && only !== 'not-sent' && only !== 'filtered') {
    throw new UserError(
      'bad-flag',
      `Cannot retry: --only is ${JSON.stringify(only)}, expected rejected, unprocessed, not-sent or filtered`,
    );
  }
  const codes = (code ?? '').split(',').flatMap((each) => (each.trim() === '' ? [] : [each.trim()]));
  if (code !== undefined && codes.length === 0) {
    throw new UserError('bad-flag', 'Cannot retry: --code names no code, expected one such as 1100');
  }
  if (codes.length > 0 && only !== 'rejected') {
    throw new UserError('bad-flag', `Cannot retry: --code is for --only rejected, not for --only ${only}`);
  }
  return { only, codes: [...new Set(codes)].sort() };
}

function formatMade(made: RetryEnd['anew'], { anew }: RetryEnd, screen: { screen: Screen; nowMs: number }): string {
  const again = anew.length === 0 ? '' : 'Made again: it has claimed its rows before, and was never applied.\n';
  return made.map(({ plan, directory }) => `${again}${formatPlan(plan, directory, screen)}`).join('\n');
}

function formatNothing(run: string, { only, codes }: Choice, { codes: found, left }: RetryEnd): string {
  const which = codes.length === 0 ? only : `${only} (${codes.join(', ')})`;
  const there =
    only === 'rejected'
      ? `; rejected by the service are${Object.keys(found).length === 0 ? ': none' : `: ${listCounts(found, 12)}`}`
      : '';
  const isOpen = only === 'unprocessed' && left.underWay > 0;
  if (only === 'filtered')
    return `${escapeText(`Nothing to retry in run ${run}: the filter left out no row that it lets in now.`)}\n`;
  const what = isOpen
    ? `what it has not processed, ${countOf(left.underWay, 'row')}, was under way`
    : `no row of it is ${which}`;
  return `${escapeText(`Nothing to retry in run ${run}: ${what}${there}.`)}\n`;
}

/** What is not in the plan, and what to do about it. */
function formatLeft(run: string, left: RetryEnd['left']): string {
  const { refusedInPlan, inDoubt, underWay, received, retriedBefore, filtered } = left;
  const lines = [
    filtered > 0 &&
      `Left out by the filter as it is now: ${countOf(filtered, 'row')}. They stay in run ${run}; with another filter: the same command, with --job.`,
    refusedInPlan > 0 &&
      `Refused while run ${run} was planned: ${format(refusedInPlan)}. Fix the rows in its rejections file, and re-import it: add it to the input of the job.`,
    inDoubt > 0 && `In doubt, and not retried: ${format(inDoubt)}. See volley settle.`,
    underWay > 0 &&
      `Under way when a process ended: ${format(underWay)}. Finish the run first, with the command that began it; then settle what is in doubt.`,
    received > 0 &&
      `Not retried, as they have a delivery receipt: ${format(received)}. See the deliveries file of run ${run}.`,
    retriedBefore > 0 &&
      `Claimed by other plans before: ${format(retriedBefore)}. See the skipped files of run ${run}.`,
  ];
  return lines.flatMap((line) => (line === false ? [] : [`${line}\n`])).join('');
}
