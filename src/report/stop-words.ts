import { quoteWord } from '../domain/errors.js';
import { ABOUT, REFUSED_IN_BETWEEN } from '../domain/service-facts.js';

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

interface Stop {
  readonly reason: string;
  /** As the journal has it: a sentence, or what `is` puts in brackets. */
  readonly detail: string;
}

const CHECK_BETWEEN = 'check service.bases, and what stands between this machine and the service, such as a proxy';
/** Answers of something in between, or of a wrong address: each try may put more rows in doubt. */
const NOT_OF_THE_SERVICE = /without the service's error body$|^answers that account for no row/;

/** What stands before the reason where a step without rows stopped the run: its call, and how it failed. */
const OF_A_CALL =
  /^step \d+ \([a-z.]+\): Cannot [a-z ]+: (?:the service (?:is too busy|fails|cannot be reached, or does not answer): )?/;

/** No word of the service. */
const UNEXPECTED = /: HTTP \d+ with an unexpected body$/;

/** What else ends a wait: a run whose job names another address or account now. */
const OR_LETS_GO = ', or says how to go on if the job names another address or account now';

/** Why a run stopped before its end, and what to do about it: for accounts, JSON and the page. */
export function wordsOfStop({ reason, detail }: Stop): StopWords {
  const why = detail.replace(OF_A_CALL, '');
  const words = (is: string, fix = '', isResumed = true): StopWords => ({ is, fix, isResumed, orElse: '' });
  const ofAddress = (is: string, fix: string): StopWords => ({ ...words(is, fix), orElse: OR_LETS_GO });
  switch (reason) {
    case 'interrupted':
      return words(isSignal(detail) ? `it was stopped for now (${detail})` : `it was interrupted (${detail})`);
    case 'unavailable': {
      const fix = adviseOnReach(why);
      if (fix !== '') return ofAddress(`the service cannot be reached for now (${detail})`, fix);
      const is = `it cannot go on for now (${detail})`;
      return NOT_OF_THE_SERVICE.test(why) ? ofAddress(is, `if it stays so, ${CHECK_BETWEEN}`) : words(is);
    }
    case 'closed':
      return words(detail);
    case 'unauthorized':
      return detail.endsWith(REFUSED_IN_BETWEEN) || NOT_OF_THE_SERVICE.test(why)
        ? ofAddress(detail, CHECK_BETWEEN)
        : ofAddress(detail, 'check that key or token, and account and subaccount of the job');
    case 'redirected':
      return ofAddress(`the address of the service redirects (${detail})`, 'check service.region or service.bases');
    case 'sampled':
      return words(detail, 'look at how the sample went', false);
    case 'held':
      return words(detail, 'look at how the stage went', false);
    case 'guard':
      // A plan keeps its times.
      if (/^step \d+: template\.(scheduled|expiry), /.test(detail))
        return words(detail, 'set a later time in the job, and plan the rest with it', false);
      return words(detail, 'correct the job where this is not as it should be');
    case 'request-refused':
      if (detail.includes(`(${ABOUT} service.`))
        return {
          ...words(detail, 'fix that in the job, or have it fixed at the service'),
          orElse: ', or says how to go on',
        };
      return words(detail, 'fix that in the job, and plan the rest with it', false);
    case 'abandoned':
      return words(`it was abandoned ${detail}`, 'plan the rows that it did not send', false);
    default:
      return UNEXPECTED.test(detail)
        ? ofAddress(detail, `if it stays so, ${CHECK_BETWEEN}`)
        : words(detail, adviseOnRefusal(detail));
  }
}

/** What a person looks at where it lasts: '' where the service was reached, and is at fault itself. */
function adviseOnReach(detail: string): string {
  if (/\(CERT_(HAS_EXPIRED|NOT_YET_VALID)\)$/.test(detail))
    return 'if it stays so, see whether the clock of this machine is right; if it is, the service needs another certificate';
  if (/^its certificate is not trusted/.test(detail))
    return 'if it stays so, check service.bases and service.region, and for a certificate of your own authority NODE_EXTRA_CA_CERTS';
  if (/^its certificate |^no secure connection/.test(detail))
    return 'if it stays so, check service.bases and service.region';
  return /^(no connection within|its host name) |^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH)$/.test(detail)
    ? 'if it stays so, check service.bases and service.region, and that this machine reaches it: Volley connects directly, whatever HTTPS_PROXY says'
    : '';
}

/** Advises where the service refused a step without rows, or what a step makes first. */
function adviseOnRefusal(detail: string): string {
  if (/but its id is unknown/.test(detail)) {
    const isOften = /a redirect|without the service's error body|an unexpected body/.test(detail);
    return `look for it at the service and delete it${isOften ? `, and if it stays so, ${CHECK_BETWEEN}` : ''}`;
  }
  return /\(campaign\): Cannot tell whether/.test(detail) ? 'look at the campaign' : 'fix what was refused';
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
