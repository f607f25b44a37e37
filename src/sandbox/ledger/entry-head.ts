export type Fields = Readonly<Record<string, unknown>>;

/** What every entry of the ledger has. */
export interface EntryHead {
  /** Place in the ledger, from 1, without gaps. */
  readonly seq: number;
  /** When it was accepted, ISO 8601. */
  readonly at: string;
  /** Number of the HTTP request; 0 for what came without one, such as what an agent did. */
  readonly request: number;
}
