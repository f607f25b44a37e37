import type { Job } from '../../src/job/job.js';
import { parseJob } from '../../src/job/load.js';
import type { Random } from '../../src/sandbox/random.js';
import { RIGHT_CODE, WRONG_CODE } from './sim-ledger.js';
import { type FaultRates, NO_FAULTS } from './sim-service.js';

/** What happens to a process: after so many of its operations, this. */
export interface Mishap {
  readonly afterOperations: number;
  /** `kill`: it dies. `power`: all processes die, and what was not synced may be lost. `signal`: SIGTERM. `stop`: SIGSTOP, for a time. `disk`: one operation fails. */
  readonly kind: 'kill' | 'power' | 'signal' | 'stop' | 'disk';
}

export interface Scenario {
  readonly job: Job;
  /** Path → content. */
  readonly files: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
  readonly faults: FaultRates;
  /** Of each life of the first runner, until mishaps end. */
  readonly mishaps: readonly (Mishap | undefined)[];
  /** Of a second runner on another host, or on the same; undefined where there is one runner alone. */
  readonly rival:
    | { readonly isOnSameHost: boolean; readonly delayMs: number; readonly mishap: Mishap | undefined }
    | undefined;
  /** Of journals; undefined where none is written. */
  readonly snapshotEveryBytes: number | undefined;
  /** How far the wall clock of each host is ahead; behind where it is negative. */
  readonly skewMs: Readonly<Record<Host, number>>;
}

export type Host = 'node-a' | 'node-b';

/** Twice the length of a lease: a taker whose clock is ahead finds a lock free that its owner has just renewed. */
export const MAX_SKEW_MS = 120_000;

/** A row of people.csv; an invalid one is rejected at plan time, one with a known number is skipped. */
export interface Row {
  readonly name: string;
  readonly mobile: string;
  readonly fate: 'planned' | 'invalid' | 'duplicate';
}

/** Of people.csv. */
export const COLUMNS = ['name', 'mobile', 'session', 'code'] as const;

/** Each has a session of its own that waits for its code; every fourth gives a wrong one. */
export function cellsOf({ name, mobile }: Row): string[] {
  const isWrong = Number(name.slice(1)) % 4 === 3;
  return [name, mobile, sessionOf(name), isWrong ? WRONG_CODE : RIGHT_CODE];
}

export function sessionOf(name: string): string {
  return `s-${name}`;
}

const KINDS: readonly Mishap['kind'][] = ['kill', 'kill', 'power', 'power', 'signal', 'stop', 'disk'];

/** `written`: more keys of the job, and more limits of its steps. */
export function createScenario(
  random: Random,
  { most = 26, written = {}, limits = () => ({}) }: { most?: number; written?: object; limits?: () => object } = {},
): Scenario {
  const rows = createRows(1 + pick(random, most), random);
  const csv = [COLUMNS, ...rows.map(cellsOf)].map((cells) => `${cells.join(',')}\n`).join('');
  const isFaulty = random() < 0.8;
  const lives = pick(random, 6);
  return {
    job: createJob(random, { written, limits }),
    files: { '/in/people.csv': csv },
    rows,
    faults: isFaulty ? createFaults(random) : NO_FAULTS,
    mishaps: Array.from({ length: lives }, () => createMishap(random)),
    rival:
      random() < 0.3
        ? {
            isOnSameHost: random() < 0.5,
            delayMs: random() * 400,
            mishap: random() < 0.5 ? createMishap(random) : undefined,
          }
        : undefined,
    skewMs: createSkew(random),
    snapshotEveryBytes: [undefined, 1, 500, 2000][pick(random, 4)],
  };
}

function createSkew(random: Random): Scenario['skewMs'] {
  const isRight = random() < 0.5;
  const skewMs = () => (isRight ? 0 : Math.round((random() * 2 - 1) * MAX_SKEW_MS));
  return { 'node-a': skewMs(), 'node-b': skewMs() };
}

function createRows(count: number, random: Random): Row[] {
  const rows: Row[] = [];
  for (let at = 0; at < count; at++) {
    const mobile = `+65${91_000_000 + at}`;
    const earlier = rows.find(({ fate }) => fate === 'planned');
    const chance = random();
    if (chance < 0.05) rows.push({ name: `P${at}`, mobile: 'n/a', fate: 'invalid' });
    else if (earlier !== undefined && chance < 0.1) {
      rows.push({ name: `P${at}`, mobile: earlier.mobile, fate: 'duplicate' });
    } else rows.push({ name: `P${at}`, mobile, fate: 'planned' });
  }
  return rows;
}

export function createMishap(random: Random): Mishap | undefined {
  if (random() < 0.15) return undefined;
  return { kind: KINDS[pick(random, KINDS.length)] ?? 'kill', afterOperations: 1 + pick(random, 260) };
}

function createFaults(random: Random): FaultRates {
  const share = () => (random() < 0.5 ? 0 : random() * 0.25);
  return {
    notSent: share(),
    lostBefore: share(),
    lostAfter: share(),
    status5xx: share(),
    busy: share(),
    proxy: share(),
    badAnswer: share(),
    unauthorized: random() < 0.1 ? 0.05 : 0,
    slow: random() < 0.2 ? 0.1 : 0,
  };
}

const FAIL_ON = ['rejections', 'in-doubt', 'nothing'] as const;

function createJob(random: Random, more: { readonly written: object; readonly limits: () => object }): Job {
  const base = 'http://127.0.0.1:1';
  const key = { apiKey: { env: 'KEY' } };
  const limits = (most: number) => ({ concurrency: 1 + pick(random, most), ...more.limits() });
  const input = { files: '/in/people.csv' };
  const sms = {
    kind: 'sms',
    input,
    destination: 'mobile',
    template: { source: 'ACME', text: 'Hi {{ name }}' },
    batchSize: 1 + pick(random, 7),
    limits: limits(4),
  };
  const contacts = { kind: 'contacts', input, fields: { firstName: 'name', msisdn: 'mobile' }, limits: limits(4) };
  const webhook = { name: 'events', url: `${base}/hook` };
  const conversations = {
    kind: 'conversations',
    input,
    channel: { name: 'bot', queue: '100', webhook },
    user: { name: 'name', phone: 'mobile' },
    limits: limits(3),
  };
  const start = { kind: 'verification.start', input, destination: 'mobile', limits: limits(4) };
  const check = { kind: 'verification.check', input, session: 'session', code: 'code', limits: limits(4) };
  const maybe = (share: number, step: object) => (random() < share ? [step] : []);
  const rowSteps = [
    ...maybe(0.4, contacts),
    sms,
    ...maybe(0.3, conversations),
    ...maybe(0.15, start),
    ...maybe(0.15, check),
  ];
  const campaign = { kind: 'campaign', campaign: 101 };
  const isWindow = random() < 0.25;
  const steps = isWindow
    ? [
        { ...campaign, set: 'PAUSED' },
        ...rowSteps,
        { ...campaign, expect: ['RUNNING', 'PAUSED'], set: 'RUNNING', always: true },
        { kind: 'chat', text: '{{ state }}' },
      ]
    : rowSteps;
  const written = {
    name: 'sim',
    service: {
      account: 'acme',
      bases: { sms: base, contacts: base, verification: base, gateway: base, campaign: base, chat: base },
      credentials: {
        ...{ ...key, gateway: key, chat: key },
        campaign: { username: 'acme', dataToken: { env: 'KEY' }, actionToken: { env: 'KEY' } },
      },
      giveUpAfterSeconds: 60,
    },
    steps,
    failOn: FAIL_ON[pick(random, FAIL_ON.length)],
    guards: { maxFailedPercent: 100 },
    output: '/out',
    ...more.written,
  };
  return parseJob(JSON.stringify(written), '/in/sim.json');
}

export function pick(random: Random, count: number): number {
  return Math.floor(random() * count);
}
