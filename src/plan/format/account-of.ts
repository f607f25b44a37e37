import { type Area, KINDS, type Kind } from '../../domain/areas.js';
import type { JobService, ServiceAddresses } from '../../job/job.js';
import type { Plan } from './plan-file.js';

type Addressed = Pick<JobService, 'sandbox'> & ServiceAddresses;

/**
 * The account of an area as its requests name it, as one text: the address, and the account or subaccount in the path, or the tenant. By it who has had
 * a message is known, and who shares a limit: a name that is not sent makes no other account, nor does a key, which changes. What only the
 * sandbox took has reached nobody.
 */
export function accountOf({ sandbox, account, accountId, subAccountId, tenant, bases }: Addressed, area: Area): string {
  const address = sandbox ? 'sandbox' : bases[area];
  const named = {
    sms: subAccountId,
    verification: subAccountId,
    contacts: accountId ?? account,
    gateway: tenant,
    campaign: undefined,
    chat: undefined,
  }[area];
  return named === undefined ? address : `${address} ${named}`;
}

/** The account of the area that a kind of step is for, as `accountOf` gives it. */
export function accountOfKind({ service }: Pick<Plan['job'], 'service'>, kind: string): string {
  return accountOf(service, KINDS[kind as Kind].area);
}
