import { OPT_OUT_COLUMNS, type OptOut } from '../../src/domain/opt-out-line.js';
import type { Window } from '../../src/hours/window.js';
import { isRowStep, type Job } from '../../src/job/job.js';
import { openOptOutFile } from '../../src/listen/opt-outs.js';
import type { Row } from '../world/judge.js';
import type { Process } from '../world/process.js';
import type { Done } from '../world/service.js';
import { createSimFiles } from '../world/sim-files.js';
import { NOON } from '../world/timeline.js';
import { Violation } from '../world/violation.js';
import type { World } from '../world/world.js';
import { readStep, stepsOf } from './account.js';
import type { Subject } from './run-watch.js';
import type { Scenario } from './scenario.js';

export const OPT_OUTS = '/in/opt-outs.csv';
/** From the last look at a list to the first byte, of a process that is not stopped meanwhile. */
const LOOK_MS = 100;
/** All five cells of a line, also where its end is lost. */
const WHOLE_LINE = /^\+\d{10},(?:in|out),[^,]*,[^,]*,[^,]*$/;
const SINGAPORE_MS = 8 * 3_600_000;
/** Clocks differ. */
const SPAN_ROOM_MS = 10 * 60_000;

type Had = Readonly<{ job: Job; text: string; atMs: number }>;

/**
 * Judges what all jobs of a world together do to people: none gets anything at night or once they opted out, a text twice, or too
 * many. It knows nothing of how jobs remember people.
 */
export class PeopleWatch {
  readonly #world: World;
  readonly #rows: readonly Row[];
  /** Since when the line of a number is durable, of those whose latest line says out. */
  #outSinceMs = new Map<string, number>();
  /** Whom a job may leave out: their line was begun, durable or not, since they last opted in before any job. */
  readonly #mayBeOut = new Set<string>();
  #isTorn = false;
  /** When a person last put the list right. */
  #fixedMs = Number.NEGATIVE_INFINITY;
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

  /** Before any job there is a list, on which some opted out, and of these some in again. */
  async begin({ optOuts }: Job): Promise<void> {
    const { random } = this.#world;
    await this.#open().then((list) => list.close());
    if (optOuts === undefined || random() < 0.5) return;
    for (const { mobile } of this.#rows) {
      if (!mobile.startsWith('+') || random() < 0.8) continue;
      await this.decide(mobile, 'out');
      if (random() < 0.5) continue;
      await this.decide(mobile, 'in');
      this.#mayBeOut.delete(mobile);
    }
  }

  /** Another process takes down that someone opted out, or in again; `isCut`: the power fails before the line is durable. */
  async decide(number: string, what: OptOut['what'], isCut = false): Promise<void> {
    const { timeline, trace } = this.#world;
    if (what === 'out') this.#mayBeOut.add(number);
    const list = await this.#open(isCut);
    await list.add({ number, what, at: new Date(NOON + timeline.nowMs).toISOString(), by: 'ann', word: '' });
    if (what === 'in') this.#outSinceMs.delete(number);
    else if (!this.#outSinceMs.has(number)) this.#outSinceMs.set(number, timeline.nowMs);
    trace(`${number} opted ${what}`);
    await list.close();
  }

  #open(isCut = false): ReturnType<typeof openOptOutFile> {
    const world = this.#world;
    const nowMs = () => NOON + world.timeline.nowMs;
    let isAdding = false;
    const perform = async <T>(name: string, act: () => T): Promise<T> => {
      if (!isCut || !isAdding || !/sync/.test(name)) {
        const done = act();
        isAdding ||= name === `write ${OPT_OUTS}`;
        return done;
      }
      world.cutPower();
      this.#readWhatIsLeft();
      return new Promise(() => {});
    };
    const files = createSimFiles(world.disk, perform, { pid: 1, nowMs });
    return openOptOutFile(OPT_OUTS, { files });
  }

  /** What stands in the list holds, acknowledged or not. */
  #readWhatIsLeft(): void {
    const { timeline, trace } = this.#world;
    const { whole, torn } = this.#readLines();
    const latest = new Map(whole.map((line) => [line.split(',')[0] ?? '', line.split(',')[1]]));
    const isOut = [...latest].flatMap(([number, what]) => (what === 'out' ? [number] : []));
    const { nowMs } = timeline;
    this.#outSinceMs = new Map(isOut.map((number) => [number, this.#outSinceMs.get(number) ?? nowMs]));
    this.#isTorn = torn.length > 0;
    trace(`the list of opt-outs ends with ${JSON.stringify(torn[0] ?? whole.at(-1))}`);
  }

  #readLines(): { whole: string[]; torn: string[] } {
    const text = String(this.#world.disk.volume.readFileSync(OPT_OUTS, 'utf8'));
    const lines = text.split('\n').slice(1);
    const whole = lines.filter((line) => WHOLE_LINE.test(line));
    return { whole, torn: lines.filter((line) => line !== '' && !WHOLE_LINE.test(line)) };
  }

  /** A person looks at the list. */
  fixList(): void {
    if (!this.#isTorn) return;
    const { disk, timeline, trace } = this.#world;
    const bytes = Buffer.from([OPT_OUT_COLUMNS.join(','), ...this.#readLines().whole, ''].join('\n'));
    const inode = disk.inodeOf(OPT_OUTS);
    disk.volume.writeFileSync(OPT_OUTS, bytes);
    disk.syncFile(inode, bytes);
    disk.noteModified(inode, NOON + timeline.nowMs);
    this.#isTorn = false;
    this.#fixedMs = timeline.nowMs;
    trace('a person puts the list of opt-outs right');
  }

  /** Whether a process may be refused since it found a line in the list that cannot be read. */
  wasTorn({ bornMs }: Process): boolean {
    return this.#isTorn || bornMs <= this.#fixedMs;
  }

  /** No one is left out of a finished job who opted in again before it, or never opted out. */
  checkLeftOut(scenario: Scenario, directory: string): void {
    for (const step of stepsOf(scenario)) {
      for (const [row, { cells }] of readStep(this.#world.disk, directory, step)) {
        const { mobile = '' } = step.rows[row - 1] ?? {};
        if (cells._code === 'opted-out' && !this.#mayBeOut.has(mobile))
          throw new Violation(`${step.kind} row ${row} is left out, and ${mobile} did not opt out, or opted in again`);
      }
    }
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
    if (this.#isTorn) throw new Violation(`${subject.kind} leave, and the list of opt-outs cannot be read`);
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
      // What a run has to send counts from its beginning: of one that began later, and lets a person get more, this one knew nothing.
      const later = recent.filter((other) => other.atMs >= process.bornMs);
      const max = Math.max(frequency.max, ...later.map((other) => other.job.frequency?.max ?? 0));
      if (recent.length >= max) throw new Violation(`${destination} gets more than ${max} texts`);
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
