import { describe, expect, it } from 'vitest';
import { emptyBalance, type Summary } from '../../src/report/summary.js';
import { createReceiptJoining, describeJoined } from '../../src/settle/run-receipts.js';
import type { JoinEnd } from '../../src/settle/settle-receipts.js';
import { FakeClock } from '../run/fake-clock.js';
import { aSummary } from '../texts/a-summary.js';

const HELD: JoinEnd = { kind: 'held', said: 'process 9 is running it' };

function joined(accepted: number, deliveries: Record<string, number> = {}): JoinEnd {
  const { directory, run: plan } = A_RUN;
  const summary: Summary = { ...aSummary(), plan, directory, deliveries, balance: emptyBalance(), steps: [] };
  return { kind: 'joined', foreign: 2, settled: { accepted, rejected: 0, notSent: 0 }, summary };
}

const A_RUN = { run: 'p', directory: '/out/sale/p' };

/** A joining that has made its first pass, of one run; each pass takes `tookMs` and ends as the next of `ends` says. */
async function aJoining(ends: (JoinEnd | Error)[] = [], tookMs = 0) {
  const clock = new FakeClock();
  const said: string[] = [];
  const say = (level: string) => (message: string) => void said.push(`${level}: ${message}`);
  const passes = { count: 0 };
  let firstEnded = () => {};
  const first = new Promise<void>((resolve) => {
    firstEnded = resolve;
  });
  const sleep = clock.sleep.bind(clock);
  clock.sleep = (delayMs, signal) => {
    firstEnded();
    return sleep(delayMs, signal);
  };
  const joining = createReceiptJoining({
    clock,
    log: { info: say('info'), warn: say('warn'), error: say('error') },
    join: async () => {
      passes.count += 1;
      clock.jump({ wallMs: tookMs, steadyMs: tookMs });
      const end = ends.shift() ?? { kind: 'nothing' };
      if (end instanceof Error) throw end;
      return end;
    },
    onPause: async () => {},
  });
  joining.note(A_RUN);
  joining.begin();
  await first;
  return { joining, clock, said, passes };
}

describe('joining receipts', () => {
  it('is done at the start, every ten seconds in which receipts came, and at the end where a runner may have put rows in doubt since', async () => {
    const { joining, clock, passes } = await aJoining();
    expect(passes.count).toBe(1);
    await clock.pass(10_000);
    expect(passes.count).toBe(1);
    joining.note(A_RUN);
    await clock.pass(9_999);
    expect(passes.count).toBe(1);
    await clock.pass(1);
    expect(passes.count).toBe(2);
    await joining.finish();
    expect(passes.count).toBe(3);
  });

  it('pauses ten times as long as it took', async () => {
    const { joining, clock, passes } = await aJoining([], 4000);
    joining.note(A_RUN);
    await clock.pass(39_999);
    expect(passes.count).toBe(1);
    await clock.pass(1);
    expect(passes.count).toBe(2);
    await joining.finish();
  });

  it('is tried again while a runner has the job, and says so once', async () => {
    const { joining, clock, said, passes } = await aJoining([HELD, HELD, joined(2)]);
    await clock.pass(10_000);
    await clock.pass(10_000);
    await clock.pass(10_000);
    expect(passes.count).toBe(3);
    await joining.finish();
    expect(said).toEqual([
      'warn: receipts are kept, and joined when the job is free: process 9 is running it',
      'info: rows in doubt that receipts settled: 2 accepted, 0 rejected',
    ]);
  });

  it('that a runner holds up to the end says what is to be done', async () => {
    const { joining, said } = await aJoining([HELD, HELD]);
    await joining.finish();
    expect(said.at(-1)).toBe('warn: receipts are not joined: listen again when the job of /out/sale/p is free');
  });

  it('that fails is reported, and the next one makes up for it', async () => {
    const { joining, clock, said } = await aJoining([new Error('ENOSPC'), joined(1)]);
    await clock.pass(10_000);
    await joining.finish();
    expect(said[0]).toBe('error: cannot join receipts now, will try again later: ENOSPC');
    expect(joining.totals[0]?.settled).toEqual({ accepted: 1, rejected: 0 });
  });

  it('is not done once more at the end for a finished run of which nothing came since', async () => {
    const { joining, passes } = await aJoining([joined(0)]);
    await joining.finish();
    expect(passes.count).toBe(1);
  });

  it('that fails at the end throws', async () => {
    const { joining } = await aJoining([joined(0), new Error('ENOSPC')]);
    joining.note(A_RUN);
    await expect(joining.finish()).rejects.toThrow('ENOSPC');
  });

  it('adds up what was settled, and tells the deliveries as they are at last', async () => {
    const { joining } = await aJoining([joined(2, { sent: 1 }), joined(1, { delivered: 3, undelivered: 1 })]);
    joining.note(A_RUN);
    await joining.finish();
    const totals = {
      directory: '/out/sale/p',
      settled: { accepted: 3, rejected: 0 },
      deliveries: { delivered: 3, undelivered: 1 },
      foreign: 2,
    };
    expect(joining.totals).toEqual([totals]);
    expect(describeJoined(totals)).toBe(
      'messages with a receipt: 3 delivered, 1 undelivered; settled: 3 accepted, 0 rejected; 2 receipts of others',
    );
  });
});
