import { gunzipSync } from 'node:zlib';
import { isRowKind, type RowKind } from '../../src/domain/areas.js';
import type { RequestHead } from '../../src/plan/format/plan-file.js';
import { decodeRowLine, type RowLine } from '../../src/plan/format/row-line.js';
import { COLUMNS, EXAMPLES } from '../kinds/examples.js';
import type { CrashDisk } from '../world/crash-disk.js';
import { Violation } from '../world/violation.js';
import type { Scenario } from './scenario.js';

/** Of the rows of a step, what the plan says. */
export interface StepRows {
  /** Undefined of one without rows. */
  readonly kind: RowKind | undefined;
  readonly lines: readonly RowLine[];
  /** The planned ones in their order, each as the service knows it. */
  readonly planned: readonly string[];
  /** Of the planned ones, the stage in which each leaves. */
  readonly stages: readonly number[];
}

/** Of each step of a job, in their order. */
export function readPlannedRows(disk: CrashDisk, { job }: Scenario, directory: string): StepRows[] {
  return job.steps.map(({ kind }, index) => {
    if (!isRowKind(kind)) return { kind: undefined, lines: [], planned: [], stages: [] };
    const path = `${directory}/${index + 1}-${kind}.rows.ndjson`;
    const lines = readText(disk, path)
      .split('\n')
      .slice(0, -1)
      .map((line) => decodeRowLine(line, path));
    const column = Object.keys(COLUMNS).indexOf(EXAMPLES[kind].column);
    const planned = lines.filter(({ state }) => state === 'planned').map(({ cells }) => cells[column] ?? '');
    const heads = readText(disk, `${directory}/${index + 1}-${kind}.requests.ndjson`)
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as RequestHead);
    const stages = heads.flatMap(({ rows, stage = 1 }) => Array<number>(rows).fill(stage));
    return { kind, lines, planned, stages };
  });
}

/** Of a file of a plan, packed or not. */
function readText({ volume }: CrashDisk, path: string): string {
  if (volume.existsSync(path)) return String(volume.readFileSync(path, 'utf8'));
  return gunzipSync(volume.readFileSync(`${path}.gz`) as Buffer).toString('utf8');
}

/** Of the one run that a job has; undefined before there is one. Where a list grew, what was not begun may be planned again. */
export function findRunDirectory({ volume }: CrashDisk, { job, isChanging }: Scenario): string | undefined {
  const own = `/out/${job.name}`;
  if (!volume.existsSync(own)) return undefined;
  const names = volume.readdirSync(own).map(String);
  const has = (file: string) => (name: string) => volume.existsSync(`${own}/${name}/${file}`);
  const plans = names.filter((name) => !name.startsWith('.')).filter(has('plan.json'));
  const runs = plans.filter(has('journal.ndjson'));
  if (runs.length > 1) throw new Violation(`one job and one file made ${runs.length} runs`);
  if (plans.length > 1 && isChanging !== true) throw new Violation(`one job and one file made ${plans.length} plans`);
  const [found = plans.at(-1)] = runs;
  return found === undefined ? undefined : `${own}/${found}`;
}
