import { createHash } from 'node:crypto';
import { TextBuffer } from '../../domain/bytes/text-buffer.js';
import type { Limits } from '../../job/limits.js';
import type { PlannedRow, RowPlanner, RowRefusal } from '../../kinds/step-kind.js';
import type { Files, WholeFile } from '../../storage/files.js';
import { WriteBehind } from '../../storage/write-behind.js';
import { boundRows } from '../first-requests.js';
import type { StageChooser } from '../stage-chooser.js';
import { type DraftedRow, KeptRows, type RowBytes } from './drafted-row.js';
import { encodeRequestLine, type FileDigest, requestsFile, rowsFile, type StepFiles } from './plan-file.js';
import {
  appendCostGroup,
  appendRefusal,
  appendRequest,
  appendRowEnd,
  appendRowStart,
  encodeRowLine,
  type RowHead,
  type RowPlace,
} from './row-line.js';

const FLUSH_BYTES = 1 << 20;
/** In UTF-16 units; longer texts would survive a garbage collection as many fragments. */
const ENCODE_UNITS = 1 << 14;

/** Where a planned row stands, and the index of its group where its step has prices (step-cost.ts). */
interface PlannedPlace extends RowPlace {
  readonly costGroup: number | undefined;
}

type WrittenRow = Pick<PlannedRow, 'facts' | 'fragment' | 'messages' | 'segments' | 'hours'>;

interface WaitingGroup {
  readonly group: Group;
  /** Each writes one. */
  readonly rows: (() => void)[];
  readonly drafted: KeptRows;
}

/** Beyond this, the rows of the largest group are written, however few they are. */
const MOST_WAITING_ROWS = 50_000;

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
  /** Of the first stage: rows by group of cost. */
  readonly firstStage: number[] = [];
  readonly #planner: RowPlanner;
  readonly #chooser: StageChooser | undefined;
  readonly #limits: Limits;
  readonly #requestsFile: WholeFile;
  readonly #rowsFile: WholeFile;
  readonly #requests: WriteBehind;
  readonly #rows: WriteBehind;
  /** The body of the request that is being filled. */
  readonly #body = new TextBuffer();
  /** Text for the body and for the file of rows, encoded many rows at a time: row by row it would take half as long again. */
  #fragments = '';
  #lines = '';
  #batch = emptyBatch();
  /** By the name of their group, whose rows share no request with those of others. */
  readonly #waiting = new Map<string, WaitingGroup>();
  #waitingRows = 0;
  /** That of the request that is being filled. */
  #group: Group;
  readonly #written = { requests: new WrittenFile(), rows: new WrittenFile() };
  /** The most rows of the request that is being filled. */
  #mostRows: number;

  static async create(
    files: Files,
    directory: string,
    step: { number: number; kind: string; planner: RowPlanner; limits: Limits; chooser?: StageChooser | undefined },
  ): Promise<StepWriter> {
    const requests = await files.createWhole(requestsFile(directory, step));
    try {
      const rows = await files.createWhole(rowsFile(directory, step));
      return new StepWriter(step, requests, rows);
    } catch (error) {
      await requests.discard().catch(() => {});
      throw error;
    }
  }

  private constructor(
    { planner, limits, chooser }: Pick<Parameters<typeof StepWriter.create>[2], 'planner' | 'limits' | 'chooser'>,
    requests: WholeFile,
    rows: WholeFile,
  ) {
    this.#planner = planner;
    this.#chooser = chooser;
    this.stages = chooser?.stages.map(() => 0);
    this.#mostRows = boundRows(1, planner.rowsPerRequest);
    this.#group = { hours: planner.hours, stage: undefined };
    this.#limits = limits;
    this.#requestsFile = requests;
    this.#rowsFile = rows;
    const write = (file: WholeFile, digest: WrittenFile) => (bytes: Uint8Array) => {
      digest.add(bytes);
      return file.write(bytes);
    };
    this.#requests = new WriteBehind(write(requests, this.#written.requests));
    this.#rows = new WriteBehind(write(rows, this.#written.rows));
  }

  addPlanned(place: PlannedPlace & Pick<RowHead, 'from'>, row: WrittenRow, cellsJson: string): void {
    const { hours = this.#planner.hours } = row;
    this.#count(hours);
    const write = () => this.#writeRow(place, row, cellsJson);
    if (this.#chooser !== undefined) {
      const { costGroup = 0 } = place;
      this.#chooser.add(`${row.facts[0]}\n${cellsJson}`, (stage) => {
        if (stage === 1) this.firstStage[costGroup] = (this.firstStage[costGroup] ?? 0) + 1;
        this.#addToGroup({ hours, stage }, write);
      });
    } else if (row.hours === undefined) write();
    else this.#addToGroup({ hours, stage: undefined }, write);
  }

  #addToGroup(group: Group, write: () => void): void {
    const { stage } = group;
    if (stage !== undefined && this.stages !== undefined) this.stages[stage - 1] = (this.stages[stage - 1] ?? 0) + 1;
    const name = nameOf(group);
    const { rows } = this.#waitingOf(group);
    rows.push(write);
    this.#waitingRows += 1;
    const begun = nameOf(this.#group) === name ? this.#batch.rows : 0;
    if (begun + rows.length >= this.#mostRows) this.#writeGroup(name);
    else if (this.#waitingRows >= MOST_WAITING_ROWS) this.#writeGroup(this.#largestGroup());
  }

  #waitingOf(group: Group): WaitingGroup {
    const name = nameOf(group);
    const waiting = this.#waiting.get(name) ?? { group, rows: [], drafted: new KeptRows() };
    if (waiting.rows.length === 0) this.#waiting.set(name, waiting);
    return waiting;
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

  #writeRow(
    { costGroup, ...place }: PlannedPlace & Pick<RowHead, 'from'>,
    { facts, fragment, messages, segments }: WrittenRow,
    cellsJson: string,
  ): void {
    const { before, behind } = this.#planner.drafts?.indexed ?? { before: '', behind: '' };
    const seam = this.#beginRow(messages, segments);
    this.addRow({ state: 'planned', ...place, request: this.requests + 1, facts, costGroup }, cellsJson);
    this.#fragments += `${seam}${fragment}`;
    if (before !== '') this.#fragments += `${before}${this.planned}${behind}`;
    this.#endRow();
  }

  #count(hours: string | undefined): void {
    if (hours !== undefined) this.groups[hours] = (this.groups[hours] ?? 0) + 1;
  }

  /** Written, or waiting for its stage or for others of its group. */
  get taken(): number {
    return this.planned + this.#waitingRows + (this.#chooser?.waiting ?? 0);
  }

  /** Like `addPlanned`, for a drafted row; `hours`: where they are its own. */
  addDrafted(place: PlannedPlace, segments: number, row: DraftedRow, hours: string | undefined): void {
    this.#count(hours ?? this.#planner.hours);
    if (hours === undefined) {
      this.#writeDrafted(place, segments, row);
      return;
    }
    const group = { hours, stage: undefined };
    const kept = [{ ...place }, segments, this.#waitingOf(group).drafted.keep(row)] as const;
    this.#addToGroup(group, () => this.#writeDrafted(...kept));
  }

  #writeDrafted(place: PlannedPlace, segments: number, row: RowBytes): void {
    this.#encode();
    const seam = this.#beginRow(1, segments);
    this.#body.appendShort(seam);
    row.appendFragment(this.#body);
    const { indexed } = this.#planner.drafts ?? {};
    if (indexed !== undefined) {
      this.#body.appendShort(indexed.before);
      this.#body.appendInteger(this.planned);
      this.#body.appendShort(indexed.behind);
    }
    appendRowStart(this.#rows.text, 'planned', place);
    appendRequest(this.#rows.text, this.requests + 1, row);
    if (place.costGroup !== undefined) appendCostGroup(this.#rows.text, place.costGroup);
    appendRowEnd(this.#rows.text, row);
    this.#endRow();
  }

  /** Like `addRow`, for a row that is not re-imported. */
  addRefused(place: RowPlace, refusal: RowRefusal, row: DraftedRow): void {
    this.#encode();
    appendRowStart(this.#rows.text, refusal.kind, place);
    appendRefusal(this.#rows.text, refusal);
    appendRowEnd(this.#rows.text, row);
  }

  addRow(head: RowHead, cellsJson: string): void {
    this.#lines += encodeRowLine(head, cellsJson);
    if (this.#lines.length > ENCODE_UNITS) this.#encode();
  }

  /** Writes the gathered text once it is large enough. */
  async flush(): Promise<void> {
    this.#encode();
    await this.#requests.flush(FLUSH_BYTES);
    await this.#rows.flush(FLUSH_BYTES);
  }

  async finish(): Promise<void> {
    this.#chooser?.finish();
    this.endFile();
    if (this.#batch.rows > 0) this.#endRequest();
    this.#encode();
    await this.#requests.end();
    await this.#rows.end();
    await this.#requestsFile.finish();
    await this.#rowsFile.finish();
  }

  /** Of the files that `finish` ended. */
  get files(): StepFiles {
    const { requests, rows } = this.#written;
    return { requests: requests.digest, rows: rows.digest };
  }

  /** Closes both, whatever one of them says: there is a better error already. */
  async discard(): Promise<void> {
    await Promise.allSettled([this.#requests.abandon(), this.#rows.abandon()]);
    await Promise.allSettled([this.#requestsFile.discard(), this.#rowsFile.discard()]);
  }

  /** The text before the row in its request; may begin the next request. */
  #beginRow(messages: number, segments: number): string {
    const isOver = this.#batch.segments + segments > this.#planner.segmentsPerRequest;
    if (isOver && this.#batch.rows > 0) this.#endRequest();
    const seam = this.#batch.rows === 0 ? this.#planner.openBody(this.requests + 1) : ',';
    this.#batch.rows += 1;
    this.#batch.messages += messages;
    this.#batch.segments += segments;
    return seam;
  }

  #endRow(): void {
    this.planned += 1;
    if (this.#batch.rows === this.#mostRows) this.#endRequest();
  }

  #encode(): void {
    if (this.#lines === '' && this.#fragments === '') return;
    this.#body.append(this.#fragments);
    this.#rows.text.append(this.#lines);
    this.#fragments = '';
    this.#lines = '';
  }

  #endRequest(): void {
    const { rows, messages, segments } = this.#batch;
    this.requests += 1;
    this.messages += messages;
    this.segments += segments;
    this.seconds += secondsFor({ messages, segments }, this.#limits) * (this.#planner.callsPerRequest ?? 1);
    this.#body.append(`${this.#fragments}${this.#planner.closeBody}`);
    this.#fragments = '';
    const { hours, stage } = this.#group;
    const about = { request: this.requests, first: this.planned - rows, rows, messages, segments };
    const head = { ...about, ...(hours === undefined ? {} : { hours }), ...(stage === undefined ? {} : { stage }) };
    for (const piece of encodeRequestLine(head, this.#body.bytes)) this.#requests.text.appendBytes(piece);
    this.#body.clear();
    this.#batch = emptyBatch();
    this.#mostRows = boundRows(this.requests + 1, this.#planner.rowsPerRequest);
  }
}

/** Of what was written of a file so far. */
class WrittenFile {
  #bytes = 0;
  readonly #hash = createHash('sha256');

  add(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    this.#hash.update(bytes);
  }

  get digest(): FileDigest {
    return { bytes: this.#bytes, sha256: this.#hash.copy().digest('hex') };
  }
}

/** Rows of one share requests: those with the same hours (hours/zone-groups.ts), in the same stage. */
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
