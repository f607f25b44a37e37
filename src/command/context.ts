import type { Balance } from '../domain/row.js';
import { type LogFields, withFields } from '../ports/log.js';
import { StopSwitch } from '../run/stop.js';
import { namePerson, nodeEnv } from './env.js';
import { createLog, SecretKeeper, screenOf, type Terminal, type Watcher } from './terminal.js';

/** What a verb works with, for the length of its command. */
export type Context = ReturnType<typeof createContext>;

export function createContext(terminal: Terminal, adopt = false) {
  const { runtime: env = nodeEnv, emit, createLog: createOwnLog = (keeper) => createLog(terminal, keeper) } = terminal;
  const secrets = new SecretKeeper();
  const watchers: Watcher[] = emit === undefined ? [] : [emit];
  let named: LogFields = {};
  let jobDirectory: string | undefined;
  let broken: BrokenRun | undefined;
  return {
    /** The ports: disk, clock, chance, the HTTP client. */
    env,
    /** Its streams, variables and signals. */
    terminal,
    screen: screenOf(terminal),
    /** What it reads of secrets is kept here, and so out of all that is printed. */
    secrets,
    /** Is requested by a signal, where the verb listens to them (signals.ts). */
    stop: new StopSwitch(),
    /** Each line says which job and which run it is about, as far as `name` was called. */
    log: withFields(createOwnLog(secrets), () => ({ job: named.job, run: named.run })),
    /** The directory of the job that it works on, once `workIn` has it: an error of the disk says where it struck. */
    get jobDirectory() {
      return jobDirectory;
    },
    workIn: (directory: string) => {
      jobDirectory = directory;
    },
    /** Who accepts that the job's directory was copied or restored: the person who gave --adopt. */
    adoptedBy: adopt ? namePerson({ env, terminal }) : undefined,
    /** Adds fields about the job, the run and its rows to the last line of the log. */
    name: (fields: LogFields) => {
      named = { ...named, ...fields };
    },
    /** All fields so far. */
    get named() {
      return named;
    },
    /** The run in which an error struck, with its figures as `breakOff` had them. */
    get broken() {
      return broken;
    },
    breakOff: (run: BrokenRun) => {
      broken = run;
      named = { ...named, ...run.balance };
    },
    /** To those who watch. */
    emit: (event: Parameters<Watcher>[0]): Promise<unknown> => Promise.all(watchers.map((watch) => watch(event))),
    watch: (watcher: Watcher) => {
      watchers.push(watcher);
    },
  };
}

interface BrokenRun {
  readonly plan: string;
  readonly balance: Balance;
}

/** How a command ended. */
export interface Result {
  /** Its object on stdout with --json; `state`, `exitCode` and `error` are added where it lacks them. Absent: the text stands for itself. */
  readonly json?: object;
  /** Its words for a person. */
  readonly text: string;
  /** By default 0. */
  readonly exitCode?: number;
  /** In a few words, for the log. */
  readonly reason?: string;
  /** What to do now, for the log; absent where nothing is left to do. */
  readonly hint?: string | undefined;
  /** What stopped it all the same: is thrown once the result is printed. */
  readonly failure?: unknown;
}
