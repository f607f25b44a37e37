import type { Distortable, Route } from '../area.js';

type Distortions = Route['distortions'];

/** Answers to a creation that are well formed and wrong. */
export const CREATION_DISTORTIONS: Distortions = {
  partial: (answer) => leaveOut(answer, 'sessionID'),
  foreign: (answer) => giveAnother(answer, 'sessionID'),
};

/** Answers to a read or a check that are well formed and wrong. */
export const READ_DISTORTIONS: Distortions = {
  partial: (answer) => leaveOut(answer, 'uid'),
  foreign: (answer) => giveAnother(answer, 'uid'),
};

type Body = Readonly<Record<string, unknown>>;

function leaveOut({ body }: Distortable, id: string): Body {
  return Object.fromEntries(Object.entries(body as Body).filter(([field]) => field !== id));
}

/** The body of another session, or an invented one when the last answer was about the same. */
function giveAnother({ body, previousBody }: Distortable, id: string): Body {
  const own = body as Body;
  const previous = previousBody as Body | undefined;
  if (previous !== undefined && previous[id] !== own[id]) return previous;
  return { ...own, [id]: '0'.repeat(32), destination: 10000000 };
}
