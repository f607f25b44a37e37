import { z } from 'zod';
import { isObject, omitUndefined } from '../../../domain/is-object.js';
import { MAX_ADDITIONAL_PROPERTIES, MAX_CHANNEL_NAME, MAX_WEBHOOK_NAME } from '../../../domain/service-facts.js';
import { rowLimits } from '../../limits.js';
import { columnName, lineOfText, webAddress } from '../values.js';
import { expected, rule, whenSound } from '../words.js';
import { writtenInput } from '../written-input.js';

const newChannel = z.strictObject({
  name: lineOfText().max(MAX_CHANNEL_NAME).describe('Name of the channel.'),
  description: lineOfText().optional().describe('What the channel is for.'),
  queue: lineOfText().describe('Id of the queue for conversations that name none.'),
  webhook: z
    .strictObject({
      name: lineOfText().max(MAX_WEBHOOK_NAME).describe('Name of the webhook.'),
      url: webAddress().describe('Address that the service posts events to.'),
      version: lineOfText()
        .optional()
        .describe('Chat API Version of the webhook; the version that the service requires by default.'),
    })
    .describe('Where the service posts events of the conversations.'),
});

export const userColumns = z
  .strictObject({
    language: columnName().optional().describe("Column of the customer's language."),
    name: columnName().optional().describe("Column of the customer's name."),
    email: columnName().optional().describe("Column of the customer's e-mail address."),
    phone: columnName().optional().describe("Column of the customer's telephone number."),
    additionalProperties: z
      .record(z.string().min(1), columnName())
      .refine(
        (map) => Object.keys(map).length <= MAX_ADDITIONAL_PROPERTIES,
        `expected ${MAX_ADDITIONAL_PROPERTIES} properties at most`,
      )
      .default({})
      .describe('Key: column, for what else the agent should see. An empty cell omits its key.'),
  })
  .meta({ minProperties: 1 });

const languageCode = z
  .string()
  .regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/, 'expected the code of a language, such as id or pt-BR');

export const conversationsStep = z
  .strictObject({
    kind: z.literal('conversations').describe('Hands one conversation over to the contact center for each row.'),
    input: writtenInput,
    channel: z
      .union([lineOfText(), newChannel], {
        error: expected('text, the id of a channel, or a map with the settings of a new one'),
      })
      .describe(
        'Id of a channel. Or { name, queue, webhook: { name, url } }: a channel that is created before the first row.',
      )
      .transform((written) => (typeof written === 'string' ? { id: written } : written)),
    queue: lineOfText().optional().describe('Id of the queue for the conversations; that of the channel by default.'),
    queueColumn: columnName()
      .optional()
      .describe(
        "Column with the queue's id for each row. It takes precedence over queue; for a blank cell, queue is used, or else the queue of the channel.",
      ),
    user: z
      .union([columnName(), userColumns], { error: expected('text, the name of a column, or a map of field: column') })
      .default('user')
      .describe('Column with the user as a JSON object. Or a map of its fields, each with its column.'),
    languages: z
      .array(languageCode)
      .min(1)
      .optional()
      .describe("Language codes to allow in addition to those in the service's documentation."),
    history: columnName().optional().describe('Column with the history as a JSON object.'),
    limits: rowLimits('gateway', 'a conversation').optional(),
  })
  .superRefine(
    rule(({ user }) => {
      if (!isObject(user)) return undefined;
      const { additionalProperties: more, ...columns } = user;
      if ([columns, more ?? {}].some((map) => Object.keys(omitUndefined(map)).length > 0)) return undefined;
      return {
        path: ['user'],
        message: 'names no column, expected at least one of language, name, email, phone, additionalProperties',
        hint: 'Write, for example, name: <column>. Without this key, the column user is read as a JSON object.',
      };
    }),
    whenSound('user'),
  )
  .describe('Creates conversations in the chat gateway.');
