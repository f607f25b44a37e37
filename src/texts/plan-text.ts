import {
  escapeText,
  formatHeadline,
  formatNextStep,
  formatParagraph,
  type NextStep,
  PLAIN_SCREEN,
  paint,
  type Screen,
  showCommandOn,
  showPath,
} from '../command/screen.js';
import { countOf, format, formatSeconds, listMost, listSaid, sumOf } from '../domain/count-of.js';
import { formatTime, listLocalTimes } from '../domain/stated-time.js';
import { widthOf } from '../domain/text.js';
import { formatOpening, OpeningHours, zonesOf } from '../hours/window.js';
import { isRowStep, type RowStep, type SmsStep } from '../job/job.js';
import { formatAhead } from '../kinds/schedule.js';
import { maskNumber } from '../normalize/mask.js';
import { encodePlan, type Plan, type PlannedStep } from '../plan/format/plan-file.js';
import { sha256Of } from '../plan/format/sealed-json.js';
import { sendsNothing } from '../plan/guards.js';
import { sumCost } from '../prices/cost-tally.js';
import { formatAmount, formatMoney } from '../prices/decimal.js';
import { type Approvals, listApproveFlags } from '../registry/approvals.js';
import { describeHad, describeSpecialCharacters, explainReason, shortenName } from '../report/account.js';
import { replaceTypography } from '../template/segments.js';
import { formatFunnel, formatLists, formatReasons, showOnPhone } from './row-texts.js';
import { type Column, formatFigures } from './table.js';

/** What `volley plan` prints for machines: the plan without the job and the columns. */
export function summarizePlan(plan: Plan, directory: string): object {
  const steps = plan.steps.map(({ inputs, examples: _examples, ...step }) => ({
    ...step,
    inputs: inputs.map(({ file, rows, sha256 }) => ({ file, rows, sha256 })),
  }));
  const retryOf = plan.retryOf?.run ?? null;
  const prices = plan.prices === undefined ? null : { ...plan.prices, total: sumCost(plan.steps) };
  const planned = { plannedBy: plan.plannedBy, planSha256: sha256Of(encodePlan(plan)) };
  return { plan: plan.id, job: plan.job.name, ...planned, retryOf, directory, state: 'planned', prices, steps };
}

/** What would happen, for a person: two steps fit one screen. `isRefused`: a guard refuses it, which is reported elsewhere. */
export function formatPlan(
  plan: Plan,
  directory: string,
  { nowMs, screen = PLAIN_SCREEN, isRefused = false }: { nowMs: number; screen?: Screen; isRefused?: boolean },
): string {
  const isOnly = plan.steps.length === 1;
  const steps = plan.steps.map((step) => formatStep(step, plan, { screen, nowMs, isOnly }));
  return (
    `${formatPlanHead(plan, screen, ': nothing was sent.')}\n` +
    `${steps.join('')}\n${formatEnd(plan, directory, { screen, isRefused })}`
  );
}

/** The first lines of a plan: which one it is, to which account at what cost, and its figures. */
export function formatPlanHead(plan: Plan, screen: Screen, end = ''): string {
  const retry = plan.retryOf === undefined ? '' : `, which retries rows of run ${plan.retryOf.run}`;
  const head = `Plan ${plan.id} of job ${plan.job.name}${retry}${end}`;
  const { sandbox, account, subAccountId } = plan.job.service;
  const to = sandbox ? 'the sandbox: no message leaves this machine' : `account ${account}, subaccount ${subAccountId}`;
  const { steps, prices } = plan;
  const total = prices && ` It costs ${formatMoney(sumCost(steps), prices.currency)} by ${prices.file}.`;
  return (
    `${formatHeadline(head, 'bold', screen)}\n` +
    `${formatParagraph(`To ${to}.${total ?? ''}`, screen)}` +
    `${formatHadOf(plan, screen)}\n` +
    `${formatFigures(COLUMNS, steps.map(describeFigures), screen)}\n`
  );
}

/** Who had exactly this text before: before anything else of a plan. */
function formatHadOf({ steps }: Plan, screen: Screen): string {
  const said = steps.flatMap(({ counts, had }) =>
    had === undefined ? [] : [`${format(counts.planned)} to send. ${describeHad(had)}`],
  );
  return said.map((text) => formatParagraph(text, screen, { style: 'magenta' })).join('');
}

const COLUMNS: readonly Column[] = [
  { title: 'read' },
  { title: 'to send', style: 'green' },
  { title: 'rejected', style: 'red' },
  { title: 'skipped' },
  { title: 'requests' },
  { title: 'SMS parts' },
];

function describeFigures({ number, kind, counts, inputs, examples }: PlannedStep) {
  const name = `${number} ${escapeText(kind)}`;
  const [action] = examples;
  if (inputs.length === 0 && action !== undefined) return { name, figures: escapeText(`${action.to}: ${action.text}`) };
  const { read, planned, rejected, skipped, requests, segments } = counts;
  return { name, figures: [read, planned, rejected, skipped, requests, segments] };
}

function formatEnd(plan: Plan, directory: string, { screen, isRefused }: { screen: Screen; isRefused: boolean }) {
  const hasRejected = plan.steps.some(({ counts }) => counts.rejected > 0);
  const report = escapeText(showCommandOn(screen, 'report', directory));
  const look = hasRejected ? `Rejected rows, as files:\n  ${report}\n` : '';
  // The command to send it names its directory, too.
  const place = `The plan is in ${escapeText(showPath(screen, directory))}\n`;
  if (isRefused) return `${place}${look}`;
  const later =
    plan.retryOf === undefined ? '' : ' Once some of its rows may be sent, the same command makes it again.';
  if (sendsNothing(plan)) return `${place}${look}There is nothing in it to send.${later}\n`;
  const { requireTest, requireApproval } = plan.job.guards;
  const planSha256 = sha256Of(encodePlan(plan));
  const approvals = { planSha256, required: requireApproval ?? 0, count: 0, given: [] };
  const lacks = requireTest === true ? 'test' : requireApproval === undefined ? undefined : 'approval';
  const next = nextOfPlan(plan, { directory, lacks, planSha256 }, { send: 'to send exactly this' });
  return `${look}${formatApprovals(plan, approvals, screen)}${formatNextStep(next, screen)}`;
}

/** Who planned, and who approved; '' where the plan asks for no approval. */
export function formatApprovals(
  { plannedBy }: Pick<Plan, 'plannedBy'>,
  { planSha256, required, count, given }: Approvals,
  screen: Screen,
): string {
  if (required === 0) return '';
  const head = `Planned by ${plannedBy}; plan.json has the SHA-256 ${planSha256}. It has ${count} of ${countOf(required, 'approval')} by other people.`;
  const lines = given.map(({ name, by, at, fault }) => {
    const so = fault === null ? '' : `, which does not count: ${fault}`;
    return formatParagraph(`${name} (${by}) on ${at.slice(0, 16).replace('T', ' at ')} UTC${so}`, screen, {
      indent: '  ',
    });
  });
  return `${formatParagraph(head, screen)}${lines.join('')}`;
}

/** What comes before a plan is sent, by what it lacks of it, or the command that sends it. */
export function nextOfPlan(
  { id, job, plannedBy }: Plan,
  { directory, lacks, planSha256 }: { directory: string; lacks: 'test' | 'approval' | undefined; planSha256: string },
  { what = 'it', send = 'send it' }: { what?: string; send?: string } = {},
): NextStep {
  if (lacks === undefined) return { what: send, command: ['apply', directory, '--confirm', id] };
  if (lacks === 'approval')
    return {
      what: `another person than ${plannedBy} approves ${what}, as guards.requireApproval asks`,
      command: ['approve', directory, ...listApproveFlags({ job }, planSha256)],
    };
  const to = job.testNumbers === undefined ? ['--to', 'NUMBER'] : [];
  return { what: `test ${what}, as guards.requireTest asks`, command: ['test', directory, ...to] };
}

const MOST_COUNTRIES = 5;
const MOST_CHARACTERS = 3;
const MOST_FILES = 3;

/** A step: who, what, when and how many in one paragraph; messages as a phone shows them; what it does not send, and why. */
function formatStep(
  step: PlannedStep,
  { job, prices }: Plan,
  { screen, nowMs, isOnly }: { screen: Screen; nowMs: number; isOnly: boolean },
): string {
  const { number, kind, counts, inputs, countries, replaced = {}, examples, reasons = [] } = step;
  const written = job.steps[number - 1];
  const paragraph = (facts: readonly string[]) => formatParagraph(`${number} ${kind}: ${facts.join(' · ')}`, screen);
  if (written !== undefined && !isRowStep(written)) return paragraph(examples.map(({ to, text }) => `${to}: ${text}`));
  const special = describeSpecialCharacters(step, { currency: prices?.currency, most: MOST_CHARACTERS });
  const from = listMost(
    inputs.map(({ path }) => showPath(screen, path)),
    MOST_FILES,
  );
  const facts = listSaid(
    counts.messages > 0 && countOf(counts.messages, 'message'),
    ...describeSending(written, nowMs),
    describeStages(step, written),
    `takes at least ${formatSeconds(step.estimateSeconds)}`,
    `from ${from || 'no new file'}`,
    Object.keys(countries).length > 0 && `to ${listCounts(countries, MOST_COUNTRIES)}`,
    describeTimesThere(step, written),
    ...listOpenings(step, written, { nowMs, roomMs: job.service.timeouts.answerSeconds * 1000 }),
    special,
    special && adviseReplacing(step, written),
    Object.keys(replaced).length > 0 && `replaced, so that GSM-7 is enough: ${listCounts(replaced, MOST_CHARACTERS)}`,
    ...describeCost(step, prices?.currency ?? ''),
  );
  return [
    paragraph(facts),
    ...examples.slice(0, isOnly ? 3 : 1).map((example) => formatExample(example, screen)),
    counts.rejected > 0 ? formatRejected(step, screen) + formatReasons(reasons.map(explainReason), screen, isOnly) : '',
    formatFunnel(counts.read, step.funnel, screen),
    formatLists(step.suppression, screen),
  ].join('');
}

/** Says from whom messages are, when they are sent, and what becomes of them. */
function describeSending(step: RowStep | undefined, nowMs: number): string[] {
  if (step?.kind !== 'sms') return [];
  const { dlrCallbackUrl, template } = step;
  const { source, scheduled, expiry } = template;
  return listSaid(
    `from ${source ?? 'the sender of the account'}`,
    scheduled === undefined ? describeHours(step) : `on ${formatTime(scheduled)} (${formatAhead(scheduled, nowMs)})`,
    expiry && `until ${formatTime(expiry)}`,
    dlrCallbackUrl !== undefined && `receipts to ${dlrCallbackUrl}`,
  );
}

function describeHours({ window }: SmsStep): string {
  if (window === undefined) return 'at once';
  const { days, from, to, timeZone } = window;
  const whose = typeof timeZone === 'string' ? timeZone : `in column ${timeZone.column}`;
  return `${days.length === 7 ? 'daily' : days.join(' ')} ${from} to ${to}, time zone ${whose === 'recipient' ? 'of the recipient' : whose}`;
}

/** `in 3 stages: 23 messages, then a pause of 2 h; 90; 334` */
function describeStages({ stages }: PlannedStep, step: RowStep | undefined): string | undefined {
  if (stages === undefined || step?.kind !== 'sms') return undefined;
  const parts = stages.map((rows, index) => {
    const { isAsked, pauseMs = 0 } = step.ramp?.[index] ?? {};
    const pause = pauseMs === 0 ? '' : `, then a pause of ${formatSeconds(pauseMs / 1000)}`;
    return `${format(rows)}${isAsked === true ? ', then a person decides' : pause}`;
  });
  return `in ${countOf(stages.length, 'stage')}: ${parts.join('; ')}`;
}

/** When the groups of a step with a window may be sent: the largest first. */
function listOpenings(
  { hours }: PlannedStep,
  step: RowStep | undefined,
  { nowMs, roomMs }: { nowMs: number; roomMs: number },
): string[] {
  if (hours === undefined || step?.kind !== 'sms' || step.window === undefined) return [];
  const opening = new OpeningHours(step.window);
  const { window } = step;
  const largest = Object.entries(hours.groups).sort((a, b) => b[1] - a[1]);
  return largest.slice(0, MOST_COUNTRIES).map(([group]) => {
    const zones = zonesOf(window, group);
    const atMs = opening.findNextOpening(zones, nowMs, roomMs);
    if (atMs === nowMs) return `${group} is open now`;
    return atMs === undefined
      ? `${group} is closed for 14 days`
      : `${group} opens ${formatOpening(atMs, zones[0] ?? 'UTC')}`;
  });
}

/** What clocks show, in the countries of the most recipients, when scheduled messages are sent; nothing where all agree. */
function describeTimesThere({ countries }: PlannedStep, step: RowStep | undefined): string | undefined {
  const scheduled = step?.kind === 'sms' ? step.template.scheduled : undefined;
  const times = scheduled && listMost(listLocalTimes(scheduled, Object.keys(countries)), MOST_COUNTRIES);
  return times && `local time then: ${times}`;
}

/** Typographic characters that the job lets through though they need not cost more. */
function adviseReplacing({ ucs2 }: PlannedStep, step: RowStep | undefined): string | undefined {
  if (step?.kind !== 'sms' || step.template.encoding !== 'AUTO' || step.template.smartReplace === true)
    return undefined;
  const names = Object.keys(ucs2).map(shortenName);
  const characters = names.filter((each) => replaceTypography(each) !== undefined);
  const where = characters.length === names.length ? '' : ' where the text has no other';
  return characters.length === 0
    ? undefined
    : `smartReplace: true in the template makes ${characters.join(' ')} plain${where}`;
}

function describeCost({ cost }: PlannedStep, currency: string): string[] {
  if (cost === undefined) return [];
  const priced = Object.entries(cost.countries).flatMap(([country, each]) =>
    each.cost === '0.00' ? [] : [`${country} ${formatAmount(each.cost)}`],
  );
  const by = priced.length < 2 ? '' : `: ${listMost(priced, MOST_COUNTRIES)}`;
  const rows = sumOf(Object.values(cost.withoutPrice));
  const names = Object.keys(cost.withoutPrice).map((country) => country || 'without a number');
  return listSaid(
    `costs ${formatMoney(cost.total, currency)}${by}`,
    rows > 0 && `${format(rows)} without a price: ${listMost(names, MOST_COUNTRIES)}`,
  );
}

function formatRejected({ counts, reasons = [], rejections }: PlannedStep, screen: Screen): string {
  const isMore = counts.rejected > sumOf(reasons.map(({ rows }) => rows));
  const rest = isMore ? `; the ${reasons.length} commonest of ${Object.keys(rejections).length} reasons` : '';
  return `    ${paint(screen, 'red', `${format(counts.rejected)} rejected`)}${rest}:\n`;
}

/** A + and 15 digits. */
const MOST_WIDE_NUMBER = 16;

/** Shows who gets a message, and beside that the message. */
export function formatExample({ to, text }: PlannedStep['examples'][number], screen: Screen): string {
  const who = escapeText(to.startsWith('+') ? maskNumber(to) : to);
  const isNumber = widthOf(who) <= MOST_WIDE_NUMBER;
  const indent = ' '.repeat(isNumber ? 4 + MOST_WIDE_NUMBER : 6);
  const first = isNumber ? `    ${who.padEnd(MOST_WIDE_NUMBER)}` : `    ${who}\n${indent}`;
  const lines = showOnPhone(text, screen, indent.length);
  return lines.map((line, index) => `${index === 0 ? first : indent} ${line}\n`).join('');
}

/** `SG 90, MY 12, and 3 more`: the largest first. */
export function listCounts(counts: Readonly<Record<string, number>>, most: number): string {
  const sorted = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  return listMost(
    sorted.map(([name, count]) => `${name} ${format(count)}`),
    most,
  );
}
