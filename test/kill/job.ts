import type { Random } from '../../src/sandbox/random.js';
import type { Row as JudgedRow } from '../world/judge.js';

export type Kind = 'contacts' | 'sms' | 'verification.start' | 'conversations';

export type Row = Pick<JudgedRow, 'name' | 'mobile' | 'fate'>;

export interface KillStep {
  readonly number: number;
  readonly kind: Kind;
  readonly file: string;
  readonly rows: readonly Row[];
}

export interface KillJob {
  /** JSON is YAML. */
  readonly text: string;
  readonly steps: readonly KillStep[];
}

const MIXES: readonly (readonly Kind[])[] = [
  ['contacts', 'sms'],
  ['contacts', 'sms', 'verification.start'],
  ['sms', 'conversations'],
  ['contacts', 'sms', 'verification.start', 'conversations'],
];
const REQUESTS_PER_SECOND = 40;
const NOBODY_LISTENS = 'http://127.0.0.1:9/events';

/** A job with so many seconds of sending in it; each step has a file and numbers of its own. */
export function createKillJob(
  random: Random,
  { origin, seconds, mixes = MIXES }: { origin: string; seconds: number; mixes?: readonly (readonly Kind[])[] },
): KillJob {
  const mix = mixes[pick(random, mixes.length)] ?? [];
  const requests = Math.ceil((seconds * REQUESTS_PER_SECOND) / mix.length);
  const batchSize = 3 + pick(random, 12);
  const steps = mix.map((kind, index): KillStep => {
    const count = kind === 'sms' ? requests * batchSize : requests;
    const rows = createRows(kind, count, { random, firstNumber: 91_000_000 + index * 1_000_000 });
    return { number: index + 1, kind, file: `${index + 1}.csv`, rows };
  });
  const key = (env: string) => ({ apiKey: { env } });
  const job = {
    name: 'sale',
    service: {
      account: 'acme',
      credentials: { ...key('VOLLEY_API_KEY'), gateway: key('VOLLEY_GATEWAY_KEY') },
      bases: { sms: origin, contacts: origin, verification: origin, gateway: origin },
    },
    steps: steps.map((step) => ({
      kind: step.kind,
      input: { files: step.file },
      limits: { requestsPerSecond: REQUESTS_PER_SECOND, concurrency: 1 + pick(random, 6) },
      ...settingsOf(step.kind, batchSize),
    })),
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

function settingsOf(kind: Kind, batchSize: number): object {
  switch (kind) {
    case 'contacts':
      return { fields: { firstName: 'name', msisdn: 'mobile' } };
    case 'sms':
      return { destination: 'mobile', template: { source: 'ACME', text: 'Hi {{ name }}' }, batchSize };
    case 'verification.start':
      return { destination: 'mobile' };
    case 'conversations':
      return {
        channel: { name: 'bot', queue: '100', webhook: { name: 'events', url: NOBODY_LISTENS } },
        user: { name: 'name', phone: 'mobile' },
      };
  }
}

/** Numbers that are none, and such that stand twice, where the kind of step has a word for them. */
function createRows(
  kind: Kind,
  count: number,
  { random, firstNumber }: { random: Random; firstNumber: number },
): Row[] {
  const rows: Row[] = [];
  for (let at = 0; at < count; at++) {
    const name = `P${firstNumber + at}`;
    const earlier = rows[pick(random, at)];
    const chance = random();
    if (kind !== 'conversations' && chance < 0.03) rows.push({ name, mobile: 'n/a', fate: 'invalid' });
    else if (isSkippingDuplicates(kind) && chance < 0.06 && earlier?.fate === 'planned') {
      rows.push({ name, mobile: earlier.mobile, fate: 'duplicate' });
    } else rows.push({ name, mobile: `+65${firstNumber + at}`, fate: 'planned' });
  }
  return rows;
}

function isSkippingDuplicates(kind: Kind): boolean {
  return kind === 'sms' || kind === 'verification.start';
}
