import { UserError } from '../domain/errors.js';
import { formatTime, millisecondsOf, type StatedTime } from '../domain/stated-time.js';
import { PERSON } from '../journal/entry-format.js';
import { countUnderWay } from '../report/row-balance.js';
import type { Ports } from '../storage/lock-file.js';
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
 * doubt differs; while requests in flight at the end of a process have no outcome: they have not been reported yet; and
 * while messages among them may wait at the service for their time: nobody can know yet whether it sends them.
 */
export async function settleByDecision(
  run: LockedRun,
  decision: OperatorDecision,
  deps: Ports,
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
  const nowMs = deps.clock.now();
  const waitingUntil = findWaiting(run, nowMs);
  if (waitingUntil !== undefined) {
    throw new UserError(
      'bad-plan',
      `Cannot settle run ${plan.id}: messages in doubt may wait at the service until ${formatTime(waitingUntil)}, expected a decision after that time`,
      { hint: 'Decide once it has passed, with the message export of the service at hand. Nothing was settled.' },
    );
  }
  const proof = proofOf(decision, new Date(nowMs).toISOString());
  const by = `${PERSON} ${decision.person}`;
  return settleRows(run, { by, findProof: async () => proof }, deps);
}

/** The latest time that is still ahead for a step with rows in doubt. */
function findWaiting({ plan, rows }: LockedRun, nowMs: number): StatedTime | undefined {
  const steps = new Set([...rows.listInDoubt()].map(({ step }) => step));
  const times = [...steps].flatMap((number) => {
    const step = plan.job.steps[number - 1];
    return step?.kind === 'sms' && step.template.scheduled !== undefined ? [step.template.scheduled] : [];
  });
  const [latest] = times.sort((one, other) => millisecondsOf(other) - millisecondsOf(one));
  return latest !== undefined && millisecondsOf(latest) > nowMs ? latest : undefined;
}

function proofOf({ assume, person }: OperatorDecision, at: string): Proof {
  if (assume === 'sent') {
    const reason = `${person} said at ${at} that it was sent`;
    return { verdict: { status: 'accepted', code: 'ASSUMED', reason }, ids: [] };
  }
  const reason = `${person} said at ${at} that it was not sent`;
  return { verdict: { status: 'not-sent', code: 'assumed-not-sent', reason }, ids: [] };
}
