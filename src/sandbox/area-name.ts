/** An area of the service, as the sandbox names it in its ledger, its request log and its faults. */
export const AREA_NAMES = ['sms', 'contacts', 'verification', 'gateway', 'campaign', 'chat'] as const;
export type AreaName = (typeof AREA_NAMES)[number];
