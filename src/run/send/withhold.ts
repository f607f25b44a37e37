import { closing } from '../../domain/closing.js';
import type { NotSent } from '../../domain/row.js';
import type { JournalEntry, PartResult } from '../../journal/entry-format.js';
import { halvesOf, type OpenRequest, type StepProgress } from '../../journal/replay.js';
import type { SeenText } from '../../kinds/sms/sms-texts.js';
import type { PlannedStep } from '../../plan/format/plan-file.js';
import { appendInBlocks } from '../../registry/append-to-run.js';
import type { Files } from '../../storage/files.js';
import type { Held } from '../../storage/lock.js';
import type { Journal, RunDeps } from '../run-deps.js';
import { type PartToSend, RequestReader } from './request-reader.js';
import type { SendContext } from './send-context.js';

/**
 * Rows that may not be sent any more are withheld, or given up with all that a run has left: they get the verdict not-sent, and the other rows of their request are sent
 * as planned. A request is halved in the journal until a part of it is withheld as a whole, or not at all; as with one that is
 * refused, nothing is sent under the intents before that. What may have been sent by an earlier process is not withheld.
 */

/**
 * Before a part has its intent: looks again, and withholds in the journal what may not be sent. Gives what is left of the part, and the
 * verdicts of the others; undefined where all of it may be sent.
 */
export async function withhold(
  part: PartToSend,
  context: Pick<SendContext, 'deps' | 'journal' | 'kind' | 'lock'>,
): Promise<{ left: PartToSend[]; verdicts: { verdict: NotSent; count: number }[] } | undefined> {
  const { deps, journal, lock } = context;
  if (!mayWithhold(part, context)) return undefined;
  await deps.withholding?.refresh();
  const withheld = findWithheld(part, context);
  if (withheld === undefined) return undefined;
  await lock.assertHeld();
  const left: PartToSend[] = [];
  const verdicts: { verdict: NotSent; count: number }[] = [];
  const written: Promise<void>[] = [];
  const end = (open: OpenRequest) => {
    const from = open.rows[0] - part.open.rows[0];
    const result = toResult(withheld.slice(from, from + open.rows[1]));
    if (result === undefined) return void left.push({ ...part, open });
    written.push(...endUnsent(open, result, deps.clock.now()).map((entry) => journal.append(entry)));
    if (result.kind === 'given-up') verdicts.push({ verdict: result.verdict, count: open.rows[1] });
    else halvesOf(open).forEach(end);
  };
  end(part.open);
  await Promise.all(written);
  return { left, verdicts };
}

/** For the gate, where a part has its intent: how it ends unsent; undefined where all of it may leave. */
export function judgeWithheld(part: PartToSend, context: Pick<SendContext, 'deps' | 'kind'>): PartResult | undefined {
  if (!mayWithhold(part, context)) return undefined;
  const withheld = findWithheld(part, context);
  return withheld && toResult(withheld);
}

type Withheld = readonly (NotSent | undefined)[];

/** Without this, what may be withheld is not asked. */
function mayWithhold({ open }: PartToSend, { deps, kind }: Pick<SendContext, 'deps' | 'kind'>): boolean {
  return deps.withholding !== undefined && kind.recipients !== undefined && !open.isInFlight;
}

/** Why rows of a part are withheld, in their order, as of the last look; undefined where none is. */
function findWithheld(part: PartToSend, { deps, kind }: Pick<SendContext, 'deps' | 'kind'>): Withheld | undefined {
  const { open, head, body } = part;
  const numbers = kind.recipients?.(body, head.rows) ?? [];
  const from = open.rows[0] - head.first;
  let texts: readonly SeenText[] | undefined;
  const readText = (at: number) => {
    texts ??= kind.listTexts?.(body) ?? [];
    return texts[at]?.text ?? 0;
  };
  const found = numbers.slice(from, from + open.rows[1]).map((number, index) => {
    const textOf = kind.listTexts && (() => readText(from + index));
    return number === undefined ? undefined : deps.withholding?.find({ step: open.step, number, textOf });
  });
  return found.some((why) => why !== undefined) ? found : undefined;
}

function toResult(withheld: Withheld): PartResult | undefined {
  const [first] = withheld;
  const isSame = withheld.every((why) => why?.code === first?.code && why?.reason === first?.reason);
  if (!isSame) return { kind: 'split', why: 'some of its rows are withheld' };
  return first && { kind: 'given-up', verdict: first };
}

/** Gives up all of these, durably, in the journal of a run that is under way. Gives their rows. */
export async function giveUpAll(
  unsent: Iterable<OpenRequest> | AsyncIterable<OpenRequest>,
  verdict: NotSent,
  { journal, lock, deps }: { journal: Journal; lock: Held; deps: Pick<RunDeps, 'clock'> },
): Promise<number> {
  let rows = 0;
  const entries = async function* () {
    for await (const open of unsent) {
      rows += open.rows[1];
      yield* endUnsent(open, { kind: 'given-up', verdict }, deps.clock.now());
    }
  };
  await appendInBlocks(entries(), async (block) => {
    await lock.assertHeld();
    await Promise.all(block.map((entry) => journal.append(entry)));
  });
  return rows;
}

/** What of a step waits to be sent again, and what was never begun. */
export async function* listUnsent(
  planned: PlannedStep,
  progress: StepProgress,
  { directory, files }: { directory: string; files: Files },
): AsyncGenerator<OpenRequest> {
  const waiting = [...progress.open.values()].filter(({ isInFlight }) => !isInFlight);
  await using reader = closing(await RequestReader.open(files, directory, planned, progress));
  yield* waiting;
  for (let next = await reader.next(); next !== undefined; next = await reader.next()) yield next.open;
}

/**
 * How a request, or a part of one, ends without being sent: an intent, and its outcome. Appended together they go in one write: a power cut
 * within it leaves an intent alone, and its rows in doubt.
 */
export function endUnsent(
  { step, request, part, line, rows }: OpenRequest,
  result: PartResult,
  at: number,
): JournalEntry[] {
  const key = { step, request, part, at };
  return [
    { type: 'intent', ...key, line, rows },
    { type: 'outcome', ...key, result },
  ];
}
