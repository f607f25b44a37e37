import { z } from 'zod';
import { isObject } from '../../domain/is-object.js';
import type { Fields } from '../area.js';
import { anObject, aValue, isText, isWebAddress, NO_OBJECT, textOf } from '../body-schema.js';

/** The bodies of the gateway, with the limits of the service's documentation. Fields that it does not know are kept. */

const QUEUE = z.object({ type: z.literal('queue'), id: z.string().min(1) });

/** `{ type: 'queue', id }` */
const aQueue = (text: string) => aValue<z.output<typeof QUEUE>>((value) => QUEUE.safeParse(value).success, text);

const aBody = <Shape extends z.ZodRawShape>(shape: Shape) =>
  anObject(NO_OBJECT, 'invalid_json_object').pipe(z.looseObject(shape));

/** As the contract calls it, and as the service's documentation writes it on the wire. */
const WEBHOOK_VERSIONS: readonly unknown[] = ['Chat Gateway', 'Chat Gateway v1.0'];
const VERSION_TEXT = `version must be ${WEBHOOK_VERSIONS.join(' or ')}`;
const aVersion = () => aValue<string>((value) => WEBHOOK_VERSIONS.includes(value), VERSION_TEXT);

/** The documentation has the version under both names. */
export const webhookSchema = aBody({
  name: textOf(256, 'name must be a text of 1 to 256 characters'),
  uri: aValue<string>(isWebAddress, 'uri must be an absolute http or https address'),
  version: aVersion().optional(),
  notificationVersion: aVersion().optional(),
})
  .refine((given) => (given.version ?? given.notificationVersion) !== undefined, VERSION_TEXT)
  .transform(({ name, uri, notificationVersion, version = notificationVersion ?? '' }) => ({ name, uri, version }));

/** Whether its webhook and queue exist is not checked here. */
export const channelSchema = aBody({
  name: textOf(255, 'name must be a text of 1 to 255 characters'),
  description: z.string('description must be a text').nullable().default(null),
  type: z.literal('ChatAPI', 'type must be ChatAPI').default('ChatAPI'),
  routingOptions: aQueue('routingOptions must have the type queue and the id of a queue'),
  webHookId: textOf(Number.POSITIVE_INFINITY, 'webHookId must be the id of a webhook'),
});

const userText = (field: string) => z.string(`user.${field} must be a text`).optional();

const userSchema = anObject('user must be an object').pipe(
  z.looseObject({
    language: userText('language'),
    name: userText('name'),
    email: userText('email'),
    phone: userText('phone'),
    userId: userText('userId'),
    company: userText('company'),
    caseId: userText('caseId'),
    additionalProperties: z
      .array(
        z.unknown().refine((value) => isText((value as Fields | null)?.key) && isText((value as Fields).value), {
          error: ({ path }) => `user.additionalProperties[${String(path?.at(-1))}] must have both a key and a value`,
        }),
        'user.additionalProperties must be an array',
      )
      .max(30, 'user.additionalProperties must be at most 30')
      .optional(),
  }),
);

/** A text may be missing beside attachments or adaptive cards, whose shape the contract does not show. */
function hasContent({ text, attachments, cards }: Fields): boolean {
  const hasOther = [attachments, cards].some((list) => Array.isArray(list) && list.length > 0);
  return isText(text) || (text === undefined && hasOther);
}

const inHistory = (text: (input: unknown) => string) => ({
  error: ({ path, input }: { path?: PropertyKey[] | undefined; input?: unknown }) =>
    `history.messages[${String(path?.[2])}]: ${text(input)}`,
});

const historyMessage = z
  .looseObject(
    {
      authorType: z.enum(
        ['user', 'bot'],
        inHistory((input) => `Invalid authorType=${String(input)}, has to be one of user, bot`),
      ),
    },
    inHistory(() => 'must be an object'),
  )
  .refine(
    hasContent,
    inHistory(() => 'text must be a text of at least one character'),
  );

const historySchema = z.looseObject(
  {
    messages: z
      .array(historyMessage, 'history must have an array of messages')
      .max(200, 'history.messages must be at most 200'),
  },
  'history must have an array of messages',
);

const assignment = aQueue('assignment must have the type queue and the id of a queue').optional();

/** Whether channel and queue exist is not checked here. */
export const conversationSchema = aBody({
  channelId: textOf(Number.POSITIVE_INFINITY, 'channelId must be the id of a channel'),
  assignment,
  user: userSchema,
  history: historySchema.optional(),
});

export const updateSchema = aBody({
  channelId: z.unknown().optional(),
  assignment,
  user: userSchema.optional(),
}).refine(({ user, assignment }) => user !== undefined || assignment !== undefined, 'user or assignment must be given');

/** A message, which only the customer sends this way. */
export const messageSchema = aBody({
  authorType: z.literal('user', {
    error: ({ input }) => `Invalid authorType=${String(input)}, has to be user`,
  }),
  text: textOf(Number.POSITIVE_INFINITY, 'text must be a text of at least one character'),
});

/** What an agent says; a missing or unreadable body counts as an empty object. */
const anAgentsBody = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .unknown()
    .transform((value) => (isObject(value) ? value : {}))
    .pipe(z.object(shape));

const AGENT_TEXT = 'Cannot join: agentId and agentName must be text, or omitted';

export const joinSchema = anAgentsBody({
  agentId: textOf(Number.POSITIVE_INFINITY, AGENT_TEXT).default('agent-1'),
  agentName: textOf(Number.POSITIVE_INFINITY, AGENT_TEXT).default('Alex Agent'),
});

export const agentMessageSchema = anAgentsBody({
  text: textOf(Number.POSITIVE_INFINITY, 'Cannot write: text must be a text of at least one character'),
});
