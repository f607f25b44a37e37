import { expect, test } from 'vitest';
import { ALL, oneIn } from '../one-in.js';
import { aJob, anSmsStep, numberOf, people } from './a-job.js';
import { aWorkspace } from './a-workspace.js';
import { until } from './command.js';

const PEOPLE = 400;
/** Processes that are killed at most. */
const KILLS = ALL ? 12 : 6;
const SLOW = Array.from({ length: 60 }, (_, index) => 2 + index * 3);
/** What left right before the line was durable, and came in right behind it. */
const UNDER_WAY_MS = 2000;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** From a seed, in [0, 1). */
function aChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test.each(oneIn(3, [1, 2, 3]))(
  'no one gets a message once their STOP is acknowledged, whatever happens to the run: %i',
  async (seed) => {
    const random = aChance(seed * 7919);
    const workspace = await aWorkspace({ kind: 'latency', delayMs: 150, area: 'sms', nth: SLOW });
    workspace.write('people.csv', people(PEOPLE));
    const limits = { requestsPerSecond: 12, concurrency: 2 };
    workspace.writeJob(
      aJob(workspace, { optOuts: 'opt-outs.csv', failOn: 'nothing', steps: [anSmsStep({ batchSize: 4, limits })] }),
    );
    const listener = workspace.start(['listen', '--opt-outs', 'opt-outs.csv', '--port', '0']);
    const { origin } = JSON.parse(await listener.firstLine());
    const acknowledged = new Map<string, number>();
    const answerStop = async (person: number) => {
      const payload = { umid: `u-${person}`, source: numberOf(person), destination: '+6598', body: 'Stop.' };
      const event = { namespace: 'SMS', eventType: 'inbound_message_received', payload };
      const { status } = await fetch(origin, { method: 'POST', body: JSON.stringify(event) });
      expect(status).toBe(200);
      acknowledged.set(numberOf(person), Date.now());
    };

    await workspace.volley('plan', 'job.yaml');
    const run = workspace.runOf(workspace.plans()[0] ?? '');
    let code: number | null = null;
    for (let life = 0; code !== 0 && life < 40; life += 1) {
      const running = workspace.start(['apply', run]);
      const before = workspace.requests().length;
      let hasEnded = false;
      const ended = running.ended.then((end) => {
        hasEnded = true;
        code = end.code;
      });
      const kills = random() < 0.8 && life < KILLS;
      await until(() => hasEnded || workspace.requests().length > before);
      for (let left = 3 + random() * 6; !hasEnded && left > 0; left -= 1) {
        await sleep(random() * 400);
        const person = 1 + Math.floor(random() * PEOPLE);
        if (random() < 0.3) {
          running.signal('SIGSTOP');
          await answerStop(person);
          await sleep(random() * 800);
          running.signal('SIGCONT');
        } else await answerStop(person);
      }
      if (kills) running.signal('SIGKILL');
      await ended;
    }
    expect(code).toBe(0);

    const sent = await workspace.sms();
    const numbers = sent.map(({ destination }) => destination);
    expect(new Set(numbers).size).toBe(numbers.length);
    const late = sent.filter(
      ({ destination, at }) => Date.parse(String(at)) > (acknowledged.get(destination) ?? Infinity) + UNDER_WAY_MS,
    );
    expect(late).toEqual([]);
    const outputs = ['results', 'in-doubt', 'unprocessed', 'skipped'].map((name) =>
      workspace.read(`${run}/1-sms.${name}.csv`),
    );
    expect(outputs.map((text) => text.split('\n').length - 2).reduce((sum, rows) => sum + rows, 0)).toBe(PEOPLE);
    expect(outputs[2]).toContain('opted-out');
    listener.signal('SIGTERM');
  },
);
