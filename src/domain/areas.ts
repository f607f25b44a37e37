/** The areas of the service. Each has its base address, its credentials and its lane. */
export const AREAS = ['sms', 'contacts', 'verification', 'gateway', 'campaign', 'chat'] as const;
export type Area = (typeof AREAS)[number];
