import { OPT_OUT_COLUMNS } from '../../src/domain/opt-out-line.js';
import type { Window } from '../../src/hours/window.js';
import { isRowStep, type Job } from '../../src/job/job.js';
import { OptOutFile } from '../../src/listen/opt-out-file.js';
import type { Row } from '../world/judge.js';
import type { Process } from '../world/process.js';
import type { Done } from '../world/service.js';
import { createSimFiles } from '../world/sim-files.js';
import { NOON } from '../world/timeline.js';
import { Violation } from '../world/violation.js';
import type { World } from '../world/world.js';
import type { Subject } from './run-watch.js';

export const OPT_OUTS = '/in/opt-outs.csv';
/** From the last look at a list to the first byte, of a process that is not stopped meanwhile. */
const LOOK_MS = 100;
const SINGAPORE_MS = 8 * 3_600_000;
/** Clocks differ. */
const SPAN_ROOM_MS = 10 * 60_000;

interface Had {
  readonly job: Job;
  readonly text: string;
  readonly atMs: number;
}

/**
 * Judges what all jobs of a world together do to people: none gets anything at night or once they opted out, a text twice, or too
 * many. It knows nothing of how jobs remember people.
 */
export class PeopleWatch {
  readonly #world: World;
  readonly #rows: readonly Row[];
  /** Since when the line of a number is durable. */
  readonly #outSinceMs = new Map<string, number>();
  readonly #had = new Map<string, Had[]>();

  constructor(world: World, rows: readonly Row[]) {
    this.#world = world;
    this.#rows = rows;
    const { disk } = world;
    const read = () => disk.volume.readFileSync(OPT_OUTS) as Buffer;
    world.tables.set(OPT_OUTS, {
      columns: OPT_OUT_COLUMNS,
      get rows() {
        return read()
          .toString('utf8')
          .trimEnd()
          .split('\n')
          .slice(1)
          .map((line) => line.split(','));
      },
      get bytes() {
        return read().length;
      },
    });
  }

  /** Another process takes down that someone opted out, or begins the list. */
  async optOut(number?: string): Promise<void> {
    const { disk, timeline, trace } = this.#world;
    const nowMs = () => NOON + timeline.nowMs;
    const files = createSimFiles(disk, async (_name, act) => act(), { pid: 1, nowMs });
    const list = await OptOutFile.open(OPT_OUTS, { files });
    if (number !== undefined) {
      await list.add({ number, what: 'out', at: new Date(nowMs()).toISOString(), by: 'ann', word: '' });
      if (!this.#outSinceMs.has(number)) this.#outSinceMs.set(number, timeline.nowMs);
      trace(`${number} opted out`);
    }
    await list.close();
  }

  /** Rows leave: not at a closed instant by the clock of their process, nor to who had opted out when that last looked. */
  onLeave({ steps, optOuts }: Job, subject: Subject, process: Process): void {
    if (subject.type !== 'rows') return;
    const { nowMs } = this.#world.timeline;
    const step = steps[subject.step - 1];
    if (step?.kind === 'sms' && step.window !== undefined && !isOpen(step.window, process.clockMs))
      throw new Violation(
        `sms ${subject.rows.join(', ')} leaves at ${new Date(process.clockMs).toISOString()}, at night`,
      );
    if (optOuts === undefined || step === undefined || !isRowStep(step) || step.suppress === undefined) return;
    // One that was stopped looks again before it sends, or had looked before.
    for (const row of subject.rows) {
      const number = this.#rows.find(({ mobile, name }) => row === mobile || row === name)?.mobile ?? '';
      const sinceMs = this.#outSinceMs.get(number);
      if (sinceMs !== undefined && nowMs - Math.max(sinceMs, process.stoppedUntilMs) > LOOK_MS)
        throw new Violation(`${subject.kind} ${row} leaves, and had opted out ${Math.round(nowMs - sinceMs)} ms ago`);
    }
  }

  /** Messages were taken: of none the number had the text, or too many, by a job that was to look for that. */
  onProcessed(job: Job, { entries }: Pick<Done, 'entries'>, process: Process): void {
    const { nowMs: atMs } = this.#world.timeline;
    for (const entry of entries) {
      if (entry.area !== 'sms') continue;
      const { destination, text } = entry;
      const had = this.#had.get(destination) ?? [];
      this.#had.set(destination, [...had, { job, text, atMs }]);
      // Of two jobs at one time each sees the other only if both look.
      const within = (spanMs: number, looks: (job: Job) => boolean) =>
        had.filter(
          (other) => atMs - other.atMs < spanMs - SPAN_ROOM_MS && (looks(other.job) || other.atMs < process.bornMs),
        );
      const { frequency, sameText, sameTextWithin } = job;
      const same = within(sameTextWithin, (other) => other.sameText !== 'send').filter((each) => each.text === text);
      if (sameText !== 'send' && same.length > 0) throw new Violation(`${destination} gets "${text}" twice`);
      if (frequency === undefined) continue;
      const recent = within(frequency.per, (other) => other.frequency !== undefined);
      if (recent.length >= frequency.max) throw new Violation(`${destination} gets more than ${frequency.max} texts`);
    }
  }
}

/** Written anew, by the fixed offset of the only country of the recipients. */
export function isOpen({ days, from, to }: Pick<Window, 'days' | 'from' | 'to'>, atMs: number): boolean {
  const local = new Date(atMs + SINGAPORE_MS);
  const time = local.toISOString().slice(11, 16);
  const day = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][local.getUTCDay()];
  return days.some((each) => each === day) && time >= from && time < to;
}
