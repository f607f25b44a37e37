import { anAnswer } from '../service/raw-server.js';

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

interface Batch {
  readonly clientBatchId: string;
  readonly messages: readonly { readonly clientMessageId: string; readonly destination: string }[];
}

/** What the service did, which is the judge of every run; it answers honestly. */
export class Ledger {
  /** Of each row, by its number or its session: the ids that it was given, one each time it was processed. */
  readonly done = new Map<string, string[]>();
  /** Webhooks and channels that were made. */
  readonly made: string[] = [];
  #lastId = 0;

  process(request: Arrived): HonestAnswer {
    const { method, path, query, body } = request;
    if (path.endsWith('/messages/batch')) return this.#takeBatch(body as Batch);
    if (path.endsWith('/contacts')) return this.#takeContact(body as { addresses: { msisdn: string } });
    if (path.endsWith('/conversations')) return this.#takeConversation(body as { user: { phone: string } });
    if (path.endsWith('/sessions')) return this.#startSession(body as { destination: string });
    if (method === 'GET') return this.#lookAtSession(path.split('/').at(-1) ?? '', query);
    return this.#make(path.split('/').at(-1) ?? '', body as { name: string });
  }

  #takeBatch({ clientBatchId, messages }: Batch): HonestAnswer {
    const results = messages.map(({ clientMessageId, destination }) => ({
      umid: this.#do(destination),
      clientMessageId,
      destination,
      status: { code: 'QUEUED', description: 'SMS is accepted and queued' },
    }));
    const counts = { acceptedCount: results.length, rejectedCount: 0 };
    // Their order is not promised.
    return ok({ batchId: this.#newId(), clientBatchId, ...counts, messages: results.reverse() });
  }

  #takeContact({ addresses: { msisdn } }: { addresses: { msisdn: string } }): HonestAnswer {
    const [known] = this.done.get(msisdn) ?? [];
    const id = this.#do(msisdn, known);
    const body = { id, addresses: { msisdn: msisdn.replace('+', '') } };
    return { status: known === undefined ? 201 : 200, headers: { location: `/accounts/acme/contacts/${id}` }, body };
  }

  #takeConversation({ user: { phone } }: { user: { phone: string } }): HonestAnswer {
    return { ...ok({ conversationId: this.#do(phone), createdAt: '2026-11-21T12:00:00Z' }), status: 202 };
  }

  #startSession({ destination }: { destination: string }): HonestAnswer {
    return ok({ uid: this.#do(destination), destination, status: 'WAITING', attempt: 0 });
  }

  /** With a code, which is always right, the session is verified; without one it is only read. */
  #lookAtSession(uid: string, query: string): HonestAnswer {
    if (query !== '') this.#do(uid, uid);
    return ok({ uid, status: this.done.has(uid) ? 'VERIFIED' : 'WAITING', attempt: 0 });
  }

  #make(what: string, { name }: { name: string }): HonestAnswer {
    this.made.push(what);
    return ok({ id: this.#newId(), name });
  }

  #do(row: string, id = this.#newId()): string {
    this.done.set(row, [...(this.done.get(row) ?? []), id]);
    return id;
  }

  #newId(): string {
    this.#lastId += 1;
    return `id-${this.#lastId}`;
  }
}

/** As it goes over the wire. */
export function writeAnswer(
  { status, headers, body }: HonestAnswer,
  more: Readonly<Record<string, string>> = {},
): string {
  return anAnswer(status, JSON.stringify(body), { 'content-type': 'application/json', ...headers, ...more });
}

function ok(body: HonestAnswer['body']): HonestAnswer {
  return { status: 200, headers: {}, body };
}
