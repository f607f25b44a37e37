import type { Cell } from '../domain/row.js';
import type { RowLine } from '../plan/format/row-line.js';

/** A row of a step, and what is sent for it. */
export interface PreviewedRow {
  /** As in the plan: `file` is an index into the inputs of the step. */
  readonly row: RowLine;
  /** The part of the request that is this row's; undefined where nothing is sent for it. */
  readonly message: Message | undefined;
  /** What it costs, a decimal text; null where the list has no price for it. Absent where the row or the job has no prices. */
  readonly price?: string | null | undefined;
}

/** JSON, as it is posted. */
export type Message = Readonly<Record<string, unknown>>;

/**
 * Joins the two files of a step, as they come: each planned row with its part of a request, by their order.
 * Holds what came of one of them and waits for the other.
 */
export class PreviewedRows {
  readonly #kind: string;
  readonly #onRow: (row: PreviewedRow) => void;
  readonly #rows: RowLine[] = [];
  readonly #messages: Message[] = [];

  constructor(kind: string, onRow: (row: PreviewedRow) => void) {
    this.#kind = kind;
    this.#onRow = onRow;
  }

  /** Whether a row waits for its request. */
  get needsRequest(): boolean {
    return this.#rows.length > 0;
  }

  addRow(row: RowLine): void {
    if (row.state !== 'planned') this.#onRow({ row, message: undefined });
    else {
      this.#rows.push(row);
      this.#join();
    }
  }

  /** Adds a request as it is posted. */
  addRequest(bytes: Buffer): void {
    const body = JSON.parse(bytes.toString('utf8'));
    // A batch shares what its messages do not say themselves.
    if (this.#kind === 'sms') {
      for (const message of body.messages) this.#messages.push({ ...message, ...textOf(message, body.template) });
    } else this.#messages.push(body);
    this.#join();
  }

  #join(): void {
    const count = Math.min(this.#rows.length, this.#messages.length);
    const messages = this.#messages.splice(0, count);
    for (const [index, row] of this.#rows.splice(0, count).entries()) this.#onRow({ row, message: messages[index] });
  }
}

function textOf(message: Message, template: { readonly text?: Cell }): { readonly text: unknown } {
  return { text: message.text ?? template.text };
}
