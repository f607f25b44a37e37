import { describe, expect, test } from 'vitest';
import { people } from '../e2e/a-job.js';
import { type Answer, expectSaid, openAConsole } from './a-console.js';

const TIMEOUT_MS = 120_000;

const FORMS = [
  ...['/new', '/people', '/people/opt', '/c/odd/file', '/c/odd/columns', '/c/odd/message', '/c/odd/who', '/c/odd/when'],
  ...['/c/odd/live', '/c/odd/test', '/c/odd/check', '/c/odd/send', '/c/odd/stop', '/c/odd/go-on', '/c/odd/fix'],
  ...['/c/odd/fix/put', '/c/odd/fix/check', '/c/odd/fix/upload', '/c/odd/doubt', '/c/odd/doubt/export'],
  ...['/c/odd/retry', '/c/odd/take-back'],
];
const PAGES = ['', '/file', '/columns', '/message', '/who', '/when', '/test', '/check', '/run', '/fix', '/doubt'];
const FIELDS = ['path', 'number', 'to', 'destination', 'country', 'sheet', 'message', 'sender', 'run', 'code'];

describe('what no page of the console sends', { timeout: TIMEOUT_MS }, () => {
  const console = openAConsole();

  function expectAPage(answer: Answer, about: string): void {
    const hasWay = answer.to !== undefined || /<a href="\//.test(answer.text);
    expect([about, answer.status < 500, hasWay]).toEqual([about, true, true]);
  }

  test.each([
    ['bytes that no path has', '/tmp/a\0b'],
    ['a path longer than any', `/${'x'.repeat(5000)}`],
    ['a flag', '--help'],
  ])('%s, in any field, is refused by a page that leads on', async (_what, value) => {
    await console.aCampaign('odd', people(2));
    for (const form of FORMS.filter((each) => each !== '/c/odd/check')) {
      const fields = Object.fromEntries(FIELDS.map((field) => [field, value]));
      const { sha256 } = await console.formOf('/c/odd/message');
      expectAPage(await console.post(form, { sha256, name: value, ...fields }), form);
    }
  });

  test('a form that is cut off, and a body that is none, do nothing', async () => {
    await console.aCampaign('odd', people(2));
    const multipart = { 'content-type': 'multipart/form-data; boundary=x' };
    for (const form of FORMS) {
      const headers = { ...multipart, origin: console.origin };
      expectSaid(await console.ask(form, { fields: new FormData(), headers }), 403, 'Nothing was done');
    }
  });

  test('an address that cannot be read leads on, with the headers of every page', async () => {
    for (const path of ['/c/%zz', '/c/odd/out/%zz', `/c/${'x'.repeat(400)}`]) {
      const answer = await console.ask(path);
      expectSaid(answer, 404, 'All campaigns');
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    }
  });

  test.each([
    ['names what it does not have', (job: string) => `${job}x: *nothing\n`],
    ['breaks off', (job: string) => `${job}x: [\n`],
    ['is a list', () => '- 1\n'],
    ['is empty', () => ''],
    ['has other values than it should', () => 'name: {}\nsteps: [{ kind: sms, input: 3, window: 3, template: [] }]\n'],
  ])('a job file that %s is shown by every page, and changed by none', async (_what, change) => {
    await console.aCampaign('odd', people(2));
    console.changeJob('odd', change);
    const before = console.jobOf('odd');
    for (const page of PAGES) expectAPage(await console.ask(`/c/odd${page}`), page);
    for (const form of FORMS.filter((each) => each.startsWith('/c/'))) expectAPage(await console.post(form), form);
    expect(console.jobOf('odd')).toBe(before);
    expectAPage(await console.ask('/'), '/');
    expectAPage(await console.ask('/people'), '/people');
  });
});
