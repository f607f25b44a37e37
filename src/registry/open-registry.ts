import { basename, join } from 'node:path';
import { UserError } from '../domain/errors.js';
import { writePlace } from '../plan/format/place.js';
import { RunDirectories } from '../plan/format/run-directories.js';
import type { Files } from '../storage/files.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';
import { splitLines } from '../storage/split-lines.js';
import { describePastClaims } from './claim-rows.js';
import { type Fault, findRegistryFaults, findRunFaults } from './find-faults.js';
import { readMarks } from './marks.js';
import { type PastRun, readHistory, readSummary } from './read-runs.js';
import {
  describeBegun,
  describeEnded,
  identify,
  identifyRun,
  type OpenOptions,
  Registry,
  refuseDirectory,
} from './registry.js';
import {
  type AdoptedEntry,
  type BegunEntry,
  END_OF_TORN_LINE,
  type EndedEntry,
  findRegistryLine,
  REGISTRY_FILE,
  REGISTRY_VERSION,
  type RegistryEntry,
} from './registry-entry.js';
import { RegistryState } from './registry-state.js';

/**
 * Opens a job's registry behind the job's lock; makes it where there is none, from the runs that are there. Refuses, with
 * 'registry-mismatch', what is not as the last runner left it, unless a person adopts it.
 */
export async function openRegistry(deps: Ports, options: OpenOptions): Promise<Registry> {
  const { jobDirectory, lock, adoptedBy } = options;
  const { state, goodBytes, isTorn } = await readLines(deps.files, join(jobDirectory, REGISTRY_FILE));
  await lock.assertHeld();
  const directories = await readRunDirectories(deps.files, jobDirectory, state);
  const registry = new Registry(deps, options, { state, goodBytes, isTorn, directories });
  const lostBytes = state.registry === undefined ? lock.known(REGISTRY_FILE)?.bytes : undefined;
  const found = await listFaults(deps.files, { state, goodBytes, directories, lock });
  const faults = found.filter(({ isHarmless }) => isHarmless !== true);
  if (lostBytes !== undefined) {
    faults.push({ where: join(jobDirectory, REGISTRY_FILE), message: `it is gone, and had ${lostBytes} bytes` });
  }
  // What the next owner of the lock has written since is no fault.
  if (faults.length > 0) await lock.assertHeld();
  if (faults.length > 0 && adoptedBy === undefined) throw refuseDirectory(jobDirectory, faults);
  // Plans that were never begun are of this directory too, from now on.
  if (faults.length > 0) {
    for await (const { path, hasPlan } of directories.list(deps.files)) {
      if (hasPlan) await writePlace(deps.files, path, jobDirectory);
    }
  }
  // From here on a registry without what its lock knows is no longer new.
  if (faults.length === 0 && state.registry === undefined) await lock.attest({});
  if (state.version === 0) await makeRegistry(registry, deps, options);
  if (faults.length > 0) await adoptAll(registry, deps.files, faults);
  await registry.attest({ isAdopted: faults.length > 0 });
  for (const { where, message, isHarmless } of found) if (isHarmless) options.onNotice(`${where}: ${message}`);
  return registry;
}

/** A run that is gone keeps the name that its directory had. */
export async function readRunDirectories(
  files: Files,
  jobDirectory: string,
  { runs }: RegistryState,
): Promise<RunDirectories> {
  const directories = await RunDirectories.read(files, jobDirectory);
  for (const { begun } of runs.values()) directories.remember(begun.plan, basename(begun.directory.path));
  return directories;
}

async function listFaults(
  files: Files,
  of: { state: RegistryState; goodBytes: number; directories: RunDirectories; lock: Lock },
): Promise<Fault[]> {
  const faults = await findRegistryFaults(files, { ...of, jobDirectory: of.directories.jobDirectory });
  for (const run of of.state.listUnfinished()) faults.push(...(await findRunFaults(files, { ...of, run })));
  return faults;
}

/** What a job remembers, as it is on disk; nothing where it has no memory yet. Needs no lock. */
export async function readRegistry(files: Files, jobDirectory: string): Promise<RegistryState> {
  return (await readLines(files, join(jobDirectory, REGISTRY_FILE))).state;
}

/** Whether a directory is that of a job that has planned or sent anything. */
export async function holdsRegistry(files: Files, directory: string): Promise<boolean> {
  return (await files.stat(join(directory, REGISTRY_FILE))) !== undefined;
}

/**
 * Refuses a line that is damaged, wherever; passes over those that were never whole, as the line behind them says. `goodBytes`: where the
 * last good line ends.
 */
async function readLines(
  files: Files,
  path: string,
): Promise<{ state: RegistryState; goodBytes: number; isTorn: boolean }> {
  const state = new RegistryState();
  let goodBytes = 0;
  if ((await files.stat(path)) === undefined) return { state, goodBytes, isTorn: false };
  const file = await files.openRead(path);
  let number = 0;
  let firstBad: number | undefined;
  let isTorn = false;
  try {
    for await (const { bytes, offset, isWhole } of splitLines(file, 0)) {
      number += 1;
      const line = isWhole ? findRegistryLine(bytes) : undefined;
      isTorn = !isWhole && bytes.length > 0;
      if (line === undefined) firstBad ??= number;
      // Only where its writer knew of nothing good between them.
      if (line !== undefined && line.after > goodBytes) throw refuseLine(path, firstBad ?? number);
      // The end of a piece that was never whole, by a process that died before it wrote more.
      if (line === undefined && isWhole && bytes.at(-1) !== END_OF_TORN_LINE[0]) throw refuseLine(path, number);
      if (line === undefined) continue;
      state.apply(line.entry);
      goodBytes = offset + bytes.length + 1;
      firstBad = undefined;
    }
  } finally {
    await file.close();
  }
  return { state, goodBytes, isTorn };
}

function refuseLine(path: string, number: number): UserError {
  return new UserError('registry-mismatch', `Cannot use ${path}: line ${number} is damaged`, {
    hint: 'Nothing was sent. Put it back from a backup, or remove it; then the same command with --adopt goes on, with what the runs themselves know.',
  });
}

async function makeRegistry(
  registry: Registry,
  { files, clock }: Ports,
  { jobDirectory, onNotice }: OpenOptions,
): Promise<void> {
  const path = join(jobDirectory, REGISTRY_FILE);
  const history = await readHistory(files, jobDirectory, registry.state);
  // Made empty first: it is to hold its own inode.
  await (await files.openAppend(path)).close();
  const begun = history.filter(({ state }) => state !== 'planned');
  const at = clock.now();
  const entries: RegistryEntry[] = [];
  for (const run of begun) entries.push(...(await describePast(files, run, at)));
  entries.push(...(await readMarks(files, registry.directories)));
  entries.push(...(await describePastClaims(files, { history, at })));
  const made = { registry: await identify(files, path), directory: await identify(files, jobDirectory) };
  // Last, so that a registry which has it has all.
  await registry.append(...entries, { type: 'made', at, version: REGISTRY_VERSION, ...made });
  if (begun.length > 0) {
    onNotice(
      `${REGISTRY_FILE} is made from the ${begun.length === 1 ? 'one run' : `${begun.length} runs`} in ${jobDirectory}: what runs that are gone had taken is not known`,
    );
  }
}

/** A run of which there is no registry. */
async function describePast(files: Files, run: PastRun, at: number): Promise<(BegunEntry | EndedEntry)[]> {
  const { plan, directory } = run;
  const begun = await describeBegun(files, { plan, directory, at });
  const summary = await readSummary(files, directory);
  if (run.state !== 'finished' || summary?.state !== 'finished') return [begun];
  return [begun, await describeEnded(files, summary, { directory, at })];
}

async function adoptAll(registry: Registry, files: Files, faults: readonly Fault[]): Promise<void> {
  const runs: AdoptedEntry['runs'][number][] = [];
  for (const { begun, ended, journal } of registry.state.runs.values()) {
    const found = await identifyRun(files, registry.directories.of(begun.plan));
    // A finished run that lost its journal stays refused: begun anew it would send everything again.
    const lost = ended?.state === 'finished' ? (journal ?? null) : null;
    runs.push({ plan: begun.plan, ...found, journal: found.journal ?? lost });
  }
  await registry.adopt(faults, runs);
}
