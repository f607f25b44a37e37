import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { nodeEnv } from '../../src/command/env.js';
import { loadJob } from '../../src/job/load.js';
import type { Files } from '../../src/storage/files.js';
import { aJob, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { runInProcess } from './run-in-process.js';

const OTHER = '{"state":"finished","by":"the other"}';

test.each([
  ['begins 1-sms.results.csv', []],
  ['begins 1-sms.unprocessed.csv', []],
  ['ends 1-sms.unprocessed.csv', ['1-sms.unprocessed.csv']],
])('outputs of a runner that is ousted when it %s do not take the place of those of the other', async (moment, own) => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(20));
  workspace.writeJob(aJob(workspace));
  const pathOf = (name: string) => `out/sale/${workspace.runs()[0]}/${name}`;
  const files = watchOutputs(nodeEnv.files, (now) => {
    if (now !== moment) return;
    const lock = { host: 'elsewhere', pid: 1, instance: 'other', epoch: 2, renewedAt: Date.now(), state: 'held' };
    workspace.write('out/sale/lock-000002.json', JSON.stringify(lock));
    for (const name of ['1-sms.results.csv', 'summary.json']) workspace.write(pathOf(name), OTHER);
  });
  const job = await loadJob(workspace.path('job.yaml'));
  const env = { VOLLEY_API_KEY: workspace.sandbox.credentials.apiKey };

  const error = await runInProcess(job, { env, runtime: { files } }).catch((thrown: unknown) => thrown);

  expect(error).toMatchObject({ code: 'lock-held', message: expect.stringContaining('lost its lock') });
  expect([workspace.read(pathOf('1-sms.results.csv')), workspace.read(pathOf('summary.json'))]).toEqual([OTHER, OTHER]);
  const names = ['1-sms.in-doubt.csv', '1-sms.unprocessed.csv'].filter((name) =>
    existsSync(workspace.path(pathOf(name))),
  );
  expect(names).toEqual(own.length === 0 ? [] : ['1-sms.in-doubt.csv', ...own]);
});

function watchOutputs(files: Files, onMoment: (moment: string) => void): Files {
  return {
    ...files,
    createWhole: async (path) => {
      onMoment(`begins ${basename(path)}`);
      const file = await files.createWhole(path);
      return {
        ...file,
        finish: async () => {
          await file.finish();
          onMoment(`ends ${basename(path)}`);
        },
      };
    },
  };
}
