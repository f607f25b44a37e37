import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { nodeEnv } from '../../src/command/env.js';
import { PATIENCE_MS } from '../../src/console/pages/desk.js';
import { Rejections } from '../../src/console/rejections.js';
import { people } from '../e2e/a-job.js';
import { openAConsole, textOf } from './a-console.js';

const TIMEOUT_MS = 120_000;

describe('what takes long with a large list', { timeout: TIMEOUT_MS }, () => {
  const console = openAConsole();

  /** No page waits for what it shows any longer. */
  function loseThePatience(): void {
    const { sleep } = nodeEnv.clock;
    const spy = vi
      .spyOn(nodeEnv.clock, 'sleep')
      .mockImplementation(async (delayMs, signal) => (delayMs === PATIENCE_MS ? undefined : sleep(delayMs, signal)));
    onTestFinished(() => spy.mockRestore());
  }

  test('is looked for once, on a page that says so and follows by itself: the rows to fix', async () => {
    await console.aCampaign('rows', `${people(2)}Dora,n/a\n`);
    await console.check('rows');
    const { list } = Rejections.prototype;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = vi.spyOn(Rejections.prototype, 'list').mockImplementation(async function (this: Rejections, of) {
      await released;
      return list.call(this, of);
    });
    onTestFinished(() => slow.mockRestore());
    loseThePatience();
    const path = '/c/rows/fix?code=placeholder';
    for (let at = 0; at < 3; at++) {
      const page = await console.ask(path);
      expect([page.status, textOf(page)]).toEqual([200, expect.stringContaining('Volley collects the rows')]);
      expect(page.text).toContain('data-live="/c/rows/fix?code=placeholder"');
    }
    expect(slow).toHaveBeenCalledTimes(1);
    vi.mocked(nodeEnv.clock.sleep).mockRestore();
    release();
    await console.until(path);
    expect(await console.textAt(path)).toContain('name: Dora');
  });

  test.each(['longest', 'random'])('is looked for on a page that says so: the %s messages', async (show) => {
    await console.aCampaign(show, people(5));
    const { to = `/c/${show}/message?show=${show}` } = await console.ask(`/c/${show}/message?show=${show}`);
    const path = to.replace('#messages', '');
    const rows = () => console.textAt(path).then((text) => text.match(/line \d+/g));
    const first = await rows();
    expect(first).toHaveLength(3);
    await console.save(`/c/${show}/message`, { sender: 'LADEN', message: `Another for {{ name }}` });
    loseThePatience();
    expect(await console.textAt(path)).toContain('Volley reads every row of the file');
    await console.until(path);
    vi.mocked(nodeEnv.clock.sleep).mockRestore();
    expect(await console.textAt(path)).toContain('Another for P');
    expect(await rows()).toEqual(first);
  });
});
