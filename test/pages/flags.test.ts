import { beforeAll, expect, test } from 'vitest';
import { type CommandHelp, readAllHelp } from './command-help.js';
import { listNames, readPage, readRows, readSection } from './page.js';

/** As the page has them: commands, and one flag. */
const rows = readRows(readSection(readPage('jobs/reference/commands.md'), 'Flags')).map(
  ([of = '', flag = '', meaning = '']) => ({ of, flag: listNames(flag)[0] ?? '', meaning }),
);

let commands: CommandHelp[];
beforeAll(async () => {
  commands = await readAllHelp();
});

test('every command is found by its help', () => {
  expect(commands.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['run', 'verify start', 'gateway send', 'schema', 'help']),
  );
});

test('the reference documents every flag of every command, once', () => {
  const wrong = commands.flatMap(({ name, flags }) =>
    [...flags.keys()]
      .map((flag) => ({
        command: name,
        flag,
        rows: rows.filter((row) => row.flag === flag && covers(row.of, name)).length,
      }))
      .filter((found) => found.rows !== 1),
  );

  expect(wrong).toEqual([]);
});

test('the reference documents no flag that its command does not have', () => {
  const names = rows.flatMap(({ of, flag }) =>
    (of.startsWith('all') ? [] : listNames(of)).map((name) => ({ name, flag })),
  );
  const unknown = names.filter(({ name, flag }) => {
    const own = commands.filter((command) => isOrIsBelow(command.name, name));
    return own.length === 0 || !own.every(({ flags }) => flags.has(flag));
  });

  expect(unknown).toEqual([]);
});

test('the reference says which flags are required', () => {
  const said = rows.filter(({ meaning }) => meaning.startsWith('required')).map(({ flag }) => flag);

  expect(new Set(said)).toEqual(new Set(commands.flatMap(({ requiredFlags }) => requiredFlags)));
});

/** `all`, `all but …`, or names of commands. */
function covers(of: string, command: string): boolean {
  const isNamed = listNames(of).some((name) => isOrIsBelow(command, name));
  return of.startsWith('all') ? !isNamed : isNamed;
}

function isOrIsBelow(command: string, name: string): boolean {
  return command === name || command.startsWith(`${name} `);
}
