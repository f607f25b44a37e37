import { entriesIn } from '../world/violation.js';

/** What a journal says, by its entries alone. */
export interface JournalFacts {
  /** `<step> <index of the planned row>` of rows between an intent and its outcome. */
  readonly openRows: readonly string[];
  /** The call that makes a webhook or a channel has no answer yet. */
  readonly isPreparing: boolean;
  /** How often the run stopped to say that such a thing may exist. */
  readonly saidUnknown: number;
  readonly isFinished: boolean;
}

export function readJournalFacts(journal: Buffer): JournalFacts {
  const open = new Map<string, { readonly step: number; readonly rows: readonly [number, number] }>();
  let isPreparing = false;
  let saidUnknown = 0;
  let isFinished = false;
  for (const entry of entriesIn(journal)) {
    if (entry.type === 'intent') open.set(`${entry.step}/${entry.request}/${entry.part}`, entry);
    if (entry.type === 'outcome') open.delete(`${entry.step}/${entry.request}/${entry.part}`);
    if (entry.type === 'preparing') isPreparing = true;
    if (entry.type === 'prepared' || entry.type === 'unprepared') isPreparing = false;
    if (entry.type === 'unprepared' && entry.why === 'unknown') saidUnknown += 1;
    isFinished = entry.type === 'close' && entry.reason === 'finished';
  }
  const openRows = [...open.values()].flatMap(({ step, rows: [first, count] }) =>
    Array.from({ length: count }, (_, index) => `${step} ${first + index}`),
  );
  return { openRows, isPreparing, saidUnknown, isFinished };
}
