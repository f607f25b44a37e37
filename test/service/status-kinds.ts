import type { ChatStep, ConversationsStep, Step } from '../../src/job/job.js';
import type { Answer } from '../../src/service/answer.js';
import type { Call } from '../../src/service/transport.js';
import { aCsvOf, anInput, anSmsStep, makeAPlan, someLimits } from '../plan/a-plan.js';
import { aRun, aScriptedService, reportOf, response } from '../run/a-run.js';
import { aCheck, aStart } from '../run/a-verification-run.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';
import { ownError } from './an-answer.js';

const limits = someLimits({ concurrency: 1 });
const sms = anSmsStep({ limits });
const conversations: ConversationsStep = {
  kind: 'conversations',
  input: anInput(),
  channel: { id: '25' },
  queue: '7',
  queueColumn: undefined,
  user: { language: undefined, name: 'name', email: undefined, phone: undefined, additionalProperties: {} },
  history: undefined,
  limits,
};
const campaign = { kind: 'campaign', campaign: 101, expect: undefined, set: 'PAUSED', always: false, limits } as const;
const chat: ChatStep = { kind: 'chat', text: 'done', room: undefined, when: 'always', limits };

/** Each kind beside sms and contacts: the steps of a job, and which of its requests the status is the answer to. */
interface StatusKind {
  readonly steps: readonly Step[];
  readonly isAsked: (call: Call) => boolean;
  readonly accept: (call: Call, count: number) => Answer | undefined;
}

const sessionIn = ({ path }: Call) => /sessions\/([^/?]+)/.exec(path)?.[1];

function acceptSession(call: Call, count: number): Answer | undefined {
  if (!call.path.includes('/sessions')) return undefined;
  const { destination = '+6591234567' } = JSON.parse(call.body?.toString() ?? '{}');
  const isStart = call.method === 'POST';
  const status = isStart || !call.path.includes('code=') ? 'WAITING' : 'VERIFIED';
  const uid = isStart ? `s-${count}` : sessionIn(call);
  return response(200, { uid, status, destination: destination.replace('+', ''), attempt: 1 });
}

export const STATUS_KINDS = {
  'verification.start': { steps: [aStart()], isAsked: ({ method }) => method === 'POST', accept: acceptSession },
  'verification.check': {
    steps: [aCheck()],
    isAsked: ({ path }) => path.includes('code='),
    accept: acceptSession,
  },
  conversations: {
    steps: [conversations],
    isAsked: () => true,
    accept: (_call, count) => response(202, { conversationId: `c-${count}` }),
  },
  campaign: {
    steps: [campaign, sms],
    isAsked: ({ path }) => path.includes('/tstats/'),
    accept: ({ method, path }) => {
      if (path.includes('/tstats/')) return response(200, { message: 'changed' });
      const running = { 'campaign-name': 'c', 'campaign-id': 101, enabled: 'Y', 'dynamic-campaign': 'Y', status: 3 };
      return method === 'GET' ? response(200, { campaign: running }) : undefined;
    },
  },
  chat: {
    steps: [sms, chat],
    isAsked: ({ path }) => path.includes('/chat/'),
    accept: (call) => (call.path.includes('/chat/') ? response(200, { parsed: 'done' }) : undefined),
  },
} as const satisfies Readonly<Record<string, StatusKind>>;

export type StatusKindName = keyof typeof STATUS_KINDS;

const FILES = {
  'people.csv': aCsvOf(4),
  'codes.csv': 'sessionId,code\ns1,1234\ns2,1234\ns3,1234\ns4,1234\n',
};
const plans = new Map<StatusKindName, ReturnType<typeof planOf>>();

/** Figures of a run in which the first of the kind's own requests is answered with the status, and the others well. */
export async function figuresOfKind(name: StatusKindName, status: number, isOwn: boolean): Promise<number[]> {
  const { steps, isAsked, accept }: StatusKind = STATUS_KINDS[name];
  const planned = plans.get(name) ?? planOf(steps);
  plans.set(name, planned);
  const { plan, directory, disk } = await planned;
  const copied = Object.entries(disk.snapshot('/out')).map(([path, text]) => [`/out/${path}`, text]);
  const made = { plan, directory, disk: aMemoryDisk(Object.fromEntries(copied)) };
  const messages = aScriptedService();
  let asked = 0;
  let count = 0;
  const send = async (call: Call, signal: AbortSignal | undefined): Promise<Answer> => {
    count += 1;
    if (isAsked(call)) asked += 1;
    if (isAsked(call) && asked === 1) {
      return response(status, isOwn ? ownError(call.area ?? 'sms', 1000, 'as the test wants it') : '');
    }
    return accept(call, count) ?? messages.transport.send(call, signal);
  };
  await aRun({ made, service: { transport: { ...messages.transport, send } } });
  const { balance, exitCode } = await reportOf(made);
  const { accepted, inDoubt, rejected, unprocessed } = balance;
  return [accepted, inDoubt, rejected, unprocessed, asked, exitCode];
}

async function planOf(steps: readonly Step[]) {
  const { made, disk } = await makeAPlan({ job: { steps }, files: FILES });
  if (made === undefined) throw new Error('there was nothing to plan');
  return { ...made, disk };
}
