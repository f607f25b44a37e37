import { z } from 'zod';
import { campaignStep, chatStep } from './schema-actions.js';
import { contactsStep } from './schema-contacts.js';
import { conversationsStep } from './schema-conversations.js';
import { smsStep } from './schema-sms.js';
import { verificationCheckStep, verificationStartStep } from './schema-verification.js';

/** One stage of the job; `kind` says which. */
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
