import { ROW_KINDS, type RowKind } from '../../src/domain/areas.js';
import type { ChatStep, Step } from '../../src/job/job.js';
import type { Answer } from '../../src/service/answer.js';
import type { Call } from '../../src/service/transport.js';
import { fillOne } from '../job/a-job-file.js';
import { arrivedAs, COLUMNS, createTaken, EXAMPLES, rowOf } from '../kinds/examples.js';
import { anInput, anSmsStep, makeAPlan, someLimits } from '../plan/a-plan.js';
import { aRun, aScriptedService, reportOf, response } from '../run/a-run.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';
import { ownError } from './an-answer.js';

const limits = someLimits({ concurrency: 1 });
const sms = anSmsStep({ limits });
const campaign = { kind: 'campaign', campaign: 101, expect: undefined, set: 'PAUSED', always: false, limits } as const;
const chat: ChatStep = { kind: 'chat', text: 'done', room: undefined, when: 'always', limits };

/** The steps of a job, and which of its requests the status is the answer to. */
interface StatusKind {
  readonly steps: readonly Step[];
  readonly isAsked: (call: Call) => boolean;
  /** Of one run. */
  readonly createService: () => (call: Call) => Answer | undefined;
}

/** What a kind with one row a request does with four rows. */
function ofRows(kind: RowKind): StatusKind {
  const { step, rowsIn, answer } = EXAMPLES[kind];
  const written = fillOne(kind, { kind, input: { files: 'people.csv' }, ...step(COLUMNS) });
  return {
    steps: [{ ...written, input: anInput(), limits }],
    isAsked: (call) => rowsIn(arrivedAs(call)).length > 0,
    createService: () => {
      const taken = createTaken();
      return (call) => {
        const honest = answer(arrivedAs(call), taken);
        return honest && response(honest.status, honest.body, honest.headers);
      };
    },
  };
}

/** Every kind but sms, of which a request has many rows. */
export const STATUS_KINDS: Readonly<Record<string, StatusKind>> = {
  ...Object.fromEntries(
    (Object.keys(ROW_KINDS) as RowKind[]).flatMap((kind) => (kind === 'sms' ? [] : [[kind, ofRows(kind)]])),
  ),
  campaign: {
    steps: [campaign, sms],
    isAsked: ({ path }) => path.includes('/tstats/'),
    createService:
      () =>
      ({ method, path }) => {
        if (path.includes('/tstats/')) return response(200, { message: 'changed' });
        const running = { 'campaign-name': 'c', 'campaign-id': 101, enabled: 'Y', 'dynamic-campaign': 'Y', status: 3 };
        return method === 'GET' ? response(200, { campaign: running }) : undefined;
      },
  },
  chat: {
    steps: [sms, chat],
    isAsked: ({ path }) => path.includes('/chat/'),
    createService: () => (call) => (call.path.includes('/chat/') ? response(200, { parsed: 'done' }) : undefined),
  },
};

const PEOPLE = [1, 2, 3, 4].map((row) => `${Object.values(rowOf(row)).join(',')}\n`).join('');
const FILES = { 'people.csv': `name,mobile,session,code\n${PEOPLE}` };
const plans = new Map<string, ReturnType<typeof planOf>>();

/** Figures of a run in which the first of the kind's own requests is answered with the status, and the others well. */
export async function figuresOfKind(name: string, status: number, isOwn: boolean): Promise<number[]> {
  const { steps, isAsked, createService } = STATUS_KINDS[name]!;
  const planned = plans.get(name) ?? planOf(steps);
  plans.set(name, planned);
  const { plan, directory, disk } = await planned;
  const copied = Object.entries(disk.snapshot('/out')).map(([path, text]) => [`/out/${path}`, text]);
  const made = { plan, directory, disk: aMemoryDisk(Object.fromEntries(copied)) };
  const messages = aScriptedService();
  const accept = createService();
  let asked = 0;
  const send = async (call: Call, signal: AbortSignal | undefined): Promise<Answer> => {
    if (isAsked(call)) asked += 1;
    if (isAsked(call) && asked === 1) {
      return response(status, isOwn ? ownError(call.area ?? 'sms', 1000, 'as the test wants it') : '');
    }
    return accept(call) ?? messages.transport.send(call, signal);
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
