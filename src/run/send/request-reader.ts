import type { OpenRequest, StepProgress } from '../../journal/replay.js';
import { decodeRequestLine, type PlannedStep, type RequestHead, requestsFile } from '../../plan/format/plan-file.js';
import { openPlanned, type PlannedFile, requestMissing } from '../../plan/format/planned-files.js';
import { planDamaged } from '../../plan/format/sealed-json.js';
import type { Files } from '../../storage/files.js';
import { splitLines } from '../../storage/split-lines.js';
import type { Cost } from '../../throttle/rate.js';

/** A request, or a part of one, with what is needed to send it. */
export interface PartToSend {
  readonly open: OpenRequest;
  readonly head: RequestHead;
  /** The whole request's body, as planned. */
  readonly body: Buffer;
  /** Attempts in this process whose answers did not say what became of it, while others were answered. */
  readonly ambiguousAttempts: number;
  readonly deferrals: number;
}

/** What it takes of the limits: a part counts its share of the request's segments. */
export function costOf({ open, head }: PartToSend): Cost {
  const share = open.rows[1] / head.rows;
  return { messages: Math.ceil(head.messages * share), segments: Math.ceil(head.segments * share) };
}

/** Where the parts of a step come from that this process has not seen. */
export interface PartSource {
  /** Reads the next part; undefined when there is none, for now or for good. */
  next(): Promise<PartToSend | undefined>;
  /** Reads a part once more that `next` gave, and whose body was not kept; absent where there are no windows. */
  readAgain?(open: OpenRequest): Promise<PartToSend>;
  /** Resolves when there may be one, with false when there never will, or another run needs this process; absent where `next` says so. */
  awaitMore?(): Promise<boolean>;
}

/** Reads the requests of a step that were never begun, in order, and begun ones again by their place. */
export class RequestReader implements PartSource {
  readonly #file: PlannedFile;
  readonly #step: PlannedStep;
  readonly #fresh: AsyncGenerator<PartToSend>;

  static async open(
    files: Files,
    directory: string,
    step: PlannedStep,
    progress: StepProgress,
  ): Promise<RequestReader> {
    const file = await openPlanned(files, requestsFile(directory, step), step.files?.requests);
    return new RequestReader(file, step, progress);
  }

  private constructor(file: PlannedFile, step: PlannedStep, progress: StepProgress) {
    this.#file = file;
    this.#step = step;
    this.#fresh = this.#readFresh(progress.nextRequest, progress.nextOffset, new Set(progress.begunAhead.keys()));
  }

  /** Reads the next request that was not begun; undefined when every request of the plan was. */
  async next(): Promise<PartToSend | undefined> {
    const { value, done } = await this.#fresh.next();
    return done === true ? undefined : value;
  }

  async readAgain(open: OpenRequest): Promise<PartToSend> {
    const [offset, length] = open.line;
    const bytes = await this.#file.read(offset, length);
    const { body, ...head } = decodeRequestLine(bytes.subarray(0, -1), this.#file.path);
    if (head.request !== open.request) {
      throw planDamaged(this.#file.path, `there is no request ${open.request} at byte ${offset}`);
    }
    return { open, head, body, ambiguousAttempts: 0, deferrals: 0 };
  }

  async close(): Promise<void> {
    await this.#fresh.return(undefined);
    await this.#file.close();
  }

  async *#readFresh(from: number, offset: number, begun: ReadonlySet<number>): AsyncGenerator<PartToSend> {
    let expected = from;
    for await (const line of splitLines(this.#file, offset)) {
      const { body, ...head } = decodeRequestLine(line.bytes, this.#file.path);
      if (head.request !== expected) throw requestMissing(this.#file.path, expected);
      expected += 1;
      if (begun.has(head.request)) continue;
      const place = [line.offset, line.bytes.length + 1] as const;
      const { request, first, rows } = head;
      const open = {
        step: this.#step.number,
        request,
        part: '',
        line: place,
        rows: [first, rows],
        isInFlight: false,
      } as const;
      yield { open, head, body, ambiguousAttempts: 0, deferrals: 0 };
    }
    if (expected !== this.#step.counts.requests + 1) throw requestMissing(this.#file.path, expected);
  }
}
