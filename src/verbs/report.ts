import { dirname } from 'node:path';
import type { Context, Result } from '../command/context.js';
import { lockDepsOf } from '../command/env.js';
import { describeRunEnd } from '../command/failure.js';
import { openNamedRun } from '../command/run-directory.js';
import { escapeText, formatHeadline, formatParagraph, showPath } from '../command/screen.js';
import { countOf } from '../domain/count-of.js';
import type { PlanAt } from '../plan/format/plan-file.js';
import { readRegistry } from '../registry/open-registry.js';
import { readOpenDoubt } from '../registry/read-runs.js';
import { reportCampaign } from '../registry/report-campaign.js';
import { writeRunReport } from '../registry/write-run-report.js';
import { EXIT } from '../report/exit-code.js';
import { describeRun } from '../report/page/report-page.js';
import { findSentAgain } from '../retry/claiming-plan.js';
import { readLockOwner } from '../storage/lock.js';
import { explainEnd, formatOpenDoubt, formatSummary, listFigures } from '../texts/summary-text.js';
import { readNextOfPlan } from './job-result.js';
import { defineVerb, json, namedRun } from './verb.js';

/** `volley report RUN`: writes the outputs of a run again, from its plan and journal alone. */
export const report = defineVerb({
  args: { run: namedRun },
  flags: {
    campaign: {
      type: 'boolean',
      describe: 'One page for all runs that have rows of each other, by retry and re-import: each row counts once',
    },
    json,
  },
  examples: [
    ['out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa', ''],
    ['jobs/spring-sale.yaml --campaign', 'one page for its newest run, its retries and corrected rejections'],
  ],
  run: async ({ run, campaign }, context) => {
    const { env, screen } = context;
    const { files, clock } = env;
    const { directory, plan, testedRun, jobFile } = await openNamedRun(context, run);
    if (campaign === true) return describeCampaign(context, { directory, plan });
    const isSandbox = plan.job.service.sandbox;
    const summary = await writeRunReport(files, directory, plan);
    const isRunning = (await readLockOwner(lockDepsOf(env), dirname(directory))) !== undefined;
    const openDoubt = await readOpenDoubt(files, dirname(directory), { isSandbox, isRunning });
    context.name(listFigures(summary));
    const planned = await readNextOfPlan(context, { directory, plan, testedRun });
    const registry = await readRegistry(files, dirname(directory));
    const sentAgain = findSentAgain(registry, plan);
    const view = { isSandbox, planned, job: jobFile, sentAgain, nowMs: clock.now(), screen };
    return {
      json: { ...describeRunEnd(summary), openDoubt },
      text: `${formatSummary(summary, view)}${formatOpenDoubt(openDoubt, [plan.id], screen)}`,
      exitCode: EXIT.ok,
      reason: `the outputs were written again; the run is ${explainEnd(summary)}`,
    };
  },
});

async function describeCampaign(context: Context, of: PlanAt): Promise<Result> {
  const { env, screen } = context;
  const { summary, runs, missing, page } = await reportCampaign(env.files, of);
  const { job, state, balance, deliveries, cost, billed } = summary;
  const ids = runs.map((each) => each.summary.plan);
  const path = escapeText(showPath(screen, page));
  const sentences = describeRun(summary, of.plan).join(' ');
  const head = formatHeadline(`Campaign ${job}: ${countOf(ids.length, 'run')}`, 'bold', screen);
  return {
    json: { job, state, runs: ids, missing, balance, deliveries, cost, billed, page },
    text: `${head}\n${formatParagraph(sentences, screen)}\n  ${path}\n`,
    reason: `${countOf(ids.length, 'run')} on one page; together ${explainEnd(summary)}`,
  };
}
