import { describe, expect, test } from 'vitest';
import { PLAIN_SCREEN, paint, showCommand, showPath } from '../../src/command/screen.js';
import { screenOf } from '../../src/command/terminal.js';
import { aTerminal } from './a-terminal.js';

const onTerminal = (env: Record<string, string> = {}, columns = 100) =>
  screenOf({ ...aTerminal({ env, isStdoutTerminal: true }).terminal, screen: { columns } });

describe('a screen', () => {
  test('has colour on a terminal alone, unless NO_COLOR or a dumb terminal says no', () => {
    expect(onTerminal().hasColor).toBe(true);
    expect(onTerminal({ NO_COLOR: '' }).hasColor).toBe(true);
    expect(onTerminal({ NO_COLOR: '1' }).hasColor).toBe(false);
    expect(onTerminal({ TERM: 'dumb' }).hasColor).toBe(false);
    expect(screenOf(aTerminal().terminal).hasColor).toBe(false);
  });

  test.each([
    [20, 40],
    [100, 100],
    [300, 120],
  ])('of %i columns is written on in %i', (columns, used) => {
    expect(onTerminal({}, columns).columns).toBe(used);
  });

  test('is 80 columns wide where the text goes into a pipe, however wide the terminal is', () => {
    expect(screenOf({ ...aTerminal().terminal, screen: { columns: 200 } }).columns).toBe(80);
  });

  test('uses no colour of which dark or light terminals make one that cannot be read', () => {
    const codes = (['bold', 'dim', 'red', 'green', 'magenta'] as const).map(
      (style) => /\[(\d+)m/.exec(paint({ hasColor: true }, style, 'x'))?.[1],
    );
    expect(codes).toEqual(['1', '2', '31', '32', '35']);
  });
});

test.each([
  ['/work', '/work/out/sale', 'out/sale'],
  ['/work/jobs', '/work/out/sale', '../out/sale'],
  ['/work/a/b', '/data/out', '/data/out'],
  ['/work', '/work', '.'],
  ['', '/work/out', '/work/out'],
  ['/work', 'out/sale', 'out/sale'],
])('from %j the path %j is shown as %j', (directory, path, shown) => {
  expect(showPath({ directory }, path)).toBe(shown);
});

test('a command can be copied: blanks and signs of the shell are quoted', () => {
  expect(showCommand(PLAIN_SCREEN, 'apply', "out/it's mine", '--confirm', 'x1')).toBe(
    "volley apply 'out/it'\\''s mine' --confirm x1",
  );
});
