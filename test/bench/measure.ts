import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sandboxOf } from '../sandbox/sandbox-process.js';

export interface BenchOptions {
  /** Empty, and removed afterwards. */
  readonly directory: string;
  readonly rows: number;
  readonly runs: number;
}

/** The built command. */
export const COMMAND = resolve('dist/cli.js');

export const SANDBOX = sandboxOf(COMMAND);

/** One program on one input: ours, or a rival. */
export interface Subject {
  readonly name: string;
  /** Measures one run; what it sets up or checks beside it does not count. */
  measure(): Promise<Measured>;
}

export interface Measured {
  readonly seconds: number;
  /** Of the whole process, where `seconds` is a part of it. */
  readonly wholeSeconds?: number | undefined;
  /** Peak resident memory of the process; undefined where it was not measured. */
  readonly peakMb?: number | undefined;
  /** Of all threads, in user and system mode; undefined where it was not measured. */
  readonly processorSeconds?: number | undefined;
}

export interface Median extends Measured {
  readonly name: string;
  readonly runs: number;
}

/** Measures the subjects in turns, so that whatever else the machine does meets each of them; medians of `runs`. */
export async function measureInTurns(subjects: readonly Subject[], runs: number): Promise<Median[]> {
  const measured = subjects.map((): Measured[] => []);
  for (let run = 0; run < runs; run += 1) {
    for (const [index, subject] of subjects.entries()) {
      process.stderr.write(`run ${run + 1} of ${runs}: ${subject.name}\n`);
      measured[index]?.push(await subject.measure());
    }
  }
  return subjects.map(({ name }, index) => {
    const all = measured[index] ?? [];
    return {
      name,
      runs: all.length,
      seconds: median(all.map(({ seconds }) => seconds)),
      wholeSeconds: medianOrNone(all.map(({ wholeSeconds }) => wholeSeconds)),
      peakMb: medianOrNone(all.map(({ peakMb }) => peakMb)),
      processorSeconds: medianOrNone(all.map(({ processorSeconds }) => processorSeconds)),
    };
  });
}

function medianOrNone(values: readonly (number | undefined)[]): number | undefined {
  const measured = values.filter((value) => value !== undefined);
  return measured.length === 0 ? undefined : median(measured);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? at(sorted, middle) : (at(sorted, middle - 1) + at(sorted, middle)) / 2;
}

function at(values: readonly number[], index: number): number {
  const value = values[index];
  if (value === undefined) throw new Error('There is no median of nothing');
  return value;
}

const USAGE = fileURLToPath(new URL('./report-usage.js', import.meta.url));

export interface Program {
  readonly args: readonly string[];
  /** Node itself where there is none. */
  readonly command?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a program to its end as a process of its own; throws where it fails. */
export async function runProgram(program: Program): Promise<Measured & { stdout: string }> {
  const { args, command, cwd, env = {} } = program;
  const directory = mkdtempSync(join(tmpdir(), 'volley-bench-'));
  const usage = join(directory, 'usage.json');
  try {
    const startMs = performance.now();
    const child = spawn(command ?? process.execPath, [...(command === undefined ? ['--import', USAGE] : []), ...args], {
      cwd,
      env: { ...process.env, ...env, VOLLEY_BENCH_USAGE: usage },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    const seconds = (performance.now() - startMs) / 1000;
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr.slice(-2000)}`);
    const { peakMb, processorSeconds } = command === undefined ? JSON.parse(readFileSync(usage, 'utf8')) : {};
    return { seconds, peakMb, processorSeconds, stdout };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
