import { basename, join } from 'node:path';
import { InternalError, UserError } from '../domain/errors.js';
import { accountOfKind } from '../job/job.js';
import { digestPlanOf, JOURNAL_FILE, type Plan, type PlanAt } from '../plan/format/plan-file.js';
import type { RunDirectories } from '../plan/format/run-directories.js';
import { type RunEnded, type RunRecord, writeRunFile } from '../plan/format/run-record.js';
import type { Summary } from '../report/summary.js';
import { type Files, syncFile } from '../storage/files.js';
import { type Identity, identityOf } from '../storage/identity.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';
import { describeClaims, type PlanClaims } from './claims.js';
import { findRunFaults, listOpenJournals } from './find-faults.js';
import {
  type Adoption,
  type Fault,
  MEMORY_KEY,
  type MemoryDocument,
  memoryPath,
  removeOlder,
  writeClaims,
  writeMemory,
} from './memory-file.js';
import {
  assertNotAbandoned,
  type BegunRun,
  listTakenFiles,
  type RegistryState,
  refusePruned,
} from './registry-state.js';

export interface OpenOptions {
  readonly jobDirectory: string;
  readonly lock: Lock;
  /** A person who says that the directory, whatever was done to it, is the job's from now on. */
  readonly adoptedBy?: string | undefined;
  /** One sentence that a person should know. */
  readonly onNotice: (notice: string) => void;
}

/** A run, or a plan, of the job whose lock this process holds. */
export interface OwnedRun extends PlanAt {
  readonly lock: Lock;
  readonly registry: Registry;
}

/** What is on disk of the memory. */
type Stored = Pick<MemoryDocument, 'epoch' | 'revision' | 'adopted' | 'claims'>;

/** What is to be remembered from now on. */
interface News {
  readonly records?: readonly RunRecord[];
  readonly claims?: readonly PlanClaims[];
  readonly adopted?: readonly Adoption[];
}

/** The job's memory, open behind its lock. What it is to remember is on disk once the call returns. */
export class Registry {
  readonly state: RegistryState;
  readonly directories: RunDirectories;
  readonly #deps: Ports;
  readonly #options: OpenOptions;
  #stored: Stored;
  /** Whether this owner of the lock has a file of its own. */
  #isOwn = false;

  constructor(
    deps: Ports,
    options: OpenOptions,
    { state, stored, directories }: { state: RegistryState; stored: Stored; directories: RunDirectories },
  ) {
    this.#deps = deps;
    this.#options = options;
    this.state = state;
    this.directories = directories;
    this.#stored = stored;
  }

  /** Id of the run that took a file for a step of a kind, by the digest of its bytes or of its rows: the latest, where several did. */
  findTaken(
    { job, occurrence }: Pick<Plan, 'job' | 'occurrence'>,
    { kind, digest }: { kind: string; digest: string },
  ): string | undefined {
    return this.state.listTakers(kind, [digest], { account: accountOfKind(job, kind), occurrence }).at(-1);
  }

  /** Occurrences of all runs that were begun, tests aside. */
  get occurrences(): readonly string[] {
    return [...this.state.runs.values()].flatMap(({ begun }) => (begun.testOf === undefined ? [begun.occurrence] : []));
  }

  /** What is known of a run, wherever its directory is now; undefined where it was never begun. */
  find(plan: string): BegunRun | undefined {
    return this.state.runs.get(plan);
  }

  /** Refuses to begin an abandoned plan, and one whose files another run took after it was made. */
  assertNotTaken(plan: Plan): void {
    assertNotAbandoned(this.state.recordOf(plan.id), this.directories.of(plan.id));
    const problems = listTakenFiles(this.state, plan);
    if (problems.length === 0) return;
    throw new UserError('plan-mismatch', `Cannot apply plan ${plan.id}: its files would be sent twice`, {
      hint: 'Make a new plan of the job, with --again if they shall be sent once more.',
      problems,
    });
  }

  /** Refuses a run that began here and is another one by now, or lacks what it had: see `findRunFaults`. */
  async assertOwn(plan: string): Promise<void> {
    const { pruned } = this.state.recordOf(plan);
    if (pruned !== undefined) throw refusePruned(this.directories.of(plan), { plan, pruned });
    const run = this.find(plan);
    if (run === undefined) return;
    const faults = await this.#findFaults(run);
    if (faults.length === 0) return;
    // What the next owner of the lock has written since is no fault.
    await this.#options.lock.assertHeld();
    const found = await identifyRun(this.#deps.files, this.directories.of(plan));
    const left = await this.#findFaults({ ...run, ...found, journal: found.journal ?? run.journal });
    if (left.length > 0) throw refuseRun(this.directories.of(plan), left);
    if (this.#options.adoptedBy === undefined) throw refuseDirectory(this.directories.jobDirectory, faults);
    await this.adopt(faults, [{ ...run, ...found }]);
  }

  /** A person has said that the directory is the job's from now on. `records`: of runs that are as they are now. */
  async adopt(faults: readonly Fault[], records: readonly RunRecord[]): Promise<void> {
    const by = this.#options.adoptedBy ?? '';
    const why = faults.map(({ where, message }) => `${where}: ${message}`);
    const adoption = { at: this.#deps.clock.now(), by, why };
    await this.write({ records, adopted: [...this.#stored.adopted, adoption] });
    const what = faults.map(({ message }) => message).join('; ');
    this.#options.onNotice(`${this.directories.jobDirectory} is adopted by ${by}: ${what}`);
  }

  #findFaults(run: BegunRun): Promise<Fault[]> {
    return findRunFaults(this.#deps.files, { run, directories: this.directories, lock: this.#options.lock });
  }

  /** A plan has the rows of others that are in it from now on, for good: one of a retry as soon as it is made, `by` a person, any other as it begins. A second time there is nothing to note. */
  async claim(run: PlanAt, by?: string): Promise<void> {
    const { files, clock } = this.#deps;
    const isBegun = this.find(run.plan.id) !== undefined;
    const claims = await describeClaims(files, run, { claims: this.state.claims, at: clock.now(), isBegun, by });
    if (claims.length > 0) await this.write({ claims });
  }

  /** A run's journal is open: it has its files from now on, before its first intent. A second time there is nothing to note. */
  async noteBegun(plan: Plan): Promise<void> {
    if (this.find(plan.id)?.journal !== undefined) return;
    const { files, clock } = this.#deps;
    const directory = this.directories.of(plan.id);
    await this.note(plan.id, await describeBegun(files, { plan, directory, at: clock.now() }));
  }

  /** A run has its outputs. */
  async noteEnded(summary: Summary): Promise<void> {
    const { plan } = summary;
    const before = this.find(plan);
    if (before === undefined) return;
    const { files, clock } = this.#deps;
    const { ended } = await describeEnded(files, summary, this.directories.of(plan));
    const at = before.ended?.state === 'finished' ? before.ended.at : clock.now();
    await this.note(plan, { ended: ended.state === 'finished' && at !== undefined ? { at, ...ended } : ended });
  }

  /** What is known of a plan from now on; what is known already is not written again. */
  async note(plan: string, news: Omit<RunRecord, 'plan'>): Promise<void> {
    const before = this.state.recordOf(plan);
    const record = { ...before, ...news };
    if (JSON.stringify(record) === JSON.stringify(before)) return this.keep(plan);
    await this.write({ records: [record] });
  }

  /** Writes what is known of a plan into its directory, also where a process died after it wrote the memory and before this. */
  async keep(plan: string): Promise<void> {
    const { files } = this.#deps;
    const directory = this.directories.of(plan);
    if ((await files.stat(directory)) !== undefined) await writeRunFile(files, directory, this.state.recordOf(plan));
  }

  /**
   * In this order, each durable before the next: what is claimed, the memory, what the lock notes of it, and what the runs' own directories
   * have. Behind the memory the lock is looked at once more: who then holds it has read what was written.
   */
  async write({ records = [], claims = [], adopted = this.#stored.adopted }: News): Promise<void> {
    const { files } = this.#deps;
    const { lock, jobDirectory } = this.#options;
    const { epoch, revision } = this.#stored;
    await lock.assertHeld();
    const known = { ...this.#stored.claims };
    // The next owner of the lock removes what has not got its name.
    const failed = async (error: unknown) => {
      await lock.assertHeld();
      throw error;
    };
    for (const each of claims) Object.assign(known, await writeClaims(files, jobDirectory, each).catch(failed));
    // The epochs of a lock begin anew when its files are deleted; those of the memory must not.
    const own = this.#isOwn ? epoch : lock.epoch > epoch ? lock.epoch : epoch + 1;
    const stored = { epoch: own, revision: revision + 1, adopted, claims: known };
    await lock.assertHeld();
    const directory = await identify(files, jobDirectory);
    const document = { ...stored, directory, runs: this.state.listWith(records) };
    await writeMemory(files, jobDirectory, document).catch(failed);
    await lock.assertHeld();
    this.#stored = stored;
    for (const each of claims) this.state.claims.add(each);
    for (const each of records) this.state.put(each);
    await lock.note(MEMORY_KEY, stored.revision);
    for (const { plan } of records) await this.keep(plan);
    if (this.#isOwn) return;
    this.#isOwn = true;
    await removeOlder(files, jobDirectory, own);
  }

  /** From now on the job's lock notes how far memory and journals are. Of journals that a person adopted as they are nothing is known yet. */
  async attest({ isAdopted, unknown }: { isAdopted: boolean; unknown: readonly string[] }): Promise<void> {
    const { files } = this.#deps;
    const { lock, jobDirectory } = this.#options;
    const journals = listOpenJournals(this.state, this.directories);
    // What was read may not be on disk yet; from here on all builds upon it.
    for (const path of [
      memoryPath(jobDirectory, this.#stored.epoch),
      ...unknown,
      ...journals.map(([, path]) => path),
    ]) {
      if ((await files.stat(path)) !== undefined) await syncFile(files, path);
    }
    const known = journals.flatMap(([key]) => {
      const bytes = isAdopted ? undefined : lock.known(key);
      return bytes === undefined ? [] : [[key, bytes]];
    });
    await lock.attest({ ...Object.fromEntries(known), [MEMORY_KEY]: this.#stored.revision });
  }
}

/** A run that has a plan and a journal. */
export async function describeBegun(
  files: Files,
  { plan, directory, at }: { plan: Plan; directory: string; at: number },
): Promise<Required<Pick<BegunRun, 'begun' | 'directory' | 'journal'>> & { readonly ended: undefined }> {
  const taken = (plan.testOf === undefined ? plan.steps : []).flatMap(({ kind, number, inputs }) => {
    const account = accountOfKind(plan.job, kind);
    return inputs.map(({ file, contentSha256, rowsSha256 }) => {
      return { file, kind, step: number, account, content: contentSha256, rows: rowsSha256 ?? null };
    });
  });
  return {
    begun: {
      at,
      name: basename(directory),
      planSha256: await digestPlanOf(files, directory),
      occurrence: plan.occurrence,
      retryOf: plan.retryOf?.run ?? null,
      ...(plan.testOf === undefined ? {} : { testOf: plan.testOf }),
      files: taken,
    },
    directory: await identify(files, directory),
    journal: await identify(files, join(directory, JOURNAL_FILE)),
    ended: undefined,
  };
}

/** A run that has its outputs. */
export async function describeEnded(
  files: Files,
  { state, exitCode, balance, startedAt, endedAt }: Summary,
  directory: string,
): Promise<{ readonly ended: RunEnded }> {
  const { bytes: journalBytes = 0 } = (await files.stat(join(directory, JOURNAL_FILE))) ?? {};
  return { ended: { state, exitCode, counts: { ...balance }, startedAt, endedAt, journalBytes } };
}

async function identify(files: Files, path: string): Promise<Identity> {
  const found = await files.stat(path);
  if (found === undefined) throw new InternalError('unexpected', `Cannot find ${path}, which was just made`);
  return identityOf(path, found);
}

/** Where a run is now; undefined for what is gone. */
export async function identifyRun(
  files: Files,
  directory: string,
): Promise<Record<'directory' | 'journal', Identity | undefined>> {
  const of = async (path: string) => ((await files.stat(path)) === undefined ? undefined : identify(files, path));
  return { directory: await of(directory), journal: await of(join(directory, JOURNAL_FILE)) };
}

/** What adopting does not change: the run cannot be used as it is. */
function refuseRun(directory: string, problems: readonly Fault[]): UserError {
  return new UserError('registry-mismatch', `Cannot use ${directory}: it is not as volley left it`, {
    problems,
    hint: 'Nothing was sent. Put the run back from a backup that is as new as the run, or remove its directory: what it took stays known, and new files of the job are sent without it.',
  });
}

/** What was found is not what the memory knows. Nothing is sent until a person decides. */
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
        'take out of the input what was sent after the backup was made, as it would be sent again; then give the same command with --adopt.',
    },
  );
}
