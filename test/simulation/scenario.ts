import { type Area, ROW_KINDS, type RowKind } from '../../src/domain/areas.js';
import type { Job, RampStage } from '../../src/job/job.js';
import { parseJob } from '../../src/job/load.js';
import { ERROR_CODE } from '../../src/sandbox/http-answer.js';
import type { Random } from '../../src/sandbox/random.js';
import { CODE, COLUMNS, EXAMPLES } from '../kinds/examples.js';
import type { FaultRates } from '../world/faulty-service.js';
import type { Row } from '../world/judge.js';
import type { Mishap } from '../world/process.js';
import type { Refusal } from '../world/service.js';
import { OPT_OUTS } from './people-watch.js';

export interface Scenario {
  readonly job: Job;
  /** Of people.csv. */
  readonly rows: readonly Row[];
  readonly faults: FaultRates;
  /** Of each life of the first runner, until mishaps end. */
  readonly mishaps: readonly (Mishap | undefined)[];
  /** Of a second runner on another host, or on the same; undefined where there is one runner alone. */
  readonly rival:
    | {
        readonly isOnSameHost: boolean;
        readonly delayMs: number;
        readonly mishap: Mishap | undefined;
        /** So does the first: who comes second waits until the other is gone, and takes over. */
        readonly standsBy: boolean;
      }
    | undefined;
  /** How far the wall clock of each host is ahead; behind where it is negative. */
  readonly skewMs: Readonly<Record<Host, number>>;
  /** What is planned may be another thing later: a list grows, or others write to the same people. */
  readonly isChanging?: boolean;
  /** Of its SMS a part is sent first, and a person lets the rest pass. */
  readonly sample?: RampStage['size'] | undefined;
  /** How long a request waits for its turn. */
  readonly turnMs?: number;
}

/** Jobs that write to the same people, in one world; the others at the same time as the first, and behind it. */
export type Campaign = Readonly<{ first: Scenario; others: readonly Scenario[] }>;

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
  { most = 26, ...more }: { most?: number; written?: object; sms?: object; limits?: () => object } = {},
): Scenario {
  const rows = createRows(1 + pick(random, most), random);
  const isFaulty = random() < 0.8;
  const lives = pick(random, 6);
  return {
    job: createJob(random, { written: {}, sms: {}, limits: () => ({}), ...more }),
    rows,
    faults: isFaulty ? createFaults(random) : {},
    mishaps: Array.from({ length: lives }, () => createMishap(random)),
    rival:
      random() < 0.3
        ? {
            standsBy: false,
            isOnSameHost: random() < 0.5,
            delayMs: random() * 400,
            mishap: random() < 0.5 ? createMishap(random) : undefined,
          }
        : undefined,
    skewMs: createSkew(random),
  };
}

/** Half of the campaigns have rules about people, and of these half have more jobs than one. */
export function createCampaign(random: Random, randomOfRules: Random): Campaign {
  const hasRules = randomOfRules() < 0.5;
  const count = hasRules && randomOfRules() < 0.5 ? 1 + pick(randomOfRules, 2) : 0;
  const optOuts = hasRules && randomOfRules() < 0.6 ? { optOuts: OPT_OUTS } : {};
  const createRules = () => (hasRules ? { ...optOuts, ...createRulesOfPeople(randomOfRules) } : {});
  const isChanging = hasRules;
  const inParts = hasRules
    ? ([undefined, undefined, 'sample', 'ramp', 'ramp'] as const)[pick(randomOfRules, 5)]
    : undefined;
  const sms = inParts === 'ramp' ? { ramp: createRamp(randomOfRules) } : {};
  const plain = createScenario(random, { written: createRules(), sms });
  const turnMs = hasRules ? [1, 300, 5000][pick(randomOfRules, 3)]! : 1;
  const size = randomOfRules() < 0.5 ? { percent: 30 } : { rows: 1 + pick(randomOfRules, 6) };
  const first = { ...plain, isChanging, turnMs, sample: inParts === 'sample' ? size : undefined };
  const { rows, faults, skewMs, job } = first;
  const others = Array.from({ length: count }, (_, index): Scenario => {
    const steps = job.steps.filter(({ kind }) => kind === 'sms').map(() => createSmsStep(randomOfRules));
    const written = { ...createRules(), name: `other-${index}`, steps };
    const other = createScenario(randomOfRules, { written });
    return { ...other, rows, faults, skewMs, rival: undefined, isChanging };
  });
  return { first, others };
}

/** Hours begin a little before or behind the first life, and end minutes behind it, where they do not wait for a day. */
function createRulesOfPeople(random: Random): object {
  const isWaiting = random() < 0.3;
  const from = NOON_MINUTES + (random() < 0.5 ? -60 : pick(random, 20));
  const to = Math.max(from, NOON_MINUTES) + (isWaiting ? 180 : 3 + pick(random, 20));
  const hours = { from: formatMinutes(from), to: formatMinutes(to), outside: isWaiting ? 'wait' : 'stop' };
  return {
    ...(random() < 0.5 && {
      window: random() < 0.5 ? hours : { ...hours, days: ALL_DAYS, timeZone: 'Asia/Singapore' },
    }),
    ...(random() < 0.8 && { sameText: (['hold', 'skip', 'send'] as const)[pick(random, 3)] }),
    ...(random() < 0.3 && { sameTextWithin: '1h' }),
    ...(random() < 0.3 && { frequency: { max: 1 + pick(random, 2), per: '7d' } }),
  };
}

/** Of those that are judged. */
export function countStages({ job: { steps } }: Pick<Scenario, 'job'>): number {
  return Math.max(0, ...steps.map((step) => (step.kind === 'sms' ? (step.ramp?.length ?? 0) : 0)));
}

/** One to three stages, of which some wait for receipts. */
function createRamp(random: Random): object[] {
  return Array.from({ length: 1 + pick(random, 3) }, () => {
    const pause = [undefined, '1m', '10m', '10m'][pick(random, 4)];
    const isByReceipts = pause !== undefined && random() < 0.6;
    return {
      share: `${10 + pick(random, 20)}%`,
      ...(pause !== undefined && { pause }),
      stopAbove: {
        rejectedPercent: [0, 40, 60, 100][pick(random, 4)],
        ...(isByReceipts && random() < 0.7 && { undeliveredPercent: [0, 30, 60][pick(random, 3)] }),
      },
      ...(isByReceipts && random() < 0.7 && { needReceiptsPercent: [1, 30, 80][pick(random, 3)] }),
    };
  });
}

/** In Singapore, where it begins at eight in the evening. */
const NOON_MINUTES = 20 * 60;
const ALL_DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

function formatMinutes(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
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

function createSmsStep(random: Random): object {
  const limits = { concurrency: 1 + pick(random, 4) };
  return { kind: 'sms', input: INPUT, ...EXAMPLES.sms.step(COLUMNS), batchSize: 1 + pick(random, 7), limits };
}

const INPUT = { files: '/in/people.csv' };

function createJob(
  random: Random,
  more: { readonly written: object; readonly sms: object; readonly limits: () => object },
): Job {
  const base = 'http://127.0.0.1:1';
  const key = { apiKey: { env: 'KEY' } };
  const limits = (most: number) => ({ concurrency: 1 + pick(random, most), ...more.limits() });
  // Kinds whose requests have many rows are the ones that break in the most ways.
  const rowSteps = (Object.keys(ROW_KINDS) as RowKind[]).flatMap((kind) => {
    const { step, making, batchKey } = EXAMPLES[kind];
    if (batchKey === undefined && random() >= 0.25) return [];
    const batch = batchKey === undefined ? {} : { [batchKey]: 1 + pick(random, 7) };
    const own = kind === 'sms' ? more.sms : {};
    return [{ kind, input: INPUT, ...step(COLUMNS), ...making, ...batch, limits: limits(4), ...own }];
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
      // Room for an answer before the end of the hours would hide who does not look at the gate.
      ...('window' in more.written && { timeouts: { answerSeconds: 1 } }),
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
