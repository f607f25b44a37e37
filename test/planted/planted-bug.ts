import { readdirSync, readFileSync } from 'node:fs';

/** A deliberate fault: one place of the source, and the tests of which one must turn red. */
export interface PlantedBug {
  readonly name: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  readonly tests: readonly string[];
  /** Of the one test of those that runs, where all of them take long. */
  readonly title: string | undefined;
}

const BUG =
  /^(?<name>.+)\nin (?<file>\S+), caught by (?<tests>.+)\n(?:: (?<title>.+)\n)?(?<change>(?:[-+].*(?:\n|$))+)$/;

/** Those of the text files of a directory: blocks between blank lines, with what a bug finds behind `-`, and puts in its place behind `+`. */
export function readBugs(directory: string): PlantedBug[] {
  const texts = readdirSync(directory).filter((name) => name.endsWith('.txt'));
  return texts.flatMap((text) => {
    const blocks = readFileSync(`${directory}/${text}`, 'utf8').replace(/\n$/, '').split('\n\n');
    return blocks.filter((block) => !block.startsWith('# ')).map(parseBug);
  });
}

function parseBug(block: string): PlantedBug {
  const { name = '', file = '', tests = '', title, change = '' } = BUG.exec(block)?.groups ?? {};
  if (name === '') throw new Error(`This is no planted bug:\n${block}`);
  const linesAfter = (sign: string) =>
    change
      .split('\n')
      .filter((line) => line.startsWith(sign))
      .map((line) => line.slice(1))
      .join('\n');
  return { name, file, tests: tests.split(', '), title, find: linesAfter('-'), replace: linesAfter('+') };
}
