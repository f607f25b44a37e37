import { join } from 'node:path';
import { InternalError, UserError } from '../domain/errors.js';
import type { RowRange } from '../journal/entry-format.js';
import { accountOfKind } from '../plan/format/account-of.js';
import { JOURNAL_FILE, type Plan } from '../plan/format/plan-file.js';
import type { RunDirectories } from '../plan/format/run-directories.js';
import type { Summary } from '../report/summary.js';
import { type Files, syncFile } from '../storage/files.js';
import { type Identity, identityOf } from '../storage/identity.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';
import { noteOf } from '../storage/lock-note.js';
import { describeReimport, describeRetry } from './claim-rows.js';
import { type Fault, findRunFaults, listNotedFiles, lookAgain } from './find-faults.js';
import { assertNotAbandoned, refusePruned } from './marks.js';
import type { PastRun } from './read-runs.js';
import {
  type AdoptedEntry,
  type BegunEntry,
  digestPlanOf,
  END_OF_TORN_LINE,
  type EndedEntry,
  encodeRegistryLine,
  REGISTRY_FILE,
  type RegistryEntry,
} from './registry-entry.js';
import { type KnownRun, listTakenFiles, type RegistryState } from './registry-state.js';

export interface OpenOptions {
  readonly jobDirectory: string;
  readonly lock: Lock;
  /** A person who says that the directory, whatever was done to it, is the job's from now on. */
  readonly adoptedBy?: string | undefined;
  /** One sentence that a person should know. */
  readonly onNotice: (notice: string) => void;
}

/** The job's memory, open behind its lock. Every entry is on disk once its call returns. */
export class Registry {
  readonly state: RegistryState;
  readonly directories: RunDirectories;
  readonly #deps: Ports;
  readonly #jobDirectory: string;
  readonly #lock: Lock;
  readonly #adoptedBy: string | undefined;
  readonly #onNotice: OpenOptions['onNotice'];
  #isTorn: boolean;
  /** Where the last good line of the registry ends. */
  #bytes = 0;

  constructor(
    deps: Ports,
    { jobDirectory, lock, adoptedBy, onNotice }: OpenOptions,
    {
      state,
      goodBytes,
      isTorn,
      directories,
    }: { state: RegistryState; goodBytes: number; isTorn: boolean; directories: RunDirectories },
  ) {
    this.#deps = deps;
    this.#jobDirectory = jobDirectory;
    this.#lock = lock;
    this.#adoptedBy = adoptedBy;
    this.#onNotice = onNotice;
    this.state = state;
    this.directories = directories;
    this.#isTorn = isTorn;
    this.#bytes = goodBytes;
  }

  /** Id of the run that took a file for a step of a kind, by the digest of its bytes or of its rows: the latest, where several did. */
  findTaken(
    { job, occurrence }: Pick<Plan, 'job' | 'occurrence'>,
    { kind, digest }: { kind: string; digest: string },
  ): string | undefined {
    return this.state.listTakers(kind, digest, { account: accountOfKind(job, kind), occurrence }).at(-1);
  }

  /** Of all runs that were begun, tests aside. */
  get occurrences(): readonly string[] {
    return [...this.state.runs.values()].flatMap(({ begun }) => (begun.testOf === undefined ? [begun.occurrence] : []));
  }

  /** Whether a run was begun, wherever its directory is now. */
  find(plan: string): KnownRun | undefined {
    return this.state.runs.get(plan);
  }

  /** Refuses to begin an abandoned plan, and one whose files another run took after it was made. */
  assertNotTaken(plan: Plan): void {
    assertNotAbandoned(this.state, plan.id);
    const problems = listTakenFiles(this.state, plan);
    if (problems.length === 0) return;
    throw new UserError('plan-mismatch', `Cannot apply plan ${plan.id}: its files would be sent twice`, {
      hint: 'Make a new plan; `volley plan --again` if they shall be sent once more.',
      problems,
    });
  }

  /** Refuses a run that began here and is another one by now, or lacks what it had: see `findRunFaults`. */
  async assertOwn(plan: string): Promise<void> {
    const pruned = this.state.pruned.get(plan);
    if (pruned !== undefined) throw refusePruned(this.directories.of(plan), pruned);
    const run = this.find(plan);
    if (run === undefined) return;
    const faults = await this.#findFaults(run);
    if (faults.length === 0) return;
    // What the next owner of the lock has written since is no fault.
    await this.#lock.assertHeld();
    const found = await identifyRun(this.#deps.files, this.directories.of(plan));
    const adopted = { ...run, directory: found.directory ?? undefined, journal: found.journal ?? run.journal };
    const left = await this.#findFaults(adopted);
    if (left.length > 0) throw refuseRun(this.directories.of(plan), left);
    if (this.#adoptedBy === undefined) throw refuseDirectory(this.#jobDirectory, faults);
    await this.adopt(faults, [{ plan, ...found }]);
  }

  /** A person has said that the directory is the job's from now on. `runs`: those that are as they are now. */
  async adopt(faults: readonly Fault[], runs: AdoptedEntry['runs']): Promise<void> {
    const { files, clock } = this.#deps;
    const by = this.#adoptedBy ?? '';
    await this.append({
      type: 'adopted',
      at: clock.now(),
      by,
      why: faults.map(({ where, message }) => `${where}: ${message}`),
      registry: await identify(files, join(this.#jobDirectory, REGISTRY_FILE)),
      directory: await identify(files, this.#jobDirectory),
      runs,
    });
    this.#onNotice(`${this.#jobDirectory} is adopted by ${by}: ${faults.map(({ message }) => message).join('; ')}`);
  }

  async #findFaults(run: KnownRun): Promise<Fault[]> {
    const of = { run, directories: this.directories, lock: this.#lock };
    return (await findRunFaults(this.#deps.files, of)).filter(({ isHarmless }) => isHarmless !== true);
  }

  /** A plan of a retry has its rows from now on, for good. */
  async claimRetried(plan: Plan, rows: { source: Plan; ranges: readonly RowRange[]; by: string }): Promise<void> {
    await this.append(...describeRetry(plan, { ...rows, at: this.#deps.clock.now() }));
  }

  /** A plan is about to begin, and has the rows of other runs that came back as its input from now on, for good. A second time there is nothing to note. */
  async claimReimported(run: { directory: string; plan: Plan }, history: readonly PastRun[]): Promise<void> {
    if (run.plan.retryOf !== undefined) return;
    const { files, clock } = this.#deps;
    const at = clock.now();
    const entries = await describeReimport(files, run, { claims: this.state.claims, history, at });
    if (entries.length > 0) await this.append(...entries);
  }

  /** A run's journal is open: it has its files from now on, before its first intent. A second time there is nothing to note. */
  async noteBegun(plan: Plan): Promise<void> {
    const known = this.find(plan.id);
    if (known?.journal !== undefined) return;
    const { files, clock } = this.#deps;
    const directory = this.directories.of(plan.id);
    await this.append(await describeBegun(files, { plan, directory, at: clock.now() }));
  }

  /** A run has its outputs. */
  async noteEnded(summary: Summary): Promise<void> {
    if (this.find(summary.plan) === undefined) return;
    const { files, clock } = this.#deps;
    const directory = this.directories.of(summary.plan);
    await this.append(await describeEnded(files, summary, { directory, at: clock.now() }));
  }

  async append(...entries: readonly RegistryEntry[]): Promise<void> {
    await this.#lock.assertHeld();
    let after = this.#bytes;
    const path = join(this.#jobDirectory, REGISTRY_FILE);
    const file = await this.#deps.files.openAppend(path);
    try {
      const torn = this.#isTorn ? [END_OF_TORN_LINE] : [];
      let end = file.bytes + (this.#isTorn ? END_OF_TORN_LINE.length : 0);
      const lines = entries.map((entry) => {
        const line = encodeRegistryLine(entry, after);
        end += line.length;
        after = end;
        return line;
      });
      await file.append(Buffer.concat([...torn, ...lines]));
      await file.sync();
      this.#isTorn = false;
      this.#bytes = file.bytes;
    } catch (error) {
      this.#isTorn = true;
      throw error;
    } finally {
      await file.close();
    }
    for (const entry of entries) this.state.apply(entry);
    await this.#lock.note(REGISTRY_FILE, noteOf(this.#bytes, await this.#deps.files.stat(path)));
  }

  /** From now on the job's lock notes how long the files are. Of journals that a person adopted as they are nothing is known yet. */
  async attest({ isAdopted }: { isAdopted: boolean }): Promise<void> {
    const { files } = this.#deps;
    const noted = listNotedFiles(this.state, this.directories);
    for (const [, path] of noted) {
      // What was read may not be on disk yet; from here on all builds upon it.
      if ((await files.stat(path)) !== undefined) await syncFile(files, path);
    }
    await this.#lock.note(REGISTRY_FILE, { bytes: this.#bytes });
    const known = (key: string) => (isAdopted && key !== REGISTRY_FILE ? undefined : this.#lock.known(key));
    await this.#lock.attest(await lookAgain(files, noted, known));
  }
}

/** A run that has a plan and a journal. */
export async function describeBegun(
  files: Files,
  { plan, directory, at }: { plan: Plan; directory: string; at: number },
): Promise<BegunEntry> {
  return {
    type: 'begun',
    at,
    plan: plan.id,
    planSha256: await digestPlanOf(files, directory),
    occurrence: plan.occurrence,
    retryOf: plan.retryOf?.run ?? null,
    ...(plan.testOf === undefined ? {} : { testOf: plan.testOf }),
    files: (plan.testOf === undefined ? plan.steps : []).flatMap(({ kind, number, inputs }) => {
      const account = accountOfKind(plan.job, kind);
      return inputs.map(({ file, contentSha256, rowsSha256 }) => {
        return { file, kind, step: number, account, content: contentSha256, rows: rowsSha256 ?? null };
      });
    }),
    directory: await identify(files, directory),
    journal: await identify(files, join(directory, JOURNAL_FILE)),
  };
}

/** A run that has its outputs. */
export async function describeEnded(
  files: Files,
  { plan, state, exitCode, balance, startedAt, endedAt }: Summary,
  { directory, at }: { directory: string; at: number },
): Promise<EndedEntry> {
  const { bytes: journalBytes = 0 } = (await files.stat(join(directory, JOURNAL_FILE))) ?? {};
  return { type: 'ended', at, plan, state, exitCode, counts: { ...balance }, startedAt, endedAt, journalBytes };
}

export async function identify(files: Files, path: string): Promise<Identity> {
  const found = await files.stat(path);
  if (found === undefined) throw new InternalError('unexpected', `Cannot find ${path}, which was just made`);
  return identityOf(path, found);
}

/** Where a run is now; null for what is gone. */
export async function identifyRun(
  files: Files,
  directory: string,
): Promise<Pick<AdoptedEntry['runs'][number], 'directory' | 'journal'>> {
  const of = async (path: string) => ((await files.stat(path)) === undefined ? null : identify(files, path));
  return { directory: await of(directory), journal: await of(join(directory, JOURNAL_FILE)) };
}

/** What adopting does not change: the run cannot be used as it is. */
function refuseRun(directory: string, problems: readonly Fault[]): UserError {
  return new UserError('registry-mismatch', `Cannot use ${directory}: it is not as volley left it`, {
    problems,
    hint: 'Nothing was sent. Put the run back from a backup that is as new as the run, or remove its directory: what it took stays known, and new files of the job are sent without it.',
  });
}

/** What was found is not what the registry knows. Nothing is sent until a person decides. */
export function refuseDirectory(
  jobDirectory: string,
  faults: readonly { where: string; message: string }[],
): UserError {
  return new UserError(
    'registry-mismatch',
    `Cannot use ${jobDirectory}: it is not as volley left it, so what was sent may not be known`,
    {
      problems: faults,
      hint:
        'Nothing was sent. If it is a copy, use the original. If it was put back from a backup, or moved here from another disk, and it is to be used from now on: ' +
        'give the same command with --adopt; what was sent after the backup was made would be sent again.',
    },
  );
}
