/** The areas of the service. Each has its base address, its credentials and its lane. */
export const AREAS = ['sms', 'contacts', 'verification', 'gateway', 'campaign', 'chat'] as const;
export type Area = (typeof AREAS)[number];

/** The area of the service that each kind of step uses. These take the rows of files … */
const OF_ROW_KINDS = {
  contacts: 'contacts',
  sms: 'sms',
  'verification.start': 'verification',
  'verification.check': 'verification',
  conversations: 'gateway',
} as const satisfies Record<string, Area>;

/** … and these do one thing at their place among the steps. */
const OF_ACTION_KINDS = { campaign: 'campaign', chat: 'chat' } as const satisfies Record<string, Area>;

export type RowKind = keyof typeof OF_ROW_KINDS;
export const ROW_KIND_NAMES: readonly string[] = Object.keys(OF_ROW_KINDS);
export type ActionStepKind = keyof typeof OF_ACTION_KINDS;

export const AREA_OF_KIND: Readonly<Record<RowKind | ActionStepKind, Area>> = { ...OF_ROW_KINDS, ...OF_ACTION_KINDS };
