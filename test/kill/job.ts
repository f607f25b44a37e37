import type { Random } from '../../src/sandbox/random.js';
import { COLUMNS, EXAMPLES, rowOf } from '../kinds/examples.js';
import type { Row, StepWithRows } from '../world/judge.js';

export interface KillStep extends StepWithRows {
  readonly file: string;
}

export interface KillJob {
  /** JSON is YAML. */
  readonly text: string;
  readonly steps: readonly KillStep[];
}

type Mix = readonly StepWithRows['kind'][];

const MIXES: readonly Mix[] = [
  ['contacts', 'sms'],
  ['contacts', 'sms', 'verification.start'],
  ['sms', 'conversations'],
  ['contacts', 'sms', 'verification.start', 'conversations'],
];
const REQUESTS_PER_SECOND = 40;

/** A job with so many seconds of sending in it; each step has a file and numbers of its own. */
export function createKillJob(
  random: Random,
  { origin, seconds, mixes = MIXES }: { origin: string; seconds: number; mixes?: readonly Mix[] },
): KillJob {
  const mix = mixes[pick(random, mixes.length)] ?? [];
  const requests = Math.ceil((seconds * REQUESTS_PER_SECOND) / mix.length);
  const batchSize = 3 + pick(random, 12);
  const steps = mix.map((kind, index): KillStep => {
    const count = EXAMPLES[kind].batchKey === undefined ? requests : requests * batchSize;
    return {
      number: index + 1,
      kind,
      file: `${index + 1}.csv`,
      rows: createRows(kind, count, { random, first: index * 1_000_000 }),
    };
  });
  const key = (env: string) => ({ apiKey: { env } });
  const job = {
    name: 'sale',
    service: {
      account: 'acme',
      credentials: { ...key('VOLLEY_API_KEY'), gateway: key('VOLLEY_GATEWAY_KEY') },
      bases: { sms: origin, contacts: origin, verification: origin, gateway: origin },
    },
    steps: steps.map(({ kind, file }) => {
      const { step, making, batchKey } = EXAMPLES[kind];
      const limits = { requestsPerSecond: REQUESTS_PER_SECOND, concurrency: 1 + pick(random, 6) };
      const batch = batchKey === undefined ? {} : { [batchKey]: batchSize };
      return { kind, input: { files: file }, limits, ...step(COLUMNS), ...making, ...batch };
    }),
    output: 'out',
  };
  return { text: JSON.stringify(job), steps };
}

export function writeCsv({ rows }: KillStep): string {
  return `name,mobile\n${rows.map(({ name, mobile }) => `${name},${mobile}\n`).join('')}`;
}

export function pick(random: Random, count: number): number {
  return Math.floor(random() * count);
}

/** Numbers that are none, and such that stand twice, where the kind of step has a word for them. */
function createRows(kind: StepWithRows['kind'], count: number, { random, first }: { random: Random; first: number }) {
  const rows: Row[] = [];
  for (let at = 0; at < count; at++) {
    const row = rowOf(first + at);
    const earlier = rows[pick(random, at)];
    const chance = random();
    if (kind !== 'conversations' && chance < 0.03) rows.push({ ...row, mobile: 'n/a', fate: 'invalid' });
    else if (EXAMPLES[kind].skipsDuplicates && chance < 0.06 && earlier?.fate === 'planned') {
      rows.push({ ...row, mobile: earlier.mobile, fate: 'duplicate' });
    } else rows.push({ ...row, fate: 'planned' });
  }
  return rows;
}
