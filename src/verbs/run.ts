import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { assertMaySend, confirmSending, type GivenAnswer } from '../command/confirm-sending.js';
import type { Context, Result } from '../command/context.js';
import { namePerson } from '../command/env.js';
import { planNewInput } from '../command/plan-input.js';
import { placeError } from '../command/runner.js';
import { type SendingJob, withSending } from '../command/send-job.js';
import { endSoon } from '../command/signals.js';
import { type HeldJob, jobDirectoryOf } from '../command/with-job.js';
import { type Area, isRowKind } from '../domain/areas.js';
import { quoteWord, UserError } from '../domain/errors.js';
import { formatTime } from '../domain/stated-time.js';
import type { Job, RampStage } from '../job/job.js';
import { loadJob } from '../job/load.js';
import { listChangedKeys, parseFirst, sampleFirst } from '../job/planned-job.js';
import { readRunState } from '../journal/reader.js';
import { areasOf } from '../kinds/kinds.js';
import { watchCommand } from '../observe/watch-command.js';
import { JOURNAL_FILE, PLAN_FILE, readPlan } from '../plan/format/plan-file.js';
import { checkGuards } from '../plan/guards.js';
import type { LeftOut } from '../plan/select-inputs.js';
import { isEarly, isReported, type PastRun, readHistory, readOpenDoubt } from '../registry/read-runs.js';
import type { Registry } from '../registry/registry.js';
import { listTakenFiles } from '../registry/registry-state.js';
import { writeRunReport } from '../registry/write-run-report.js';
import type { Summary } from '../report/summary.js';
import { assertNotRefused, assertReleased } from '../run/checks-before.js';
import { hasWork, joinSettings } from '../run/resume.js';
import { assertDue } from '../run/run-times.js';
import type { Files } from '../storage/files.js';
import { explainEnd, listFigures } from '../texts/summary-text.js';
import { type Done, describeDone, describeFailed, type Failed } from './job-result.js';
import { again, defineVerb, readAs, sending, theJob } from './verb.js';

/** `volley run JOB`: finishes what is unfinished of the job, then plans and applies what is new. */
export const run = defineVerb({
  args: { job: theJob },
  flags: {
    again,
    first: {
      ...readAs(
        'Send a sample of the SMS first: a share such as 5%, or a number of people; the rest waits for --rest',
        'a share such as 5% or 0.5%, or a number',
        parseFirst,
      ),
      conflicts: 'rest',
    },
    rest: {
      describe: 'Send the rest of a run of which a sample was sent with --first; noted with your name',
      type: 'boolean',
    },
    ...sending,
  },
  examples: [
    ['jobs/spring-sale.yaml', 'contacts, then SMS, on the embedded sandbox'],
    ['jobs/spring-sale.yaml --first 5%', 'a sample; then: volley run jobs/spring-sale.yaml --rest'],
  ],
  watch: (flags, context, task) => watchCommand('run', flags, context, task),
  run: async (flags, context) => runJob(await loadJob(flags.job), flags, context),
});

interface JobFlags extends GivenAnswer {
  /** Path of the job file, where the job was read from one. */
  readonly job?: string;
  readonly again: boolean;
  /** A sample is sent before all else; a person decides on the rest. */
  readonly first?: RampStage['size'] | undefined;
  /** The rest of a run is sent, of which the sample was; nothing new is planned. */
  readonly rest?: boolean | undefined;
  readonly wait: boolean;
  readonly standby: boolean;
}

export async function runJob(job: Job, flags: JobFlags, context: Context): Promise<Result> {
  context.name({ job: job.name });
  context.emit({ type: 'job', job });
  if (!flags.wait) assertDue(job, context.env.clock);
  if (flags.standby) assertOnce(job, flags);
  const done = await sendAll(flags.first === undefined ? job : sampleFirst(job, flags.first), flags, context);
  if (done.failure !== undefined) return describeFailed(done, job, flags.job, context);
  const openDoubt = await readOpenDoubt(context.env.files, jobDirectoryOf(job), { isSandbox: job.service.sandbox });
  context.emit({ type: 'open-doubt', openDoubt });
  return describeDone({ ...done, openDoubt }, job, { path: flags.job }, context);
}

/** Refuses to stand by where the process would send everything once more as soon as the other one has sent it. */
function assertOnce({ repeat }: Job, { again }: JobFlags): void {
  if (!again && repeat !== 'always') return;
  const what = again ? '--again is given' : 'the job has `repeat: always`';
  throw new UserError(again ? 'bad-flag' : 'bad-job', `Cannot stand by: ${what}, so it would send the files twice`, {
    hint: 'Nothing was sent. With `repeat: per-day` a file is sent once a day, by one of the processes.',
  });
}

async function sendAll(job: Job, flags: JobFlags, context: Context): Promise<Done & Failed> {
  const { job: file, again, wait, standby: standsBy } = flags;
  const { env, log, emit } = context;
  const { files } = env;
  // The day is that of the start, even where planning begins after midnight, behind another run or a stand-by.
  const nowMs = env.clock.now();
  const directory = jobDirectoryOf(job);
  const summaries: Summary[] = [];
  let guarded: Summary | undefined;

  const sendNew = async (sending: SendingJob, history: readonly PastRun[]): Promise<readonly LeftOut[]> => {
    const { registry } = sending;
    const resumed = summaries.map(({ plan }) => plan);
    const isResumed = resumed.length > 0;
    const { made, leftOut } = await endSoon(context, 'plan the job', () =>
      planNewInput(context, job, sending, { history, isAgain: again, isResumed, resumed, startedAt: nowMs }),
    );
    const others = leftOut.filter(({ run }) => run !== undefined && !resumed.includes(run));
    if (job.repeat === 'per-day' && !again) warnOfEarly(others, nowMs, sending, context);
    if (made === undefined) return leftOut;
    try {
      checkGuards(made.plan, job.guards);
      await assertReleased(files, { ...made, guards: job.guards }, registry.state);
    } catch (error) {
      // A disk that failed meanwhile is no guard.
      if (!(error instanceof UserError && error.code === 'guard')) throw error;
      guarded = await writeRunReport(files, made.directory, made.plan);
      emit({ type: 'guarded', summary: guarded });
      log.warn(`a guard stopped the job before anything was sent; the rejections are in ${made.directory}`, {
        event: 'guard',
        run: made.plan.id,
      });
      throw error;
    }
    await confirmSending(context, { ...made, settings: job }, flags);
    await registry.claim(made);
    summaries.push(await sending.send(made.directory, made.plan, job));
    return leftOut;
  };

  const sendRuns = async (sending: SendingJob): Promise<readonly LeftOut[]> => {
    const readRuns = () =>
      endSoon(context, 'plan the job', () => readHistory(files, directory, sending.registry.state));
    const history = await readRuns();
    for (const past of history) {
      const { plan, directory } = past;
      const ended = await sending.endedMeanwhile(directory, plan);
      if (ended === undefined && !(await isUnfinished(past, sending, context))) continue;
      if (ended === undefined) log.info(`resuming run ${plan.id}, which had not finished`, { run: plan.id });
      const summary = ended ?? (await finishRun(past, history, { job, sending, context, answer: flags }));
      log.info(`run ${plan.id} is ${explainEnd(summary)}`, listFigures(summary));
      summaries.push(summary);
      if (summary.state !== 'finished') return [];
    }
    if (flags.rest === true) return assertAnyWaited(summaries, job);
    if (summaries.length === 0) return sendNew(sending, history);
    if (!again && job.repeat !== 'always') return sendNew(sending, await readRuns());
    // A repeated job whose process died is finished, not sent once more.
    const runs = summaries.map(({ plan }) => plan).join(', ');
    log.warn(`this start has finished run ${runs}, and sends the files no second time: the same command does`, {
      event: 'resumed',
    });
    return [];
  };

  try {
    const listAreas = ({ registry }: HeldJob) => listAreasOf(job, registry, files);
    const place = { directory, waits: wait, standsBy, listAreas };
    const leftOut = await withSending(context, job, place, async (sending) => {
      const leftOut = await sendRuns(sending);
      // Only now does no step of the job wait for a file.
      if (summaries.every(({ state }) => state === 'finished')) await sending.moveInputs(job);
      return leftOut;
    });
    return { summaries, leftOut };
  } catch (error) {
    const placed = await placeError(error, file, context);
    const failure = summaries.length === 0 ? placed : sayMore(placed);
    return { summaries, leftOut: [], guarded, failure };
  }
}

/** A start that was late, or that the scheduler counts by another clock, may be of the day of the one before. */
function warnOfEarly(leftOut: readonly LeftOut[], startedAt: number, { registry }: SendingJob, { log }: Context): void {
  const takers = leftOut.flatMap(({ run }) => (run === undefined ? [] : (registry.find(run) ?? [])));
  const early = takers.find((run) => isEarly(run, startedAt));
  if (early === undefined) return;
  const { plan: run, begun } = early;
  const when = formatTime({ at: new Date(begun.at).toISOString() });
  const of = `run ${run} of ${begun.occurrence}, which began on ${when}`;
  log.warn(
    `${of}, has sent files that this start omits, as it is of the same day: if it is that of the next one, as one of the two came late or the scheduler has another time zone (TZ), \`--again\` sends them`,
    { event: 'same-day', run },
  );
}

/** What is refused behind a run that the same command has finished: that one may have sent something. That nothing was sent stands in hints alone. */
function sayMore(failure: unknown): unknown {
  if (!(failure instanceof UserError)) return failure;
  const hint = failure.hint?.replace(/\b([nN])othing was sent\b/g, '$1othing more was sent');
  return new UserError(failure.code, failure.message, { ...failure, hint });
}

/** It has begun, and is neither a test, nor abandoned, nor finished, with its outputs, and recorded as such. */
async function isUnfinished(past: PastRun, { registry }: SendingJob, { env, log }: Pick<Context, 'env' | 'log'>) {
  const { id, testOf } = past.plan;
  if (past.state === 'planned' || testOf !== undefined || registry.state.isAbandoned(id)) return false;
  const isRecorded = past.state === 'finished' && registry.find(id)?.ended?.state === 'finished';
  if (isRecorded && (await isReported(env.files, past))) return false;
  if (listTakenFiles(registry.state, past.plan).length === 0) return true;
  // Its process died as it began, before anything was sent.
  log.warn(
    `run ${id} is not resumed: it had sent nothing, and another run took its files since; to let it go: \`volley abandon ${quoteWord(past.directory)}\``,
    { run: id },
  );
  return false;
}

/** The areas of the job, and of what unfinished runs have still to do, even where the job has no such step any more. */
async function listAreasOf(job: Job, { state, directories }: Registry, files: Files): Promise<readonly Area[]> {
  const areas = new Set(areasOf(job.steps));
  for (const { plan: run } of state.listUnfinished()) {
    const directory = directories.of(run);
    if ((await files.stat(join(directory, PLAN_FILE))) === undefined) continue;
    const plan = await readPlan(files, directory);
    const others = plan.steps.flatMap((step) => {
      const [area] = areasOf(plan.job.steps.slice(step.number - 1, step.number));
      return area === undefined || areas.has(area) ? [] : [{ step, area }];
    });
    // Its journal may be long.
    if (others.length === 0) continue;
    const { state: ran } = await readRunState(files, join(directory, JOURNAL_FILE));
    for (const { step, area } of others) {
      // An action may be due again, for the rows behind it.
      if (isRowKind(step.kind) && !hasWork(step, ran)) continue;
      areas.add(area);
      if (job.service.sandbox || job.service.credentials[area] !== undefined) continue;
      const why = `step ${step.number} (${step.kind}) of it is not done, and the job has no credentials for ${area} any more`;
      throw new UserError('bad-credentials', `Cannot resume run ${run}: ${why}`, {
        hint:
          `Put them back into service.credentials of the job, finish the run as it was planned with \`volley apply ${quoteWord(directory)}\`, ` +
          `or let it go with \`volley abandon ${quoteWord(directory)}\`.`,
      });
    }
  }
  return [...areas];
}

async function finishRun(
  past: PastRun,
  history: readonly PastRun[],
  { job, sending, context, answer }: { job: Job; sending: SendingJob; context: Context; answer: JobFlags },
): Promise<Summary> {
  const { env } = context;
  const { registry } = sending;
  const pass = answer.rest === true ? ({ stage: 'sample', by: namePerson(context) } as const) : undefined;
  if (past.state === 'finished') return sending.send(past.directory, past.plan, past.plan.job);
  if (answer.first !== undefined) assertSampled(past, answer.first, context);
  const settings = joinSettings(past.plan, job, past.directory);
  await assertNotRefused(env.files, past, job.guards);
  warnOfChanges(past, { job, file: answer.job }, context);
  await endSoon(context, 'finish the run', () =>
    assertMaySend(context, registry, { ...past, guards: job.guards, pass, history }),
  );
  await confirmSending(context, { ...past, settings }, answer);
  return sending.send(past.directory, past.plan, settings, pass);
}

/** What was planned is sent, also where a person has corrected the text meanwhile: they should know before they wonder. */
function warnOfChanges(
  { plan, directory }: PastRun,
  { job, file }: { job: Job; file: string | undefined },
  { log }: Context,
): void {
  const changes = plan.job.steps.flatMap(({ kind }, index) => {
    const keys = listChangedKeys(plan.job, index, job);
    return keys.length === 0 ? [] : [`${keys.join(', ')} of step ${index + 1} (${kind})`];
  });
  if (changes.length === 0) return;
  const retry = `\`volley retry ${quoteWord(directory)} --only unprocessed --job ${quoteWord(file ?? 'job.yaml')}\``;
  const instead = `\`volley abandon ${quoteWord(directory)}\`, then ${retry}`;
  log.warn(
    `what is left of run ${plan.id} is sent as it was planned, though the job has changed: ${changes.join('; ')}. As long as it is not finished, this sends the rest as the job is now: ${instead}`,
    { event: 'changed', run: plan.id },
  );
}

/** Without a sample all of it would be sent; one of another size stays as it was planned. */
function assertSampled({ plan }: PastRun, size: RampStage['size'], { log }: Context): void {
  const planned = plan.job.steps.flatMap((step) => (step.kind === 'sms' ? (step.ramp ?? []) : []));
  const sample = planned.find(({ isAsked }) => isAsked);
  if (sample !== undefined) {
    if (!isDeepStrictEqual(sample.size, size))
      log.warn(`the sample of run ${plan.id} stays as it was planned: another size in --first changes nothing`);
    return;
  }
  throw new UserError('bad-plan', `Cannot send a sample first: run ${plan.id} of the job is unfinished, and has none`, {
    hint: 'Nothing was sent. Finish that run first: run the job without --first.',
  });
}

function assertAnyWaited(finished: readonly Summary[], { name }: Job): readonly LeftOut[] {
  if (finished.length > 0) return [];
  throw new UserError('bad-plan', `Cannot send the rest: no run of job ${name} waits for it`, {
    hint: 'Nothing was sent. A run waits once its sample is sent, by `volley run` with --first.',
  });
}
