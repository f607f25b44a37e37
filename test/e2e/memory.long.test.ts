import { expect, test } from 'vitest';
import { anSmsStep, people } from './a-job.js';
import { aWorkspace, type Workspace } from './a-workspace.js';
import { rejectionsOf } from './account.js';

const FEW = 5000;
const MANY = 60_000;
/** Rows, batches and answers on their way; holding on to all rows would take twice as much. */
const MARGIN_MB = 80;
/** Else newer versions of Node leave what is no longer used where it is, as long as the machine has room. */
const HEAP_MB = 64;

/** Leaves the most memory that the process had. */
const WATCH = `import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
if (isMainThread) {
  process.on('exit', () => writeFileSync(new URL('peak', import.meta.url), String(process.resourceUsage().maxRSS / 1024)));
}
`;

test(`plan, and apply with its report, take no more memory for ${MANY} rows than for ${FEW}, save for a few bytes a row`, async () => {
  const workspace = await aWorkspace();
  workspace.write('watch.mjs', WATCH);
  const limits = { requestsPerSecond: 100, messagesPerSecond: 25_000, concurrency: 4 };
  workspace.change({ steps: [anSmsStep({ batchSize: 1000, limits })] });
  const measure = async (rows: number) => {
    workspace.write('people.csv', people(rows, 1 + rows));
    const plan = await peakOf(workspace, 'plan', 'job.yaml');
    const { directory } = JSON.parse(plan.stdout);
    const apply = await peakOf(workspace, 'apply', directory);
    expect(JSON.parse(apply.stdout).balance).toMatchObject({ accepted: rows });
    return [plan.peakMb, apply.peakMb];
  };

  const few = await measure(FEW);
  const many = await measure(MANY);

  const more = many.map((peakMb, index) => peakMb - (few[index] ?? 0));
  expect(Math.max(...more), `${few.join(', ')} MB, then ${many.join(', ')} MB`).toBeLessThan(MARGIN_MB);
});

test('an inbox in which a thousand files were sent takes no more memory than to send them', async () => {
  const workspace = await aWorkspace();
  workspace.write('watch.mjs', WATCH);
  workspace.change({ steps: [anSmsStep({ input: { files: 'in/*.csv' }, batchSize: 1000 })] });
  for (let file = 1; file <= 1000; file++) workspace.write(`in/${file}.csv`, people(1, file));

  const sent = await peakOf(workspace, 'run', 'job.yaml');
  const again = await peakOf(workspace, 'run', 'job.yaml');

  expect(JSON.parse(again.stdout).state).toBe('nothing-new');
  expect(again.peakMb, `${sent.peakMb} MB to send them`).toBeLessThan(sent.peakMb + MARGIN_MB);
});

test('rows of a thousand files are re-imported in no more memory than to send them', async () => {
  const workspace = await aWorkspace();
  workspace.write('watch.mjs', WATCH);
  workspace.change({ failOn: 'in-doubt', steps: [anSmsStep({ input: { files: 'in/*.csv' }, batchSize: 1000 })] });
  for (let file = 1; file <= 1000; file++) workspace.write(`in/${file}.csv`, `${people(1, file)}Nobody,n/a\n`);

  const sent = await peakOf(workspace, 'run', 'job.yaml');
  let number = 6_592_000_000;
  const rejections = rejectionsOf(workspace.path(workspace.firstRun()));
  workspace.write(
    'in/fixed.csv',
    rejections.replaceAll('n/a', () => `+${number++}`),
  );
  const planned = await peakOf(workspace, 'plan', 'job.yaml');

  expect(JSON.parse(planned.stdout).steps[0].counts.planned).toBe(1000);
  expect(planned.peakMb, `${sent.peakMb} MB to send them`).toBeLessThan(sent.peakMb + MARGIN_MB);
});

async function peakOf(workspace: Workspace, ...args: string[]): Promise<{ peakMb: number; stdout: string }> {
  const { code, stdout, stderr } = await workspace.finish(
    workspace.start(args, { nodeArguments: [`--max-old-space-size=${HEAP_MB}`, '--import', './watch.mjs'] }),
  );
  expect(code, stderr).toBe(0);
  return { peakMb: Number(workspace.read('peak')), stdout };
}
