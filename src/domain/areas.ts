/** The areas of the service. Each has its base address, its credentials and its lane. */
export const AREAS = ['sms', 'contacts', 'verification', 'gateway', 'campaign', 'chat'] as const;
export type Area = (typeof AREAS)[number];

/** A value for each area. */
export function byArea<T>(make: (area: Area) => T): Readonly<Record<Area, T>> {
  return Object.fromEntries(AREAS.map((area) => [area, make(area)])) as Record<Area, T>;
}

/**
 * What is known of each kind of step before a row is read: here as data, in job/schema/steps/ its keys, in job/limits.ts
 * how fast it is, in kinds/ what it does,
 * each in a table that does not compile without a line for every kind of this one.
 */
interface KindFacts {
  /** The area of the service that it uses: its address, its credentials, its lane. */
  readonly area: Area;
}

interface RowKindFacts extends KindFacts {
  /** Whether it writes to people, so that their opt-outs count. */
  readonly hasRecipients: boolean;
  /** What one accepted row is. */
  readonly noun: string;
  /** What becomes of those of a grown file who had it before; undefined where the memory knows them, or it changes nothing. */
  readonly onceMore: string | undefined;
  /**
   * What the results say of a row, behind `_status`. A step of another kind may read these columns.
   * Invariant: each kind has a column that no other has: by it a file is known to hold rows that such a step took.
   */
  readonly resultColumns: readonly string[];
}

/** Kinds that take the rows of files. */
export const ROW_KINDS = {
  contacts: {
    area: 'contacts',
    hasRecipients: false,
    noun: 'contact',
    onceMore: undefined,
    resultColumns: ['_contactId', '_location', '_description'],
  },
  sms: {
    area: 'sms',
    hasRecipients: true,
    noun: 'message',
    onceMore: undefined,
    resultColumns: ['_umid', '_clientMessageId', '_batchId', '_destination', '_segments', '_description'],
  },
  'verification.start': {
    area: 'verification',
    hasRecipients: true,
    noun: 'verification session',
    onceMore: 'get another code',
    resultColumns: ['_sessionId', '_destination', '_attempt', '_expiresAt', '_retryAfter'],
  },
  'verification.check': {
    area: 'verification',
    hasRecipients: false,
    noun: 'code',
    onceMore: undefined,
    resultColumns: ['_sessionId', '_destination', '_attempt', '_expiresAt', '_nextSmsAfter', '_description'],
  },
  conversations: {
    area: 'gateway',
    hasRecipients: true,
    noun: 'conversation',
    onceMore: 'are handed over once more',
    resultColumns: ['_conversationId', '_createdAt', '_queue'],
  },
} as const satisfies Readonly<Record<string, RowKindFacts>>;

/** Kinds that do one thing, at their place among the steps. */
export const ACTION_KINDS = { campaign: { area: 'campaign' }, chat: { area: 'chat' } } as const satisfies Readonly<
  Record<string, KindFacts>
>;

export type RowKind = keyof typeof ROW_KINDS;
export type ActionStepKind = keyof typeof ACTION_KINDS;
export type Kind = RowKind | ActionStepKind;

export const KINDS: Readonly<Record<Kind, KindFacts>> = { ...ROW_KINDS, ...ACTION_KINDS };

export function isRowKind(kind: string): kind is RowKind {
  return Object.hasOwn(ROW_KINDS, kind);
}
