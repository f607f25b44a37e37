import { isMap } from 'yaml';
import { findZone, ownZone } from '../domain/stated-time.js';
import { Desk, type JobRequest, viewOf } from './desk.js';
import type { PageAnswer } from './pages/layout.js';
import { whenPage } from './pages/timing-pages.js';
import { conflictOf, type Wrong, wrongOf } from './pages/wrong.js';
import { describeTiming, readTiming, type Timing } from './timing.js';

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
    const conflict = conflictOf('The campaign', `says: ${describeTiming(job.timing, ownZone())}`);
    if (asked.fields.sha256 !== job.sha256) return this.showWhen(asked, [conflict], timing);
    const { kind, day, time, zone, from, to, clock, days, sample } = timing;
    await this.edit(asked, 'changed when it leaves', (document) => {
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
