/** One system call of a traced process: where it began and where it came back among all events of its threads. */
export interface SystemCall {
  readonly name: string;
  readonly args: string;
  readonly result: string;
  readonly start: number;
  readonly end: number;
}

/** Reads what `strace -f -yy` wrote. Only calls that came back are given, in the order in which they did. */
export function parseTrace(text: string): SystemCall[] {
  const calls: SystemCall[] = [];
  const begun = new Map<string, { name: string; args: string; start: number }>();
  for (const [at, line] of text.split('\n').entries()) {
    const [, thread = '', event = ''] = /^(\d+) +(.*)$/s.exec(line) ?? [];
    const [, opened, openedArgs] = /^(\w+)\((.*) <unfinished \.\.\.>$/s.exec(event) ?? [];
    if (opened !== undefined && openedArgs !== undefined) {
      begun.set(thread, { name: opened, args: openedArgs, start: at });
      continue;
    }
    const [, rest, resumedResult] = /^<\.\.\. \w+ resumed>(.*)\) += (.*)$/s.exec(event) ?? [];
    const first = begun.get(thread);
    if (rest !== undefined && resumedResult !== undefined && first !== undefined) {
      begun.delete(thread);
      calls.push({ ...first, args: unescapeText(first.args + rest), result: resumedResult, end: at });
      continue;
    }
    const [, name, args, result] = /^(\w+)\((.*)\) += (.*)$/s.exec(event) ?? [];
    if (name === undefined || args === undefined || result === undefined) continue;
    calls.push({ name, args: unescapeText(args), result, start: at, end: at });
  }
  return calls;
}

/** The file of a call whose first argument is a descriptor; undefined for a socket. */
export function fileOf({ args }: SystemCall): string | undefined {
  return /^\d+<(\/[^>]*)>/.exec(args)?.[1];
}

function unescapeText(text: string): string {
  return text.replace(/\\(.)/g, (_, character: string) => ({ n: '\n', r: '\r', t: '\t' })[character] ?? character);
}
