import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { type AConsole, openAConsole } from '../console/a-console.js';
import { runCommandInProcess } from '../e2e/command-in-process.js';
import { ALL, stepsOf } from '../one-in.js';
import { aBrowser } from './a-browser.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Cells that some pages elsewhere ran or hid. */
export const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '{{ 7 }}',
  '=cmd()',
  'abc\u202Egnp',
  '"><script>alert(1)</script>',
];
export const PEOPLE = `First Name,Mobile,Fax\n${HOSTILE.map((name, at) => `"${name.replaceAll('"', '""')}",+6591234${500 + at},`).join('\n')}\nCy,n/a,\n`;
/** Of those people, in the order of the file. */
export const NUMBERS = HOSTILE.map((_, at) => `+6591234${500 + at}`);
/** For the one who has none. */
export const FIXED = '+6591234999';

const LOOKS = [768, 1280, 360].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
);
/** So many pages apart are those that are looked at. */
const APART = 3;
const { first: turn } = stepsOf(APART * LOOKS.length);
let inspected = 0;

interface Visit {
  readonly page: Page;
  /** Of its console, such as of what the policy forbids. */
  readonly complaints: string[];
  /** Clicks, and waits for what it leads to. */
  go(clicked: string, then: string | RegExp): Promise<void>;
  /** The same, and looks at the page. */
  see(clicked: string, then: string | RegExp): Promise<void>;
  /** Ends a field with Enter, and looks at what that leads to. */
  enter(field: string, text: string, then: string): Promise<void>;
}

/** A console that the tests of a file share, and visits to it, each by a link of its own. */
export function openToVisits(env?: Readonly<Record<string, string>>): {
  console: AConsole;
  visit: (options?: BrowserContextOptions) => Promise<Visit>;
} {
  const console = openAConsole(env);
  let browser: Browser;
  beforeAll(async () => {
    browser = await aBrowser();
  });
  afterAll(() => browser?.close());
  return { console, visit: (options) => aVisit(browser, console, options) };
}

async function aVisit(browser: Browser, console: AConsole, options: BrowserContextOptions = {}): Promise<Visit> {
  const { directory: cwd } = console;
  const { stdout } = await runCommandInProcess(['console', '--directory', cwd, '--link', '--json'], { cwd, env: {} });
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // A page that says what is wrong is answered with 422.
    if (!message.text().includes('status of 422')) complaints.push(message.text());
  });
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('dialog', (dialog) => complaints.push(dialog.message()));
  await page.goto(JSON.parse(stdout).link);
  const go: Visit['go'] = async (clicked, then) => {
    await page.click(clicked);
    await arrive(page, then);
  };
  const see: Visit['see'] = async (clicked, then) => {
    await go(clicked, then);
    await inspect(page);
  };
  const enter: Visit['enter'] = async (field, text, then) => {
    await page.fill(field, text);
    await page.keyboard.press('Enter');
    await arrive(page, then);
    await inspect(page);
  };
  return { page, complaints, go, see, enter };
}

/** At an address, which begins with stars, or where this can be seen. */
export async function arrive(page: Page, then: string | RegExp): Promise<void> {
  if (then instanceof RegExp || then.startsWith('**')) await page.waitForURL(then);
  else await page.waitForSelector(then);
}

/** It needs no scrolling to the side, and axe finds nothing that hinders anyone. With each commit one page in three is looked at, in one way; with the next, others. */
export async function inspect(page: Page): Promise<void> {
  inspected += 1;
  // What a click led to may not have its styles yet.
  await page.waitForLoadState();
  const look = (inspected + turn) % (APART * LOOKS.length);
  for (const { width, colorScheme } of ALL ? LOOKS : LOOKS.slice(look, look + 1)) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    expect(await page.evaluate('document.documentElement.scrollWidth'), page.url()).toBeLessThanOrEqual(width);
    expect((await measureRings(page)).filter(isFaint), page.url()).toEqual([]);
    await read(page);
  }
}

/** WCAG 2.2, 1.4.11 and 2.4.13: the ring about what has the focus against what is beside it. */
export function isFaint({ contrast, width }: Ring): boolean {
  return contrast < 3 || width < 2;
}

interface Ring {
  readonly of: string;
  readonly contrast: number;
  readonly width: number;
}

/** The ring of each element of a page that takes the focus, as it is drawn: outside of it, on the ground of what it is in. */
export async function measureRings(page: Page): Promise<Ring[]> {
  // From now on the focus is that of a keyboard, and is shown; a page that has only just opened may not take the first key.
  do await page.keyboard.press('Tab');
  while (!(await page.evaluate("document.activeElement.matches(':focus-visible')")));
  return page.evaluate(`[...document.querySelectorAll('a[href],button,input,select,textarea,summary')].flatMap((of) => {
    if (!of.checkVisibility() || of.type === 'hidden') return [];
    of.focus();
    const channelsOf = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
    const light = ([red, green, blue]) => [red, green, blue]
      .map((each) => each / 255)
      .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4))
      .reduce((sum, each, at) => sum + each * [0.2126, 0.7152, 0.0722][at], 0);
    let ground = of.parentElement;
    while (ground && channelsOf(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement;
    const own = getComputedStyle(of);
    const isDrawn = of.matches(':focus-visible') && own.outlineStyle === 'solid' && parseFloat(own.outlineOffset) > 0;
    const beside = ground ? channelsOf(getComputedStyle(ground).backgroundColor) : [255, 255, 255];
    const lights = [light(channelsOf(own.outlineColor)), light(beside)].sort((one, other) => other - one);
    const contrast = (lights[0] + 0.05) / (lights[1] + 0.05);
    return [{ of: of.outerHTML.slice(0, 90), contrast, width: isDrawn ? parseFloat(own.outlineWidth) : 0 }];
  })`);
}

async function read(page: Page): Promise<void> {
  // The policy of the page lets no script in: axe comes by the debugger.
  await page.evaluate(AXE);
  const { violations }: AxeResults = await page.evaluate("axe.run({ resultTypes: ['violations'] })");
  expect(
    violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
    page.url(),
  ).toEqual([]);
}
