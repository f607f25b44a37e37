/** Fields of the request body in the order in which it is written; the addresses stand in an object of their own. */
export const personFields = ['firstName', 'lastName', 'externalId', 'country'] as const;
export const addressFields = [
  'msisdn',
  'email',
  'weChatUserId',
  'facebookUserId',
  'zaloId',
  'lineId',
  'kakaoTalkId',
] as const;
export type AddressField = (typeof addressFields)[number];
export type ContactField = (typeof personFields)[number] | AddressField;

/** Most characters (UTF-16 units) of a field. Contacts: limits, in the service's public documentation. */
export const maxLengths: Readonly<Record<ContactField, number>> = {
  firstName: 200,
  lastName: 200,
  externalId: 50,
  country: 2,
  msisdn: 16,
  email: 320,
  weChatUserId: 128,
  facebookUserId: 128,
  zaloId: 128,
  lineId: 128,
  kakaoTalkId: 128,
};
export const MAX_CUSTOM_ATTRIBUTES = 50;
export const MAX_GROUPS = 10;

/** Why a contact is refused, beside the codes of its number and country: every code, with one line for the reference. */
export const contactCodes = {
  'no-address': 'The row has no address in any of the columns that the job maps; a contact needs at least one.',
  'bad-email': 'The cell does not contain an email address.',
  'field-too-long': 'The value is longer than the service allows for the field.',
  'control-character': 'The value contains a line break, a tab or another control character, or half a character.',
  'too-many-attributes': `More than ${MAX_CUSTOM_ATTRIBUTES} custom attributes of the row have a value.`,
  'bad-group': 'The cell for groups contains something other than group ids, split by ; or ,.',
  'too-many-groups': `The contact would join more than ${MAX_GROUPS} groups, including those of the step.`,
} as const;

export type ContactCode = keyof typeof contactCodes;
