import { expect, test } from 'vitest';
import { TEST_CREDENTIALS } from '../../src/sandbox/admission.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { serviceOf } from '../console/a-console.js';
import { FIXED, inspect, NUMBERS, openToVisits, PEOPLE } from './a-visit.js';

const TIMEOUT_MS = 300_000;

const { console, visit } = openToVisits({ VOLLEY_API_KEY: TEST_CREDENTIALS.apiKey });

test('what is left of a run can be read and decided likewise: in doubt, taken back, corrected, had already', {
  timeout: TIMEOUT_MS,
}, async () => {
  const sandbox = await startSandbox({ rateLimits: {}, faults: [{ kind: 'reset-after', area: 'sms', nth: 1 }] });
  const { page, complaints, go, see, enter } = await visit();
  const at = new Date(Date.now() + 86_400_000).toISOString().slice(0, 19);
  const start = async (name: string, change: (job: string) => string) => {
    await console.aCampaign(name, ofOthers(PEOPLE.replace('First Name', 'name'), name));
    console.changeJob(name, change);
    await send(name, 5);
  };
  const send = async (name: string, count: number) => {
    await console.check(name);
    await console.send(name, count);
    await page.goto(`${console.origin}/c/${name}/run`);
  };
  await start('doubt', (job) => job.replace('sandbox: true', serviceOf(sandbox)));
  await inspect(page);
  await see('a:has-text("in doubt")', '**/doubt/doubt');
  await see('text=Count as sent', '.wrong a[href="#count"]');
  await page.fill('#count', '5');
  await go('text=Count as sent', '**/run');
  const hold = (job: string) => job.replace('template:', `template:\n      scheduled: { at: "${at}", timeZone: UTC }`);
  await start('later', (job) => hold(job.replace('sandbox: true', serviceOf(sandbox))));
  await see('a:has-text("Take back")', /take-back/);
  await page.fill('#count', '5');
  await see('main button:text-is("Take back")', 'text=5 messages taken back');
  await start('again', (job) => job);
  // What could not be used is corrected, and sent.
  await see('a:has-text("Fix 1 row")', '**/fix');
  await enter('#cell-0-1', '+65 91', '.wrong a[href="#cell-0-1"]');
  await page.fill('#cell-0-1', ofOthers(FIXED, 'again'));
  await page.keyboard.press('Enter');
  await page.waitForSelector('button:text-is("Check the 1")');
  await page.waitForLoadState();
  expect((await page.locator('button:text-is("Check the 1")').boundingBox())?.y, 'in sight').toBeLessThan(900);
  await inspect(page);
  await page.dblclick('text=Check the 1');
  await page.waitForSelector('#count');
  await page.fill('#count', '1');
  await page.dblclick('text=Send >> nth=-1');
  await page.waitForSelector('text=the service accepted 6 messages');
  await inspect(page);
  await page.goto(`${console.origin}/c/again/fix`);
  await page.waitForSelector('text=Nothing is left to fix.');
  await inspect(page);
  expect(console.sent('again')).toEqual([...NUMBERS, FIXED].map((number) => ofOthers(number, 'again')));
  const more = ofOthers(`${PEOPLE.replace('First Name', 'name')}Di,+6591234998,\n`, 'again');
  await console.post('/c/again/file', { path: console.write('more.csv', more) });
  await send('again', 1);
  await page.waitForSelector('text=had exactly this text already');
  await inspect(page);
  await go('text=all the same', 'text=sent again');
  expect(complaints).toEqual([]);
  await page.close();
  await sandbox.close();
});

/** Of one campaign alone: who had the text from one gets it from no other. */
function ofOthers(text: string, campaign: string): string {
  return text.replaceAll('+6591234', `+659123${5 + ['doubt', 'later', 'again'].indexOf(campaign)}`);
}
