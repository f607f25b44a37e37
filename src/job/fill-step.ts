import { fillInput } from './fill-input.js';
import { fillLimits, type WrittenLimits } from './fill-limits.js';
import type {
  CampaignStep,
  ChatStep,
  ContactsStep,
  ConversationsStep,
  NewChannel,
  SmsStep,
  Step,
  UserColumns,
  VerificationCheckStep,
  VerificationStartStep,
} from './job.js';
import type { CheckedStep } from './schema/written-job.js';

/** What a step takes from the job around it. */
interface Around {
  /** The limits at the top of the file. */
  readonly limits: WrittenLimits;
  readonly directory: string;
}

type Checked<Kind extends Step['kind']> = Extract<CheckedStep, { kind: Kind }>;

/** Every key of a step, including those that were not written. */
export function fillStep(written: CheckedStep, around: Around): Step {
  switch (written.kind) {
    case 'contacts':
      return fillContacts(written, around);
    case 'sms':
      return fillSms(written, around);
    case 'verification.start':
      return fillVerificationStart(written, around);
    case 'verification.check':
      return fillVerificationCheck(written, around);
    case 'conversations':
      return fillConversations(written, around);
    case 'campaign':
      return fillCampaign(written);
    case 'chat':
      return fillChat(written);
  }
}

function fillContacts(written: Checked<'contacts'>, { limits, directory }: Around): ContactsStep {
  return {
    kind: 'contacts',
    input: fillInput(written.input, directory),
    // zod omits what is not written, so no key is undefined.
    fields: written.fields as ContactsStep['fields'],
    ...fillAttributes(written.customAttributes),
    groups: written.groups ?? [],
    groupsColumn: written.groupsColumn,
    limits: fillLimits('contacts', [written.limits, limits]),
  };
}

/** `{ rest: column }` is an attribute of that name. */
function fillAttributes(
  written: Checked<'contacts'>['customAttributes'],
): Pick<ContactsStep, 'customAttributes' | 'rest'> {
  if (written === 'rest') return { customAttributes: written };
  const { rest, ...others } = written;
  if (typeof rest === 'object') return { customAttributes: 'rest', rest };
  return { customAttributes: rest === undefined ? others : { ...others, rest } };
}

function fillSms(written: Checked<'sms'>, { limits, directory }: Around): SmsStep {
  const { template } = written;
  return {
    kind: 'sms',
    input: fillInput(written.input, directory),
    destination: written.destination,
    template: {
      source: template.source,
      text: template.text,
      encoding: template.encoding,
      ...(template.smartReplace ? { smartReplace: true } : {}),
      scheduled: template.scheduled,
      expiry: template.expiry,
      dlrCallbackUrl: template.dlrCallbackUrl,
    },
    batchSize: written.batchSize,
    duplicates: written.duplicates,
    suppress: written.suppress && fillInput(written.suppress, directory),
    limits: fillLimits('sms', [written.limits, limits]),
  };
}

function fillVerificationStart(
  written: Checked<'verification.start'>,
  { limits, directory }: Around,
): VerificationStartStep {
  return {
    kind: 'verification.start',
    input: fillInput(written.input, directory),
    destination: written.destination,
    brand: written.brand,
    template: written.template,
    source: written.source,
    codeLength: written.codeLength,
    codeValidity: written.codeValidity,
    resendingInterval: written.resendingInterval,
    resetSession: written.resetSession,
    whenTooEarly: written.whenTooEarly,
    duplicates: written.duplicates,
    limits: fillLimits('verification.start', [written.limits, limits]),
  };
}

function fillVerificationCheck(
  written: Checked<'verification.check'>,
  { limits, directory }: Around,
): VerificationCheckStep {
  return {
    kind: 'verification.check',
    input: fillInput(written.input, directory),
    session: written.session,
    code: written.code,
    limits: fillLimits('verification.check', [written.limits, limits]),
  };
}

function fillConversations(written: Checked<'conversations'>, { limits, directory }: Around): ConversationsStep {
  return {
    kind: 'conversations',
    input: fillInput(written.input, directory),
    channel: fillChannel(written.channel),
    queue: written.queue,
    queueColumn: written.queueColumn,
    user: fillUser(written.user),
    languages: written.languages,
    history: written.history,
    limits: fillLimits('conversations', [written.limits, limits]),
  };
}

function fillChannel(written: Checked<'conversations'>['channel']): { id: string } | NewChannel {
  if (typeof written === 'string') return { id: written };
  const { name, description, queue, webhook } = written;
  return { name, description, queue, webhook };
}

function fillUser(written: Checked<'conversations'>['user']): string | UserColumns {
  if (typeof written === 'string') return written;
  const { language, name, email, phone, additionalProperties } = written;
  return { language, name, email, phone, additionalProperties };
}

function fillCampaign(written: Checked<'campaign'>): CampaignStep {
  return {
    kind: 'campaign',
    campaign: written.campaign,
    expect: typeof written.expect === 'string' ? [written.expect] : written.expect,
    set: written.set,
    always: written.always,
    limits: fillLimits('campaign', [written.limits]),
  };
}

function fillChat(written: Checked<'chat'>): ChatStep {
  return {
    kind: 'chat',
    text: written.text,
    room: written.room,
    when: written.when,
    limits: fillLimits('chat', [written.limits]),
  };
}
