import { DAYS } from '../../hours/window.js';
import { type Html, html, NOTHING } from '../../report/page/html.js';
import type { Timing } from '../timing.js';
import { renderField, renderStep } from './forms.js';
import { type PageAnswer, renderPage } from './layout.js';
import type { View } from './wrong.js';

/** From Monday on, as `DAYS`. */
const DAY_NAMES = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

/** `said`: as it is saved. */
export function whenPage(view: View, timing: Timing, { zone, said }: { zone: string; said: string }): PageAnswer {
  const choice = (kind: Timing['kind'], title: string, hint: string, fields: Html = NOTHING) =>
    html`<div class="column"><label class="tick" for="when-${kind}"><input type="radio" name="when" id="when-${kind}" value="${kind}"${timing.kind === kind ? html` checked` : NOTHING} aria-describedby="when-${kind}-hint"> <b>${title}</b></label><span class="hint" id="when-${kind}-hint">${hint}</span>${fields}</div>
`;
  const field = (id: keyof Timing & string, label: string, value: string, type: string) =>
    renderField(view, { id, label, value, attributes: html` type="${type}"` });
  const zoned = html` list="zones" autocomplete="off"`;
  const days = DAYS.map(
    (day, at) =>
      html`<label class="tick inline"><input type="checkbox" name="day-${day}"${timing.days.includes(day) ? html` checked` : NOTHING}> ${DAY_NAMES[at] ?? day}</label> `,
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
${renderField(view, { id: 'sample', label: 'A sample first', hint: 'How many of the people, such as 5%. The rest waits until you have looked at how it went, and say so. Empty: all at once.', value: timing.sample, attributes: html` size="6"` })}`;
  return renderPage(view, {
    title: 'When',
    body: html`<h1>When it leaves</h1><p>As it is saved: <b>${said}</b>.</p>
${renderStep(view, 'when', form)}`,
    command: 'volley check job.yaml',
  });
}
