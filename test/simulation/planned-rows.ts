import { gunzipSync } from 'node:zlib';
import { decodeRowLine, type RowLine } from '../../src/plan/format/row-line.js';
import type { CrashDisk } from './crash-disk.js';
import type { Scenario } from './scenario.js';
import { Violation } from './watch.js';

/** Of the rows of a step, what the plan says. */
export interface StepRows {
  readonly kind: string;
  readonly lines: readonly RowLine[];
  /** Names of the planned ones, in their order. */
  readonly planned: readonly string[];
}

/** Of each step of a job, in their order; none of one without rows. */
export function readPlannedRows(disk: CrashDisk, { job }: Scenario, directory: string): StepRows[] {
  return job.steps.map(({ kind }, index) => {
    if (!hasRows(kind)) return { kind, lines: [], planned: [] };
    const path = `${directory}/${index + 1}-${kind}.rows.ndjson`;
    const lines = readText(disk, path)
      .split('\n')
      .slice(0, -1)
      .map((line) => decodeRowLine(line, path));
    return { kind, lines, planned: lines.filter(({ state }) => state === 'planned').map(nameOf) };
  });
}

/** Of a file of a plan, packed or not. */
function readText({ volume }: CrashDisk, path: string): string {
  if (volume.existsSync(path)) return String(volume.readFileSync(path, 'utf8'));
  return gunzipSync(volume.readFileSync(`${path}.gz`) as Buffer).toString('utf8');
}

/** The name of a row is its first cell. */
export function nameOf({ cells }: RowLine): string {
  return cells[0] ?? '';
}

export function hasRows(kind: string): boolean {
  return kind !== 'campaign' && kind !== 'chat';
}

/** Of the one run that a job has; undefined before there is one. */
export function findRunDirectory(disk: CrashDisk): string | undefined {
  if (!disk.volume.existsSync('/out/sim')) return undefined;
  const names = disk.volume.readdirSync('/out/sim').map(String);
  const runs = names.filter((name) => !name.startsWith('.') && disk.volume.existsSync(`/out/sim/${name}/plan.json`));
  if (runs.length > 1) throw new Violation(`one job and one file made ${runs.length} plans`);
  return runs[0] === undefined ? undefined : `/out/sim/${runs[0]}`;
}
