import { closing } from '../domain/closing.js';
import { quoteWord, UserError } from '../domain/errors.js';
import { formatRowId } from '../kinds/ids.js';
import { digestOfRows, type Plan, type PlanAt } from '../plan/format/plan-file.js';
import { fileIdsOf, RowTable, readNamedRows, readRowsOfOthers } from '../plan/reimport/named-rows.js';
import { JobRows } from '../registry/job-rows.js';
import { OwnerLookup } from '../registry/owner-lookup.js';
import type { PastRun } from '../registry/read-runs.js';
import type { RegistryState } from '../registry/registry-state.js';
import { readRunRows } from '../report/run-rows.js';
import type { Files } from '../storage/files.js';
import { assertLineIsThere, assertNotSentAgain } from './claiming-plan.js';

interface Sources {
  readonly files: Files;
  readonly registry: RegistryState;
  readonly history: readonly PastRun[];
}

/**
 * Refuses to begin a plan with rows of another run that are not its own: those of a plan that retries them must be claimed by it; and
 * none may have been claimed by another plan since, or be sent by now. One that was begun has them; it is refused where a receipt shows
 * that rows which it has yet to send were sent.
 */
export async function assertOwned({ files, registry, history }: Sources, { plan, directory }: PlanAt): Promise<void> {
  const { state = 'planned' } = history.find((run) => run.plan.id === plan.id) ?? {};
  if (state === 'finished') return;
  const others = history.filter((run) => run.plan.id !== plan.id);
  await using rows = closing(new JobRows(files, registry, [...others, { directory, plan, state }]));
  if (state !== 'planned') return await assertNotReceived(rows, { plan, directory });
  assertClaimed(plan, { files, registry, history });
  await assertFree(rows, { plan, directory });
}

function assertClaimed(plan: Plan, { registry, history }: Sources): void {
  const { id, retryOf } = plan;
  if (retryOf === undefined) return;
  assertLineIsThere(plan, history, `apply plan ${id}`);
  if (registry.claims.hasAll(plan)) {
    assertNotSentAgain(registry, { plan, doing: `apply plan ${id}` });
    return;
  }
  throw new UserError(
    'plan-mismatch',
    `Cannot apply plan ${id}: it has not claimed all of its rows from run ${retryOf.run}, they might be sent twice`,
    { hint: 'The command that made it did not finish: run the same `volley retry` again.' },
  );
}

async function assertNotReceived(of: JobRows, { plan, directory }: PlanAt): Promise<void> {
  const { rows } = await readRunRows(of.files, { directory, plan });
  let sent = 0;
  for await (const { step, index, row, id } of readRowsOfOthers(of.files, { directory, plan })) {
    if (row.state !== 'planned' || rows.currentStatusOf(step.number, index) !== 'open') continue;
    if ((await of.findReceived(step.kind, id, plan)) !== undefined) sent += 1;
  }
  if (sent === 0) return;
  throw new UserError(
    'plan-mismatch',
    `Cannot resume run ${plan.id}: delivery receipts show that ${sent} of the rows it has yet to send were sent, they would be sent twice`,
    { hint: `\`volley retry ${quoteWord(directory)} --only unprocessed\` makes a plan of what is left without them.` },
  );
}

async function assertFree(rows: JobRows, run: PlanAt): Promise<void> {
  const { plan } = run;
  const owners = new OwnerLookup(rows, plan);
  const problems = new Map<string, { where: string; rows: number }>();
  const add = (found: string, place: string) => {
    const { where, rows: count } = problems.get(found) ?? { where: place, rows: 0 };
    problems.set(found, { where, rows: count + 1 });
  };
  // Whether a row is among them that no command omits.
  let isByHand = false;
  const addByHand = (found: string, place: string) => {
    add(found, place);
    isByHand = true;
  };
  const own = await readOwnRows(rows, run, addByHand);
  for await (const { step, id, row, index } of readRowsOfOthers(rows.files, run)) {
    // What the plan itself refused is not sent.
    if (index === -1) continue;
    const { refusal } = await owners.find(step, formatRowId(id));
    const isPlanned = row.state === 'planned';
    const refused = refusal ?? (isPlanned && owners.refuseTwin(step.number, formatRowId(id), row.facts[0] ?? ''));
    const copy = step.inputs[own.get({ file: `${step.number} ${rows.digestOf(id.file)}`, row: id.row }) ?? -1]?.file;
    const found = refused && (refused.kind === 'rejected' ? refused.rejection : refused.skip).reason;
    const place = `${step.inputs[row.file]?.file}:${row.line}`;
    if (found) add(found, place);
    else if (copy) addByHand(`it stands in ${copy} too, and can be sent from there now: remove one of them`, place);
  }
  if (problems.size === 0) return;
  const command = plan.retryOf === undefined ? 'volley plan` or `volley run' : 'volley retry';
  throw new UserError('plan-mismatch', `Cannot apply plan ${plan.id}: rows of it would be sent twice`, {
    hint: isByHand
      ? 'Nothing was sent. Remove from the files what is named above, then run the same command again.'
      : `Run the \`${command}\` that made it again: it omits them.`,
    problems: [...problems].map(([message, { where, rows }]) => {
      return { where, message: rows === 1 ? message : `${message}; the same holds for ${rows - 1} more` };
    }),
  });
}

/**
 * Rows that a plan would send from its own files. One that another plan has claimed, from the rejections of a draft, is a problem; of files
 * whose rows came back too they are given, by step and digest of the file, with its index.
 */
async function readOwnRows(rows: JobRows, run: PlanAt, add: (found: string, where: string) => void): Promise<RowTable> {
  const { plan } = run;
  const { claims } = rows.registry;
  const found = new RowTable();
  if (plan.retryOf !== undefined) return found;
  for (const step of plan.steps) {
    const { kind, number, inputs } = step;
    const cameBack = new Set(inputs.flatMap(({ fedFrom = [] }) => fedFrom.map((file) => rows.digestOf(file))));
    const own = fileIdsOf(plan, step);
    // Rejections of a step of another kind may have come before the file itself.
    const ids = inputs.map((input, at) => [own[at] ?? '', ...rows.idsForOthers(kind, digestOfRows(input))]);
    const isClaimed = ids.flat().some((file) => claims.hasAny(kind, file, plan.id));
    if (!isClaimed && !inputs.some((input) => cameBack.has(digestOfRows(input)))) continue;
    for await (const { row, id } of readNamedRows(rows.files, run, step)) {
      const input = inputs[row.file];
      if (row.state !== 'planned' || row.from !== undefined || id === undefined || input === undefined) continue;
      const owners = (ids[row.file] ?? []).flatMap((file) => claims.listOwners(kind, { ...id, file }, plan));
      const owner = owners.findLast((each) => each !== plan.id);
      const claimed = `plan ${owner} has claimed the row from a rejections file: remove it from this one`;
      if (owner !== undefined) add(claimed, `${input.file}:${row.line}`);
      const digest = digestOfRows(input);
      if (cameBack.has(digest)) found.set({ file: `${number} ${digest}`, row: row.row }, row.file);
    }
  }
  return found;
}
