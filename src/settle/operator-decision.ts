import { UserError } from '../domain/errors.js';
import { PERSON } from '../journal/row-status/row-ends.js';
import type { AppendDeps } from '../registry/append-to-run.js';
import { countUnderWay } from '../report/row-balance.js';
import { type LockedRun, type Proof, type SettledCounts, settleRows } from './settle-rows.js';

export interface OperatorDecision {
  readonly assume: 'sent' | 'not-sent';
  /** How many rows the operator believes to be in doubt. */
  readonly confirm: number;
  /** Who decides, such as `ann on desk-7`. */
  readonly person: string;
}

/**
 * Settles every row in doubt by an operator decision, journaled with name and time. Refuses when the number of rows in
 * doubt differs, and while requests in flight at the end of a process have no outcome: they have not been reported
 * yet.
 */
export async function settleByDecision(
  run: LockedRun,
  decision: OperatorDecision,
  deps: AppendDeps,
): Promise<SettledCounts> {
  const { plan, rows, state } = run;
  const { rows: underWay } = countUnderWay(state, plan);
  const count = rows.countInDoubt();
  if (underWay > 0) {
    throw new UserError(
      'bad-plan',
      `Cannot settle run ${plan.id}: it ended with ${underWay} ${underWay === 1 ? 'row' : 'rows'} under way`,
      {
        hint: 'Finish the run first: the same command that began it; then review what is in doubt.',
      },
    );
  }
  if (count !== decision.confirm) {
    throw new UserError(
      'bad-flag',
      `Cannot settle run ${plan.id}: --confirm says ${decision.confirm}, expected ${count}, the number of its rows in doubt`,
      { hint: 'Review the in-doubt files of the run again; nothing was settled.' },
    );
  }
  const proof = proofOf(decision, new Date(deps.clock.now()).toISOString());
  const by = `${PERSON} ${decision.person}`;
  return settleRows(run, { by, findProof: async () => proof }, deps);
}

function proofOf({ assume, person }: OperatorDecision, at: string): Proof {
  if (assume === 'sent') {
    const reason = `${person} said at ${at} that it was sent`;
    return { verdict: { status: 'accepted', code: 'ASSUMED', reason }, ids: [] };
  }
  const reason = `${person} said at ${at} that it was not sent`;
  return { verdict: { status: 'not-sent', code: 'assumed-not-sent', reason }, ids: [] };
}
