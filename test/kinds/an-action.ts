import type { ActionContext, RunFigures } from '../../src/kinds/step-kind.js';

/** A run that has accepted seven of ten rows in 65 seconds. */
export function someFigures(changes: Partial<RunFigures> = {}): RunFigures {
  return {
    job: 'sale',
    plan: 'planplanplan',
    directory: '/out/sale/planplanplan',
    stop: undefined,
    startedAtMs: Date.parse('2026-11-21T12:00:00Z'),
    nowMs: Date.parse('2026-11-21T12:01:05Z'),
    balance: { read: 10, accepted: 7, rejected: 1, skipped: 1, inDoubt: 1, unprocessed: 0 },
    exitCode: 0,
    ...changes,
  };
}

/** The service as a list of answers, an Error to be thrown among them; `told` is all that the action did, in order. */
export function anActionContext(answers: readonly unknown[]) {
  const told: unknown[] = [];
  const left = [...answers];
  const context: ActionContext = {
    call: async (endpoint, input) => {
      told.push([endpoint.name, input]);
      const answer = left.shift();
      if (answer instanceof Error) throw answer;
      return answer as never;
    },
    figures: someFigures(),
    wasBegun: false,
    begin: async () => {
      told.push('begin');
    },
    sleep: async (delayMs) => {
      told.push(`${delayMs} ms`);
    },
  };
  return { context, told };
}
