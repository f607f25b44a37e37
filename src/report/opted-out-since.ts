import { join } from 'node:path';
import { decodeOptOut, noteOptOut, OPT_OUT_HEADER } from '../domain/opt-out-line.js';
import { personOf } from '../domain/person.js';
import { namesOfOptOuts } from '../job/resolve-job.js';
import { readPlannedRows } from '../plan/format/planned-rows.js';
import { chooseLists } from '../plan/suppress/list-suppression.js';
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
  const paths = namesOfOptOuts(plan.job);
  if (paths.length === 0 || firstOpen === undefined) return undefined;
  const out = await readOptedOut(files, paths, firstOpen.at).catch(() => undefined);
  if (out === undefined || out.size === 0) return out?.size;
  const found = new Set<number>();
  for (const planned of plan.steps.filter(({ kind }) => kind === 'sms')) {
    for await (const { index, row } of readPlannedRows(files, directory, planned)) {
      const person = personOf(Number(row.facts[0]));
      if (out.has(person) && rows.isAccepted(planned.number, index)) found.add(person);
    }
  }
  return found.size;
}

/** People whom one of the lists has, by a line that says out since a moment. */
async function readOptedOut(files: Files, paths: readonly string[], sinceMs: number): Promise<Set<number>> {
  const out = new Set<number>();
  let isOwn = false;
  for (const path of (await Promise.all(paths.map((each) => listFiles(files, each)))).flat()) {
    const file = await files.openRead(path);
    const outAt = new Map<number, number>();
    try {
      let line = 0;
      for await (const { bytes } of splitLines(file)) {
        line += 1;
        const text = bytes.toString('utf8');
        if (line === 1 && `${text}\n` !== OPT_OUT_HEADER) break;
        isOwn = true;
        const said = decodeOptOut(text);
        if (said?.what === 'in' || (said !== undefined && Date.parse(said.at) >= sinceMs)) noteOptOut(outAt, said);
      }
    } finally {
      await file.close();
    }
    for (const person of outAt.keys()) out.add(person);
  }
  if (!isOwn) throw new Error(`${paths.join(', ')}: no list that Volley writes`);
  return out;
}

async function listFiles(files: Files, path: string): Promise<string[]> {
  const found = await files.stat(path);
  if (found?.isDirectory === true) return chooseLists(await files.list(path)).lists.map((name) => join(path, name));
  return found === undefined ? [] : [path];
}
