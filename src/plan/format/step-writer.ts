import { createHash } from 'node:crypto';
import { TextBuffer } from '../../domain/bytes/text-buffer.js';
import type { Limits } from '../../job/limits.js';
import type { RowPlanner, RowRefusal } from '../../kinds/step-kind.js';
import type { Files, WholeFile } from '../../storage/files.js';
import type { StageChooser } from '../stage-chooser.js';
import { encodeRequestLine, type FileDigest, requestsFile, rowsFile, type StepFiles } from './plan-file.js';
import {
  appendPlannedRow,
  appendRefusedRow,
  type DraftedRows,
  keepRow,
  type PlannedPlace,
  type RowBytes,
  type RowPlace,
} from './row-line.js';

const FLUSH_BYTES = 1 << 20;

interface WaitingGroup {
  readonly group: Group;
  /** Tasks that write one row each. */
  readonly rows: (() => void)[];
}

/** Beyond this, the rows of the largest group are written, however few they are. */
const MOST_WAITING_ROWS = 50_000;

interface StepToWrite {
  readonly number: number;
  readonly kind: string;
  readonly planner: RowPlanner;
  readonly limits: Limits;
  readonly chooser?: StageChooser | undefined;
  /** Calls that a request takes, for the estimate of time. */
  readonly callsPerRequest: number;
}

/** Gathers planned rows into requests, and writes both files of a step. */
export class StepWriter {
  requests = 0;
  planned = 0;
  messages = 0;
  segments = 0;
  /** Least time that the limits allow for all requests. */
  seconds = 0;
  /** Rows by group of hours. */
  readonly groups: Record<string, number> = {};
  /** Rows of each stage; undefined where the step has none. */
  readonly stages: number[] | undefined;
  /** Rows of the first stage by group of cost. */
  readonly firstStage: number[] = [];
  readonly #planner: RowPlanner;
  readonly #chooser: StageChooser | undefined;
  readonly #limits: Limits;
  readonly #callsPerRequest: number;
  readonly #requests: DigestedFile;
  readonly #rows: DigestedFile;
  /** The body of the request that is being filled. */
  readonly #body = new TextBuffer();
  #batch = emptyBatch();
  /** By the name of their group, whose rows share no request with those of others. */
  readonly #waiting = new Map<string, WaitingGroup>();
  #waitingRows = 0;
  /** The group of the request that is being filled. */
  #group: Group;
  /** The most rows of the request that is being filled. */
  #mostRows: number;

  static async create(files: Files, directory: string, step: StepToWrite): Promise<StepWriter> {
    const requests = await files.createWhole(requestsFile(directory, step));
    try {
      return new StepWriter(step, requests, await files.createWhole(rowsFile(directory, step)));
    } catch (error) {
      await requests.discard().catch(() => {});
      throw error;
    }
  }

  private constructor(
    { planner, limits, chooser, callsPerRequest }: StepToWrite,
    requests: WholeFile,
    rows: WholeFile,
  ) {
    this.#planner = planner;
    this.#chooser = chooser;
    this.#callsPerRequest = callsPerRequest;
    this.stages = chooser?.stages.map(() => 0);
    this.#mostRows = boundRows(1, planner.rowsPerRequest);
    this.#group = { hours: planner.hours, stage: undefined };
    this.#limits = limits;
    this.#requests = new DigestedFile(requests);
    this.#rows = new DigestedFile(rows);
  }

  addPlanned(place: PlannedPlace, row: DraftedRows): void {
    const { hours, segments } = row;
    const group = hours ?? this.#planner.hours;
    if (group !== undefined) this.groups[group] = (this.groups[group] ?? 0) + 1;
    if (this.#chooser === undefined && hours === undefined) {
      this.#writeRow(place, segments, row);
      return;
    }
    const kept = keepRow(row);
    const write = () => this.#writeRow(place, segments, kept);
    if (this.#chooser === undefined) {
      this.#addToGroup({ hours, stage: undefined }, write);
      return;
    }
    const { costGroup = 0 } = place;
    this.#chooser.add(`${row.facts[0]}\n${JSON.stringify(row.cells.texts)}`, (stage) => {
      if (stage === 1) this.firstStage[costGroup] = (this.firstStage[costGroup] ?? 0) + 1;
      this.#addToGroup({ hours: group, stage }, write);
    });
  }

  #addToGroup(group: Group, write: () => void): void {
    const { stage } = group;
    if (stage !== undefined && this.stages !== undefined) this.stages[stage - 1] = (this.stages[stage - 1] ?? 0) + 1;
    const name = nameOf(group);
    const waiting: WaitingGroup = this.#waiting.get(name) ?? { group, rows: [] };
    const { rows } = waiting;
    rows.push(write);
    this.#waiting.set(name, waiting);
    this.#waitingRows += 1;
    const begun = nameOf(this.#group) === name ? this.#batch.rows : 0;
    if (begun + rows.length >= this.#mostRows) this.#writeGroup(name);
    else if (this.#waitingRows >= MOST_WAITING_ROWS) this.#writeGroup(this.#largestGroup());
  }

  /** Writes the rows that wait for others of their group: rows of different files keep their order. */
  endFile(): void {
    this.#chooser?.endFile();
    for (const name of [...this.#waiting.keys()]) this.#writeGroup(name);
  }

  #largestGroup(): string {
    const [[largest] = ['']] = [...this.#waiting].toSorted(([, a], [, b]) => b.rows.length - a.rows.length);
    return largest;
  }

  #writeGroup(name: string): void {
    const { group = this.#group, rows = [] } = this.#waiting.get(name) ?? {};
    this.#waiting.delete(name);
    this.#waitingRows -= rows.length;
    if (this.#batch.rows > 0 && nameOf(this.#group) !== name) this.#endRequest();
    this.#group = group;
    for (const write of rows) write();
  }

  #writeRow(place: PlannedPlace, segments: number, row: RowBytes): void {
    const isOver = this.#batch.segments + segments > this.#planner.segmentsPerRequest;
    if (isOver && this.#batch.rows > 0) this.#endRequest();
    this.#body.appendShort(this.#batch.rows === 0 ? this.#planner.openBody(this.requests + 1) : ',');
    row.appendFragment(this.#body);
    const { indexed } = this.#planner;
    if (indexed !== undefined) {
      this.#body.appendShort(indexed.before);
      this.#body.appendInteger(this.planned);
      this.#body.appendShort(indexed.behind);
    }
    appendPlannedRow(this.#rows.text, place, this.requests + 1, row);
    this.#batch.rows += 1;
    if (segments > 0) this.#batch.messages += 1;
    this.#batch.segments += segments;
    this.planned += 1;
    if (this.#batch.rows === this.#mostRows) this.#endRequest();
  }

  addRefused(place: RowPlace, refusal: RowRefusal, row: RowBytes): void {
    appendRefusedRow(this.#rows.text, place, refusal, row);
  }

  /** Writes the gathered text once it is large enough. */
  async flush(): Promise<void> {
    await this.#requests.flush(FLUSH_BYTES);
    await this.#rows.flush(FLUSH_BYTES);
  }

  async finish(): Promise<void> {
    this.#chooser?.finish();
    this.endFile();
    if (this.#batch.rows > 0) this.#endRequest();
    await this.#requests.finish();
    await this.#rows.finish();
  }

  /** The digests of the files that `finish` ended. */
  get files(): StepFiles {
    return { requests: this.#requests.digest, rows: this.#rows.digest };
  }

  /** Closes both, whatever one of them says: there is a better error already. */
  async discard(): Promise<void> {
    await Promise.allSettled([this.#requests.discard(), this.#rows.discard()]);
  }

  #endRequest(): void {
    const { rows, messages, segments } = this.#batch;
    this.requests += 1;
    this.messages += messages;
    this.segments += segments;
    this.seconds += secondsFor({ messages, segments }, this.#limits) * this.#callsPerRequest;
    this.#body.append(this.#planner.closeBody);
    const { hours, stage } = this.#group;
    const about = { request: this.requests, first: this.planned - rows, rows, messages, segments };
    const head = { ...about, ...(hours === undefined ? {} : { hours }), ...(stage === undefined ? {} : { stage }) };
    for (const piece of encodeRequestLine(head, this.#body.bytes)) this.#requests.text.appendBytes(piece);
    this.#body.clear();
    this.#batch = emptyBatch();
    this.#mostRows = boundRows(this.requests + 1, this.#planner.rowsPerRequest);
  }
}

/** A file, its digest, and the text that gathers for it: while some is written more of it may come. The next call throws a failed write. */
export class DigestedFile {
  readonly #file: WholeFile;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  #gathered = new TextBuffer();
  #spare = new TextBuffer();
  #writing: Promise<void> = Promise.resolve();

  constructor(file: WholeFile) {
    this.#file = file;
  }

  /** The buffer to append to, until the next `flush` or `finish`. */
  get text(): TextBuffer {
    return this.#gathered;
  }

  get digest(): FileDigest {
    return { bytes: this.#bytes, sha256: this.#hash.copy().digest('hex') };
  }

  /** Starts a write once the buffer is large enough; waits for the write before. */
  async flush(atLeast: number): Promise<void> {
    if (this.#gathered.length < atLeast) return;
    await this.#writing;
    const full = this.#gathered;
    this.#gathered = this.#spare;
    this.#spare = full;
    this.#writing = full.flush((bytes) => {
      this.#bytes += bytes.length;
      this.#hash.update(bytes);
      return this.#file.write(bytes);
    });
    // Handled where it is awaited.
    this.#writing.catch(() => {});
  }

  async finish(): Promise<void> {
    await this.flush(0);
    await this.#writing;
    await this.#file.finish();
  }

  async discard(): Promise<void> {
    await this.#writing.catch(() => {});
    await this.#file.discard();
  }
}

/** Rows of one share requests: those with the same hours (hours/window.ts), in the same stage. */
interface Group {
  readonly hours: string | undefined;
  readonly stage: number | undefined;
}

function nameOf({ hours, stage }: Group): string {
  return `${stage ?? ''} ${hours ?? ''}`;
}

function emptyBatch(): { rows: number; messages: number; segments: number } {
  return { rows: 0, messages: 0, segments: 0 };
}

function secondsFor(cost: { messages: number; segments: number }, limits: Limits): number {
  const { requestsPerSecond, messagesPerSecond = Infinity, segmentsPerSecond = Infinity } = limits;
  return Math.max(1 / requestsPerSecond, cost.messages / messagesPerSecond, cost.segments / segmentsPerSecond);
}

/**
 * The first requests of a step hold few rows, so that a wrong job shows early: `maxFailedPercent` counts from 100
 * answers, and an outage at the start costs ten rows. The run sends each of them alone (run/send/breaker.ts).
 */
const FIRST_REQUESTS_ROWS: readonly number[] = [10, 100];

/** The most rows of a request, by its number from 1. */
function boundRows(request: number, rowsPerRequest: number): number {
  return Math.min(rowsPerRequest, FIRST_REQUESTS_ROWS[request - 1] ?? rowsPerRequest);
}
