import { join } from 'node:path';
import { InternalError, type Problem, UserError } from '../domain/errors.js';
import type { RowRange } from '../journal/entry-format.js';
import { accountOf } from '../plan/format/account-of.js';
import { JOURNAL_FILE, PLAN_FILE, type Plan } from '../plan/format/plan-file.js';
import type { Clock } from '../ports/clock.js';
import type { Summary } from '../report/summary.js';
import type { Files } from '../storage/files.js';
import { type Identity, identityOf, isSameIdentity } from '../storage/identity.js';
import type { Lock } from '../storage/lock.js';
import { describeReimport, describeRetry } from './describe-claims.js';
import { findRunFaults } from './find-faults.js';
import type { PastRun } from './history.js';
import {
  type BegunEntry,
  digestPlan,
  END_OF_TORN_LINE,
  encodeRegistryLine,
  REGISTRY_FILE,
  type RegistryEntry,
} from './registry-entry.js';
import type { KnownRun, RegistryState } from './registry-state.js';

export interface RegistryDeps {
  readonly files: Files;
  readonly clock: Clock;
}

/** The job's memory, open behind its lock. Every entry is on disk once its call returns. */
export class Registry {
  readonly state: RegistryState;
  readonly #deps: RegistryDeps;
  readonly #jobDirectory: string;
  readonly #lock: Lock;
  #isTorn: boolean;
  /** Of the registry, and of the journals of unfinished runs, as far as they are on disk. */
  #bytes = 0;
  readonly #journals = new Map<string, { readonly durableBytes: number }>();

  constructor(
    deps: RegistryDeps,
    { jobDirectory, lock, state, isTorn }: { jobDirectory: string; lock: Lock; state: RegistryState; isTorn: boolean },
  ) {
    this.#deps = deps;
    this.#jobDirectory = jobDirectory;
    this.#lock = lock;
    this.state = state;
    this.#isTorn = isTorn;
  }

  /** Id of the run that took a file for a step of a kind, by the digest of its bytes or of its rows: the latest, where several did. */
  findTaken(
    { job, occurrence }: Pick<Plan, 'job' | 'occurrence'>,
    { kind, digest }: { kind: string; digest: string },
  ): string | undefined {
    return this.state.listTakers(kind, digest, { account: accountOf(job), occurrence }).at(-1);
  }

  /** Of all runs that were begun. */
  get occurrences(): readonly string[] {
    return [...this.state.runs.values()].map(({ begun }) => begun.occurrence);
  }

  /** Whether a run was begun, wherever its directory is now. */
  find(plan: string): KnownRun | undefined {
    return this.state.runs.get(plan);
  }

  /**
   * Refuses to begin a plan whose files another run took after it was made: they would be sent twice. A plan that was begun took
   * its files itself; one that retries rows of another run takes none.
   */
  assertNotTaken(plan: Plan): void {
    if (plan.retryOf !== undefined || this.find(plan.id) !== undefined) return;
    const problems = plan.steps.flatMap(({ kind, inputs }) =>
      inputs.flatMap(({ file, contentSha256, rowsSha256 }): Problem[] => {
        const digests = rowsSha256 === undefined ? [contentSha256] : [contentSha256, rowsSha256];
        const run = digests.map((digest) => this.findTaken(plan, { kind, digest })).find((each) => each !== undefined);
        return run === undefined ? [] : [{ where: file, message: `was taken by run ${run} since the plan was made` }];
      }),
    );
    if (problems.length === 0) return;
    throw new UserError('plan-mismatch', `Cannot apply plan ${plan.id}: its files would be sent twice`, {
      hint: 'Make a new plan; `volley plan --again` if they shall be sent once more.',
      problems,
    });
  }

  /** Refuses a run that began here and is another one by now, or lacks what it had: see `findRunFaults`. */
  async assertOwn(plan: string): Promise<void> {
    const run = this.find(plan);
    if (run === undefined) return;
    const faults = await findRunFaults(this.#deps.files, { run, jobDirectory: this.#jobDirectory, lock: this.#lock });
    if (faults.length > 0) throw refuseDirectory(this.#jobDirectory, faults);
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
  async noteBegun(plan: Plan, journal: { readonly durableBytes: number }): Promise<void> {
    this.#journals.set(plan.id, journal);
    const known = this.find(plan.id);
    if (known?.journal !== undefined) return;
    const { files, clock } = this.#deps;
    const directory = join(this.#jobDirectory, plan.id);
    await this.append(await describeBegun(files, { plan, directory, at: clock.now() }));
    await this.#lock.note();
  }

  /** A run has its outputs. */
  async noteEnded({ plan, state, exitCode, balance, startedAt, endedAt }: Summary): Promise<void> {
    if (this.find(plan) === undefined) return;
    const { files, clock } = this.#deps;
    const journal = await files.stat(join(this.#jobDirectory, plan, JOURNAL_FILE));
    await this.append({
      type: 'ended',
      at: clock.now(),
      plan,
      state,
      exitCode,
      counts: { ...balance },
      startedAt,
      endedAt,
      journalBytes: journal?.bytes ?? 0,
    });
  }

  async append(...entries: readonly RegistryEntry[]): Promise<void> {
    await this.#lock.assertHeld();
    const lines = entries.map(encodeRegistryLine);
    const file = await this.#deps.files.openAppend(join(this.#jobDirectory, REGISTRY_FILE));
    try {
      await file.append(Buffer.concat(this.#isTorn ? [END_OF_TORN_LINE, ...lines] : lines));
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
  }

  /** From now on the job's lock notes how long the files are, so that an older copy of one is known by its length. */
  async attest(): Promise<void> {
    const { files } = this.#deps;
    this.#bytes = await this.#syncedBytes(join(this.#jobDirectory, REGISTRY_FILE));
    for (const { begun } of this.state.listUnfinished()) {
      const path = join(this.#jobDirectory, begun.plan, JOURNAL_FILE);
      if ((await files.stat(path)) === undefined) continue;
      this.#journals.set(begun.plan, { durableBytes: await this.#syncedBytes(path) });
    }
    this.#lock.attest(() => this.#measure());
  }

  /** Lengths that are on disk: what is noted must be there after a power cut too. */
  #measure(): Record<string, number> {
    const noted: Record<string, number> = { [REGISTRY_FILE]: this.#bytes };
    for (const { begun } of this.state.listUnfinished()) {
      const bytes = this.#journals.get(begun.plan)?.durableBytes;
      if (bytes !== undefined) noted[join(begun.plan, JOURNAL_FILE)] = bytes;
    }
    return noted;
  }

  async #syncedBytes(path: string): Promise<number> {
    const file = await this.#deps.files.openAppend(path);
    try {
      await file.sync();
      return file.bytes;
    } finally {
      await file.close();
    }
  }
}

/** A run that has a plan and a journal. */
export async function describeBegun(
  files: Files,
  { plan, directory, at }: { plan: Plan; directory: string; at: number },
): Promise<BegunEntry> {
  const planText = (await files.readText(join(directory, PLAN_FILE))) ?? '';
  return {
    type: 'begun',
    at,
    plan: plan.id,
    planSha256: digestPlan(planText),
    account: accountOf(plan.job),
    occurrence: plan.occurrence,
    retryOf: plan.retryOf?.run ?? null,
    files: plan.steps.flatMap(({ kind, number, inputs }) =>
      inputs.map(({ file, contentSha256, rowsSha256 }) => {
        return { file, kind, step: number, content: contentSha256, rows: rowsSha256 ?? null };
      }),
    ),
    directory: await identify(files, directory),
    journal: await identify(files, join(directory, JOURNAL_FILE)),
  };
}

export async function identify(files: Files, path: string): Promise<Identity> {
  const found = await files.stat(path);
  if (found === undefined) throw new InternalError('unexpected', `Cannot find ${path}, which was just made`);
  return identityOf(path, found);
}

/**
 * Stops a runner under which its journal was removed, or another put in its place. The lock is looked at last: a runner that sleeps
 * between the two finds on waking that another has taken it.
 */
export function watchJournal(files: Files, path: string, lock: Lock): Lock {
  let known: Identity | undefined;
  return {
    ...lock,
    assertHeld: async () => {
      const found = await files.stat(path);
      await lock.assertHeld();
      const now = found === undefined ? undefined : identityOf(path, found);
      known ??= now;
      // Before it is made there is none.
      if (known === undefined || (now !== undefined && isSameIdentity(known, now))) return;
      throw new UserError(
        'registry-mismatch',
        `Cannot continue: ${path} was ${now === undefined ? 'removed' : 'replaced'} while the run wrote to it`,
        { hint: 'Nothing more was sent. Put it back from a backup, and see `volley status`.' },
      );
    },
  };
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
