import { envOf, type Host, openLog } from '../command/deps.js';
import { formatError } from '../command/failure.js';
import { assertSafeEnvironment } from '../command/open-service.js';
import { SecretKeeper } from '../command/terminal.js';
import { isLoopback } from '../job/base-address.js';
import type { Job, NotifySettings } from '../job/job.js';
import type { Answer } from '../service/answer.js';
import type { Call } from '../service/transport.js';
import { readHookAddress } from './hook-address.js';
import { chooseEvent, describeEnd, type Ended } from './hook-body.js';

/** For all attempts together. */
const HOOK_MS = 10_000;
const HOOK_TIMEOUTS = { connectSeconds: 3, answerSeconds: 5 };
/** Between attempts. */
const WAITS_MS = [500, 1000, 2000];

/** Posts how a command ended, if the job asks for it. Never throws: what fails is one warning, which names no address. */
export async function postHook(
  host: Host,
  { job, notify, ended }: { job: Job; notify: NotifySettings; ended: Ended },
): Promise<void> {
  const event = chooseEvent(ended, notify.on);
  if (event === undefined) return;
  const secrets = new SecretKeeper();
  const log = openLog(host, secrets);
  const about = { event: 'notify', job: job.name, run: ended.summaries?.at(-1)?.plan };
  const fail = (so: string) => log.warn(`Cannot post how the job ended (notify.url): ${so}`, about);
  try {
    const address = secrets.keep(await readHookAddress(notify.url, host));
    const { sandbox } = job.service;
    if (sandbox && !isLoopback(new URL(address).hostname)) {
      log.info(
        'how the job ended was not posted (notify.url): a job on the sandbox does not leave this machine',
        about,
      );
      return;
    }
    assertSafeEnvironment(host);
    const at = new Date(envOf(host).clock.now()).toISOString();
    const body = JSON.stringify(describeEnd(ended, { event, job: job.name, sandbox, at }));
    const fault = await postBounded(host, address, body);
    if (fault !== undefined) fail(`${fault}, expected an answer 2xx`);
  } catch (error) {
    fail(formatError(error).split('\n', 1)[0] ?? '');
  }
}

/** What went wrong at last. A signal ends it at once. */
async function postBounded(host: Host, address: string, body: string): Promise<string | undefined> {
  const { clock, loadTransport } = envOf(host);
  const transport = (await loadTransport())(HOOK_TIMEOUTS);
  const ended = new AbortController();
  const cleared = new AbortController();
  const stopListening = host.onSignal(() => ended.abort());
  void clock.sleep(HOOK_MS, cleared.signal).then(() => ended.abort());
  const call: Call = {
    method: 'POST',
    base: address,
    path: '',
    headers: { 'content-type': 'application/json', 'user-agent': 'volley' },
    body: Buffer.from(body),
  };
  try {
    for (let attempt = 0; ; attempt++) {
      const answer = await transport.send(call, ended.signal);
      if (isTaken(answer)) return undefined;
      const waitMs = WAITS_MS[attempt];
      if (!ended.signal.aborted && waitMs !== undefined && isWorthRepeating(answer)) {
        await clock.sleep(waitMs, ended.signal);
        if (!ended.signal.aborted) continue;
      }
      if (ended.signal.aborted) return `it did not take it within ${HOOK_MS / 1000} s, or a signal came`;
      const said = answer.kind === 'failure' ? answer.reason : `HTTP ${answer.status}`;
      return attempt === 0 ? said : `${said} at attempt ${attempt + 1}`;
    }
  } finally {
    cleared.abort();
    stopListening();
    await transport.close();
  }
}

function isTaken(answer: Answer): boolean {
  return answer.kind === 'response' && answer.status >= 200 && answer.status < 300;
}

/** A notice that comes twice does no harm. */
function isWorthRepeating(answer: Answer): boolean {
  return answer.kind === 'failure' || answer.status >= 500 || answer.status === 429;
}
