/** Requests that a job makes, and the first, a middle and the last of them. */
export const REQUESTS = 5;
export const POSITIONS = [1, 3, 5] as const;
export const MIDDLE = POSITIONS[1];

export type KindName = 'sms' | 'contacts' | 'conversations' | 'verification.start' | 'verification.check';

/** A kind of step, as far as faults concern it. */
export interface Kind {
  readonly name: KindName;
  readonly rowsPerRequest: number;
  /** The service makes it safe to send the same request again. */
  readonly isRepeatable: boolean;
  /** What became of a request can be asked. */
  readonly isAsked: boolean;
  /** Column of the rows that the ledger knows them by. */
  readonly column: 'mobile' | 'session';
  /** Column of the results with the id that the service gave. */
  readonly idColumn: string;
  readonly step: object;
}

const input = { files: 'people.csv' };
const once = { rowsPerRequest: 1, isRepeatable: false, isAsked: false, column: 'mobile' } as const;

export const KINDS: Readonly<Record<KindName, Kind>> = {
  sms: {
    ...once,
    name: 'sms',
    rowsPerRequest: 4,
    idColumn: '_umid',
    step: {
      kind: 'sms',
      input,
      destination: 'mobile',
      template: { source: 'ACME', text: 'Hi {{ name }}' },
      batchSize: 4,
      limits: { requestsPerSecond: 1800, messagesPerSecond: 25_000 },
    },
  },
  contacts: {
    ...once,
    name: 'contacts',
    isRepeatable: true,
    idColumn: '_contactId',
    step: {
      kind: 'contacts',
      input,
      fields: { firstName: 'name', msisdn: 'mobile' },
      limits: { requestsPerSecond: 1800 },
    },
  },
  conversations: {
    ...once,
    name: 'conversations',
    idColumn: '_conversationId',
    step: {
      kind: 'conversations',
      input,
      channel: 'a-channel',
      queue: '100',
      user: { name: 'name', phone: 'mobile' },
      limits: { requestsPerSecond: 100 },
    },
  },
  'verification.start': {
    ...once,
    name: 'verification.start',
    idColumn: '_sessionId',
    step: { kind: 'verification.start', input, destination: 'mobile', limits: { requestsPerSecond: 100 } },
  },
  'verification.check': {
    ...once,
    name: 'verification.check',
    isAsked: true,
    column: 'session',
    idColumn: '_sessionId',
    step: {
      kind: 'verification.check',
      input,
      session: 'session',
      code: 'code',
      limits: { requestsPerSecond: 100 },
    },
  },
};

/** A row of people.csv, from 1. */
export function rowOf(row: number): { name: string; mobile: string; session: string; code: string } {
  const session = `00000000-0000-4000-8000-${String(row).padStart(12, '0')}`;
  return { name: `P${row}`, mobile: `+65${91_000_000 + row}`, session, code: '123456' };
}

export function rowsOf({ rowsPerRequest }: Kind): ReturnType<typeof rowOf>[] {
  return Array.from({ length: REQUESTS * rowsPerRequest }, (_, index) => rowOf(index + 1));
}
