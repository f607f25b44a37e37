import type { Files } from '../../storage/files.js';
import { PIECE_BYTES, packedFile, packPiece } from './packed-file.js';
import { type FileDigest, type Plan, type PlannedStep, requestsFile, rowsFile } from './plan-file.js';
import { openPacked, readPlanned } from './planned-files.js';

/** Smaller files stay as they are: people can read them, and they take little room. */
const PACK_FROM_BYTES = 1 << 20;
/** After each piece: a million rows of SMS take 15 s, and a tenth of the thread. The service's cap makes them last 40 s. */
const PAUSE_MS = 10;
/** There is no piece where the pauses of this thread are busier than this, on average: sending comes first. */
const MOST_BUSY = 0.7;
const WEIGHT_OF_LAST = 0.2;

export interface PackerDeps {
  readonly files: Files;
  readonly clock: { sleep(delayMs: number, signal: AbortSignal): Promise<void> };
  readonly packFromBytes?: number | undefined;
  /** Of the disk of a directory; as much as is wanted where it is absent. */
  readonly freeBytes?: ((directory: string) => Promise<number>) | undefined;
  /** Of this thread: the share of the time since the last call in which it was at work. */
  readonly createBusyMeter?: (() => () => number) | undefined;
  /** One sentence that a person should know. */
  readonly onNotice: (notice: string) => void;
}

/**
 * Packs the files of a plan, which take half of the room of its run, to a sixth. In this order, each durable before the next, so that a
 * process may die at any moment:
 *
 *   1. while the run is sent, each file is written anew beside it, packed; it gets its name once it is whole
 *   2. it is read back, and compared with the checksums of the plan
 *   3. once the run is finished, and has its outputs, the plain files are removed
 *
 * Where both are there, the plain one counts (planned-files.ts). Nothing depends on it: where it fails, the plan stays as it is.
 */
export class PlanPacker {
  readonly #run: PackedRun;
  readonly #deps: PackerDeps;
  readonly #hurry = new AbortController();
  #isClosed = false;
  #packing: Promise<readonly string[]> | undefined;

  constructor(run: PackedRun, deps: PackerDeps) {
    this.#run = run;
    this.#deps = deps;
  }

  /** Packs in the background. To be called when the run has begun: before, its plan may be replaced. */
  begin(): void {
    this.#packing ??= this.#pack();
    // Handled where it is awaited.
    this.#packing.catch(() => {});
  }

  /** Packs what is left, and removes the plain files. To be called when the run is finished, and the registry has that; it never throws. */
  async finish(): Promise<void> {
    const { files, onNotice } = this.#deps;
    this.begin();
    this.#hurry.abort();
    try {
      for (const path of (await this.#packing) ?? []) {
        await this.#run.lock.assertHeld();
        if ((await files.stat(packedFile(path))) !== undefined) await files.remove(path);
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      onNotice(`The files of plan ${this.#run.plan.id} are not packed, and take more room: ${why}`);
    }
  }

  /** Ends the work in the background, whatever was done of it; the plain files stay. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#hurry.abort();
    await this.#packing?.catch(() => {});
  }

  /** The plain files whose packed ones are whole. */
  async #pack(): Promise<readonly string[]> {
    const { files } = this.#deps;
    const plain = await this.#listPlain();
    const giveWay = this.#createGiveWay();
    for (const { path, planned } of plain) {
      for await (const _piece of packFile(files, path, { planned, mayName: () => this.#run.lock.assertHeld() })) {
        await giveWay();
        if (this.#isClosed) return [];
      }
    }
    return plain.map(({ path }) => path);
  }

  /** Pauses until this thread has time, or the run has ended. */
  #createGiveWay(): () => Promise<void> {
    const { clock, createBusyMeter } = this.#deps;
    const { signal } = this.#hurry;
    const busyShare = createBusyMeter?.() ?? (() => 0);
    let busy = MOST_BUSY;
    return async () => {
      do {
        busyShare();
        await clock.sleep(PAUSE_MS, signal);
        busy += (busyShare() - busy) * WEIGHT_OF_LAST;
      } while (busy > MOST_BUSY && !signal.aborted);
    };
  }

  /** None where the disk has so little room that outputs may need it. */
  async #listPlain(): Promise<PlainFile[]> {
    const { files, packFromBytes = PACK_FROM_BYTES, freeBytes } = this.#deps;
    const { directory, plan } = this.#run;
    const found: PlainFile[] = [];
    let bytes = 0;
    for (const file of plan.steps.flatMap((step) => listFiles(directory, step))) {
      if (file.planned.bytes < packFromBytes || (await files.stat(file.path)) === undefined) continue;
      found.push(file);
      bytes += file.planned.bytes;
    }
    const room = await freeBytes?.(directory);
    return room !== undefined && room < 2 * bytes ? [] : found;
  }
}

interface PackedRun {
  readonly directory: string;
  readonly plan: Plan;
  /** Of the job: who has lost it changes nothing that has its name. */
  readonly lock: { assertHeld(): Promise<void> };
}

interface PlainFile {
  readonly path: string;
  readonly planned: FileDigest;
}

/** None of a step without rows. */
function listFiles(directory: string, step: PlannedStep): PlainFile[] {
  const { files } = step;
  if (files === undefined) return [];
  return [
    { path: requestsFile(directory, step), planned: files.requests },
    { path: rowsFile(directory, step), planned: files.rows },
  ];
}

/** Writes the packed file, and reads it back; gives way after each piece. */
async function* packFile(
  files: Files,
  path: string,
  { planned, mayName }: { planned: FileDigest; mayName: () => Promise<void> },
): AsyncGenerator<void> {
  yield* writePacked(files, path, mayName);
  const packed = await openPacked(files, packedFile(path));
  if (packed === undefined) throw new Error(`${packedFile(path)} was removed`);
  try {
    yield* readPlanned(packed, planned);
  } finally {
    await packed.close();
  }
}

async function* writePacked(files: Files, path: string, mayName: () => Promise<void>): AsyncGenerator<void> {
  const plain = await files.openRead(path);
  try {
    const packed = await files.createWhole(packedFile(path));
    let isWhole = false;
    try {
      for (let at = 0; at < plain.bytes; at += PIECE_BYTES) {
        await packed.write(packPiece(await plain.read(at, PIECE_BYTES)));
        yield;
      }
      await mayName();
      await packed.finish();
      isWhole = true;
    } finally {
      if (!isWhole) await packed.discard().catch(() => {});
    }
  } finally {
    await plain.close();
  }
}
