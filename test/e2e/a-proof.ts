import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Workspace } from './a-workspace.js';

/** An entry of a proof, as it stands in proof.json. */
export type Entry = Readonly<Record<string, unknown>> & { readonly type: string };

export interface Checked {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs verify.mjs as it was written beside a proof: by node alone. */
export function verifyProof(directory: string, ...args: string[]): Promise<Checked> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['verify.mjs', ...args], { cwd: directory, env: {} }, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
  });
}

/** Writes the proof of a run, and gives what the command printed, with the directory of the proof. */
export async function prove(workspace: Workspace, run: string) {
  const { code, stdout, stderr } = await workspace.volley('proof', run);
  if (code !== 0) throw new Error(stderr);
  const printed = JSON.parse(stdout);
  return { printed, directory: join(printed.proof, '..') };
}

export function readEntries(text: string): Entry[] {
  return JSON.parse(text).entries.map(({ entry }: { entry: Entry }) => entry);
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
