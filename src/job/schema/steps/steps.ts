import { z } from 'zod';
import { campaignStep } from './campaign.js';
import { chatStep } from './chat.js';
import { contactsStep } from './contacts.js';
import { conversationsStep } from './conversations.js';
import { smsStep } from './sms.js';
import { verificationCheckStep, verificationStartStep } from './verification.js';

/** One stage of the job; `kind` says which. Invariant: keys keep their order, on which the ids of plans depend. */
export const writtenStep = z.discriminatedUnion('kind', [
  contactsStep,
  smsStep,
  verificationStartStep,
  verificationCheckStep,
  conversationsStep,
  campaignStep,
  chatStep,
]);

/** The schema of each kind. */
export const stepSchemas = writtenStep.options.map((schema) => ({ kind: schema.shape.kind.value, schema }));
