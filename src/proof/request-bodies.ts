import { isRowStep } from '../job/job.js';
import type { RequestKey } from '../journal/entry-format.js';
import type { OpenRequest } from '../journal/replay.js';
import { kindOf } from '../kinds/kinds.js';
import { planDamaged } from '../plan/format/plan-damaged.js';
import { decodeRequestLine, type Plan, requestsFile } from '../plan/format/plan-file.js';
import { openPlanned, type PlannedFile } from '../plan/format/planned-files.js';
import type { Files } from '../storage/files.js';
import { digestSalted, type ProofSource } from './proof-chain.js';

/** Requests are asked for nearly in the order of their file: a window saves most reads. */
const WINDOW_BYTES = 1 << 20;

/**
 * The digests of what requests and parts of them post, byte for byte as the run posts it, behind the salt of the run: without it one
 * could try all numbers on a request of a single row. The caller closes it.
 */
export class RequestBodies {
  readonly #files: Files;
  readonly #directory: string;
  readonly #plan: Plan;
  readonly #salt: string;
  readonly #opened = new Map<number, { readonly file: PlannedFile; offset: number; bytes: Buffer }>();

  constructor(files: Files, { directory, plan, salt }: ProofSource) {
    this.#files = files;
    this.#directory = directory;
    this.#plan = plan;
    this.#salt = salt;
  }

  async digestOf({ step: number, request, part, line, rows }: RequestKey & Pick<OpenRequest, 'line' | 'rows'>) {
    const step = this.#plan.job.steps[number - 1];
    const path = requestsFile(this.#directory, { number, kind: step?.kind ?? '' });
    const { body, ...head } = decodeRequestLine(await this.#read(number, line), path);
    if (step === undefined || !isRowStep(step) || head.request !== request) {
      throw planDamaged(path, `there is no request ${request} at byte ${line[0]}`);
    }
    const [first, count] = rows;
    const place = { planId: this.#plan.id, step: number, request, part, first, requestFirst: head.first, count };
    // As send-part.ts makes it.
    return digestSalted(this.#salt, part === '' ? body : kindOf(step).splitBody(body, place));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#opened.values()].map(({ file }) => file.close()));
  }

  /** A line without its newline. */
  async #read(number: number, [offset, length]: readonly [number, number]): Promise<Buffer> {
    const window = this.#opened.get(number) ?? (await this.#open(number));
    const end = window.offset + window.bytes.length;
    if (offset < window.offset || offset + length > end) {
      window.bytes = await window.file.read(offset, Math.max(length, WINDOW_BYTES));
      window.offset = offset;
    }
    const from = offset - window.offset;
    return window.bytes.subarray(from, from + length - 1);
  }

  async #open(number: number) {
    const planned = this.#plan.steps[number - 1];
    const path = requestsFile(this.#directory, { number, kind: planned?.kind ?? '' });
    const file = await openPlanned(this.#files, path, planned?.files?.requests);
    const window = { file, offset: 0, bytes: Buffer.alloc(0) };
    this.#opened.set(number, window);
    return window;
  }
}
