import { type Area, ROW_KINDS, type RowKind } from '../../src/domain/areas.js';
import type { Job } from '../../src/job/job.js';
import { parseJob } from '../../src/job/load.js';
import { ERROR_CODE } from '../../src/sandbox/http-answer.js';
import type { Random } from '../../src/sandbox/random.js';
import { CODE, COLUMNS, EXAMPLES } from '../kinds/examples.js';
import type { FaultRates } from '../world/faulty-service.js';
import type { Row } from '../world/judge.js';
import type { Mishap } from '../world/process.js';
import type { Refusal } from '../world/service.js';

export interface Scenario {
  readonly job: Job;
  /** Of people.csv. */
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

/** The service does not take all numbers; it refuses them each time, and some of them at first. */
export function refuseNumber(number: string, area: Area, atMs: number): Refusal {
  if (number.endsWith('7')) return 'the row';
  // One batch with such a number is refused whole.
  if (area === 'sms' && number.endsWith('13'))
    return { status: 400, code: ERROR_CODE.invalidMsisdn, message: 'No route' };
  // The number had a code a moment ago.
  const isEarly = area === 'verification' && number.endsWith('5') && atMs < 15_000;
  return isEarly ? { status: 403, code: ERROR_CODE.resendInterval, message: 'Too early' } : undefined;
}

const KINDS: readonly Mishap['kind'][] = ['kill', 'kill', 'power', 'power', 'signal', 'stop', 'disk'];

/** `written`: more keys of the job, and more limits of its steps. */
export function createScenario(
  random: Random,
  { most = 26, written = {}, limits = () => ({}) }: { most?: number; written?: object; limits?: () => object } = {},
): Scenario {
  const rows = createRows(1 + pick(random, most), random);
  const isFaulty = random() < 0.8;
  const lives = pick(random, 6);
  return {
    job: createJob(random, { written, limits }),
    rows,
    faults: isFaulty ? createFaults(random) : {},
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
    const name = `P${at}`;
    // Each has a session of its own that waits for its code; every fourth gives a wrong one.
    const own = { name, mobile: `+65${91_000_000 + at}`, session: `s-${name}`, code: at % 4 === 3 ? '999999' : CODE };
    const earlier = rows.find(({ fate }) => fate === 'planned');
    const chance = random();
    if (chance < 0.05) rows.push({ ...own, mobile: 'n/a', fate: 'invalid' });
    else if (earlier !== undefined && chance < 0.1) rows.push({ ...own, mobile: earlier.mobile, fate: 'duplicate' });
    else rows.push({ ...own, fate: 'planned' });
  }
  return rows;
}

export function createMishap(random: Random): Mishap | undefined {
  if (random() < 0.15) return undefined;
  return { kind: KINDS[pick(random, KINDS.length)] ?? 'kill', after: 1 + pick(random, 260) };
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
  // Kinds whose requests have many rows are the ones that break in the most ways.
  const rowSteps = (Object.keys(ROW_KINDS) as RowKind[]).flatMap((kind) => {
    const { step, making, batchKey } = EXAMPLES[kind];
    if (batchKey === undefined && random() >= 0.25) return [];
    const batch = batchKey === undefined ? {} : { [batchKey]: 1 + pick(random, 7) };
    return [{ kind, input, ...step(COLUMNS), ...making, ...batch, limits: limits(4) }];
  });
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
