import type { PlanAt } from '../plan/format/plan-file.js';
import { sha256Of } from '../plan/format/sealed-json.js';
import type { WholeFile } from '../storage/files.js';

/**
 * A proof on disk, format 1: `proof.json`, JSON in ASCII, one entry a line, so that a million rows are read line by line.
 *
 *   {"proof":1,"entries":[
 *   {"entry":{"type":"plan",…},"sha256":"<d1>"}
 *   ,{"entry":{"type":"opened",…},"sha256":"<d2>"}
 *   ],"head":"<dn>"}
 *
 * `<dn>` is the SHA-256, in hex, of the hex of the digest before it (64 zeros before the first) and the canonical JSON of the
 * entry. The last one is the head of the chain. verify.mjs is the other half of this specification.
 */
export const PROOF_FILE = 'proof.json';
const FIRST_LINE = '{"proof":1,"entries":[\n';
const NO_DIGEST = '0'.repeat(64);
const FLUSH_CHARACTERS = 1 << 18;

export type ProofEntry = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The run that is proven. */
export interface ProofSource extends PlanAt {
  /** Stands before numbers and results: 64 hex digits. */
  readonly salt: string;
}

/** Keys sorted, those without a value omitted, no blanks, in ASCII: the same bytes for the same value in any language. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const pairs: string[] = [];
    for (const [key, part] of Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))) {
      if (part !== undefined) pairs.push(`${asciiJson(key)}:${canonicalJson(part)}`);
    }
    return `{${pairs.join(',')}}`;
  }
  return typeof value === 'string' ? asciiJson(value) : JSON.stringify(value);
}

function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Writes a proof entry by entry, in memory that does not grow with it. The file gets its name in `finish`, or never. */
export class ProofChain {
  readonly #file: WholeFile;
  #text = FIRST_LINE;
  #entries = 0;
  #head = NO_DIGEST;

  constructor(file: WholeFile) {
    this.#file = file;
  }

  async add(entry: ProofEntry): Promise<void> {
    const json = canonicalJson(entry);
    this.#head = sha256Of(`${this.#head}${json}`);
    this.#text += `${this.#entries === 0 ? '' : ','}{"entry":${json},"sha256":"${this.#head}"}\n`;
    this.#entries += 1;
    if (this.#text.length >= FLUSH_CHARACTERS) await this.#flush();
  }

  async finish(): Promise<{ readonly head: string; readonly entries: number }> {
    this.#text += `],"head":"${this.#head}"}\n`;
    await this.#flush();
    await this.#file.finish();
    return { head: this.#head, entries: this.#entries };
  }

  async #flush(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    await this.#file.write(text);
  }
}
