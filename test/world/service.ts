import { AREAS, type Area, type RowKind } from '../../src/domain/areas.js';
import { NO_RATE_LIMITS } from '../../src/sandbox/admission.js';
import type { Route, SandboxArea } from '../../src/sandbox/area.js';
import { createCampaignArea } from '../../src/sandbox/campaign.js';
import { createChatArea } from '../../src/sandbox/chat.js';
import { createContactsArea } from '../../src/sandbox/contacts.js';
import { FaultSet } from '../../src/sandbox/fault.js';
import { createGatewayArea } from '../../src/sandbox/gateway/gateway.js';
import {
  answerRefused,
  CODED_ERRORS,
  ERROR_CODE,
  isRefused,
  type RefusedRequest,
} from '../../src/sandbox/http-answer.js';
import type { LedgerEntry } from '../../src/sandbox/ledger.js';
import { createSmsArea } from '../../src/sandbox/sms/sms.js';
import { createVerificationArea } from '../../src/sandbox/verification.js';
import { type Arrived, EXAMPLES, type KeptRow } from '../kinds/examples.js';

/** What was done with a request that was processed, and is answered so unless a fault spoils it. */
export interface Done {
  readonly route: Route;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** What it left in the ledger. */
  readonly entries: readonly LedgerEntry[];
  /** It was accepted and left nothing: what it asks had been done. */
  readonly isRepeated: boolean;
}

/** Of the number of a row: it is refused alone, or the whole request is. */
export type Refusal = 'the row' | RefusedRequest | undefined;

const NO_ROUTE = { status: 400, code: ERROR_CODE.invalidMsisdn, message: 'No route' };

/**
 * The service: the areas of the sandbox, called without HTTP, disk and chance. What a request asks is decided, entered and
 * applied at once. `ledger` and `kept` are the judges of every run.
 */
export class Service {
  readonly ledger: LedgerEntry[] = [];
  /** What it holds for the rows of each kind of step. */
  readonly kept = new Kept();
  requests = 0;
  #atMs = 0;
  #ids = 0;
  readonly #areas: Readonly<Record<Area, SandboxArea>>;

  constructor() {
    const clock = { now: () => this.#atMs, monotonicMs: () => this.#atMs, sleep: async () => {} };
    // Far enough apart for the messages of a batch, which count up from its id.
    const newId = () => {
      this.#ids += 1;
      return `${(this.#ids * 0x4000).toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
    };
    this.#areas = {
      sms: createSmsArea(clock, newId, NO_RATE_LIMITS),
      contacts: createContactsArea(),
      verification: createVerificationArea(newId),
      gateway: createGatewayArea(newId),
      campaign: createCampaignArea(),
      chat: createChatArea(newId, NO_RATE_LIMITS.perChatKey),
    };
  }

  /** Ids of what steps make before their first row. */
  get made(): string[] {
    const ofGateway = this.ledger.filter((entry) => entry.area === 'gateway');
    return ofGateway.flatMap((row) =>
      row.kind === 'webhook' ? [row.webhookId] : row.kind === 'channel' ? [row.channelId] : [],
    );
  }

  /** Sessions that wait for their code from the start. */
  holdSessions(sessions: readonly { readonly session: string; readonly code: string }[]): void {
    const at = new Date(0).toISOString();
    const waiting = { subAccountId: 'acme_hq', status: 'WAITING', attempt: 0, text: '', source: null };
    for (const [index, { session: sessionId, code }] of sessions.entries()) {
      const times = { expiresAt: '2100-01-01T00:00:00Z', nextSmsAfter: at };
      const entry = { ...waiting, ...times, event: 'code-sent', sessionId, destination: 6_580_000_000 + index, code };
      this.#areas.verification.apply(entry as never, at);
    }
  }

  /** `refuse` judges the number of each row beforehand. */
  process(request: Arrived, atMs: number, refuse: (number: string) => Refusal = () => undefined): Done {
    this.#atMs = atMs;
    this.requests += 1;
    const { area, route, params } = this.#find(request);
    const { errors = CODED_ERRORS } = area;
    const refused = (why: RefusedRequest): Done => ({
      ...{ route, entries: [], isRepeated: false },
      ...answerRefused(why, errors, atMs),
    });
    const refusals = route.recipients(request.body).map((number) => [number, refuse(number)] as const);
    const whole = refusals.find(([, refusal]) => typeof refusal === 'object')?.[1] as RefusedRequest | undefined;
    const rows = refusals.filter(([, refusal]) => refusal !== undefined);
    if (whole !== undefined) return refused(whole);
    if (rows.length > 0 && !route.isBatch) return refused(NO_ROUTE);
    const checked = route.check === undefined ? request : route.check(request.body);
    if (!('body' in checked)) return refused(checked);
    const faults = new FaultSet();
    faults.set(
      rows.map(([number]) => ({
        kind: 'reject-rows',
        endingWith: number.replace('+', ''),
        description: NO_ROUTE.message,
      })),
    );
    const handled = route.handle({
      number: this.requests,
      at: atMs,
      path: request.path,
      params,
      query: Object.fromEntries(new URLSearchParams(request.query)),
      body: checked.body,
      rowFaults: faults.choose(area.name, route.recipients(request.body)).rows,
    });
    if (isRefused(handled)) return refused(handled);
    const { status, headers = {}, entries = [], note, body } = handled;
    const entered = this.#enter(area, entries, atMs);
    if (note !== undefined) area.apply(note as never, new Date(atMs).toISOString());
    const isRepeated = entries.length === 0 && rows.length === 0;
    const done = { route, status, headers, body, entries: entered, isRepeated };
    this.kept.note(request, done);
    return done;
  }

  #find({ method, path }: Arrived): { area: SandboxArea; route: Route; params: Readonly<Record<string, string>> } {
    for (const name of AREAS) {
      const area = this.#areas[name];
      for (const route of area.routes) {
        const pattern = route.path.replaceAll('.', '\\.').replaceAll(/:(\w+)/g, '(?<$1>[^/]+?)');
        const match = route.method === method ? new RegExp(`^${pattern}$`).exec(path) : null;
        if (match !== null) return { area, route, params: match.groups ?? {} };
      }
    }
    throw new Error(`the service has no ${method} ${path}`);
  }

  #enter({ name, apply }: SandboxArea, rows: readonly object[], atMs: number): LedgerEntry[] {
    const at = new Date(atMs).toISOString();
    return rows.map((row) => {
      const head = { seq: this.ledger.length + 1, at, area: name, request: this.requests };
      const entry = { ...row, ...head } as unknown as LedgerEntry;
      this.ledger.push(entry);
      apply(row as never, at);
      return entry;
    });
  }
}

/** What the service holds for the rows of each kind of step, by its ledger. */
export class Kept {
  readonly #rows = new Map<string, KeptRow[]>();
  readonly #repeated = new Map<string, number>();

  constructor(ledger: readonly LedgerEntry[] = []) {
    for (const entry of ledger) this.add(entry);
  }

  add(entry: LedgerEntry): void {
    for (const [kind, example] of Object.entries(EXAMPLES)) {
      const kept = example.kept(entry);
      if (kept === undefined) continue;
      const key = `${kind} ${kept.row}`;
      const rows = this.#rows.get(key);
      if (rows === undefined) this.#rows.set(key, [kept]);
      else rows.push(kept);
    }
  }

  /** A request that was processed. */
  note(request: Arrived, { entries, isRepeated }: Pick<Done, 'entries' | 'isRepeated'>): void {
    for (const entry of entries) this.add(entry);
    if (!isRepeated) return;
    for (const [kind, { rowsIn }] of Object.entries(EXAMPLES)) {
      for (const row of rowsIn(request)) {
        const key = `${kind} ${row}`;
        this.#repeated.set(key, (this.#repeated.get(key) ?? 0) + 1);
      }
    }
  }

  /** One each time that it was done. */
  of(kind: RowKind, row: string): readonly KeptRow[] {
    return this.#rows.get(`${kind} ${row}`) ?? [];
  }

  timesOf(kind: RowKind, row: string): number {
    return this.of(kind, row).length + (this.#repeated.get(`${kind} ${row}`) ?? 0);
  }

  /** Whether the service took a row: what is accepted, it did; what is rejected, it did not. */
  isTaken(kind: RowKind, row: string): boolean {
    return this.of(kind, row).some(({ isRefusal }) => isRefusal !== true);
  }

  /** All that it holds for rows of a kind. */
  all(kind: RowKind): readonly KeptRow[] {
    return [...this.#rows].flatMap(([key, rows]) => (key.startsWith(`${kind} `) ? rows : []));
  }
}
