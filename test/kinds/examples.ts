import type { RowKind } from '../../src/domain/areas.js';
import type { Call } from '../../src/service/transport.js';

/**
 * Each kind of step with rows, as the tests need it that run over all of them: faults, statuses, `where`, chained results, pages,
 * simulation. What is missing here does not compile.
 */
export interface KindExample {
  /** The keys beside `kind`, `input` and `limits`, over columns of these names. */
  step(columns: ExampleColumns): Readonly<Record<string, unknown>>;
  /** The column by which the service knows a row again. */
  readonly column: 'name' | 'mobile' | 'session';
  /** Its rows can only be those of results of this kind. */
  readonly comesAfter?: RowKind;
  /** The rows for which a request asks something, by their `column`; none of one that only reads, or is of another kind. */
  rowsIn(request: Arrived): readonly string[];
  /** What the service says, honestly; undefined to a request of another kind. */
  answer(request: Arrived, taken: Taken): HonestAnswer | undefined;
}

interface ExampleColumns {
  readonly name: string;
  readonly mobile: string;
  readonly session: string;
  readonly code: string | undefined;
}

/** A request as it arrived. */
export interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: unknown;
}

export interface HonestAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What the service has done. */
export interface Taken {
  /** Ids that a row was given, one each time that it was processed. */
  idsOf(row: string): readonly string[];
  /** Processes a row, and gives it this id, or a new one. */
  take(row: string, id?: string): string;
  newId(): string;
}

export const COLUMNS: ExampleColumns = { name: 'name', mobile: 'mobile', session: 'session', code: 'code' };

/** A row of people.csv, from 1. */
export function rowOf(row: number): Readonly<Record<'name' | 'mobile' | 'session' | 'code', string>> {
  const session = `00000000-0000-4000-8000-${String(row).padStart(12, '0')}`;
  return { name: `P${row}`, mobile: `+65${91_000_000 + row}`, session, code: '123456' };
}

export const EXAMPLES: Readonly<Record<RowKind, KindExample>> = {
  contacts: {
    step: ({ name, mobile }) => ({ fields: { firstName: name, msisdn: mobile } }),
    column: 'mobile',
    rowsIn: (request) => (isPostTo(request, '/contacts') ? [asContact(request).addresses.msisdn] : []),
    answer: (request, taken) => {
      if (!isPostTo(request, '/contacts')) return undefined;
      const { msisdn } = asContact(request).addresses;
      const [known] = taken.idsOf(msisdn);
      const id = taken.take(msisdn, known);
      const headers = { location: `/accounts/acme/contacts/${id}` };
      return { status: known === undefined ? 201 : 200, headers, body: { id, addresses: { msisdn: msisdn.slice(1) } } };
    },
  },
  sms: {
    step: ({ name, mobile }) => ({ destination: mobile, template: { source: 'ACME', text: `Hi {{ ${name} }}` } }),
    column: 'mobile',
    rowsIn: (request) =>
      isPostTo(request, '/messages/batch') ? asBatch(request).messages.map(({ destination }) => destination) : [],
    answer: (request, taken) => {
      if (!isPostTo(request, '/messages/batch')) return undefined;
      const { clientBatchId, messages } = asBatch(request);
      const results = messages.map(({ clientMessageId, destination }) => ({
        umid: taken.take(destination),
        clientMessageId,
        destination,
        status: { code: 'QUEUED', description: 'SMS is accepted and queued' },
      }));
      const counts = { acceptedCount: results.length, rejectedCount: 0 };
      // Their order is not promised.
      return ok({ batchId: taken.newId(), clientBatchId, ...counts, messages: results.reverse() });
    },
  },
  'verification.start': {
    step: ({ mobile }) => ({ destination: mobile }),
    column: 'mobile',
    rowsIn: (request) => (isPostTo(request, '/sessions') ? [asSession(request).destination] : []),
    answer: (request, taken) => {
      if (!isPostTo(request, '/sessions')) return undefined;
      const { destination } = asSession(request);
      return ok({ uid: taken.take(destination), destination, status: 'WAITING', attempt: 0 });
    },
  },
  'verification.check': {
    step: ({ session, code }) => ({ session, code }),
    column: 'session',
    comesAfter: 'verification.start',
    rowsIn: ({ path, query }) => (path.includes('/sessions/') && query !== '' ? [lastOf(path)] : []),
    // With a code, which is always right, the session is verified; without one it is only read.
    answer: ({ path, query }, taken) => {
      if (!path.includes('/sessions/')) return undefined;
      const uid = lastOf(path);
      if (query !== '') taken.take(uid, uid);
      return ok({ uid, status: taken.idsOf(uid).length > 0 ? 'VERIFIED' : 'WAITING', attempt: 0 });
    },
  },
  conversations: {
    step: ({ name, mobile }) => ({ channel: 'a-channel', queue: '100', user: { name, phone: mobile } }),
    column: 'mobile',
    rowsIn: (request) => (isPostTo(request, '/conversations') ? [asConversation(request).user.phone] : []),
    answer: (request, taken) => {
      if (!isPostTo(request, '/conversations')) return undefined;
      const conversationId = taken.take(asConversation(request).user.phone);
      return { ...ok({ conversationId, createdAt: '2026-11-21T12:00:00Z' }), status: 202 };
    },
  },
};

/** A request as the client sends it. */
export function arrivedAs({ method, path: whole, body }: Pick<Call, 'method' | 'path' | 'body'>): Arrived {
  const [path = '', query = ''] = whole.split('?');
  return { method, path, query, body: body === undefined ? undefined : JSON.parse(body.toString('utf8')) };
}

export function createTaken(): Taken & { readonly done: Map<string, string[]> } {
  const done = new Map<string, string[]>();
  let lastId = 0;
  const newId = () => {
    lastId += 1;
    return `id-${lastId}`;
  };
  const idsOf = (row: string) => done.get(row) ?? [];
  const take = (row: string, id = newId()) => {
    done.set(row, [...idsOf(row), id]);
    return id;
  };
  return { done, idsOf, take, newId };
}

function isPostTo({ method, path }: Arrived, end: string): boolean {
  return method === 'POST' && path.endsWith(end);
}

function lastOf(path: string): string {
  return path.split('/').at(-1) ?? '';
}

function ok(body: HonestAnswer['body']): HonestAnswer {
  return { status: 200, headers: {}, body };
}

const asContact = ({ body }: Arrived) => body as { addresses: { msisdn: string } };
const asSession = ({ body }: Arrived) => body as { destination: string };
const asConversation = ({ body }: Arrived) => body as { user: { phone: string } };
const asBatch = ({ body }: Arrived) =>
  body as { clientBatchId: string; messages: readonly { clientMessageId: string; destination: string }[] };
