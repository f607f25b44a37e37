import { expect } from 'vitest';
import type { Scene } from './a-fault-run.js';
import type { Fault } from './fault.js';
import { type Kind, rowsOf } from './kinds.js';
import { expectLaw, type Fate, fatesAfter, isStopping } from './law.js';

/** The fault meets one request; what becomes of its rows, and of all others, is known before. */
export async function meetOnce(kind: Kind, fault: Fault, { at, scene: { server, run } }: { at: number; scene: Scene }) {
  const { code, summary } = await run();

  const fates = expectLaw(summary!, kind, server);
  expect(server.struck, `request ${at}`).toBe(1);
  const wrong = rowsOf(kind).flatMap((row, index) => {
    const key = row[kind.column];
    const wanted = wantedFates(kind, fault, { at, index, isProcessed: server.service.kept.isTaken(kind.name, key) });
    const fate = fates.get(key) as Fate;
    return wanted.includes(fate) ? [] : [`row ${index + 1} is ${fate}, expected ${wanted.join(' or ')}`];
  });
  expect(wrong, `request ${at}`).toEqual([]);
  const { balance } = summary!;
  expect(code).toBe(isStopping(fault) ? 4 : codeOf(balance));

  await runOnceHealed(kind, { server, run }, { isFinished: !isStopping(fault), ...balance });
}

type Met = { at: number; index: number; isProcessed: boolean };

function wantedFates(kind: Kind, fault: Fault, { at, index, isProcessed }: Met): readonly Fate[] {
  const place = index - (at - 1) * kind.rowsPerRequest;
  if (place >= 0 && place < kind.rowsPerRequest) return fatesAfter(fault, kind, { place, isProcessed });
  return [place > 0 && isStopping(fault) ? 'unprocessed' : 'accepted'];
}

type Before = { isFinished: boolean; inDoubt: number; rejected: number };

/** The same command, before a server that does well: what is left is done, and what was held stays held. */
async function runOnceHealed(kind: Kind, { server, run }: Scene, before: Before): Promise<void> {
  await server.heal();
  const { requests } = server;

  const { code, summary } = await run();

  if (before.isFinished) {
    const idle = { code: codeOf({ inDoubt: before.inDoubt, rejected: 0 }), summary: undefined };
    expect({ code, summary, requests: server.requests }).toEqual({ ...idle, requests });
    return;
  }
  const { inDoubt, rejected } = before;
  expect(summary!.balance).toMatchObject({ inDoubt, rejected, unprocessed: 0 });
  expect(code).toBe(codeOf(before));
  expectLaw(summary!, kind, server);
}

function codeOf({ inDoubt, rejected }: { inDoubt: number; rejected: number }): number {
  if (inDoubt > 0) return 3;
  return rejected > 0 ? 1 : 0;
}

/** What was answered before is settled, what is held are rows of requests that met the fault, and nothing else is. */
export async function endure(kind: Kind, { at, scene: { server, run } }: { at: number; scene: Scene }): Promise<void> {
  const { code, summary } = await run();

  const fates = expectLaw(summary!, kind, server);
  expect(server.struck).toBeGreaterThan(0);
  const before = rowsOf(kind).slice(0, (at - 1) * kind.rowsPerRequest);
  expect(before.filter((row) => fates.get(row[kind.column]) !== 'accepted')).toEqual([]);
  const { balance, state } = summary!;
  const isFinished = state === 'finished';
  expect(isFinished ? [codeOf(balance)] : [4, 75]).toContain(code);

  await runOnceHealed(kind, { server, run }, { isFinished, ...balance });
}

/** Rows of one request are held at most: those beside it keep their connections and their answers. */
export async function meetAmongOthers(kind: Kind, fault: Fault, { server, run }: Scene): Promise<void> {
  const { summary } = await run();

  const fates = expectLaw(summary!, kind, server);
  const requestOf = (index: number) => Math.floor(index / kind.rowsPerRequest);
  const held = rowsOf(kind).flatMap((row, index) => (fates.get(row[kind.column]) === 'in-doubt' ? [index] : []));
  expect(new Set(held.map(requestOf)).size).toBeLessThanOrEqual(1);
  const { balance } = summary!;
  await runOnceHealed(kind, { server, run }, { isFinished: !isStopping(fault), ...balance });
}
