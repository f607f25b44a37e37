import { type Log, type LogFields, withFields } from '../ports/log.js';
import { StopSwitch } from '../run/stop.js';
import { type Env, namePerson, nodeEnv } from './env.js';
import type { Screen } from './screen.js';
import { createLog, SecretKeeper, screenOf, type Terminal, type Watcher } from './terminal.js';

/** What a verb works with, for the length of its command. */
export interface Context {
  /** The ports: disk, clock, chance, the HTTP client. */
  readonly env: Env;
  /** Its streams, variables and signals. */
  readonly terminal: Terminal;
  readonly screen: Screen;
  /** What it reads of secrets is kept here, and so out of all that is printed. */
  readonly secrets: SecretKeeper;
  /** Is requested by a signal, where the verb listens to them (signals.ts). */
  readonly stop: StopSwitch;
  /** Each line says which job and which run it is about, as far as `name` was called. */
  readonly log: Log;
  /** The directory of the job that it works on, once `workIn` has it: an error of the disk says where it struck. */
  readonly jobDirectory: string | undefined;
  workIn(jobDirectory: string): void;
  /** Who accepts that the job's directory was copied or restored: the person who gave --adopt. */
  readonly adoptedBy: string | undefined;
  /** Adds fields about the job, the run and its rows to the last line of the log. */
  name(fields: LogFields): void;
  /** All fields so far. */
  readonly named: LogFields;
  /** To those who watch. */
  readonly emit: (event: Parameters<Watcher>[0]) => Promise<unknown>;
  watch(watcher: Watcher): void;
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
  /** What stopped it all the same: is thrown once the result is printed. */
  readonly failure?: unknown;
}

export function createContext(terminal: Terminal, adopt = false): Context {
  const { runtime: env = nodeEnv, emit, createLog: createOwnLog = (keeper) => createLog(terminal, keeper) } = terminal;
  const secrets = new SecretKeeper();
  const watchers: Watcher[] = emit === undefined ? [] : [emit];
  let named: LogFields = {};
  let jobDirectory: string | undefined;
  return {
    env,
    terminal,
    screen: screenOf(terminal),
    secrets,
    stop: new StopSwitch(),
    log: withFields(createOwnLog(secrets), () => ({ job: named.job, run: named.run })),
    get jobDirectory() {
      return jobDirectory;
    },
    workIn: (directory) => {
      jobDirectory = directory;
    },
    adoptedBy: adopt ? namePerson({ env, terminal }) : undefined,
    name: (fields) => {
      named = { ...named, ...fields };
    },
    get named() {
      return named;
    },
    emit: (event) => Promise.all(watchers.map((watch) => watch(event))),
    watch: (watcher) => watchers.push(watcher),
  };
}
