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
