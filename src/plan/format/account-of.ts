import type { Plan } from './plan-file.js';

/** Sandbox, account and subaccount, as one text: what only the sandbox took, or another account, has reached nobody of this one. */
export function accountOf({ service: { sandbox, account, subAccountId } }: Pick<Plan['job'], 'service'>): string {
  return JSON.stringify([sandbox, account, subAccountId]);
}
