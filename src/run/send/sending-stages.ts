import { countOf, format } from '../../domain/count-of.js';
import { InternalError } from '../../domain/errors.js';
import type { RampStage } from '../../job/job.js';
import type { StageEntry } from '../../journal/entry-format.js';
import type { StepProgress } from '../../journal/replay.js';
import type { PlannedStep, RequestHead } from '../../plan/format/plan-file.js';
import type { Held } from '../../storage/lock.js';
import type { Journal, SendDeps } from '../run-deps.js';
import type { StopSwitch } from '../stop.js';

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
    // A person decides, in a run of its own.
    const entry = progress.stage.waiting ?? this.#judge(stage);
    if (entry !== progress.stage.waiting) {
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

  #judge({ isAsked }: RampStage): StageEntry {
    const { progress, planned, deps } = this.#context;
    const figures = { ...progress.stage.rows };
    // Of a short file nothing is in it.
    const isEmpty = planned.stages?.[this.#current - 1] === 0;
    const verdict = isAsked === true && !isEmpty ? 'asked' : 'passed';
    const key = { type: 'stage', step: planned.number, number: this.#current, at: deps.clock.now() } as const;
    return { ...key, verdict, why: describeFigures(figures), figures, by: 'ramp' };
  }
}

interface StagedStep {
  readonly planned: Pick<PlannedStep, 'number' | 'stages'>;
  readonly progress: Pick<StepProgress, 'stage'>;
  readonly journal: Journal;
  readonly lock: Held;
  readonly deps: Pick<SendDeps, 'clock' | 'onNotice'>;
  readonly stop: StopSwitch;
}

/** `stage 1 is sent (23 rows accepted): a person decides on the rest` */
export function describeStage({ number, verdict, why }: StageEntry): string {
  if (verdict === 'asked') return `the sample is sent (${why}): a person decides on the rest`;
  return `stage ${number} ${verdict === 'held' ? 'does not pass' : 'has passed'} (${why})`;
}

function describeFigures({
  accepted,
  rejected,
  'in-doubt': inDoubt,
  'not-sent': withheld,
}: StageEntry['figures']): string {
  return [
    `${countOf(accepted, 'row')} accepted`,
    ...(rejected > 0 ? [`${format(rejected)} rejected`] : []),
    ...(inDoubt > 0 ? [`${format(inDoubt)} in doubt`] : []),
    ...(withheld > 0 ? [`${format(withheld)} withheld`] : []),
  ].join(', ');
}
