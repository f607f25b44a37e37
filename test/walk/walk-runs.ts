import { parse } from 'csv-parse/sync';
import type { JournalEntry } from '../../src/journal/entry-format.js';
import { RunState } from '../../src/journal/replay.js';
import type { Plan } from '../../src/plan/format/plan-file.js';
import { readRunName } from '../../src/plan/format/run-directories.js';
import { entriesIn } from '../world/violation.js';
import type { WalkWorld } from './walk-world.js';

export const JOB = '/out/walk';

export type RunTrait =
  | 'to be applied'
  | 'in doubt'
  | 'rejected'
  | 'not-sent'
  | 'unprocessed'
  | 'a draft'
  | 'a claimant';

/** The plans and runs of the job, as they are on the disk. */
export class WalkRuns {
  readonly #disk: WalkWorld['disk'];

  constructor({ disk }: WalkWorld) {
    this.#disk = disk;
  }

  /** Their ids, in the order of the names of their directories. */
  get names(): string[] {
    const { volume } = this.#disk;
    const plans = this.#directories.filter((name) => volume.existsSync(`${JOB}/${name}/plan.json`));
    return plans.map(readRunName);
  }

  directoryOf(run: string): string {
    return `${JOB}/${this.#directories.find((name) => readRunName(name) === run) ?? run}`;
  }

  get #directories(): string[] {
    const { volume } = this.#disk;
    if (!volume.existsSync(JOB)) return [];
    return volume
      .readdirSync(JOB)
      .map(String)
      .filter((name) => !name.startsWith('.'))
      .sort();
  }

  /** Those that have such rows, or that are such. */
  namesWith(what: RunTrait): string[] {
    return this.names.filter((run) => {
      const { firstOpen, isFinished, steps } = this.stateOf(run);
      if (what === 'to be applied') return !isFinished;
      if (what === 'a draft') return firstOpen === undefined;
      if (what === 'a claimant') return firstOpen !== undefined && this.isClaimant(run);
      const { settledRows, retriedRows } = steps.get(1) ?? new RunState().step(1);
      if (what === 'rejected') return settledRows.rejected > retriedRows.rejected;
      if (what === 'not-sent') return settledRows['not-sent'] > retriedRows['not-sent'];
      return firstOpen !== undefined && (what === 'unprocessed' ? !isFinished : settledRows['in-doubt'] > 0);
    });
  }

  readOutput(run: string, output: string): Record<string, string>[] {
    const { volume } = this.#disk;
    const path = `${this.directoryOf(run)}/1-sms.${output}.csv`;
    return volume.existsSync(path) ? parse(String(volume.readFileSync(path, 'utf8')), { columns: true }) : [];
  }

  /** The run whose rows a plan retries. */
  sourceOf(run: string): string | undefined {
    return this.#planOf(run).retryOf?.run;
  }

  /** Whether a run is gone from which a plan retries rows, or that one in its turn. */
  isCutOff(run: string): boolean {
    const source = this.sourceOf(run);
    return source !== undefined && (!this.names.includes(source) || this.isCutOff(source));
  }

  /** Whether a plan has rows of other runs. */
  isClaimant(run: string): boolean {
    const { retryOf, steps } = this.#planOf(run);
    return retryOf !== undefined || steps.some(({ inputs }) => inputs.some(({ fedFrom }) => fedFrom !== undefined));
  }

  isTest(run: string): boolean {
    return this.#planOf(run).testOf !== undefined;
  }

  #planOf(run: string): Plan {
    return JSON.parse(String(this.#disk.volume.readFileSync(`${this.directoryOf(run)}/plan.json`, 'utf8')));
  }

  isBegun(run: string): boolean {
    return this.stateOf(run).firstOpen !== undefined;
  }

  stateOf(run: string): RunState {
    const state = new RunState();
    for (const entry of this.entriesOf(run)) state.apply(entry);
    return state;
  }

  entriesOf(run: string): JournalEntry[] {
    const { volume } = this.#disk;
    const path = `${this.directoryOf(run)}/journal.ndjson`;
    return volume.existsSync(path) ? [...entriesIn(volume.readFileSync(path) as Buffer)] : [];
  }
}
