import { describe, expect, test, vi } from 'vitest';
import { EXAMPLES } from '../kinds/examples.js';
import { ALL } from '../one-in.js';
import { type Scene, withScene } from './a-fault-run.js';
import { STATUS_FAULTS } from './answer-faults.js';
import { type Choice, faultsOf, isNoTwin, named } from './every-fault.js';
import type { Means } from './fault.js';
import { aKind, type Kind } from './kinds.js';
import { expectLaw } from './law.js';

// A run that goes on waits out the second after the last request before it.
vi.setConfig({ maxConcurrency: 20 });

const CONVERSATIONS = aKind('conversations');
const KIND: Kind = { ...CONVERSATIONS, step: { ...CONVERSATIONS.step, ...EXAMPLES.conversations.making } };

/** What a call that makes something comes to: made after all, not made and said so, or no one knows and that is said. */
const ENDS: Readonly<Record<Means, readonly ('made' | 'not made' | 'unknown')[]>> = {
  'not-sent': ['made'],
  'turned-away': ['made'],
  answered: ['made'],
  refused: ['not made'],
  stop: ['not made'],
  unknown: ['unknown'],
  unread: ['unknown'],
  elsewhere: ['unknown'],
  race: ['made', 'unknown'],
  stray: ['made', 'unknown', 'not made'],
};

/** Where no whole answer came, it is the same for every call. */
const isChosen: Choice = (fault) => isNoTwin(fault) && (fault.means !== 'unknown' || STATUS_FAULTS.includes(fault));

describe.concurrent.each(ALL ? (['webhook', 'channel'] as const) : (['channel'] as const))(
  'a job that makes a %s before a server that',
  (thing) => {
    const faults = faultsOf(KIND, isChosen).filter(({ isNeverFirst }) => isNeverFirst !== true);

    test.each(named(faults))('%s', async (_, fault) => {
      const isTarget = (request: { path: string }) => request.path.endsWith(`/${thing}s`);
      await withScene(KIND, { fault, at: 1, lasts: 'once', isTarget }, async (scene) => {
        const first = await scene.run();
        const end = endOf(first);
        expect(ENDS[fault.means]).toContain(end);
        expect(scene.server.struck).toBe(1);
        await scene.server.heal();

        const last = end === 'made' ? first : await scene.run();

        expect(last).toMatchObject({ code: 0, summary: { balance: { accepted: 5 } } });
        expectLaw(last.summary!, KIND, scene.server);
        expectMadeOnce(scene, thing, end === 'unknown');
      });
    });
  },
);

function endOf({ code, summary }: Awaited<ReturnType<Scene['run']>>): 'made' | 'not made' | 'unknown' {
  if (code === 0) return 'made';
  expect([code, summary!.balance]).toMatchObject([4, { accepted: 0, inDoubt: 0, unprocessed: 5 }]);
  return summary!.stop!.fault === 'unknown-id' ? 'unknown' : 'not made';
}

/** There may be a second one only where the person read that there might be a first. */
function expectMadeOnce({ server }: Scene, thing: 'webhook' | 'channel', wasUnknown: boolean): void {
  const made = (what: string) =>
    server.service.ledger.filter((entry) => entry.area === 'gateway' && entry.kind === what).length;
  expect(made(thing === 'webhook' ? 'channel' : 'webhook')).toBe(1);
  expect(made(thing)).toBeGreaterThanOrEqual(1);
  expect(made(thing)).toBeLessThanOrEqual(wasUnknown ? 2 : 1);
}
