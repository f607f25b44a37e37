import { join } from 'node:path';
import { JOURNAL_FILE, PLAN_FILE, RECEIPTS_FILE } from '../plan/format/plan-file.js';
import type { Registry } from '../registry/registry.js';
import { PAGE_FILE, readSummary, SUMMARY_FILE } from '../report/write-report.js';
import type { Files } from '../storage/files.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';

/** Files of a run that Volley wrote and that hold people's rows or texts; others in its directory are not ours to delete. */
const ROWS =
  /^(?:\d+-[a-z.]+\.(?:requests|rows|results|rejections|skipped|in-doubt|unprocessed)\.(?:nd)?(?:json|csv|xlsx)(?:\.gz)?|deliveries\.(?:csv|ndjson|xlsx)|stdin|.*\.part|\.plan\.json\.taken)$/;
const NAMES = [PLAN_FILE, JOURNAL_FILE, RECEIPTS_FILE, PAGE_FILE, 'proof.salt', 'campaign.html'];

/** What pruning deletes of a directory, plan.json first: without it the rest is no plan. */
export async function listPrunable(files: Files, directory: string): Promise<{ name: string; bytes: number }[]> {
  const found: { name: string; bytes: number }[] = [];
  for (const name of await files.list(directory)) {
    if (!NAMES.includes(name) && !ROWS.test(name)) continue;
    const facts = await files.stat(join(directory, name));
    if (facts?.isFile === true) found.push({ name, bytes: facts.bytes });
  }
  return found.sort((one, other) => Number(other.name === PLAN_FILE) - Number(one.name === PLAN_FILE));
}

/**
 * Deletes the rows of a run, in this order, each durable before the next, so that a process may die at any moment:
 *
 *   1. the memory has it as pruned: nobody sends, settles or retries rows of the run from now on
 *   2. so has its own directory, for a memory that is lost: it is a run no more
 *   3. the summary loses its examples, and one file after the other goes
 *
 * The same again goes on from where it was. What the run took and claimed stays known.
 */
export async function pruneRun(
  {
    run,
    directory,
    registry,
    lock,
    by,
  }: { run: string; directory: string; registry: Registry; lock: Lock; by: string },
  { files, clock }: Ports,
): Promise<void> {
  if (registry.state.recordOf(run).pruned === undefined) {
    await noteFigures(files, { run, directory, registry });
    await registry.note(run, { pruned: { at: clock.now(), by } });
  }
  await lock.assertHeld();
  await registry.keep(run);
  await removeExamples(files, directory);
  for (const { name } of await listPrunable(files, directory)) {
    await lock.assertHeld();
    await files.remove(join(directory, name));
    if (name === PLAN_FILE) await files.syncDirectory(directory);
  }
  await files.syncDirectory(directory);
}

/** As they stand in the outputs by now: receipts may have settled rows since the memory noted them. */
async function noteFigures(
  files: Files,
  { run, directory, registry }: { run: string; directory: string; registry: Registry },
): Promise<void> {
  const summary = await readSummary(files, directory);
  const ended = registry.find(run)?.ended;
  if (summary?.plan !== run || JSON.stringify(summary.balance) === JSON.stringify(ended?.counts)) return;
  await registry.noteEnded(summary);
}

/** Cells of people; its output files are gone. */
async function removeExamples(files: Files, directory: string): Promise<void> {
  const path = join(directory, SUMMARY_FILE);
  const summary = await readSummary(files, directory);
  if (summary === undefined) return files.remove(path);
  const steps = summary.steps.map((step) => ({ ...step, reasons: [], files: {} }));
  const bare = `${JSON.stringify({ ...summary, steps }, undefined, 2)}\n`;
  if (bare !== (await files.readText(path))) await files.writeWhole(path, bare);
}
