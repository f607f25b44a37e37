import { AREAS } from '../../domain/areas.js';
import { clip } from '../../domain/text.js';

/** Where a value stands in a job: the keys and list positions that lead to it. */
export type Path = readonly (string | number)[];

/** One thing that is wrong with a job file, before it is given its line and column. */
export interface Finding {
  /** Where it is: an offset in the text, or a path in the value, located at its nearest written part. */
  readonly at: number | Path;
  readonly message: string;
  readonly hint?: string | undefined;
}

const CREDENTIAL_KEYS = new Set<string | number>([
  ...AREAS,
  ...['apiKey', 'username', 'dataToken', 'actionToken', 'env', 'file'],
]);
const MAX_SHOWN = 60;

/** `steps[0].input.files[1]`. Below the credentials only known keys are shown: an unknown one may be the secret itself. */
export function namePath(path: Path): string {
  if (path.length === 0) return 'the job';
  const hidden = isSecret(path);
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`;
      const shown = hidden && index > 1 && !CREDENTIAL_KEYS.has(part) ? '…' : cut(part);
      return index === 0 ? shown : `.${shown}`;
    })
    .join('');
}

/** What a value looks like, in a few words; never a secret. */
export function showValue(path: Path, value: unknown): string {
  if (value === null || value === undefined || value === '') return 'empty';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return Object.keys(value).length === 0 ? 'an empty map' : 'a map';
  // A private key may stand in place of the public one.
  if (isSecret(path) || path.at(-1) === 'publicKey')
    return typeof value === 'string' ? 'plain text' : `a ${typeof value}`;
  if (typeof value !== 'string') return String(value);
  return hasPassword(value) ? 'an address with a password' : JSON.stringify(cut(hideQuery(value)));
}

const SECRETS = ['service.credentials', 'notify.url', 'cluster.database'];

/** True from `service.credentials`, `notify.url` and `cluster.database` down: nothing that is written there may be repeated. */
export function isSecret(path: Path): boolean {
  return SECRETS.includes(path.slice(0, 2).join('.'));
}

/** The part of a job that a path leads to; undefined where nothing is written. */
export function valueAt(value: unknown, path: Path): unknown {
  let here = value;
  for (const part of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, part)) return undefined;
    here = (here as Record<string | number, unknown>)[part];
  }
  return here;
}

/** Shortens a long text to fit into a sentence. */
export function cut(text: string): string {
  return clip(text, MAX_SHOWN);
}

/** A query string may hold a key, unless it is too short for one. */
function hideQuery(text: string): string {
  return text.includes('://') ? text.replace(/[?#].{8,}/s, (query) => `${query.charAt(0)}…`) : text;
}

function hasPassword(text: string): boolean {
  return /\/\/[^/]*@/.test(text);
}
