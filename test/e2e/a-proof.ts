import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Workspace } from './a-workspace.js';

/** An entry of a proof, as it stands in proof.json. */
export type Entry = Readonly<Record<string, unknown>> & { readonly type: string };

export type Checked = Readonly<{ code: number; stdout: string; stderr: string }>;

/** Runs verify.mjs as it was written beside a proof: by node alone. */
function verifyProof(directory: string, ...args: string[]): Promise<Checked> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['verify.mjs', ...args], { cwd: directory, env: {} }, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
  });
}

/** The proof of a run as the command wrote it, and what verify.mjs says of it. */
export class Proof {
  /** What the command printed. */
  readonly printed: Readonly<Record<'head' | 'state' | 'proof' | 'page' | 'salt', string>>;
  readonly directory: string;
  readonly text: string;
  readonly entries: Entry[];
  #forgeries = 0;

  constructor(printed: Proof['printed']) {
    this.printed = printed;
    this.directory = join(printed.proof, '..');
    this.text = this.read('proof.json');
    this.entries = JSON.parse(this.text).entries.map(({ entry }: { entry: Entry }) => entry);
  }

  read(name: string): string {
    return readFileSync(join(this.directory, name), 'utf8');
  }

  /** A file beside it with this content; gives its name. */
  write(content: string | Buffer): string {
    this.#forgeries += 1;
    const name = `forged-${this.#forgeries}`;
    writeFileSync(join(this.directory, name), content);
    return name;
  }

  verify(...args: string[]): Promise<Checked> {
    return verifyProof(this.directory, 'proof.json', ...args);
  }

  /** With this in place of the proof. */
  verifyForged(content: string | Buffer, ...args: string[]): Promise<Checked> {
    return verifyProof(this.directory, this.write(content), ...args);
  }
}

/** Writes the proof of a run. */
export async function prove(workspace: Workspace, run: string): Promise<Proof> {
  const { code, stdout, stderr } = await workspace.volley('proof', run);
  if (code !== 0) throw new Error(stderr);
  return new Proof(JSON.parse(stdout));
}

/** A proof as another hand would make it of these entries: one chain, whatever they say. */
export function chainOf(entries: readonly Entry[]): string {
  let head = '0'.repeat(64);
  const lines = entries.map((entry, at) => {
    const json = sorted(entry);
    head = createHash('sha256').update(`${head}${json}`).digest('hex');
    return `${at === 0 ? '' : ','}{"entry":${json},"sha256":"${head}"}\n`;
  });
  return `{"proof":1,"entries":[\n${lines.join('')}],"head":"${head}"}\n`;
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}
