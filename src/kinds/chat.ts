import { ACTION_KINDS } from '../domain/areas.js';
import { cellsOf } from '../domain/bytes/row-writer.js';
import { TextBuffer } from '../domain/bytes/text-buffer.js';
import { InternalError } from '../domain/errors.js';
import type { Verdict } from '../domain/row.js';
import type { ChatStep } from '../job/job.js';
import { CHAT_FIGURES, type ChatFigure } from '../job/schema/steps/chat.js';
import { Columns } from '../normalize/columns.js';
import { postMessage } from '../service/areas/chat.js';
import { parseTemplate } from '../template/parse.js';
import type { ActionContext, ActionKind, RunFigures } from './step-kind.js';

/** Posts a message with the run's figures to a chat room. A failed post is reported, and stops nothing. */
export const chatKind: ActionKind<ChatStep> = {
  ...ACTION_KINDS.chat,
  isEssential: false,
  isDue: ({ when }, { exitCode }) => when === 'always' || (when === 'success') === (exitCode === 0),
  describe: ({ text, room, when }) => ({
    to: room === undefined ? 'the chat room of the key' : `chat room ${room}`,
    text: when === 'always' ? text : `${text} (on ${when})`,
  }),
  perform,
};

async function perform({ text, room }: ChatStep, { call, figures, begin }: ActionContext): Promise<Verdict> {
  const rendering = renderFigures(text, figures);
  if (!rendering.ok) return { status: 'rejected', code: rendering.code, reason: rendering.reason };
  await begin();
  await call(postMessage, { messageRaw: rendering.text, ...(room === undefined ? {} : { room }) });
  return { status: 'accepted', code: 'POSTED', reason: 'Posted to the chat room' };
}

/** The text with the run's figures in place of its variables. */
export function renderFigures(text: string, figures: RunFigures) {
  const cells = listFigures(figures);
  const columns = new Columns(CHAT_FIGURES);
  const bound = parseTemplate(text).bind(columns);
  // Invariant: the job file names no figure that there is not.
  const [problem] = columns.problems;
  if (problem !== undefined) throw new InternalError('unexpected', problem.message);
  return bound.render(cellsOf(CHAT_FIGURES.map((name) => cells[name])), new TextBuffer());
}

function listFigures(figures: RunFigures): Record<ChatFigure, string> {
  const { job, plan, directory, stop, startedAtMs, nowMs, balance } = figures;
  return {
    job,
    plan,
    directory,
    state: stop === undefined ? 'finished' : 'stopped',
    reason: stop?.reason ?? 'none',
    detail: stop?.detail ?? 'none',
    startedAt: new Date(startedAtMs).toISOString(),
    seconds: String(Math.round((nowMs - startedAtMs) / 1000)),
    read: String(balance.read),
    accepted: String(balance.accepted),
    rejected: String(balance.rejected),
    skipped: String(balance.skipped),
    inDoubt: String(balance.inDoubt),
    unprocessed: String(balance.unprocessed),
  };
}
