import { z } from 'zod';
import { isObject, omitUndefined } from '../../../domain/is-object.js';
import { addressFields, MAX_CUSTOM_ATTRIBUTES, MAX_GROUPS } from '../../../domain/service-facts.js';
import { rowLimits } from '../../limits.js';
import { columnName, distinct } from '../values.js';
import { expected, rule, whenSound } from '../words.js';
import { writtenInput } from '../written-input.js';

const fields = z
  .strictObject({
    firstName: columnName().optional().describe('Column of the given name.'),
    lastName: columnName().optional().describe('Column of the family name.'),
    externalId: columnName().optional().describe('Column of your own identifier of the person.'),
    country: columnName().optional().describe("Column of the contact's country: a code or a name."),
    msisdn: columnName().optional().describe('Column of the telephone number.'),
    email: columnName().optional().describe('Column of the e-mail address.'),
    weChatUserId: columnName().optional().describe('Column of the WeChat user id.'),
    facebookUserId: columnName().optional().describe('Column of the Facebook user id.'),
    zaloId: columnName().optional().describe('Column of the Zalo id.'),
    lineId: columnName().optional().describe('Column of the LINE id.'),
    kakaoTalkId: columnName().optional().describe('Column of the KakaoTalk id.'),
  })
  .describe('The column for each field of the contact. At least one address is required.')
  .transform(omitUndefined);

const restOfColumns = z
  .strictObject({
    except: z.array(columnName()).default([]).describe('Columns to omit.'),
    rename: z
      .record(z.string().min(1), z.string().min(1))
      .refine((map) => new Set(Object.values(map)).size === Object.keys(map).length, 'expected every attribute once')
      .default({})
      .describe('Column: attribute, to give an attribute a name other than its column.'),
  })
  .describe('Every column that no field uses, except those to omit; some under another name.');

/** Limits of groups and customAttributes: the service's public documentation, "create contact". */
export const contactsStep = z
  .strictObject({
    kind: z.literal('contacts').describe('Makes one contact from each row.'),
    input: writtenInput,
    fields,
    customAttributes: z
      .union(
        [
          z.literal('rest').transform(() => ({ rest: restOfColumns.parse({}) })),
          z.strictObject({ rest: restOfColumns }),
          z
            .record(z.string().min(1), columnName())
            .refine(
              (map) => Object.keys(map).length <= MAX_CUSTOM_ATTRIBUTES,
              `expected ${MAX_CUSTOM_ATTRIBUTES} attributes at most`,
            ),
        ],
        { error: expected('a map of attribute: column, the word rest, or { rest: { except, rename } }') },
      )
      .prefault({})
      .describe(
        'Attribute: column. Or rest: every column that no field uses, under its own name; { rest: { except: [column], rename: { column: attribute } } } omits some and renames others.',
      ),
    groups: distinct(z.int().min(1), 'expected every group once')
      .max(MAX_GROUPS)
      .optional()
      .describe(`Ids of the groups that every contact joins, ${MAX_GROUPS} at most.`)
      .transform((ids = []) => ids),
    groupsColumn: columnName()
      .optional()
      .describe(
        `Column with the ids of further groups, split by ; or , (a contact joins at most ${MAX_GROUPS} groups, including those of the step).`,
      ),
    limits: rowLimits('contacts', 'a contact').optional(),
  })
  .superRefine(
    rule(({ fields }) => {
      if (!isObject(fields) || addressFields.some((field) => field in fields)) return undefined;
      return {
        path: ['fields'],
        message: `maps no address, expected at least one of ${addressFields.join(', ')}`,
        hint: 'The service refuses a contact without an address. Write, for example, msisdn: mobile.',
      };
    }),
    whenSound(),
  )
  .describe('Creates contacts, or merges each into the contact that has the same address.');
