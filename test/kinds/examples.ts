import type { ActionStepKind, RowKind } from '../../src/domain/areas.js';
import type { LedgerEntry } from '../../src/sandbox/ledger.js';
import type { Call } from '../../src/service/transport.js';

/**
 * Each kind of step, as the tests need it that run over all of them: faults, statuses, `where`, chained results, pages,
 * simulation. What is missing here does not compile.
 */
export interface KindExample {
  /** The keys beside `kind`, `input` and `limits`, over columns of these names. */
  step(columns: ExampleColumns): Readonly<Record<string, unknown>>;
  /** Keys, instead of those of `step`, with which it makes things at the service before its first row. */
  readonly making?: Readonly<Record<string, unknown>>;
  /** The key that says how many rows a request has at most, where it can have several. */
  readonly batchKey?: string;
  /** Done again, it comes to the same. */
  readonly isHarmlessTwice?: true;
  /** Of two rows with one number the second is skipped. */
  readonly skipsDuplicates?: true;
  /** The column by which the service knows a row again. */
  readonly column: keyof ReturnType<typeof rowOf>;
  /** Its rows can only be those of results of this kind. */
  readonly comesAfter?: RowKind;
  /** The rows for which a request asks something, by their `column`; none of one that only reads, or is of another kind. */
  rowsIn(request: Arrived): readonly string[];
  /** The row that an entry of the service's ledger is about; undefined where it is of another kind. */
  kept(entry: LedgerEntry): KeptRow | undefined;
}

/** What the service holds for one row. */
export interface KeptRow {
  /** Its `column`. */
  readonly row: string;
  /** As the first of the result columns has it. */
  readonly id: string;
  /** What a person reads. */
  readonly text?: string;
  /** It was done, and refused: a code that was wrong. */
  readonly isRefusal?: boolean;
}

type ExampleColumns = Readonly<{ name: string; mobile: string; session: string; code: string | undefined }>;

/** A request as it arrived. */
export type Arrived = Readonly<{ method: string; path: string; query: string; body: unknown }>;

export const COLUMNS = { name: 'name', mobile: 'mobile', session: 'session', code: 'code' } as const;

/** The code that each session waits for. */
export const CODE = '123456';

/** A row of people.csv, from 1. */
export function rowOf(row: number): Readonly<Record<'name' | 'mobile' | 'session' | 'code', string>> {
  const session = `00000000-0000-4000-8000-${String(row).padStart(12, '0')}`;
  return { name: `P${row}`, mobile: `+65${91_000_000 + row}`, session, code: CODE };
}

export const EXAMPLES: Readonly<Record<RowKind, KindExample>> = {
  contacts: {
    step: ({ name, mobile }) => ({ fields: { firstName: name, msisdn: mobile } }),
    isHarmlessTwice: true,
    column: 'name',
    rowsIn: (request) => (isPostTo(request, '/contacts') ? [(request.body as { firstName: string }).firstName] : []),
    kept: (entry) =>
      entry.area === 'contacts' ? { row: String(entry.contact.firstName), id: String(entry.contactId) } : undefined,
  },
  sms: {
    step: ({ name, mobile }) => ({ destination: mobile, template: { source: 'ACME', text: `Hi {{ ${name} }}` } }),
    batchKey: 'batchSize',
    skipsDuplicates: true,
    column: 'mobile',
    rowsIn: (request) =>
      isPostTo(request, '/messages/batch')
        ? (request.body as { messages: { destination: string }[] }).messages.map(({ destination }) => destination)
        : [],
    kept: (entry) => (entry.area === 'sms' ? { row: entry.destination, id: entry.umid, text: entry.text } : undefined),
  },
  'verification.start': {
    step: ({ mobile }) => ({ destination: mobile }),
    skipsDuplicates: true,
    column: 'mobile',
    rowsIn: (request) =>
      isPostTo(request, '/sessions') ? [(request.body as { destination: string }).destination] : [],
    kept: (entry) =>
      entry.area === 'verification' && entry.event === 'code-sent'
        ? { row: `+${entry.destination}`, id: entry.sessionId }
        : undefined,
  },
  'verification.check': {
    step: ({ session, code }) => ({ session, code }),
    column: 'session',
    comesAfter: 'verification.start',
    rowsIn: ({ path, query }) =>
      path.includes('/sessions/') && query !== '' ? [path.slice(path.lastIndexOf('/') + 1)] : [],
    kept: (entry) =>
      entry.area === 'verification' && entry.event === 'code-checked'
        ? { row: entry.sessionId, id: entry.sessionId, isRefusal: entry.status !== 'VERIFIED' }
        : undefined,
  },
  conversations: {
    step: ({ name, mobile }) => ({ channel: 'sandbox-channel', queue: '100', user: { name, phone: mobile } }),
    making: {
      queue: undefined,
      channel: { name: 'bot', queue: '100', webhook: { name: 'events', url: 'http://127.0.0.1:9/events' } },
    },
    column: 'name',
    rowsIn: (request) =>
      isPostTo(request, '/conversations') ? [(request.body as { user: { name: string } }).user.name] : [],
    kept: (entry) =>
      entry.area === 'gateway' && entry.kind === 'conversation'
        ? { row: (entry.body.user as { name: string }).name, id: entry.conversationId }
        : undefined,
  },
};

interface ActionExample {
  /** The keys beside `kind` and `limits`. */
  readonly step: Readonly<Record<string, unknown>>;
  /** It comes behind the steps with rows, of which it tells. */
  readonly isLast?: true;
  /** Whether a request makes the change. */
  asks(request: Arrived, step: Readonly<Record<string, unknown>>): boolean;
}

/** Kinds without rows. */
export const ACTION_EXAMPLES: Readonly<Record<ActionStepKind, ActionExample>> = {
  campaign: {
    step: { campaign: 101, set: 'PAUSED' },
    asks: (request, { set }) =>
      request.path.includes('/tstats/campaigns/') && (request.body as { status: string }).status === set,
  },
  chat: { step: { text: 'done' }, isLast: true, asks: (request) => isPostTo(request, '/chat/v1/messages') },
};

/** A request as the client sends it. */
export function arrivedAs({ method, path: whole, body }: Pick<Call, 'method' | 'path' | 'body'>): Arrived {
  const [path = '', query = ''] = whole.split('?');
  return { method, path, query, body: body === undefined ? undefined : JSON.parse(body.toString('utf8')) };
}

function isPostTo({ method, path }: Arrived, end: string): boolean {
  return method === 'POST' && path.endsWith(end);
}
