import type { Area } from '../../domain/areas.js';
import type { Fields } from '../area.js';
import type { CampaignEntry } from '../campaign.js';
import type { ChatEntry } from '../chat.js';
import type { ContactEntry } from '../contacts.js';
import type { GatewayEntry } from '../gateway/conversation.js';
import type { SmsEntry } from '../sms/batch-schema.js';
import type { VerificationEntry } from '../verification.js';

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
  readonly area: Area;
  /** Number of the HTTP request. */
  readonly request: number;
  readonly shared: Fields;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** What changes the state of the area and is no entry: that a batch is cancelled. */
  readonly note?: object;
}

export type LedgerEntry = SmsEntry | ContactEntry | VerificationEntry | GatewayEntry | CampaignEntry | ChatEntry;

/** Every row must have the same fields. */
export function buildPage(head: Pick<Page, 'seq' | 'at' | 'area' | 'request'>, entries: readonly object[]): Page {
  const given = entries as readonly Fields[];
  const first = given[0] ?? {};
  const shared: Record<string, unknown> = {};
  const columns: string[] = [];
  for (const field of Object.keys(first)) {
    const value = first[field];
    if (given.every((row) => row[field] === value)) shared[field] = value;
    else columns.push(field);
  }
  return { ...head, shared, columns, rows: given.map((row) => columns.map((column) => row[column])) };
}

export function expandPage(page: Page): LedgerEntry[] {
  const { seq, at, area, request } = page;
  const entries = expandRows(page, (place) => ({ seq: seq + place, at, area, request }));
  return entries as unknown as LedgerEntry[];
}

/** The rows as they were accepted; `headOf` adds what stands before each of them. */
export function expandRows({ shared, columns, rows }: Page, headOf?: (place: number) => Fields): Fields[] {
  return rows.map((row, place) => {
    const fields: Record<string, unknown> = { ...headOf?.(place), ...shared };
    for (const [index, column] of columns.entries()) fields[column] = row[index];
    return fields;
  });
}
