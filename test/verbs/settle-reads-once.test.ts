import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nodeEnv } from '../../src/command/env.js';
import { runVerb } from '../../src/command/runner.js';
import type { Files } from '../../src/storage/files.js';
import { settle } from '../../src/verbs/settle.js';
import { aTerminal } from '../command/a-terminal.js';
import { aFolder } from '../plan/a-plan.js';
import { anExported, aRunInDoubt, csvOf } from '../settle/an-export.js';

test('settling by an export reads the journal once before it appends to it, and once more for the outputs', async () => {
  const made = await aRunInDoubt();
  const rows = [0, 1, 2, 3, 4, 5].map((row) => anExported(made, row));
  const exported = join(aFolder({ 'export.csv': csvOf(rows) }), 'export.csv');
  const journal = `${made.directory}/journal.ndjson`;
  const opened: string[] = [];
  const files: Files = {
    ...made.disk.files,
    openRead: (path) => {
      if (path === journal) opened.push('read');
      return made.disk.files.openRead(path);
    },
    openAppend: async (path) => {
      const file = await made.disk.files.openAppend(path);
      if (path !== journal) return file;
      return {
        ...file,
        append: (chunk) => {
          opened.push('append');
          return file.append(chunk);
        },
        sync: () => file.sync(),
        truncate: (bytes) => file.truncate(bytes),
        close: () => file.close(),
      };
    },
  };
  const { terminal, said } = aTerminal();
  const flags = {
    run: made.directory,
    export: [exported],
    assume: undefined,
    confirm: undefined,
    adopt: false,
    json: true,
  };
  expect(await runVerb('settle', settle, flags, { ...terminal, runtime: { ...nodeEnv, files } })).toBe(0);
  expect(JSON.parse(said.stdout)).toMatchObject({ settled: { accepted: 2 }, inDoubt: 0 });
  // Its end and its claims for the registry, which is made, and knows the run for its own; then all of it.
  expect(opened.slice(0, opened.indexOf('append'))).toEqual(['read', 'read', 'read']);
  // Its entries, and the outcomes and settlements that they point to.
  expect(opened.filter((what) => what === 'read')).toHaveLength(6);
});
