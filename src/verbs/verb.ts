import type { Argv, InferredOptionTypes, Options, PositionalOptions } from 'yargs';
import type { Verb } from '../command/runner.js';

/** A flag or an argument, as yargs knows it. */
export interface Flag extends Options {
  /** What `coerce` can read; it gives undefined for all else, or throws what is wrong. */
  readonly expected?: string;
}

/** As a verb reads them: `--keep-last` is `keepLast`. */
type Read<O extends Record<string, Options>> = {
  readonly [Name in keyof O & string as CamelCase<Name>]: InferredOptionTypes<O>[Name];
};

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** Infers the types of what a verb is given. */
export function defineVerb<const A extends Record<string, Flag>, const O extends Record<string, Flag>>(
  verb: Verb<Read<A & O>> & { readonly args: A; readonly flags: O },
): Verb<Read<A & O>> {
  return verb;
}

// biome-ignore lint/suspicious/noExplicitAny: each verb has flags of its own, which its module knows
export type AnyVerb = Verb<any>;

/** What the help lists: name and arguments, such as `prune <job>`, and what that does. */
export interface Listed {
  readonly command: string;
  readonly about: string;
}

/** A verb with verbs below it, such as `chat read` and `chat post`. */
export type Group = readonly (Listed & AnyVerb)[];

/** The same for a verb below another, which the list of all verbs does not name. */
export function defineBelow<const A extends Record<string, Flag>, const O extends Record<string, Flag>>(
  command: string,
  about: string,
  verb: Verb<Read<A & O>> & { readonly args: A; readonly flags: O },
): Listed & Verb<Read<A & O>> {
  return { command, about, ...verb };
}

/** A command without its arguments. */
export function nameOf(command: string): string {
  return command.replace(/ [<[].*/, '');
}

/** Adds a verb to a command line. `above`: the verb that it stands below. */
export function addVerb(
  cli: Argv,
  { command, about }: Listed,
  verb: AnyVerb,
  run: (name: string, verb: AnyVerb, read: object) => Promise<void>,
  above = '',
): Argv {
  const name = nameOf(`${above}${command}`);
  return cli.command(
    command,
    about,
    (builder) => {
      let built = builder;
      for (const [flag, options] of Object.entries(verb.flags))
        built = built.option(flag, checked(`--${flag}`, options));
      for (const [argument, options] of Object.entries(verb.args))
        built = built.positional(argument, checked(`<${argument}>`, options) as PositionalOptions);
      for (const [given, does] of verb.examples) built = built.example(`$0 ${name} ${given}`.trimEnd(), does);
      return built;
    },
    (read) => run(name, verb, read),
  );
}

/** Adds a verb and those below it; its help has the first example of each. */
export function addGroup(
  cli: Argv,
  { command: group, about }: Listed,
  verbs: Group,
  run: Parameters<typeof addVerb>[3],
): Argv {
  return cli.command(group, about, (builder) => {
    let built = builder;
    for (const below of verbs) {
      const [[given, does] = ['', '']] = below.examples;
      built = addVerb(built, below, below, run, `${group} `);
      built = built.example(`$0 ${group} ${nameOf(below.command)} ${given}`.trimEnd(), does);
    }
    return built;
  });
}

/** What the parser lets pass: a text that is empty, or is not given (`--no-run`), or of which two are given, and then what the flag cannot read. */
function checked(called: string, { expected, coerce = (given: unknown) => given, ...flag }: Flag): Options {
  if (flag.type !== 'string') return flag;
  const refuse = (what: string) => new Error(`Cannot use ${called}: ${what}`);
  const read = (given: unknown) => {
    const all = [...new Set([given].flat())];
    if (all.includes(false)) throw refuse('it is given without its value, expected one');
    if (all.some((each) => String(each).trim() === '')) throw refuse('it is empty, expected some text');
    if (flag.array === true) return coerce(all);
    if (all.length > 1)
      throw refuse(`${all.map((each) => JSON.stringify(each)).join(' and ')} are given, expected one`);
    const value = coerce(String(all[0]));
    if (value !== undefined) return value;
    throw refuse(`it is ${JSON.stringify(all[0])}, expected ${expected}`);
  };
  return { ...flag, coerce: read };
}
