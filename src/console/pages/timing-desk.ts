import { isMap } from 'yaml';
import { findZone, ownZone } from '../../domain/stated-time.js';
import { DAYS } from '../../hours/window.js';
import { type Html, html, NOTHING } from '../../report/page/html.js';
import { describeTiming, readTiming, type Timing } from '../timing.js';
import { Desk, type JobRequest, viewOf } from './desk.js';
import { type PageAnswer, renderField, renderPage, renderStep } from './layout.js';
import { conflictOf, type View, type Wrong, wrongOf } from './wrong.js';

/** Keys of the step, and of the form, that are of times and stages alone. */
const FIELDS: Readonly<Record<string, string>> = { scheduled: 'day', window: 'from', ramp: 'sample' };

/** When a campaign leaves: it writes `scheduled`, `window` and `ramp` of the job, and shows what `volley check` says of them. */
export class TimingDesk extends Desk {
  async showWhen(asked: JobRequest, wrong: readonly Wrong[] = [], written?: Timing): Promise<PageAnswer> {
    const { timing, country } = asked.job;
    const all = [...wrong, ...(written === undefined ? await this.#check(asked) : [])];
    const zone = findZone(country, this.context.env.clock.now()) ?? ownZone();
    return whenPage(viewOf(asked, all), written ?? timing, { zone, said: describeTiming(timing, ownZone()) });
  }

  async write(asked: JobRequest): Promise<PageAnswer> {
    const { job } = asked;
    const timing = readTiming(asked.fields);
    const missing = listMissing(timing);
    if (missing.length > 0) return this.showWhen(asked, missing, timing);
    const { kind, day, time, zone, from, to, clock, days, sample } = timing;
    const isSaved = await this.edit(asked, 'changed when it leaves', (document) => {
      const put = (path: readonly string[], value: unknown) => {
        const at = ['steps', 0, ...path];
        if (value === undefined) document.deleteIn(at);
        else document.setIn(at, document.createNode(value));
      };
      put(['template', 'scheduled'], kind === 'at' ? { at: `${day} ${time}`, timeZone: zone } : undefined);
      const hours = { from, to, days, timeZone: clock || 'recipient' };
      const isThere = isMap(document.getIn(['steps', 0, 'window'], true));
      // What a person wrote beside them, such as `outside`, stays.
      if (kind !== 'window') put(['window'], undefined);
      else if (!isThere) put(['window'], { ...hours, outside: 'wait' });
      else for (const [key, value] of Object.entries(hours)) put(['window', key], value);
      put(['ramp'], sample === '' ? undefined : [{ share: sample, ask: true }]);
    });
    const conflict = conflictOf('The campaign', `says: ${describeTiming(job.timing, ownZone())}`);
    if (!isSaved) return this.showWhen(asked, [conflict], timing);
    const isFaulty = (await this.#check(asked)).length > 0;
    return { to: `/c/${asked.name}/${isFaulty || asked.fields.next === undefined ? 'when' : 'check'}` };
  }

  async #check(asked: JobRequest): Promise<Wrong[]> {
    return wrongOf(await this.checkJob(asked)).flatMap((each) => {
      const field = each.key?.split('.').flatMap((part) => FIELDS[part] ?? [])[0];
      return field === undefined ? [] : [{ ...each, field }];
    });
  }
}

/** What the form itself can say, so that no such job is written. */
function listMissing({ kind, day, time, zone, from, to, days, sample }: Timing): Wrong[] {
  const [isAt, isWindow] = [kind === 'at', kind === 'window'];
  const checks: readonly (readonly [isMissing: boolean, message: string, field: string])[] = [
    [isAt && day === '', 'Say on which day it leaves', 'day'],
    [isAt && time === '', 'Say at what time it leaves', 'time'],
    [isAt && zone === '', 'Say whose clock the time is of, such as Asia/Singapore', 'zone'],
    [isAt && sample !== '', 'Choose a time or a sample: what the service holds leaves all at once', 'sample'],
    [isWindow && from === '', 'Say from what time on messages may leave', 'from'],
    [isWindow && to === '', 'Say until what time messages may leave', 'to'],
    [isWindow && days.length === 0, 'Tick the days on which messages may leave', 'days'],
  ];
  return checks.flatMap(([isMissing, message, field]) => (isMissing ? [{ message, field }] : []));
}

/** From Monday on, as `DAYS`. */
const DAY_NAMES = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

/** `said`: as it is saved. */
function whenPage(view: View, timing: Timing, { zone, said }: { zone: string; said: string }): PageAnswer {
  const choice = (kind: Timing['kind'], title: string, hint: string, fields: Html = NOTHING) =>
    html`<div class="column"><label class="tick" for="when-${kind}"><input type="radio" name="when" id="when-${kind}" value="${kind}"${timing.kind === kind && html` checked`} aria-describedby="when-${kind}-hint"> <b>${title}</b></label><span class="hint" id="when-${kind}-hint">${hint}</span>${fields}</div>
`;
  const field = (id: keyof Timing & string, label: string, value: string, type: string) =>
    renderField(view, { id, label, value, attributes: html` type="${type}"` });
  const zoned = html` list="zones" autocomplete="off"`;
  const days = DAYS.map(
    (day, at) =>
      html`<label class="tick inline"><input type="checkbox" name="day-${day}"${timing.days.includes(day) && html` checked`}> ${DAY_NAMES[at] ?? day}</label> `,
  );
  const form = html`<div role="radiogroup" aria-label="When">
${choice('now', 'At once', 'As soon as you have typed the number and pressed Send.')}
${choice(
  'at',
  'At a time',
  'The service holds the messages until then, at most seven days; this machine may be off. Until then they can be taken back.',
  html`${field('day', 'Day', timing.day, 'date')}${field('time', 'Time', timing.time, 'time')}${renderField(view, { id: 'zone', label: 'Whose clock', hint: 'A time zone, such as Asia/Singapore.', value: timing.zone || zone, attributes: zoned })}`,
)}
${choice(
  'window',
  'Only between times',
  'This machine must be on. Outside these times sending waits, and goes on by itself.',
  html`${field('from', 'From', timing.from || '09:00', 'time')}${field('to', 'To', timing.to || '20:00', 'time')}<div role="group" aria-label="Days" id="days">${days}</div>${renderField(view, { id: 'clock', label: 'By whose clock', hint: "Empty: by each recipient's, from the country of the number. Or a time zone, such as Asia/Singapore.", value: timing.clock, attributes: zoned })}`,
)}
</div>
<datalist id="zones">${Intl.supportedValuesOf('timeZone').map((each) => html`<option value="${each}"></option>`)}</datalist>
${renderField(view, { id: 'sample', label: 'A sample first', hint: 'In percent of the people, such as 5%. The rest waits until you have looked at how it went, and say so. Empty: all at once.', value: timing.sample, attributes: html` size="6"` })}`;
  return renderPage(view, {
    title: 'When',
    body: html`<h1>When it leaves</h1><p>As it is saved: <b>${said}</b>.</p>
${renderStep(view, 'when', form)}`,
    command: 'volley check job.yaml',
  });
}
