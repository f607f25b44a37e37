import { join } from 'node:path';
import { UserError, undefinedOnUserError } from '../domain/errors.js';
import { RUN_FILE } from '../plan/format/plan-file.js';
import { RunDirectories } from '../plan/format/run-directories.js';
import { type RunRecord, readRunFile, writeRunFile } from '../plan/format/run-record.js';
import { readSummary } from '../report/write-report.js';
import type { Files } from '../storage/files.js';
import { type LeftLock, readLeftLock, readLockOwner } from '../storage/lock.js';
import type { LockPorts, Ports } from '../storage/lock-file.js';
import { describeClaims, type PlanClaims } from './claims.js';
import { findMemoryFaults, findRunFaults } from './find-faults.js';
import { type Fault, listMemories, MEMORY_KEY, readClaims, readMemory } from './memory-file.js';
import { type PastRun, readHistory } from './read-runs.js';
import { describeBegun, describeEnded, identifyRun, type OpenOptions, Registry, refuseDirectory } from './registry.js';
import { RegistryState } from './registry-state.js';

/**
 * Opens a job's memory behind the job's lock; makes it where there is none, from the runs that are there. Refuses, with
 * 'registry-mismatch', what is not as the last runner left it, unless a person adopts it.
 */
export async function openRegistry(deps: Ports, options: OpenOptions): Promise<Registry> {
  const { files } = deps;
  const { jobDirectory, lock, adoptedBy } = options;
  const { document, read, state, directories, faults } = await readFound(files, jobDirectory, lock);
  // What the next owner of the lock has written since is no fault.
  await lock.assertHeld();
  if (faults.length > 0 && adoptedBy === undefined) throw refuseDirectory(jobDirectory, faults);
  if (faults.length > 0) await adoptPlans(files, directories, state);
  // From here on a memory without what its lock knows is no longer new.
  if (faults.length === 0 && document === undefined) await lock.attest({});
  const noted = lock.known(MEMORY_KEY) ?? 0;
  const { epoch = 0, revision = 0, adopted = [] } = document ?? {};
  const stored = { epoch, revision: Math.max(revision, noted), adopted, claims: read.found };
  const registry = new Registry(deps, options, { state, stored, directories });
  if (document === undefined) await makeMemory(registry, deps, options);
  if (faults.length > 0) await adoptAll(registry, files, faults);
  await registry.attest({ isAdopted: faults.length > 0, unknown: read.unknown });
  return registry;
}

/** Reads the memory, and what shows that the directory is not as the last owner of the lock left it. */
async function readFound(files: Files, jobDirectory: string, lock: LeftLock) {
  const document = await readMemory(files, jobDirectory);
  const read = await readClaims(files, jobDirectory, document?.claims ?? {});
  const state = stateOf(document?.runs ?? (await readKeptRecords(files, jobDirectory)), read.claims);
  const directories = await readRunDirectories(files, jobDirectory, state);
  const faults = [...(await findMemoryFaults(files, { jobDirectory, document, lock })), ...read.faults];
  const unfinished = document === undefined ? [] : state.listUnfinished();
  for (const run of unfinished) faults.push(...(await findRunFaults(files, { run, directories, lock })));
  return { document, read, state, directories, faults };
}

/** What `openRegistry` would refuse a directory for that no process holds; undefined where it would open it. Needs no lock. */
export async function findDirectoryRefusal(deps: LockPorts, jobDirectory: string): Promise<UserError | undefined> {
  const lock = await readLeftLock(deps, jobDirectory).catch(undefinedOnUserError);
  const { faults } = lock === undefined ? { faults: [] } : await readFound(deps.files, jobDirectory, lock);
  // What a process has written that began meanwhile is no fault.
  const isLeft = faults.length > 0 && (await readLockOwner(deps, jobDirectory)) === undefined;
  return isLeft ? refuseDirectory(jobDirectory, faults) : undefined;
}

/** Whether a job that another process holds looks like a copy here, which `openRegistry` would refuse; undefined while that is not known. */
export async function looksCopied(deps: LockPorts, jobDirectory: string): Promise<boolean | undefined> {
  const lock = await readLeftLock(deps, jobDirectory).catch(undefinedOnUserError);
  const document = await readMemory(deps.files, jobDirectory);
  if (lock === undefined || document === undefined) return undefined;
  return (await findMemoryFaults(deps.files, { jobDirectory, document, lock })).length > 0;
}

function stateOf(records: readonly RunRecord[], claims: readonly PlanClaims[]): RegistryState {
  const state = new RegistryState();
  for (const record of records) state.put(record);
  for (const each of claims) {
    const { begun, abandoned } = state.recordOf(each.plan);
    // It never sends them, and no retry can have them from a plan that was not begun: they are free again.
    const isFree = each.retryOf === null && begun === undefined && abandoned !== undefined;
    if (!isFree) state.claims.add(each);
  }
  return state;
}

/** A run that is gone keeps the name that its directory had. */
export async function readRunDirectories(
  files: Files,
  jobDirectory: string,
  { runs }: RegistryState,
): Promise<RunDirectories> {
  const directories = await RunDirectories.read(files, jobDirectory);
  for (const { plan, begun } of runs.values()) directories.remember(plan, begun.name);
  return directories;
}

/** What a job remembers, as it is on disk; nothing where it has no memory yet. Needs no lock. */
export async function readRegistry(files: Files, jobDirectory: string): Promise<RegistryState> {
  const document = await readMemory(files, jobDirectory);
  return stateOf(document?.runs ?? [], (await readClaims(files, jobDirectory, document?.claims ?? {})).claims);
}

/** Whether a directory is that of a job that has planned or sent anything. */
export async function holdsRegistry(files: Files, directory: string): Promise<boolean> {
  return (await listMemories(files, directory)).length > 0;
}

/** What the memory had of plans and runs, as their own directories have it, in the order in which they began. */
async function readKeptRecords(files: Files, jobDirectory: string): Promise<RunRecord[]> {
  const records: RunRecord[] = [];
  for await (const { path } of (await RunDirectories.read(files, jobDirectory)).list(files)) {
    const { record } = (await readRunFile(files, path)) ?? {};
    const own = join(path, RUN_FILE);
    if (record !== undefined) records.push(record);
    else if ((await files.stat(own)) !== undefined) {
      throw new UserError('registry-mismatch', `Cannot use ${own}: it is damaged`, {
        hint: 'Nothing was sent. Put it back from a backup: it says which files the run took.',
      });
    }
  }
  const beganAt = ({ begun }: RunRecord) => begun?.at ?? 0;
  return records.sort((one, other) => beganAt(one) - beganAt(other));
}

/** Makes the memory from what the runs themselves know; a journal counts as it is now. */
async function makeMemory(registry: Registry, { files, clock }: Ports, options: OpenOptions): Promise<void> {
  const { state } = registry;
  const { jobDirectory, onNotice } = options;
  const history = await readHistory(files, jobDirectory, state);
  const begun = history.filter((run) => run.state !== 'planned');
  const at = clock.now();
  for (const run of begun) {
    const kept = state.recordOf(run.plan.id);
    state.put({ ...kept, ...(await describePast(files, run, kept.begun?.at ?? at)) });
  }
  const records = [...state.records];
  // Their names say only in which minute they were planned, and who claimed a row last has it.
  const places = new Map([...state.runs.keys()].map((run, place) => [run, place]));
  const placeOf = ({ plan }: PastRun) => places.get(plan.id) ?? places.size;
  const claims: PlanClaims[] = [];
  for (const run of history.toSorted((one, other) => placeOf(one) - placeOf(other))) {
    // What others claimed, nothing else knows.
    if (run.state === 'planned' && run.plan.retryOf === undefined) continue;
    claims.push(...(await describeClaims(files, run, { claims: state.claims, at, isBegun: true })));
  }
  await registry.write({ records, claims });
  if (begun.length > 0) {
    const from = begun.length === 1 ? 'one run' : `${begun.length} runs`;
    onNotice(
      `the memory of the job is made from the ${from} in ${jobDirectory}: what runs that are gone had taken is not known`,
    );
  }
}

/** A run of which there is no memory. */
async function describePast(files: Files, run: PastRun, at: number): Promise<Omit<RunRecord, 'plan'>> {
  const { plan, directory } = run;
  const begun = await describeBegun(files, { plan, directory, at });
  const summary = await readSummary(files, directory);
  if (run.state !== 'finished' || summary?.state !== 'finished') return begun;
  return { ...begun, ...(await describeEnded(files, summary, directory)) };
}

/** Takes plans that were never begun for this directory, too. What a run knows that an older memory does not stays so. */
async function adoptPlans(files: Files, directories: RunDirectories, state: RegistryState): Promise<void> {
  for await (const { run, path, hasPlan } of directories.list(files)) {
    const { record } = (await readRunFile(files, path)) ?? {};
    if (record?.plan === run) state.put({ ...record, ...state.recordOf(run) });
    if (hasPlan) await writeRunFile(files, path, state.recordOf(run));
  }
}

async function adoptAll(registry: Registry, files: Files, faults: readonly Fault[]): Promise<void> {
  const records: RunRecord[] = [];
  for (const run of registry.state.runs.values()) {
    const found = await identifyRun(files, registry.directories.of(run.plan));
    // A finished run that lost its journal stays refused: begun anew it would send everything again.
    const lost = run.ended?.state === 'finished' ? run.journal : undefined;
    records.push({ ...run, ...found, journal: found.journal ?? lost });
  }
  await registry.adopt(faults, records);
}
