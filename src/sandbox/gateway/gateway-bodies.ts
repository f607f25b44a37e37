import { z } from 'zod';
import { absoluteUrl, someText } from '../body-schema.js';

/** The bodies of the gateway, with the limits of the service's documentation. Fields that it does not know are kept. */

const aQueue = z.looseObject({ type: z.literal('queue'), id: someText });

/** As the contract calls it, and as the service's documentation writes it on the wire. */
const aVersion = z.enum(['Chat Gateway', 'Chat Gateway v1.0']).optional();

/** The documentation has the version under both names. */
export const webhookSchema = z
  .object({ name: someText.max(256), uri: absoluteUrl, version: aVersion, notificationVersion: aVersion })
  .transform(({ name, uri, notificationVersion, version = notificationVersion }, context) => {
    if (version !== undefined) return { name, uri, version };
    context.addIssue({ code: 'custom', path: ['version'], message: 'expected the version of the Chat Gateway' });
    return z.NEVER;
  });

/** Whether its webhook and queue exist is not checked here. */
export const channelSchema = z.object({
  name: someText.max(255),
  description: z.string().nullable().default(null),
  type: z.literal('ChatAPI').default('ChatAPI'),
  routingOptions: aQueue,
  webHookId: someText,
});

const userSchema = z.looseObject({
  language: z.string().optional(),
  name: z.string().optional(),
  email: z.string().optional(),
  phone: z.string().optional(),
  userId: z.string().optional(),
  company: z.string().optional(),
  caseId: z.string().optional(),
  additionalProperties: z
    .array(z.looseObject({ key: someText, value: someText }))
    .max(30)
    .optional(),
});

/** A text may be missing beside attachments or adaptive cards, whose shape the contract does not show. */
const historyMessage = z
  .looseObject({ authorType: z.enum(['user', 'bot']), text: someText.optional() })
  .refine(
    ({ text, attachments, cards }) =>
      text !== undefined || [attachments, cards].some((list) => Array.isArray(list) && list.length > 0),
    'expected a text',
  );

/** Whether channel and queue exist is not checked here. */
export const conversationSchema = z.looseObject({
  channelId: someText,
  assignment: aQueue.optional(),
  user: userSchema,
  history: z.looseObject({ messages: z.array(historyMessage).max(200) }).optional(),
});

export const updateSchema = z
  .looseObject({ channelId: z.unknown().optional(), assignment: aQueue.optional(), user: userSchema.optional() })
  .refine(({ user, assignment }) => user !== undefined || assignment !== undefined, {
    path: ['user'],
    error: 'expected a user or an assignment',
  });

/** A message, which only the customer sends this way. */
export const messageSchema = z.looseObject({ authorType: z.literal('user'), text: someText });

/** Who joins; a missing body counts as an empty object. */
export const joinSchema = z
  .object({ agentId: someText.default('agent-1'), agentName: someText.default('Alex Agent') })
  .prefault({});

export const agentMessageSchema = z.object({ text: someText });
