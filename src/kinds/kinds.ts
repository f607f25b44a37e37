import { type ActionStepKind, type Area, KINDS, type RowKind } from '../domain/areas.js';
import type { ActionStep, RowStep, Step } from '../job/job.js';
import { campaignKind } from './campaign.js';
import { chatKind } from './chat.js';
import { contactsKind } from './contacts.js';
import { conversationsKind } from './conversations/conversations.js';
import { smsKind } from './sms/sms.js';
import type { ActionKind, StepKind } from './step-kind.js';
import { verificationCheckKind } from './verification/verification-check.js';
import { verificationStartKind } from './verification/verification-start.js';

const OF_ROWS: { readonly [K in RowKind]: StepKind<Extract<RowStep, { kind: K }>> } = {
  contacts: contactsKind,
  sms: smsKind,
  'verification.start': verificationStartKind,
  'verification.check': verificationCheckKind,
  conversations: conversationsKind,
};

const OF_ACTIONS: { readonly [K in ActionStepKind]: ActionKind<Extract<ActionStep, { kind: K }>> } = {
  campaign: campaignKind,
  chat: chatKind,
};

export function kindOf(step: Pick<RowStep, 'kind'>): StepKind {
  // The table ties each kind to its own step type; the pair found under one key fits together.
  return OF_ROWS[step.kind] as StepKind;
}

export function actionKindOf(step: Pick<ActionStep, 'kind'>): ActionKind {
  // The table ties each kind to its own step type here too.
  return OF_ACTIONS[step.kind] as ActionKind;
}

/** The areas of the service that the steps use, each once. */
export function areasOf(steps: readonly Step[]): readonly Area[] {
  return [...new Set(steps.map(({ kind }) => KINDS[kind].area))];
}
