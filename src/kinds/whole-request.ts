/**
 * Refusal codes that concern every row of a step alike, and what in the job or the account they are about: splitting
 * the request would not help. Documented, "Error codes". 1005 is among them, as no row has a source of its own.
 */
export const SMS_WHOLE_REQUEST: ReadonlyMap<string, string> = new Map([
  ['1001', 'service.subAccountId'],
  ['1003', 'template.encoding'],
  ['1005', 'template.source'],
  ['1006', 'template.expiry'],
  ['1007', 'template.text'],
  ['1011', 'template.scheduled'],
  ['3013', 'batchSize'],
  ['3014', 'batchSize'],
  ['3020', 'template.dlrCallbackUrl'],
]);

/** The same for sessions, with one row a request. */
export const SESSION_WHOLE_REQUEST: ReadonlyMap<string, string> = new Map([
  ['1001', 'service.subAccountId'],
  ['1005', 'source'],
  ['1007', 'template'],
]);
