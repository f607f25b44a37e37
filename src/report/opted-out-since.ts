import { join } from 'node:path';
import { decodeOptOut, OPT_OUT_HEADER } from '../domain/opt-out-line.js';
import type { Plan } from '../plan/format/plan-file.js';
import { readPlannedRows } from '../plan/format/planned-rows.js';
import type { Files } from '../storage/files.js';
import { splitLines } from '../storage/split-lines.js';
import type { RunRows } from './read-run-rows.js';

/**
 * To how many of those that a run sent to it may not be sent any more: they opted out once it had begun, by the job's lists that Volley
 * writes. Undefined where it has none that can be read, or sent nothing.
 */
export async function countOptedOutSince(
  files: Files,
  { directory, plan, rows }: Pick<RunRows, 'directory' | 'plan' | 'rows'>,
): Promise<number | undefined> {
  const { firstOpen } = rows.state;
  const { optOuts } = plan.job;
  if (optOuts === undefined || firstOpen === undefined) return undefined;
  const out = await readOptedOut(files, optOuts, firstOpen.at).catch(() => undefined);
  if (out === undefined || out.size === 0) return out?.size;
  const found = new Set<number>();
  for (const planned of plan.steps.filter(({ kind }) => kind === 'sms')) {
    for await (const { index, row } of readPlannedRows(files, directory, planned)) {
      const number = Number(row.facts[0]);
      if (out.has(number) && rows.isAccepted(planned.number, index)) found.add(number);
    }
  }
  return found.size;
}

/** Numbers whose latest line says out, and stands there since a moment. */
async function readOptedOut(
  files: Files,
  optOuts: Plan['job']['optOuts'] & string,
  sinceMs: number,
): Promise<Set<number>> {
  const isDirectory = (await files.stat(optOuts))?.isDirectory === true;
  const names = isDirectory ? (await files.list(optOuts)).filter((name) => name.endsWith('.csv')) : [''];
  const out = new Set<number>();
  let isOwn = false;
  for (const name of names) {
    const file = await files.openRead(join(optOuts, name));
    try {
      let line = 0;
      for await (const { bytes } of splitLines(file)) {
        line += 1;
        const text = bytes.toString('utf8');
        if (line === 1 && `${text}\n` !== OPT_OUT_HEADER) break;
        isOwn = true;
        const { number, what, at = '' } = decodeOptOut(text) ?? {};
        if (what === 'out' && Date.parse(at) >= sinceMs) out.add(Number(number));
        else if (what !== undefined) out.delete(Number(number));
      }
    } finally {
      await file.close();
    }
  }
  if (!isOwn) throw new Error(`${optOuts} has no list that Volley writes`);
  return out;
}
