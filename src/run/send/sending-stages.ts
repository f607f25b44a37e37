import { InternalError } from '../../domain/errors.js';
import { formatTime } from '../../domain/stated-time.js';
import type { RampStage } from '../../job/job.js';
import type { StageEntry } from '../../journal/entry-format.js';
import type { StepProgress } from '../../journal/replay.js';
import type { Plan, PlannedStep, RequestHead } from '../../plan/format/plan-file.js';
import type { Files } from '../../storage/files.js';
import type { Held } from '../../storage/lock.js';
import type { Journal, SendDeps } from '../run-deps.js';
import { sleepUntil } from '../run-times.js';
import type { StopSwitch } from '../stop.js';
import { judgeStage } from './judge-stage.js';

/** The stages of a step: requests of one leave once those before it have passed. What became of a stage is judged when every row of it has its outcome. */
export class SendingStages {
  readonly #ramp: readonly RampStage[];
  readonly #context: StagedStep;
  /** Of the stage whose requests leave, from 1. */
  #current: number;

  constructor(ramp: readonly RampStage[], context: StagedStep) {
    this.#ramp = ramp;
    this.#context = context;
    this.#current = context.progress.stage.passed + 1;
  }

  /** A request that names no stage may never leave. */
  isOpen({ stage = Number.POSITIVE_INFINITY }: Pick<RequestHead, 'stage'>): boolean {
    return stage <= this.#current;
  }

  /** Called where nothing is left but requests of later stages, and none is in flight. True: the next stage may begin; else the run stops. */
  async endStage(): Promise<boolean> {
    const { progress, planned, journal, lock, deps, stop } = this.#context;
    const stage = this.#ramp[this.#current - 1];
    if (stage === undefined)
      throw new InternalError('unexpected', `Cannot end stage ${this.#current}: it is the last one`);
    const { waiting } = progress.stage;
    // On a sample a person decides, in a run of its own. One that was held passes once receipts say so.
    const judged = waiting?.verdict === 'asked' ? waiting : await this.#judge(stage);
    if (judged === undefined) return false;
    const entry = waiting === null || judged.verdict === 'passed' ? judged : waiting;
    if (entry !== waiting) {
      await lock.assertHeld();
      await journal.append(entry);
    }
    const so = `step ${planned.number}: ${describeStage(entry)}`;
    if (entry.verdict !== 'passed') {
      stop.request(entry.verdict === 'asked' ? 'sampled' : 'held', so);
      return false;
    }
    this.#current += 1;
    deps.onNotice(`${so}; stage ${this.#current} begins`, {
      event: 'stage',
      step: planned.number,
      stage: this.#current,
    });
    return true;
  }

  /** Undefined where the run stops before that. */
  async #judge(stage: RampStage): Promise<StageEntry | undefined> {
    const { progress, planned, deps, plan, directory } = this.#context;
    const number = this.#current;
    const key = { type: 'stage', step: planned.number, number, by: 'ramp' } as const;
    const figures = { ...progress.stage.rows };
    // Of a short file nothing is in it.
    if (planned.stages?.[number - 1] === 0) {
      return { ...key, at: deps.clock.now(), verdict: 'passed', why: 'no row is in it', figures };
    }
    if (!(await this.#pause(stage))) return undefined;
    const asked = { stage, step: planned.number, number, rows: figures };
    const judged = await judgeStage(deps.files, { directory, plan }, asked);
    return { ...key, at: deps.clock.now(), ...judged, figures };
  }

  /** Behind the last outcome of the stage, which is durable: a later process waits for what is left. False where the run stops meanwhile. */
  async #pause({ pauseMs = 0 }: RampStage): Promise<boolean> {
    const { progress, planned, deps, stop } = this.#context;
    const untilMs = progress.stage.lastOutcomeAt + pauseMs;
    if (untilMs <= deps.clock.now()) return !stop.isRequested;
    const until = formatTime({ at: new Date(untilMs).toISOString() });
    const so = `step ${planned.number}: stage ${this.#current} is sent; it is judged on ${until}, and the run waits for that`;
    deps.onNotice(so, { event: 'stage', step: planned.number, stage: this.#current, until: untilMs });
    await sleepUntil(untilMs, deps.clock, stop.nothingNew);
    return !stop.isRequested;
  }
}

interface StagedStep {
  readonly plan: Plan;
  readonly directory: string;
  readonly planned: PlannedStep;
  readonly progress: Pick<StepProgress, 'stage'>;
  readonly journal: Journal;
  readonly lock: Held;
  readonly deps: Pick<SendDeps, 'clock' | 'onNotice'> & { readonly files: Files };
  readonly stop: StopSwitch;
}

/** `stage 1 is sent (23 rows accepted): a person decides on the rest` */
export function describeStage({ number, verdict, why }: StageEntry): string {
  if (verdict === 'asked') return `the sample is sent (${why}): a person decides on the rest`;
  return `stage ${number} ${verdict === 'held' ? 'does not pass' : 'has passed'} (${why})`;
}
