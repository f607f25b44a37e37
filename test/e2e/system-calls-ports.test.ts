import { basename } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { nodeEnv } from '../../src/command/env.js';
import { loadJob } from '../../src/job/load.js';
import { decodeLine, type JournalEntry } from '../../src/journal/entry-format.js';
import type { Progress } from '../../src/run/run-deps.js';
import type { Response } from '../../src/service/answer.js';
import type { Call, Transport } from '../../src/service/transport.js';
import type { Files } from '../../src/storage/files.js';
import { aContactsStep, anSmsStep } from './a-job.js';
import { aWorkspace } from './a-workspace.js';
import { aJobOfAreas } from './area-jobs.js';
import { runInProcess } from './run-in-process.js';

/** What left, or was reported, with all that the journal durably said at that moment. */
interface Moment<T> {
  readonly what: T;
  readonly durable: readonly JournalEntry[];
}

/** Rows are known by the eight digits in them, which no other step has: numbers, sessions, customers. */
const DIGITS = /9[1-5]0000\d\d/g;
const ROWS = 12;
const LIMITS = { requestsPerSecond: 100, concurrency: 4 };

describe('a run of every kind of step, watched at its ports to disk and network', () => {
  const left: Moment<Call>[] = [];
  const told: Moment<Progress>[] = [];
  /** `<step> <offset>` → the planned request. */
  const planned = new Map<string, string>();

  beforeAll(async () => {
    const workspace = await aWorkspace(
      { kind: 'status-503', area: 'contacts', nth: 2, retryAfter: 0 },
      { kind: 'status-503', area: 'sms', nth: 2, retryAfter: 0 },
      { kind: 'status-503', area: 'verification', nth: 2, retryAfter: 0 },
      { kind: 'status-400', area: 'sms', nth: 3 },
      { kind: 'reset-after', area: 'contacts', nth: 4 },
      { kind: 'latency', delayMs: 10 },
    );
    for (const step of [1, 2, 3, 4, 5]) workspace.write(`${step}.csv`, rowsOf(step));
    const channel = { name: 'bot', queue: '100', webhook: { name: 'events', url: 'http://127.0.0.1:9/events' } };
    const steps = [
      { ...aContactsStep({ input: { files: '1.csv' }, limits: LIMITS }), kind: 'contacts' },
      { ...anSmsStep({ input: { files: '2.csv' }, batchSize: 3, limits: LIMITS }), kind: 'sms' },
      { kind: 'verification.start', input: { files: '3.csv' }, destination: 'mobile', limits: LIMITS },
      { kind: 'verification.check', input: { files: '4.csv' }, session: 'name', code: 'code', limits: LIMITS },
      { kind: 'conversations', input: { files: '5.csv' }, channel, user: { phone: 'mobile' }, limits: LIMITS },
      { kind: 'campaign', campaign: 101, set: 'PAUSED', limits: { requestsPerSecond: 100 } },
      { kind: 'chat', room: 'Sales', text: 'done' },
    ];
    workspace.writeJob(aJobOfAreas(workspace, steps, { failOn: 'nothing', guards: { maxFailedPercent: 100 } }));
    const journal = new WatchedJournal();
    const code = await runInProcess(await loadJob(workspace.path('job.yaml')), {
      env: { VOLLEY_API_KEY: workspace.sandbox.credentials.apiKey },
      onSent: (what) => told.push({ what, durable: journal.durable }),
      runtime: {
        files: journal.watch(nodeEnv.files),
        loadTransport: async () => {
          const create = await nodeEnv.loadTransport();
          return (timeouts) =>
            watchTransport(create(timeouts), (what) => left.push({ what, durable: journal.durable }));
        },
      },
    });
    expect(code).toBe(0);
    const run = `out/sale/${workspace.runs()[0]}`;
    for (const [index, { kind }] of steps.entries()) {
      if (index >= 5) continue;
      let offset = 0;
      for (const line of workspace.read(`${run}/${index + 1}-${kind}.requests.ndjson`).split('\n')) {
        planned.set(`${index + 1} ${offset}`, line);
        offset += Buffer.byteLength(line) + 1;
      }
    }
  });

  test('whatever changes something leaves only when an entry of its own is durable, each time that it leaves', () => {
    const times = new Map<string, number>();
    const things = new Set<string>();
    const changing = left.filter(({ what }) => what.method !== 'GET' || what.path.includes('code='));
    for (const { what, durable } of changing) {
      const rows = listRows(`${what.path} ${what.body ?? ''}`);
      const intended = durable.flatMap((entry) => listIntended(entry, planned));
      for (const row of rows) {
        times.set(row, (times.get(row) ?? 0) + 1);
        const count = intended.filter((each) => each === row).length;
        expect(count, `${what.method} ${what.path}: ${row}`).toBeGreaterThanOrEqual(times.get(row) ?? 0);
      }
      // What was turned away is tried again under the same entry.
      if (rows.length === 0) things.add(what.path);
      const count = durable.filter(({ type }) => type === 'preparing' || type === 'action').length;
      expect(count, `${what.method} ${what.path}`).toBeGreaterThanOrEqual(things.size);
    }

    expect(times.size).toBe(5 * ROWS);
    // Sent again after a 503, and after an answer that was lost where that is safe; halved after a 400.
    expect([...times.values()].filter((count) => count > 1).length).toBeGreaterThan(5);
    expect(things.size).toBe(4);
    const places = new Set(changing.map(({ what }) => basename(what.path.replace(/\/9\d+\?.*$/, '/check'))));
    expect([...places].sort()).toEqual([
      '101',
      'batch',
      'channels',
      'check',
      'contacts',
      'conversations',
      'messages',
      'sessions',
      'webhooks',
    ]);
  });

  test('a row is counted only when its outcome is durable', () => {
    for (const { what, durable } of told) {
      const settled = durable.flatMap((entry) =>
        entry.type === 'outcome' && entry.step === what.step && entry.result.kind === 'settled'
          ? entry.result.outcomes.rows
          : [],
      );
      expect(settled.length, `step ${what.step}`).toBeGreaterThanOrEqual(what.settled);
    }
    expect(told.filter(({ what }) => what.settled === ROWS).map(({ what }) => what.step)).toEqual([1, 2, 3, 4, 5]);
  });
});

/** What a power cut would leave of the journal: lines that were written whole before a sync which came back. */
class WatchedJournal {
  durable: readonly JournalEntry[] = [];
  #written = Buffer.alloc(0);

  watch(files: Files): Files {
    return {
      ...files,
      openAppend: async (path) => {
        const file = await files.openAppend(path);
        if (!path.endsWith('/journal.ndjson')) return file;
        return {
          bytes: file.bytes,
          append: async (chunk) => {
            await file.append(chunk);
            this.#written = Buffer.concat([this.#written, chunk]);
          },
          sync: async () => {
            const { length } = this.#written;
            await file.sync();
            this.durable = readEntries(this.#written.subarray(0, length));
          },
          truncate: (bytes) => file.truncate(bytes),
          close: () => file.close(),
        };
      },
    };
  }
}

function watchTransport(transport: Transport, onLeave: (call: Call) => void): Transport {
  return {
    ...transport,
    send: async (call, signal) => {
      onLeave(call);
      return answerLook(call) ?? transport.send(call, signal);
    },
  };
}

/** The sessions of the codes wait for them: only then does a code leave. The sandbox knows none of these. */
function answerLook({ method, path }: Call): Response | undefined {
  const [, sessionId] = /\/(9\d+)$/.exec(path) ?? [];
  if (method !== 'GET' || sessionId === undefined) return undefined;
  return {
    kind: 'response',
    status: 200,
    headers: {},
    body: Buffer.from(JSON.stringify({ sessionId, status: 'WAITING' })),
  };
}

function readEntries(bytes: Buffer): JournalEntry[] {
  const lines = bytes.toString('latin1').split('\n').slice(0, -1);
  return lines.flatMap((line) => decodeLine(Buffer.from(line, 'latin1'))?.entry ?? []);
}

/** The rows that an entry says are about to be sent. */
function listIntended(entry: JournalEntry, planned: ReadonlyMap<string, string>): string[] {
  if (entry.type !== 'intent') return [];
  const rows = listRows(planned.get(`${entry.step} ${entry.line[0]}`) ?? '');
  // A half names its own rows.
  const first = entry.rows[0] % rows.length;
  return rows.slice(first, first + entry.rows[1]);
}

function listRows(text: string): string[] {
  return [...new Set(text.match(DIGITS))];
}

function rowsOf(step: number): string {
  const rows = Array.from({ length: ROWS }, (_, index) => {
    const digits = `9${step}0000${10 + index}`;
    return `${digits},+65${digits},1234\n`;
  });
  return `name,mobile,code\n${rows.join('')}`;
}
