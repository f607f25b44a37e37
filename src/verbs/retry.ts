import { namePerson } from '../command/env.js';
import { createPlanDeps } from '../command/plan-input.js';
import { createProgressView } from '../command/progress.js';
import { openNamedRun } from '../command/run-directory.js';
import { escapeText, type Screen, showCommandOn } from '../command/screen.js';
import { endOnSignal } from '../command/signals.js';
import { withRun } from '../command/with-job.js';
import { countOf, format, listSaid } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { isLeftOutCode, LEFT_OUT_CODES } from '../domain/row-codes.js';
import { loadJob } from '../job/load.js';
import { fixDates } from '../job/planned-job.js';
import type { RetryOf } from '../plan/format/plan-file.js';
import { type RetryEnd, retryRun } from '../retry/retry-run.js';
import { assertSameJob } from '../run/resume.js';
import { formatPlan, listCounts, summarizePlan } from '../texts/plan-text.js';
import { explainPlan } from '../texts/summary-text.js';
import { adopt, defineVerb, json, namedRun, readAs, text } from './verb.js';

/**
 * `volley retry RUN`: makes a plan of rows that were not processed, claims them for it, each once, and writes the
 * run's outputs again. Sends nothing: `volley apply` does. A signal before the claim changes nothing.
 */
export const retry = defineVerb({
  args: { run: namedRun },
  flags: {
    only: {
      ...text(
        'Which rows: rejected by the service, unprocessed by a run that stopped, not-sent as settled, filtered: left out by a filter (`where`) that lets them in now, had-it-already: held or skipped as they had the text, too-often: above `frequency`, no-time-zone: held, as no time zone was known',
      ),
      choices: ['rejected', 'unprocessed', 'not-sent', ...LEFT_OUT_CODES],
      demandOption: true,
    },
    code: readAs(
      'With --only rejected: only those with one of these codes, separated by commas',
      'codes such as 1100,REJECTED',
      readCodes,
    ),
    job: text(
      'Job file whose text, sender, times and `where` are used now, in place of those that the run was planned with',
    ),
    adopt,
    json,
  },
  examples: [
    ['out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa --only rejected --code 1100,REJECTED', ''],
    ['out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa --only not-sent', ''],
  ],
  run: async ({ run, job: file, only, code = [] }, context) => {
    const choice: Choice = { only, codes: code };
    if (code.length > 0 && only !== 'rejected') {
      throw new UserError('bad-flag', `Cannot retry: --code is for --only rejected, not for --only ${only}`);
    }
    const { env, log, screen, terminal } = context;
    const { files, clock, owner } = env;
    const { directory, plan, jobFile } = await openNamedRun(context, run);
    if (plan.testOf !== undefined) {
      throw new UserError('bad-plan', `Cannot retry rows of ${directory}: it is a test, expected a run`, {
        hint: 'Send the test again with `volley test`.',
      });
    }
    const job = file === undefined ? undefined : assertSameJob(plan, fixDates(await loadJob(file), clock.now()));
    context.name({ retryOf: plan.id });
    const view = createProgressView(terminal, log);
    const work = () =>
      withRun(context, { directory, plan }, async ({ lock, registry, report }) => {
        const planDeps = await createPlanDeps(context, view.planned);
        const made = await retryRun(
          { directory, plan, lock, registry, job },
          { ...choice, person: namePerson(context) },
          { files, clock, owner, plan: planDeps },
        );
        await report();
        return { ...made, isOnly: registry.state.runs.size === 1 };
      });
    const end = await endOnSignal(context, work).finally(() => view.close());
    const { left, codes } = end;
    const asked = { retryOf: plan.id, only: choice.only, codes: choice.codes, left };
    const status = showCommandOn(screen, 'status', directory);
    const made = end.made === undefined ? end.anew : [end.made];
    const [first, ...others] = made;
    if (first === undefined) {
      return {
        json: { job: plan.job.name, state: 'nothing-to-retry', directory, ...asked, rejected: codes },
        text: `${formatNothing(plan.id, choice, end)}${formatLeft(plan.id, left, status)}${end.isOnly ? '' : sayNewest(jobFile, screen)}`,
        reason: 'nothing to retry',
      };
    }
    const { reason, fields } = explainPlan(first.plan);
    context.name(fields);
    const nowMs = clock.now();
    const more = others.length === 0 ? {} : { others: others.map((each) => each.directory) };
    return {
      json: { ...summarizePlan(first.plan, first.directory), ...more, ...asked },
      text: `${formatMade(made, end, { screen, nowMs })}${formatLeft(plan.id, left, status)}`,
      reason,
    };
  },
});

type Choice = Pick<RetryOf, 'only' | 'codes'>;

function readCodes(given: string): string[] | undefined {
  const codes = given.split(',').flatMap((each) => (each.trim() === '' ? [] : [each.trim()]));
  return codes.length === 0 ? undefined : [...new Set(codes)].sort();
}

function formatMade(made: RetryEnd['anew'], { anew }: RetryEnd, screen: { screen: Screen; nowMs: number }): string {
  const again = anew.length === 0 ? '' : 'Made again: it has claimed its rows before, and was never applied.\n';
  return made.map(({ plan, directory }) => `${again}${formatPlan(plan, directory, screen)}`).join('\n');
}

function formatNothing(run: string, { only, codes }: Choice, { codes: found, left }: RetryEnd): string {
  const which = codes.length === 0 ? only : `${only} (${codes.join(', ')})`;
  const there =
    only === 'rejected' && Object.keys(found).length > 0
      ? `; rejected by the service are: ${listCounts(found, 12)}`
      : '';
  const isOpen = only === 'unprocessed' && left.underWay > 0;
  if (only === 'filtered')
    return `${escapeText(`Nothing to retry in run ${run}: the filter left out no row that it lets in now.`)}\n`;
  const what = isOpen
    ? `what it has not processed, ${countOf(left.underWay, 'row')}, was under way`
    : `no row of it ${isLeftOutCode(only) ? 'has the code' : 'is'} ${which}`;
  return `${escapeText(`Nothing to retry in run ${run}: ${what}${there}.`)}\n`;
}

/** Who names the job may mean the rows of another run. */
function sayNewest(job: string | undefined, screen: Screen): string {
  if (job === undefined) return '';
  const runs = showCommandOn(screen, 'runs', job);
  return `${escapeText(`That is the newest run of the job. The others, whose rows are retried by the directory of their run: ${runs}`)}\n`;
}

function formatLeft(run: string, left: RetryEnd['left'], status: string): string {
  const { refusedInPlan, inDoubt, underWay, received, retriedBefore, filtered } = left;
  const lines = listSaid(
    filtered > 0 &&
      `Left out by the filter as it is now: ${countOf(filtered, 'row')}. They stay in run ${run}; with another filter: the same command, with --job.`,
    refusedInPlan > 0 &&
      `Refused while run ${run} was planned: ${format(refusedInPlan)}. Fix the rows in its rejections file, and re-import it: add it to the input of the job.`,
    inDoubt > 0 && `In doubt, and not retried: ${format(inDoubt)}. What to do about them: ${status}`,
    underWay > 0 &&
      `Under way when a process ended: ${format(underWay)}. Finish the run first, with the command that began it; then settle what is in doubt.`,
    received > 0 &&
      `Not retried, as they have a delivery receipt: ${format(received)}. See the deliveries file of run ${run}.`,
    retriedBefore > 0 && `Claimed by a plan before: ${format(retriedBefore)}. See the skipped files of run ${run}.`,
  );
  return lines.map((line) => `${escapeText(line)}\n`).join('');
}
