import type { AreaName } from '../area-name.js';
import type { CampaignEntry } from '../campaign/campaign-entry.js';
import type { ChatEntry } from '../chat/chat-entry.js';
import type { GatewayEntry } from '../gateway/gateway-entry.js';
import type { VerificationEntry } from '../verification/verification-entry.js';
import type { EntryHead, Fields } from './entry-head.js';

/**
 * A page is what one HTTP request had accepted, as one line of JSON. Equal fields of all rows are stored once in
 * `shared`; the others in `rows`, in the order of `columns`. So a batch is in the ledger whole or not at all, and a
 * million messages with one text take some 80 MB.
 */
export interface Page {
  /** Number of the first row in the ledger, from 1. */
  readonly seq: number;
  /** ISO 8601. */
  readonly at: string;
  readonly area: AreaName;
  /** Number of the HTTP request. */
  readonly request: number;
  readonly shared: Fields;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

/** A message that was accepted. Text, source and encoding are what is in force after the template. */
export interface SmsEntry extends EntryHead {
  readonly area: 'sms';
  readonly subAccountId: string;
  readonly batchId: string;
  readonly clientBatchId: string | null;
  readonly umid: string;
  readonly clientMessageId: string | null;
  /** As the client wrote it. */
  readonly destination: string;
  readonly country: string | null;
  readonly source: string | null;
  readonly text: string;
  readonly encoding: 'GSM7' | 'UCS2';
  /** Number of SMS that the text takes, 1 to 10. */
  readonly parts: number;
  readonly scheduled: string | null;
  readonly expiry: string | null;
  readonly dlrCallbackUrl: string | null;
  /** Set when the batch was cancelled before the message's time. */
  readonly cancelledAt: string | null;
}

/** A contact that was created, or merged into one that had one of its addresses. */
export interface ContactEntry extends EntryHead {
  readonly area: 'contacts';
  readonly account: string;
  readonly contactId: number;
  readonly outcome: 'created' | 'merged';
  readonly externalId: string | null;
  /** The resulting state at the service. */
  readonly contact: Fields;
}

export type LedgerEntry = SmsEntry | ContactEntry | VerificationEntry | GatewayEntry | CampaignEntry | ChatEntry;

/** Every row must have the same fields. */
export function buildPage(head: Omit<Page, 'shared' | 'columns' | 'rows'>, rows: readonly Fields[]): Page {
  const first = rows[0] ?? {};
  const shared: Record<string, unknown> = {};
  const columns: string[] = [];
  for (const field of Object.keys(first)) {
    const value = first[field];
    if (rows.every((row) => row[field] === value)) shared[field] = value;
    else columns.push(field);
  }
  return { ...head, shared, columns, rows: rows.map((row) => columns.map((column) => row[column])) };
}

export function expandPage(page: Page): LedgerEntry[] {
  const { seq, at, area, request } = page;
  const rows = expandRows(page, (place) => ({ seq: seq + place, at, area, request }));
  return rows as unknown as LedgerEntry[];
}

/** The rows as they were accepted; `headOf` adds what stands before each of them. */
export function expandRows({ shared, columns, rows }: Page, headOf?: (place: number) => Fields): Fields[] {
  return rows.map((row, place) => {
    const fields: Record<string, unknown> = { ...headOf?.(place), ...shared };
    for (const [index, column] of columns.entries()) fields[column] = row[index];
    return fields;
  });
}
