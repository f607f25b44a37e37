import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'undici';
import { expect, onTestFinished } from 'vitest';
import type { Area } from '../../src/domain/areas.js';
import type { FaultInput } from '../../src/sandbox/fault.js';
import type { LedgerEntry } from '../../src/sandbox/ledger.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.js';
import { FakeClock } from '../run/fake-clock.js';

export const BATCH_PATH = '/api/v1/subaccounts/acme_hq/messages/batch';
export const CONTACTS_PATH = '/accounts/acme/contacts';
export const NOON = Date.parse('2026-11-21T12:00:00Z');

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
}

export interface Asked {
  readonly method?: 'GET' | 'POST' | 'DELETE' | 'PUT' | 'PATCH';
  readonly path?: string;
  /** Undefined leaves the header out. */
  readonly authorization?: string | undefined;
  readonly contentType?: string | undefined;
  /** `x-api-key`. */
  readonly key?: string | undefined;
  readonly signal?: AbortSignal;
}

export class Client {
  readonly sandbox: Sandbox;
  readonly #agent = new Agent({ connections: 32 });

  constructor(sandbox: Sandbox) {
    this.sandbox = sandbox;
  }

  async ask(body: unknown, asked: Asked = {}): Promise<Answered> {
    const { method = 'POST', path = BATCH_PATH, key, signal } = asked;
    const authorization = 'authorization' in asked ? asked.authorization : bearer(this.sandbox.credentials.apiKey);
    const contentType = 'contentType' in asked ? asked.contentType : 'application/json';
    const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
    const answer = await request(this.sandbox.origin + path, {
      method,
      dispatcher: this.#agent,
      headers: {
        ...(authorization === undefined ? {} : { authorization }),
        ...(key === undefined ? {} : { 'x-api-key': key }),
        ...(contentType === undefined || body === undefined ? {} : { 'content-type': contentType }),
      },
      body: isRaw ? (body ?? null) : JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, text, body: parse(text) };
  }

  sendBatch(body: unknown): Promise<Answered> {
    return this.ask(body);
  }

  createContact(body: unknown): Promise<Answered> {
    return this.ask(body, { path: CONTACTS_PATH });
  }

  cancelBatch(batchId: string): Promise<Answered> {
    return this.ask(undefined, { method: 'DELETE', path: `${BATCH_PATH}/${batchId}` });
  }

  async ledger(): Promise<LedgerEntry[]> {
    const entries: LedgerEntry[] = [];
    for await (const entry of this.sandbox.readLedger()) entries.push(entry);
    return entries;
  }

  async entries<Of extends Area>(area: Of): Promise<Extract<LedgerEntry, { area: Of }>[]> {
    const isOf = (entry: LedgerEntry): entry is Extract<LedgerEntry, { area: Of }> => entry.area === area;
    return (await this.ledger()).filter(isOf);
  }

  /** clientMessageIds in the ledger. */
  async sentIds(): Promise<(string | null)[]> {
    return (await this.entries('sms')).map((entry) => entry.clientMessageId);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
    await this.sandbox.close();
  }
}

/** A sandbox of the test's own, gone when the test is over. */
export async function aClient(options: SandboxOptions = {}, ...faults: FaultInput[]): Promise<Client> {
  const client = new Client(await startSandbox({ faults, ...options }));
  onTestFinished(() => client.close());
  return client;
}

/** A batch of so many good messages: ids m1, m2 …, numbers +6590000001 … */
export function aBatch(count = 3, more: Record<string, unknown> = {}) {
  return {
    clientBatchId: 'b1',
    includeMessagesInResponse: true,
    template: { source: 'ACME', text: 'Hi there', encoding: 'AUTO' },
    messages: Array.from({ length: count }, (_, place) => aMessage(place + 1)),
    ...more,
  };
}

export function aMessage(number = 1, more: Record<string, unknown> = {}) {
  return { destination: `+65${90_000_000 + number}`, clientMessageId: `m${number}`, ...more };
}

export function aContact(more: Record<string, unknown> = {}) {
  return { firstName: 'Ann', addresses: { msisdn: '+6590000001' }, ...more };
}

/** What an error of the area looks like; the code is its own where it has one. */
export function errorOf(area: Area, code: unknown = expect.anything()): object {
  const text = expect.stringMatching(/./);
  switch (area) {
    case 'gateway':
      return { message: text, errors: [{ code, message: text }], referenceId: text };
    case 'chat':
      return { fault: { faultstring: text, detail: { errorcode: code } } };
    case 'campaign':
      return { message: text };
    default:
      return { code, message: text, errorId: text, timestamp: text };
  }
}

export function bearer(key: string): string {
  return `Bearer ${key}`;
}

/** Stands at noon until it is set; sleeping takes no time. */
export class NoonClock extends FakeClock {
  readonly slept: number[] = [];

  override async sleep(delayMs: number): Promise<void> {
    this.slept.push(delayMs);
  }
}

export const aClock = () => new NoonClock(NOON);

export function at(offsetMs: number): string {
  return new Date(NOON + offsetMs).toISOString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
