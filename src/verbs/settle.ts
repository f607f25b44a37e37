import { dirname, resolve } from 'node:path';
import { type Env, namePerson } from '../command/env.js';
import { openNamedRun } from '../command/run-directory.js';
import { escapeText, formatNextStep, type Screen, showCommandOn, showPath } from '../command/screen.js';
import { type HeldRun, withRun } from '../command/with-job.js';
import { addCounts, countOf, format, listSaid } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { formatTime, millisecondsOf } from '../domain/stated-time.js';
import { readOpenDoubt } from '../registry/read-runs.js';
import { EXIT } from '../report/exit-code.js';
import { countUnderWay, readRunRows } from '../report/run-rows.js';
import type { Summary } from '../report/summary.js';
import { findSentAgain } from '../retry/claiming-plan.js';
import { type ExportEnd, settleByExport } from '../settle/settle-export.js';
import { settleByReceipts } from '../settle/settle-receipts.js';
import { type LockedRun, NONE_SETTLED, type SettledCounts, settleByDecision } from '../settle/settle-rows.js';
import { nextStep, usualDecision } from '../texts/next-step.js';
import { explainDoubt, formatOpenDoubt } from '../texts/summary-text.js';
import { adopt, defineVerb, json, namedRun, text, texts, whole } from './verb.js';

/**
 * `volley settle RUN`: decides rows in doubt by the receipts on disk, then by the service's message export or an
 * operator's decision, and writes the run's outputs again. Sends nothing. Ends with 3 while rows remain in doubt.
 */
export const settle = defineVerb({
  args: { run: namedRun },
  flags: {
    export: texts(
      'CSV file of the message export; give the flag once for each file. It settles the rows that it holds; those that it lacks stay in doubt',
    ),
    receipts: {
      describe:
        'By receipts alone, as `volley listen --receipts` keeps them, or as they were put into its receipts.ndjson',
      type: 'boolean',
      conflicts: ['export', 'assume'],
    },
    assume: {
      ...text(
        'Your own decision on all rows in doubt; recorded with your name and the time. Refused before their scheduled time',
      ),
      choices: ['sent', 'not-sent'],
      conflicts: 'export',
      implies: 'confirm',
    },
    confirm: {
      ...whole('How many rows are in doubt, as `volley status` shows it; another number is refused', 0),
      implies: 'assume',
    },
    step: {
      ...whole('Decide on the rows in doubt of the step with this number alone; --confirm then counts them', 1),
      implies: 'assume',
    },
    adopt,
    json,
  },
  examples: [
    ['out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa --export messages.csv', ''],
    ['out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa --assume not-sent --confirm 12', ''],
  ],
  run: async ({ run, export: exported, receipts, assume, confirm, step }, context) => {
    const { env, screen } = context;
    if (exported === undefined && receipts !== true && assume === undefined) {
      throw new UserError('bad-flag', 'Cannot settle: expected one of --receipts, --export and --assume', {
        hint: '--receipts and --export settle by proof; --assume is your own decision, for where there is none.',
      });
    }
    const settleBy = async (run: LockedRun): Promise<ExportEnd> => {
      if (receipts === true) {
        const rows = run.rows.countInDoubt();
        return { settled: NONE_SETTLED, left: rows === 0 ? {} : { 'no receipt shows what became of it': rows } };
      }
      if (assume !== undefined) {
        const decision = { assume, confirm: confirm ?? 0, step, person: namePerson(context) };
        return { settled: await settleByDecision(run, decision, env), left: {} };
      }
      const paths = (exported ?? []).map((path) => resolve(path));
      const reader = await env.loadReader();
      return settleByExport(run, await reader.listInputs(paths, dirname(paths[0] ?? '')), { ...env, reader });
    };
    const { directory, plan, jobFile: job } = await openNamedRun(context, run);
    const { end, underWay, summary, sentAgain } = await withRun(context, { directory, plan }, (run) =>
      settleRows(run, settleBy, env),
    );
    const isSandbox = plan.job.service.sandbox;
    const openDoubt = await readOpenDoubt(env.files, dirname(directory), { isSandbox });
    const others = openDoubt.runs.filter(({ run }) => run !== plan.id);
    const left = Object.entries(end.left).map(([reason, rows]) => ({ reason, rows }));
    if (underWay > 0) left.push({ reason: UNDER_WAY, rows: underWay });
    const { inDoubt } = summary.balance;
    const { accepted, rejected, notSent } = end.settled;
    const about = { job: summary.job, plan: summary.plan, directory, state: inDoubt > 0 ? 'in-doubt' : 'settled' };
    context.name({ state: about.state, accepted, rejected, notSent, inDoubt });
    const object = { ...about, settled: end.settled, inDoubt, left };
    const next = notSent === 0 ? undefined : nextStep(summary, { isSandbox, job, sentAgain }, screen);
    const settled = `settled ${countOf(accepted + rejected + notSent, 'row')}`;
    return {
      json: { ...object, openDoubt },
      text: `${formatSettled(object, summary, { screen, nowMs: env.clock.now() })}${formatNextStep(next, screen)}${formatOpenDoubt(openDoubt, [plan.id], screen)}`,
      exitCode: inDoubt > 0 ? EXIT.inDoubt : EXIT.ok,
      reason: listSaid(settled, inDoubt > 0 && `${countOf(inDoubt, 'row')} in doubt`, explainDoubt(others)).join('; '),
    };
  },
});

async function settleRows(held: HeldRun, settleBy: (run: LockedRun) => Promise<ExportEnd>, env: Env) {
  const readRun = async () => ({ ...(await readRunRows(env.files, held)), lock: held.lock });
  let run = await readRun();
  const received = await settleByReceipts(run, env);
  if (received !== NONE_SETTLED) run = await readRun();
  try {
    const { settled, left } = await settleBy(run);
    const summary = await held.report();
    return {
      end: { settled: { ...NONE_SETTLED, ...addCounts([received, settled]) }, left },
      underWay: countUnderWay(run.state, held.plan).rows,
      summary,
      sentAgain: findSentAgain(held.registry.state, held.plan),
    };
  } catch (error) {
    if (received === NONE_SETTLED) throw error;
    await held.report();
    throw reportReceived(error, received);
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

function formatSettled(
  end: Pick<ExportEnd, 'settled'> & { inDoubt: number; left: readonly { reason: string; rows: number }[] },
  { job, plan, directory, steps }: Summary,
  { screen, nowMs }: { readonly screen: Screen; readonly nowMs: number },
): string {
  const { accepted, rejected, notSent } = end.settled;
  const settled = `${format(accepted)} accepted, ${format(rejected)} rejected, ${format(notSent)} not sent`;
  const isToDecide = end.left.length > 0 && end.left.every(({ reason }) => reason !== UNDER_WAY);
  const lines = [
    `Run ${plan} of job ${job}: settled ${settled}; ${format(end.inDoubt)} in doubt.`,
    ...end.left.map(({ reason, rows }) => `  ${format(rows)} in doubt: ${reason}`),
    ...(isToDecide ? listDecisions(steps, nowMs, (flags) => showCommandOn(screen, 'settle', directory, ...flags)) : []),
    `The outputs were written again: ${showPath(screen, directory)}`,
  ];
  return `${lines.map(escapeText).join('\n')}\n`;
}

/** Steps are decided on one by one: a contact can be sent again, a code should not be. Each once `settle --assume` takes it. */
function listDecisions(steps: Summary['steps'], nowMs: number, show: (flags: readonly string[]) => string): string[] {
  const doubted = steps.filter(({ balance }) => balance.inDoubt > 0);
  return doubted.map((step) => {
    const { of, flags } = usualDecision(step, doubted.length === 1);
    const { scheduled, balance } = step;
    const isWaiting = scheduled !== undefined && millisecondsOf(scheduled) > nowMs;
    const when = isWaiting ? ` once ${formatTime(scheduled)} has passed` : '';
    return `Decide yourself${when}, for the ${format(balance.inDoubt)} in doubt${of} (sent or not-sent): ${show(flags)}`;
  });
}
