import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { Job } from '../../src/job/job.js';
import { decodeLine, type JournalEntry, type Stop } from '../../src/journal/entry-format.js';
import type { Summary } from '../../src/report/summary.js';
import { writeReport } from '../../src/report/write-report.js';
import { type ApplyPlanOptions, applyPlan } from '../../src/run/apply-plan.js';
import type { RunDeps, RunLaneOptions } from '../../src/run/run-deps.js';
import { StopSwitch } from '../../src/run/stop.js';
import type { Answer } from '../../src/service/answer.js';
import { type Call, readFailure, type Transport } from '../../src/service/transport.js';
import type { Files } from '../../src/storage/files.js';
import type { Lock } from '../../src/storage/lock.js';
import { LaneStopped } from '../../src/throttle/gate.js';
import type { Lane } from '../../src/throttle/lane.js';
import { linesOf, type MadePlan } from '../plan/a-plan.js';
import type { MemoryDisk } from '../storage/a-memory-disk.js';

/** Time that passes only when a lane pauses. */
export function aFakeClock(startMs = 1_800_000_000_000) {
  let passedMs = 0;
  return {
    now: () => startMs + passedMs,
    monotonicMs: () => passedMs,
    sleep: async (delayMs: number) => {
      passedMs += delayMs;
    },
    advance: (delayMs: number) => {
      passedMs += delayMs;
    },
  };
}

export interface Sent {
  readonly path: string;
  readonly clientBatchId: string;
  /** Rows, by the number in their clientMessageId; for a contact its number. */
  readonly rows: readonly number[];
  readonly body: { readonly messages?: readonly { readonly clientMessageId: string; readonly destination: string }[] };
}

/** An answer in place of the usual one; undefined for the usual one. `count` is that of the call, from 1. */
export type Script = (sent: Sent, count: number) => Promise<Answer | undefined> | Answer | undefined;

/** The service in this process. Usually it accepts every message, and keeps which in `accepted`. */
export function aScriptedService(script: Script = () => undefined) {
  const sent: Sent[] = [];
  const accepted: string[] = [];
  const transport: Transport = {
    send: async (call) => {
      const one = readCall(call);
      sent.push(one);
      await Promise.resolve();
      const answer = await script(one, sent.length);
      return answer ?? accept(one);
    },
    close: async () => {},
  };
  const accept = (one: Sent): Answer => {
    const { messages, clientBatchId } = { messages: undefined, clientBatchId: '', ...one.body };
    if (messages === undefined) return response(201, { id: sent.length });
    accepted.push(...one.body.messages!.map(({ clientMessageId }) => clientMessageId));
    return response(200, batchAnswer(one, clientBatchId));
  };
  return { transport, sent, accepted, accept };
}

export function batchAnswer(one: Sent, clientBatchId = one.clientBatchId) {
  const status = { code: 'QUEUED', description: 'SMS is accepted' };
  const messages = (one.body.messages ?? []).map(({ clientMessageId }) => ({
    umid: `u-${clientMessageId}`,
    clientMessageId,
    status,
  }));
  return {
    batchId: 'b',
    clientBatchId,
    acceptedCount: messages.length,
    rejectedCount: 0,
    messages: messages.reverse(),
  };
}

export function response(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return { kind: 'response', status, headers, body: Buffer.from(JSON.stringify(body)) };
}

export function failure(mayHaveBeenProcessed: boolean, reason = 'UND_ERR_SOCKET'): Answer {
  return { ...readFailure({ code: reason }), mayHaveBeenProcessed };
}

function readCall(call: Call): Sent {
  const body = JSON.parse(call.body?.toString() ?? 'null');
  const rows = (body.messages ?? []).map((each: { clientMessageId: string }) =>
    Number(each.clientMessageId.split('-').at(-1)),
  );
  return { path: call.path, clientBatchId: body.clientBatchId ?? '', rows, body };
}

/** A lane that lets everything through at once; a pause makes the clock go on. `onGate` may hold the gate. */
export function aFakeLane(clock: { advance(delayMs: number): void }, onGate: (signal: AbortSignal) => Promise<void>) {
  const told = { pausesMs: [] as number[], slowed: 0, good: 0, options: [] as RunLaneOptions[] };
  const createLane = (options: RunLaneOptions): Lane => {
    told.options.push(options);
    return {
      run: async (_cost, task) => {
        await Promise.resolve();
        if (options.signal.aborted) throw new LaneStopped();
        return task(async (preSendCheck) => {
          await onGate(options.signal);
          if (options.signal.aborted) throw new LaneStopped();
          await preSendCheck?.();
          return undefined;
        });
      },
      pauseFor: (delayMs) => {
        told.pausesMs.push(delayMs);
        clock.advance(delayMs);
      },
      slowDown: () => {
        told.slowed += 1;
      },
      noteSuccess: () => {
        told.good += 1;
      },
      close: async () => {},
    };
  };
  return { told, createLane };
}

export interface RunOptions {
  readonly made: Pick<MadePlan, 'plan' | 'directory' | 'disk'>;
  readonly service?: { readonly transport: Transport };
  readonly job?: Partial<Job>;
  readonly stop?: StopSwitch;
  readonly epoch?: number;
  readonly lock?: Partial<Lock>;
  readonly onGate?: (signal: AbortSignal) => Promise<void>;
  readonly deps?: Partial<RunDeps>;
  readonly announce?: ApplyPlanOptions['announce'];
  readonly pass?: ApplyPlanOptions['pass'];
  readonly othersSentMsAgo?: number;
}

/** Applies a plan, once. Each run takes the lock anew: give the second one a higher epoch. */
export async function aRun({ made, service = aScriptedService(), stop = new StopSwitch(), ...options }: RunOptions) {
  const clock = aFakeClock();
  const lane = aFakeLane(clock, options.onGate ?? (async () => {}));
  const notices: string[] = [];
  const end: Stop = await applyPlan(
    {
      directory: made.directory,
      plan: made.plan,
      othersSentMsAgo: options.othersSentMsAgo,
      job: { ...made.plan.job, ...options.job },
      lock: {
        epoch: options.epoch ?? 1,
        assertHeld: async () => {},
        assertFresh: () => {},
        release: async () => {},
        lastOwnedMsAgo: undefined,
        isReplaced: false,
        known: () => undefined,
        attest: async () => {},
        note: async () => {},
        ...options.lock,
      },
      stop,
      pass: options.pass,
      announce: options.announce ?? (async () => {}),
    },
    {
      files: made.disk.files,
      clock,
      random: () => 0.5,
      transport: service.transport,
      authorize: () => ({ authorization: 'Bearer test' }),
      createLane: lane.createLane,
      owner: { host: 'here', pid: 7, instance: 'i' },
      onProgress: () => {},
      onNotice: (notice) => notices.push(notice),
      ...options.deps,
    },
  );
  return { end, lane: lane.told, notices };
}

export function reportOf({ plan, directory, disk }: RunOptions['made']): Promise<Summary> {
  return writeReport(disk.files, directory, plan);
}

type OnDisk = Pick<MadePlan, 'disk' | 'directory'>;

export const journalOf = ({ disk, directory }: OnDisk) => disk.readText(`${directory}/journal.ndjson`);

/** Leaves of the journal what a process wrote that died behind so many lines; gives those that it did not come to. */
export function cutJournal(made: OnDisk, count: number): string[] {
  const lines = linesOf(journalOf(made));
  writeJournal(made, lines.slice(0, count));
  return lines.slice(count);
}

export function writeJournal({ disk, directory }: OnDisk, lines: readonly string[]): void {
  disk.write(`${directory}/journal.ndjson`, lines.map((line) => `${line}\n`).join(''));
}

/** Lines of an output of the first step, below its header. */
export const outputOf = ({ disk, directory }: OnDisk, name: string) =>
  linesOf(disk.readText(`${directory}/1-sms.${name}.csv`)).slice(1);

/** Rows that these messages were for. */
export const rowsOfMessages = (ids: readonly string[]) =>
  ids.map((id) => Number(id.split('-').at(-1))).toSorted((a, b) => a - b);

/** Every entry of the journal that can be read. */
export function entriesOf(disk: MemoryDisk, directory: string): JournalEntry[] {
  return linesOf(journalOf({ disk, directory })).flatMap((line) => {
    const entry = decodeLine(Buffer.from(line))?.entry;
    return entry === undefined ? [] : [entry];
  });
}

/** A disk whose syncs take a while: what does not wait for one gets ahead of it. */
export function slowFiles({ disk }: Pick<MadePlan, 'disk'>, onSynced: () => void): Files {
  const openAppend: Files['openAppend'] = async (path) => {
    const file = await disk.files.openAppend(path);
    const sync = async () => {
      for (let turns = 0; turns < 10; turns++) await setImmediate();
      await file.sync();
      onSynced();
    };
    return { ...file, sync };
  };
  return { ...disk.files, openAppend };
}

/** Messages that were accepted more than once. */
export function duplicatesAmong(ids: readonly string[]): string[] {
  return ids.filter((id, index) => ids.indexOf(id) !== index);
}

export async function untilAborted(signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === false) await once(signal, 'abort');
}
