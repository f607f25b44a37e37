import fc from 'fast-check';
import { type CountryCode, getCountries } from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/max/metadata';
import { createRandom } from '../../src/sandbox/random.js';

export type NumberSample = Readonly<{ text: string; country: string | undefined }>;

type RawType = readonly [pattern: string, lengths?: readonly number[]] | 0;
interface RawPlan {
  readonly 0: string;
  readonly 1: string;
  readonly 2: string;
  readonly 3: readonly number[];
  readonly 5: string | 0;
  readonly 7: string | 0;
  readonly 11: readonly RawType[];
}
const plans = (metadata as unknown as { countries: Record<string, RawPlan> }).countries;

/** What numbers of a country are made of, drawn from the patterns of all its types and prefixes. */
interface Parts {
  readonly country: CountryCode;
  readonly callingCode: string;
  readonly nationals: readonly string[];
  readonly nationalPrefixes: readonly string[];
  readonly internationalPrefixes: readonly string[];
  readonly lengths: readonly number[];
}

const PER_PATTERN = 5;

/** Numbers in all writings for all countries in turn: valid ones, nearly valid ones, and digits at random. */
export function createNumberSampler(seed: number): () => NumberSample {
  const random = createRandom(seed);
  const all = getCountries().map((country) => drawParts(country, seed));
  let count = 0;
  return () => sampleNumber(random, all[count++ % all.length]!, all);
}

function drawParts(country: CountryCode, seed: number): Parts {
  const plan = plans[country]!;
  const draw = (pattern: string | 0 | undefined) =>
    pattern
      ? fc.sample(fc.stringMatching(new RegExp(`^(?:${pattern.replaceAll('$', '')})$`)), { numRuns: PER_PATTERN, seed })
      : [];
  return {
    country,
    callingCode: plan[0],
    nationals: [...plan[11].flatMap((type) => (type === 0 ? [] : draw(type[0]))), ...draw(plan[2])],
    nationalPrefixes: ['0', '1', '8', ...draw(plan[7] || plan[5])],
    internationalPrefixes: ['00', '011', ...draw(plan[1])],
    lengths: plan[3],
  };
}

function sampleNumber(random: () => number, parts: Parts, all: readonly Parts[]): NumberSample {
  const { country, callingCode } = parts;
  const kind = random();
  const known = kind < 0.35 ? pick(random, parts.nationals) : mutate(random, pick(random, parts.nationals));
  const national = kind < 0.85 ? known : randomDigits(random, parts.lengths);
  const trunk = pick(random, parts.nationalPrefixes);
  const abroad = pick(random, parts.internationalPrefixes);
  const body = pick(random, [
    `+${callingCode}${national}`,
    `+${callingCode}${trunk}${national}`,
    `${callingCode}${national}`,
    `${callingCode}${trunk}${national}`,
    `${trunk}${national}`,
    `${trunk}${national}`,
    national,
    national,
    `${abroad}${callingCode}${national}`,
    `${abroad}${national}`,
  ]);
  const home = pick(random, [country, country, country, country, pick(random, all).country, undefined]);
  return { text: punctuate(random, body), country: home };
}

/** Up to three digits changed, doubled or taken out. */
function mutate(random: () => number, digits: string): string {
  let text = digits;
  const changes = Math.floor(random() * 4);
  for (let change = 0; change < changes; change++) {
    const at = Math.floor(random() * text.length);
    const digit = String(Math.floor(random() * 10));
    const cut = pick(random, [0, 1, 1, 1, 1, 1]);
    text = text.slice(0, at) + digit.repeat(pick(random, [1, 1, 1, 1, 1, 0, 2])) + text.slice(at + cut);
  }
  return text;
}

function randomDigits(random: () => number, lengths: readonly number[]): string {
  const length = pick(random, lengths) + pick(random, [0, 0, 0, 0, -1, 1]);
  let text = '';
  while (text.length < length) text += Math.floor(random() * 10);
  return text;
}

function punctuate(random: () => number, digits: string): string {
  if (random() < 0.5) return digits;
  let text = '';
  for (const digit of digits)
    text += digit + (random() < 0.2 ? pick(random, [' ', '-', '.', ' (', ') ', '\u00A0']) : '');
  return pick(random, [text, ` ${text}`, `${text} `, `(${text}`]);
}

function pick<T>(random: () => number, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)]!;
}
