import { describeFailure } from '../command/failure.js';
import { planJob } from '../command/plan-input.js';
import { jobDirectoryOf } from '../command/with-job.js';
import { loadJob } from '../job/load.js';
import type { Plan } from '../plan/format/plan-file.js';
import { checkGuards } from '../plan/guards.js';
import { readOpenDoubt } from '../registry/read-runs.js';
import { EXIT } from '../report/exit-code.js';
import { formatPlan, summarizePlan } from '../texts/plan-text.js';
import { explainPlan } from '../texts/summary-text.js';
import { describeDone } from './job-result.js';
import { adopt, again, defineVerb, json, theJob } from './verb.js';

/** `volley plan JOB`: reads and checks all input, writes the exact requests, prints what would be sent. Sends nothing; a signal leaves no plan. */
export const plan = defineVerb({
  args: { job: theJob },
  flags: { again, adopt, json },
  examples: [['jobs/spring-sale.yaml', 'then: volley apply']],
  run: async ({ job: path, again }, context) => {
    const { env, screen } = context;
    const { files, clock } = env;
    const job = await loadJob(path);
    const { made, leftOut } = await planJob(context, job, again);
    if (made === undefined) {
      const openDoubt = await readOpenDoubt(files, jobDirectoryOf(job), { isSandbox: job.service.sandbox });
      // It sends nothing, and nothing of others stops it.
      return { ...describeDone({ summaries: [], leftOut, openDoubt }, job, { path }, context), exitCode: EXIT.ok };
    }
    const { plan, directory } = made;
    const { reason, fields } = explainPlan(plan);
    context.name(fields);
    const nowMs = clock.now();
    const figures = summarizePlan(plan, directory);
    try {
      checkGuards(plan, job.guards);
    } catch (failure) {
      const object = { ...figures, ...describeFailure(failure) };
      const text = formatPlan(plan, directory, { nowMs, screen, isRefused: true });
      return { json: object, text, exitCode: object.exitCode, reason, failure };
    }
    const exitCode = isInVain(plan) ? EXIT.rejected : EXIT.ok;
    const text = formatPlan(plan, directory, { nowMs, screen, isRefused: false });
    return { json: { ...figures, exitCode, error: null }, text, exitCode, reason };
  },
});

/** Every row that was to be sent is rejected: then something is wrong with the job or the file, such as a format. */
function isInVain({ steps, job }: Plan): boolean {
  const rows = steps.map(({ counts }) => counts);
  const isRejected = rows.some(({ rejected }) => rejected > 0) && rows.every(({ planned }) => planned === 0);
  return isRejected && job.failOn === 'rejections';
}
