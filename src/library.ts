/** The package's entry: Volley for programs. Nothing in it prints, listens for signals, or ends the process. */

// biome-ignore-start lint/performance/noBarrelFile: a package has one entry, and these are its exports
export type { Area } from './domain/areas.js';
export {
  InternalError,
  type Problem,
  ServiceError,
  type ServiceErrorCode,
  UserError,
  type UserErrorCode,
} from './domain/errors.js';
export type { Balance } from './domain/row.js';
export type { WrittenJob } from './job/schema/written-job.js';
export type { CredentialOptions, LimitOptions, ServiceOptions } from './library/create-service.js';
export { createService, type Service } from './library/create-service.js';
export {
  type AppliedRun,
  type ApplyOptions,
  apply,
  type PlannedRun,
  type PlannedRunStep,
  type PlanOptions,
  plan,
} from './library/plan-and-apply.js';
export type { RunOptions, RunProgress } from './library/program-host.js';
export type { Log, LogFields } from './ports/log.js';
export type { OpenDoubt, RunInDoubt, StepSummary, Summary } from './report/summary.js';
export type { Campaign, CampaignChange, CampaignInput } from './service/areas/campaign.js';
export type { ChatMessage, PostedMessage, PostMessageInput, ReadMessagesInput } from './service/areas/chat.js';
export type { Contact, ContactAnswer } from './service/areas/contacts.js';
export type {
  ChannelInput,
  ConversationChange,
  ConversationRequest,
  ConversationState,
  CreatedChannel,
  CreatedConversation,
  CreatedWebhook,
  MessageInput,
  SentMessage,
  WebhookInput,
} from './service/areas/gateway.js';
export type { SmsBatch, SmsBatchAnswer, SmsMessage, SmsMessageAnswer } from './service/areas/sms.js';
export type { CodeInput, Session, SessionInput, SessionRequest } from './service/areas/verification.js';
export type { ServiceClients } from './service/clients.js';
// biome-ignore-end lint/performance/noBarrelFile: as above
