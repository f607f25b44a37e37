import { UserError } from '../../domain/errors.js';
import type { Answer } from '../../service/answer.js';
import type { CallLane } from '../../service/caller.js';
import type { Transport } from '../../service/transport.js';

/** Wraps lane and transport of one call, and reports the first answer that makes the lane pause, and for how long. */
export function reportFirstPause(
  { lane, transport }: { lane: CallLane; transport: Transport },
  onPause: (answer: Answer, delayMs: number) => void,
): { lane: CallLane; transport: Transport } {
  let last: Answer | undefined;
  let wasReported = false;
  return {
    transport: {
      send: async (call, signal) => {
        last = await transport.send(call, signal);
        return last;
      },
      close: () => transport.close(),
    },
    lane: {
      run: (cost, task) => lane.run(cost, task),
      pauseFor: (delayMs, cause) => {
        if (last !== undefined && !wasReported) onPause(last, delayMs);
        wasReported = true;
        lane.pauseFor(delayMs, cause);
      },
      slowDown: () => lane.slowDown(),
      noteSuccess: () => lane.noteSuccess(),
    },
  };
}

/** Says what a waiting person waits for, and until when. */
export function describeFirstPause(answer: Answer, { base, untilMs }: { base: string; untilMs: number }): string {
  const problem = answer.kind === 'failure' ? answer.reason : `HTTP ${answer.status}`;
  const what = answer.kind === 'failure' ? 'Cannot reach' : 'No good answer from';
  return `${what} ${new URL(base).origin}: ${problem}; trying again until ${new Date(untilMs).toISOString()}`;
}

/** Refuses blank flags with 'bad-flag'. `doing` completes "Cannot …"; names are as typed. */
export function refuseBlank(doing: string, given: Readonly<Record<string, string | undefined>>): void {
  for (const [name, text] of Object.entries(given)) {
    if (text?.trim() === '') throw new UserError('bad-flag', `Cannot ${doing}: ${name} is empty, expected some text`);
  }
}
