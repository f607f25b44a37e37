import { quoteWord, type StopFault } from '../domain/errors.js';
import type { Stop } from '../journal/entry-format.js';

interface StopWords {
  /** A sentence without its end. */
  readonly is: string;
  /** '' where there is nothing to fix first. */
  readonly fix: string;
  /** Whether the same command resumes the run, or is refused until a person has decided how. */
  readonly isResumed: boolean;
  /** What the same command does where it does not resume the run, '' or a part of a sentence: a plan is for the address that the job had. */
  readonly orElse: string;
}

const CHECK_BETWEEN = 'check service.bases, and what stands between this machine and the service, such as a proxy';
/** What a person looks at where it lasts. */
const FIXES: Readonly<Partial<Record<StopFault, string>>> = {
  'certificate-time':
    'if it stays so, see whether the clock of this machine is right; if it is, the service needs another certificate',
  'certificate-authority':
    'if it stays so, check service.bases and service.region, and for a certificate of your own authority NODE_EXTRA_CA_CERTS',
  'secure-connection': 'if it stays so, check service.bases and service.region',
  unreachable:
    'if it stays so, check service.bases and service.region, and that this machine reaches it: Volley connects directly, whatever HTTPS_PROXY says',
  'in-between': `if it stays so, ${CHECK_BETWEEN}`,
  'unknown-id': `look for it at the service and delete it; if it stays so, ${CHECK_BETWEEN}`,
  unclear: 'look at the campaign',
};

/** What else ends a wait: a run whose job names another address or account now. */
const OR_LETS_GO = ', or says how to go on if the job names another address or account now';

/** Why a run stopped before its end, and what to do about it: for accounts, JSON and the page. */
export function wordsOfStop({ reason, detail, fault }: Stop): StopWords {
  const words = (is: string, fix = '', isResumed = true): StopWords => ({ is, fix, isResumed, orElse: '' });
  const ofAddress = (is: string, fix: string): StopWords => ({ ...words(is, fix), orElse: OR_LETS_GO });
  const orSays = (is: string, fix: string): StopWords => ({ ...words(is, fix), orElse: ', or says how to go on' });
  const known = fault && FIXES[fault];
  switch (reason) {
    case 'interrupted':
      return words(isSignal(detail) ? `it was stopped for now (${detail})` : `it was interrupted (${detail})`);
    case 'unavailable': {
      const is = fault === undefined || fault === 'in-between' ? 'it cannot go on' : 'the service cannot be reached';
      return known === undefined ? words(`${is} for now (${detail})`) : ofAddress(`${is} for now (${detail})`, known);
    }
    case 'closed':
      return words(detail);
    case 'unauthorized':
      return ofAddress(
        detail,
        fault === 'in-between' ? CHECK_BETWEEN : 'check that key or token, and account and subaccount of the job',
      );
    case 'redirected':
      return ofAddress(`the address of the service redirects (${detail})`, 'check service.region or service.bases');
    case 'sampled':
      return words(detail, 'look at how the sample went', false);
    case 'held':
      return words(detail, 'look at how the stage went', false);
    case 'guard':
      return fault === 'time-passed'
        ? words(detail, 'set a later time in the job, and plan the rest with it', false)
        : orSays(detail, 'correct the job where this is not as it should be');
    case 'request-refused':
      return fault === 'service-setting'
        ? orSays(detail, 'fix that in the job, or have it fixed at the service')
        : words(detail, 'fix that in the job, and plan the rest with it', false);
    case 'abandoned':
      return words(`it was abandoned ${detail}`, 'plan the rows that it did not send', false);
    default:
      return fault === 'in-between' ? ofAddress(detail, known ?? '') : words(detail, known ?? 'fix what was refused');
  }
}

/** A signal, by a person or by the machine: either way the run goes on later. */
function isSignal(detail: string): boolean {
  return detail.startsWith('SIG');
}

/** `stopped before its end: it cannot go on for now (HTTP 503)`, `was stopped for now (SIGTERM)`, of a run. */
export function describeEarlyEnd(stop: Stop | null): string {
  if (stop?.reason === 'abandoned') return `was abandoned ${stop.detail}: it never sends the rest`;
  if (stop?.reason === 'interrupted' && isSignal(stop.detail)) return `was stopped for now (${stop.detail})`;
  return `stopped before its end${stop === null ? '' : `: ${wordsOfStop(stop).is}`}`;
}

/** What a person may do where a stage of a run waits for them. */
export function adviseOnStage(
  { number, isSample }: { number: number; isSample: boolean },
  { directory, plan }: { directory: string; plan: string },
): string {
  const command = `\`volley apply ${quoteWord(directory)} --pass-stage ${number} --confirm ${plan}\``;
  const go = isSample
    ? `To send the rest: \`volley run\` with the job file and --rest, or ${command}`
    : `To send the rest all the same: ${command}`;
  return `${go}. To send nothing more of it: \`volley abandon ${quoteWord(directory)}\`.`;
}
