import { z } from 'zod';
import type { Kind } from '../../../domain/areas.js';
import { campaignStep } from './campaign.js';
import { chatStep } from './chat.js';
import { contactsStep } from './contacts.js';
import { conversationsStep } from './conversations.js';
import { smsStep } from './sms.js';
import { verificationCheckStep, verificationStartStep } from './verification.js';

/** The schema of each kind. Invariant: keys of a schema keep their order, on which the ids of plans depend. */
export const stepSchemas = {
  contacts: contactsStep,
  sms: smsStep,
  'verification.start': verificationStartStep,
  'verification.check': verificationCheckStep,
  conversations: conversationsStep,
  campaign: campaignStep,
  chat: chatStep,
} satisfies Readonly<Record<Kind, z.ZodObject>>;

type StepSchema = (typeof stepSchemas)[Kind];

/** One stage of the job; `kind` says which. */
export const writtenStep = z.discriminatedUnion('kind', Object.values(stepSchemas) as [StepSchema, ...StepSchema[]]);
