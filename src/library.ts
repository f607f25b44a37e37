/** The package's entry: Volley for programs. Nothing in it prints, listens for signals, or ends the process. */

// biome-ignore-start lint/performance/noBarrelFile: a package has one entry, and these are all that it promises
export type { Area, Balance } from './domain.js';
export {
  InternalError,
  type Problem,
  ServiceError,
  type ServiceErrorCode,
  UserError,
  type UserErrorCode,
} from './errors.js';
export type { WrittenJob } from './job/schema.js';
export { type AppliedRun, type ApplyOptions, apply } from './library/apply.js';
export { createService, type Service } from './library/create-service.js';
export type { RunOptions, RunProgress } from './library/host.js';
export type { CredentialOptions, LimitOptions, ServiceOptions } from './library/options.js';
export { type PlannedRun, type PlannedRunStep, type PlanOptions, plan } from './library/plan.js';
export type { Log, LogFields } from './log.js';
export type { OpenDoubt, RunInDoubt, StepSummary, Summary } from './report/summary.js';
export type { Campaign, CampaignChange, CampaignInput } from './service/campaign.js';
export type { ChatMessage, PostedMessage, PostMessageInput, ReadMessagesInput } from './service/chat.js';
export type { ServiceClients } from './service/clients.js';
export type { Contact, ContactAnswer } from './service/contacts.js';
export type {
  ConversationChange,
  ConversationRequest,
  ConversationState,
  CreatedConversation,
  MessageInput,
  SentMessage,
} from './service/gateway.js';
export type { ChannelInput, CreatedChannel, CreatedWebhook, WebhookInput } from './service/gateway-settings.js';
export type { SmsBatch, SmsBatchAnswer, SmsMessage, SmsMessageAnswer } from './service/sms.js';
export type { CodeInput, Session, SessionInput, SessionRequest } from './service/verification.js';
// biome-ignore-end lint/performance/noBarrelFile: as above
