import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { CONSOLE_SCRIPT } from '../../src/console/assets.js';

type Given = Partial<Pick<Response, 'status' | 'type'>> & { readonly json?: object };

/** What the form of an upload of 5 bytes has said, where its requests are answered so, one after the other; `lost`: none came. */
async function sayOnUpload(answers: readonly (Given | 'lost')[]): Promise<string[]> {
  const said: string[] = [];
  let submit: (event: { preventDefault(): void }) => Promise<void> = async () => {};
  const file = { files: [{ name: 'people.csv', size: 5, slice: () => 'slice' }], value: '' };
  const form = {
    elements: { file, token: { value: 'token' } },
    dataset: { slices: '/c/sale/slices' },
    querySelector: () => ({
      set textContent(text: string) {
        said.push(text);
      },
    }),
    addEventListener: (_: string, act: typeof submit) => {
      submit = act;
    },
    submit: () => said.push(`submitted ${file.value}`),
  };
  const left = [...answers];
  runInNewContext(CONSOLE_SCRIPT, {
    document: {
      querySelectorAll: () => [],
      querySelector: (selector: string) => (selector === 'form[data-slices]' ? form : null),
    },
    setTimeout: (act: () => void) => act(),
    fetch: async () => {
      const next = left.shift();
      if (next === undefined || next === 'lost') throw new TypeError('failed to fetch');
      const { status = 200, type = 'basic', json } = next;
      const read = async () => {
        if (json === undefined) throw new SyntaxError('no JSON');
        return json;
      };
      return { ok: status >= 200 && status < 300, status, type, json: read };
    },
  });
  await submit({ preventDefault: () => {} });
  return said;
}

const HAS_NONE = { json: { has: 0, slice: 10 } };
const LOST = 'The connection broke off. Going on as soon as it is back.';

test.each<[string, Given, string]>([
  ['in the words of the console', { status: 403, json: { said: 'You are viewer here.' } }, 'You are viewer here.'],
  ['also where it failed itself', { status: 500, json: { said: 'It is in the log.' } }, 'It is in the log.'],
  [
    'that leads to signing in',
    { status: 0, type: 'opaqueredirect' },
    'You are not signed in any more. Reload the page.',
  ],
  ['of a proxy that knows no session', { status: 401 }, 'You are not signed in any more. Reload the page.'],
  ['of a proxy', { status: 413 }, 'It was refused, with status 413.'],
])('an upload that is refused says so, and ends: %s', async (_, refusal, sentence) => {
  expect(await sayOnUpload([HAS_NONE, refusal])).toEqual([sentence]);
});

test('an upload whose connection is lost, or whose proxy has no answer, goes on where it broke off', async () => {
  const said = await sayOnUpload([
    HAS_NONE,
    'lost',
    { status: 502 },
    HAS_NONE,
    { json: { has: 5, name: 'people-2.csv' } },
  ]);
  expect(said).toEqual([LOST, LOST, '0.0 of 0.0 MB', 'submitted people-2.csv']);
});

/** Where a page that waits is led by an answer, and what it says then. */
async function follow({ status = 200, json }: Given): Promise<{ to: string | undefined; says: string }> {
  const page = { dataset: { live: '/c/sale/run', title: 'Sending' }, textContent: '1 of 3' };
  const turns: (() => Promise<void>)[] = [];
  let to: string | undefined;
  runInNewContext(CONSOLE_SCRIPT, {
    document: {
      hidden: false,
      querySelectorAll: () => [],
      querySelector: (selector: string) => (selector === '[data-live]' ? page : null),
    },
    location: {
      replace: (path: string) => {
        to = path;
      },
    },
    setTimeout: (act: () => Promise<void>) => turns.push(act),
    fetch: async () => ({ status, json: async () => json }),
  });
  await turns[0]?.();
  return { to, says: page.textContent };
}

test.each<[string, Given, Awaited<ReturnType<typeof follow>>]>([
  ['says what is new', { json: { title: 'Sending', said: '2 of 3' } }, { to: undefined, says: '2 of 3' }],
  ['follows to another page', { json: { title: 'Report' } }, { to: '/c/sale/run', says: '1 of 3' }],
  ['follows once it waits no more', { json: { title: 'Sending' } }, { to: '/c/sale/run', says: '1 of 3' }],
  ['leads out of a visit that is over', { status: 401, json: { said: 'x' } }, { to: '/c/sale/run', says: '1 of 3' }],
  ['stays where the console failed', { status: 500, json: { said: 'x' } }, { to: undefined, says: '1 of 3' }],
])('a page that waits %s', async (_, answer, then) => {
  expect(await follow(answer)).toEqual(then);
});
