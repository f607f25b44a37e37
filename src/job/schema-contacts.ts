import { z } from 'zod';
import { writtenInput } from './schema-input.js';
import { rowLimits } from './schema-limits.js';
import { columnName } from './schema-values.js';

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
  .describe('Which column each field of the contact is taken from; at least one address among them.');

/** Limits of groups and customAttributes: the service's public documentation, "create contact". */
export const contactsStep = z
  .strictObject({
    kind: z.literal('contacts').describe('Makes one contact of each row.'),
    input: writtenInput,
    fields,
    customAttributes: z
      .union(
        [
          z.literal('rest'),
          z
            .record(z.string().min(1), columnName())
            .refine((map) => Object.keys(map).length <= 50, 'expected 50 attributes at most'),
        ],
        { error: 'expected a map of attribute: column, or the word rest' },
      )
      .default({})
      .describe('Attribute: column. Or rest: every column that no field names, under its own name.'),
    groups: z
      .array(z.int().min(1))
      .min(1)
      .max(10)
      .refine((ids) => new Set(ids).size === ids.length, 'expected every group once')
      .meta({ uniqueItems: true })
      .optional()
      .describe('Ids of the groups that every contact joins, 10 at most.'),
    limits: rowLimits('contacts', 'a contact').optional(),
  })
  .describe('Creates contacts, or merges them into those that have the same address.');
