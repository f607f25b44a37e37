import type { Context } from '../command/context.js';
import { type Failure, formatError } from '../command/failure.js';
import { assertSafeEnvironment, keepSecret } from '../command/open-service.js';
import { UserError } from '../domain/errors.js';
import { isOnThisMachine } from '../domain/loopback.js';
import type { Job, SecretSource } from '../job/job.js';
import { type NotifyEvent, notifyAddress } from '../job/schema/written-job.js';
import { COLUMNS_FOLLOW } from '../normalize/columns.js';
import { maskNumbers } from '../normalize/mask.js';
import { EXIT } from '../report/exit-code.js';
import type { Summary } from '../report/summary.js';
import type { Call } from '../service/transport.js';

/** The most time that all attempts take together. */
const HOOK_MS = 10_000;
const HOOK_TIMEOUTS = { connectSeconds: 3, answerSeconds: 5 };
/** The pause before each attempt. */
const WAITS_MS = [0, 500, 1000, 2000];

/** Posts how a command ended, if the job asks for it. Never throws: what fails is one warning, which names no address. */
export async function postHook(context: Context, job: Job, notify: NonNullable<Job['notify']>, ended: Ended) {
  const event = chooseEvent(ended, notify.on);
  if (event === undefined) return;
  const { env, log } = context;
  const about = { event: 'notify', job: job.name, run: ended.summaries?.at(-1)?.plan };
  const fail = (so: string) => log.warn(`Cannot post how the job ended (notify.url): ${so}`, about);
  try {
    const address = await readHookAddress(notify.url, context);
    const { sandbox } = job.service;
    if (sandbox && !isOnThisMachine(address)) {
      const so = 'a job on the sandbox does not leave this machine';
      return log.info(`how the job ended was not posted (notify.url): ${so}`, about);
    }
    assertSafeEnvironment(context.terminal);
    const at = new Date(env.clock.now()).toISOString();
    const body = JSON.stringify(describeEnd(ended, { event, job: job.name, sandbox, at }));
    const fault = await postBounded(context, address, body);
    if (fault !== undefined) fail(`${fault}, expected an answer 2xx`);
  } catch (error) {
    fail(formatError(error).split('\n', 1)[0] ?? '');
  }
}

/** Posts until it succeeds or the time is over; returns what went wrong at last. A signal ends it at once. */
async function postBounded({ env: { clock, loadTransport }, terminal }: Context, address: string, body: string) {
  const transport = (await loadTransport())(HOOK_TIMEOUTS);
  const ended = new AbortController();
  const cleared = new AbortController();
  const stopListening = terminal.onSignal(() => ended.abort());
  void clock.sleep(HOOK_MS, cleared.signal).then(() => ended.abort());
  const call: Call = {
    method: 'POST',
    base: address,
    path: '',
    headers: { 'content-type': 'application/json', 'user-agent': 'volley' },
    body: Buffer.from(body),
  };
  try {
    let fault = '';
    for (const [attempt, waitMs] of WAITS_MS.entries()) {
      if (waitMs > 0) await clock.sleep(waitMs, ended.signal);
      if (ended.signal.aborted) break;
      const answer = await transport.send(call, ended.signal);
      if (answer.kind === 'response' && answer.status >= 200 && answer.status < 300) return undefined;
      fault = answer.kind === 'failure' ? answer.reason : `HTTP ${answer.status}`;
      if (attempt > 0) fault += ` at attempt ${attempt + 1}`;
      // A notice that comes twice does no harm.
      if (answer.kind === 'response' && answer.status < 500 && answer.status !== 429) break;
    }
    return ended.signal.aborted ? `it did not take it within ${HOOK_MS / 1000} s, or a signal came` : fault;
  } finally {
    cleared.abort();
    stopListening();
    await transport.close();
  }
}

/** Where `notify.url` posts to. Refuses a secret that is missing, or that holds something else; the error never shows it. */
export async function readHookAddress(url: string | SecretSource, context: Context): Promise<string> {
  if (typeof url === 'string') return context.secrets.keep(url);
  const address = await keepSecret(url, 'the address of notify.url', context);
  if (notifyAddress.safeParse(address).success) return address;
  throw new UserError('bad-credentials', 'it is no address to post to, expected one that begins with https://', {
    hint: 'Beyond this machine it must be https, without user name and password.',
  });
}

/** How a command ended. */
export interface Ended {
  readonly command: 'run' | 'apply';
  readonly state: Summary['state'] | Failure['state'] | 'nothing-new';
  readonly exitCode: number;
  /** As the log has it; what it lists of a file's columns is not posted. */
  readonly reason: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** What each run came to that it finished or applied, and at last the plan that a guard refused. */
  readonly summaries?: readonly Summary[];
  /** The run in which an error struck. */
  readonly broken?: Context['broken'];
  /** Rows of all runs of the job; unknown where the command failed. */
  readonly openDoubt?: number | undefined;
}

/** What is posted for that end; undefined where it is not asked for, or where the command did not take its turn. */
function chooseEvent({ exitCode, error }: Ended, on: readonly NotifyEvent[]): NotifyEvent | undefined {
  if (error !== null && NOT_ITS_TURN.has(error.code)) return undefined;
  if (error?.code === 'missing-input') {
    return on.includes('missing-input') || on.includes('failure') ? 'missing-input' : undefined;
  }
  const event = exitCode === EXIT.ok ? 'success' : exitCode === EXIT.inDoubt ? 'in-doubt' : 'failure';
  return on.includes(event) ? event : undefined;
}

/** The process that has the job posts its own end; before `notBefore` nothing has begun. */
export const NOT_ITS_TURN: ReadonlySet<string> = new Set(['lock-held', 'not-yet']);

/**
 * Figures and names alone: no cell of a file, no number, no text, and no example of a row. `run`, `balance` and `steps` are those of
 * the last of the runs; where an error struck in one, it has no steps.
 */
function describeEnd(ended: Ended, about: { event: NotifyEvent; job: string; sandbox: boolean; at: string }) {
  const { command, state, exitCode, reason, summaries = [], broken, openDoubt = null } = ended;
  const stop = summaries.at(-1)?.stop ?? null;
  const error = ended.error ?? (stop && { code: stop.reason, message: stop.detail });
  const { event, job, sandbox, at } = about;
  const runs = summaries.map(describeRun);
  const last = broken === undefined ? runs.at(-1) : { run: broken.plan, balance: broken.balance, steps: [] };
  const { run, balance, steps } = last ?? { run: null, balance: null, steps: [] };
  return {
    format: 1,
    event,
    job,
    command,
    sandbox,
    at,
    run,
    state,
    exitCode,
    reason: maskNumbers(reason.split(COLUMNS_FOLLOW, 1)[0] ?? ''),
    error: error && { code: error.code, message: maskNumbers(error.message) },
    openDoubt,
    balance,
    steps,
    runs,
  };
}

function describeRun({ plan, state, exitCode, balance, steps }: Summary) {
  return {
    run: plan,
    state,
    exitCode,
    balance,
    steps: steps.map(({ number, kind, balance, requests, messages, segments, rejections, skips }) => {
      return { number, kind, balance, requests, messages, segments, rejections, skips };
    }),
  };
}
