import { promises } from 'node:fs';
import { expect } from 'vitest';
import { type Env, nodeEnv } from '../../src/command/env.js';
import type { Transport } from '../../src/service/transport.js';
import { createFiles, type RawFiles } from '../../src/storage/files.js';
import { volleyIn, type Workspace } from './a-workspace.js';

/** No process has this number. */
const GONE = { ...nodeEnv.owner, pid: 2 ** 31 - 1 };

type Act = () => Promise<unknown>;
/** Gets the name of each operation on a disk, `write /out/x`, and does it; `tear`, of one that writes, does half of it. */
type Perform = (name: string, act: Act, tear?: Act) => Promise<unknown>;

export const deathOf = (what: string) =>
  Object.assign(new Error(`EIO: the process is dead, ${what}`), { code: 'EIO', syscall: what });

/** The real disk, each operation of which is done by `perform`. `close` closes what a process that died had open. */
export function aDiskOf(perform: Perform) {
  const opened: { close(): Promise<void> }[] = [];
  const watch = (target: object, path: string): object =>
    new Proxy(target, {
      get: (_, key) => {
        const member: unknown = Reflect.get(target, key);
        if (typeof member !== 'function' || key === 'close')
          return typeof member === 'function' ? member.bind(target) : member;
        return (...args: unknown[]) => {
          const act = async () => {
            const result = await Reflect.apply(member, target, args);
            if (key !== 'open') return result;
            opened.push(result);
            return watch(result, String(args[0]));
          };
          const [bytes, offset, length, ...position] = args;
          const half = [bytes, offset, Math.floor(Number(length) / 2), ...position];
          const tear = key === 'write' ? () => Reflect.apply(member, target, half) : undefined;
          return perform(`${String(key)} ${path === '' ? String(args[0]) : path}`, act, tear);
        };
      },
    });
  const close = () => Promise.allSettled(opened.map((handle) => handle.close()));
  return { files: createFiles(watch(promises, '') as RawFiles), close };
}

/**
 * A command in this process on a disk on which nothing is done any more from an operation on that is fatal; that one, if it
 * writes, is half done. Gives the names of all, and its lock is that of a process that is gone.
 */
export async function runUntil(
  isFatal: (name: string, count: number) => boolean,
  workspace: Workspace,
  ...args: string[]
): Promise<string[]> {
  const seen: string[] = [];
  let isDead = false;
  const disk = aDiskOf(async (name, act, tear) => {
    seen.push(name);
    if (!isDead && isFatal(name, seen.length)) {
      isDead = true;
      await tear?.();
    }
    if (isDead) throw deathOf(name);
    return act();
  });
  await volleyIn(workspace, { runtime: { files: disk.files, owner: GONE } }, ...args);
  await disk.close();
  return seen;
}

/**
 * A command in this process that can be killed: from then on nothing is done on its disk, its requests come to nothing, and its lock is that of
 * a process that is gone.
 */
function startMortal(workspace: Workspace, ...args: string[]): { kill(): Promise<void> } {
  const death = new AbortController();
  const refuseDead = (what: string) => {
    if (death.signal.aborted) throw deathOf(what);
  };
  const disk = aDiskOf(async (name, act) => {
    refuseDead(name);
    return act();
  });
  const loadTransport: Env['loadTransport'] = async () => {
    const create = await nodeEnv.loadTransport();
    return (timeouts) => {
      const real = create(timeouts);
      const send: Transport['send'] = async (call, signal) => {
        const answer = await real.send(call, AbortSignal.any([death.signal, ...(signal ? [signal] : [])]));
        refuseDead('send');
        return answer;
      };
      return { ...real, send };
    };
  };
  const ended = volleyIn(workspace, { runtime: { files: disk.files, owner: GONE, loadTransport } }, ...args);
  return {
    kill: async () => {
      death.abort();
      await ended;
      await disk.close();
    },
  };
}

/** Kills it as soon as the service has got so many requests. */
export async function killAfter(requests: number, workspace: Workspace, ...args: string[]): Promise<void> {
  const running = startMortal(workspace, ...args);
  // Commands in this process wait for each other, those of other tests too.
  await expect
    .poll(() => workspace.requests().length, { timeout: 280_000, interval: 5 })
    .toBeGreaterThanOrEqual(requests);
  await running.kill();
}
