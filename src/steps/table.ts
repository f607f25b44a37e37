import type { Step } from '../job/job.js';
import { contactsKind } from './contacts.js';
import type { StepKind } from './kind.js';
import { smsKind } from './sms.js';

/** Every kind of step; adding one is a line here. */
const KINDS: { readonly [K in Step['kind']]: StepKind<Extract<Step, { kind: K }>> } = {
  contacts: contactsKind,
  sms: smsKind,
};

export function kindOf(step: Pick<Step, 'kind'>): StepKind {
  // The table ties each kind to its own step type; the pair found under one key fits together.
  return KINDS[step.kind] as StepKind;
}
