import { runCommandInProcess } from '../e2e/command-in-process.js';

/** How a command is used, as its own help says. */
export interface CommandHelp {
  /** `campaign set`; '' of the whole command. */
  readonly name: string;
  readonly arguments: { readonly least: number; readonly most: number };
  /** Flags, `--` included, and whether each wants a value. */
  readonly flags: ReadonlyMap<string, boolean>;
  readonly requiredFlags: readonly string[];
}

/** Of every command that does something: those that only have others below them aside. */
export async function readAllHelp(name = ''): Promise<CommandHelp[]> {
  const words = name === '' ? [] : name.split(' ');
  const args = [...(name === 'help' ? [] : words), '--help'];
  const help = (await runCommandInProcess(args, { cwd: process.cwd(), env: {} })).stdout;
  const own = name === 'help' ? '' : help;
  const [, commands = ''] = /^Commands:\n((?: .*\n)+)/m.exec(own) ?? [];
  const below = [...commands.matchAll(/^ {2}volley ([a-z -]*[a-z])/gm)].map(([, found = '']) => found);
  if (below.length === 0) return [describe(name, help)];
  return (await Promise.all(below.map((each) => readAllHelp(each)))).flat();
}

function describe(name: string, help: string): CommandHelp {
  const usage = new RegExp(`volley ${name}( [<[][^\\n]*?)?(?: {2}|\\n)`).exec(help)?.[1] ?? '';
  const [, options = ''] = /^Options:\n((?: .*\n)+)/m.exec(help) ?? [];
  // An option's description may be wrapped: what is said of its kind stands in its last line.
  const parts = options.split(/^ {2}(?=-)/m).slice(1);
  const flags = parts.map((part) => [/^--[a-z0-9-]+/.exec(part)?.[0] ?? '', part] as const);
  return {
    name,
    arguments: { least: usage.split('<').length - 1, most: usage.split(/[<[]/).length - 1 },
    flags: new Map(flags.map(([flag, part]) => [flag, !part.includes('[boolean]')])),
    requiredFlags: flags.filter(([, part]) => part.includes('[required]')).map(([flag]) => flag),
  };
}
