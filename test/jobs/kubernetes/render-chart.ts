import { createHash } from 'node:crypto';

type Values = Readonly<Record<string, string | boolean>>;

/**
 * What Helm makes of a template of the chart, as far as the chart uses it, so that no test needs Helm: `if`, `else if`, `with` and `end`
 * on lines of their own, and values through functions. What else a template has is refused.
 */
export function renderTemplate(template: string, values: Values): string {
  /** Of each block that is open: whether it is written now, and whether a branch of it was. */
  const open: { isOn: boolean; wasOn: boolean; dot?: unknown }[] = [];
  const lines = template.split('\n').flatMap((line) => {
    const [, word, condition = ''] = /^\{\{- (if|else if|with|end)(?: (.*))? \}\}$/.exec(line) ?? [];
    const block = open.at(-1);
    if (word === 'if' || word === 'with') {
      const dot = evaluate(condition, values);
      open.push({ isOn: isTrue(dot), wasOn: isTrue(dot), dot });
    } else if (word === 'else if' && block !== undefined) {
      block.isOn = !block.wasOn && isTrue(evaluate(condition, values));
      block.wasOn ||= block.isOn;
    } else if (word === 'end') open.pop();
    else if (open.every(({ isOn }) => isOn)) {
      return [line.replaceAll(/\{\{ (.+?) \}\}/g, (_, action) => String(evaluate(action, values, block?.dot)))];
    }
    return [];
  });
  return lines.join('\n');
}

function isTrue(value: unknown): boolean {
  return value !== '' && value !== false;
}

const FUNCTIONS: Readonly<Record<string, (...args: never[]) => unknown>> = {
  quote: (value: string) => JSON.stringify(value),
  sha256sum: (value: string) => createHash('sha256').update(value).digest('hex'),
  trunc: (count: number, value: string) => value.slice(0, count),
  indent: (count: number, value: string) => value.replaceAll(/^/gm, ' '.repeat(count)),
  required: (message: string, value: string) => {
    if (value === '') throw new Error(message);
    return value;
  },
  list: (...values: string[]) => values,
  has: (value: string, values: string[]) => values.includes(value),
};

/** A pipeline: each function gets the value before it as its last argument. */
function evaluate(pipeline: string, values: Values, dot?: unknown): unknown {
  const calls = pipeline.split(/ \| (?=(?:[^"]*"[^"]*")*[^"]*$)/);
  return calls.reduce<unknown>((piped, call) => {
    const words = [...call.matchAll(/\(([^)]*)\)|"[^"]*"|[^ ]+/g)].map(([word, inner]) => inner ?? word);
    const read = (word: string): unknown => {
      if (word === '.') return dot;
      if (word.startsWith('.Values.')) return values[word.slice('.Values.'.length)];
      if (word.startsWith('"')) return JSON.parse(word);
      return /^\d+$/.test(word) ? Number(word) : evaluate(word, values, dot);
    };
    const [name = '', ...args] = words;
    const act = FUNCTIONS[name];
    if (act === undefined && (words.length > 1 || !/^[."]/.test(name))) throw new Error(`no function ${name} here`);
    if (act === undefined) return read(name);
    return act(...([...args.map(read), ...(piped === undefined ? [] : [piped])] as never[]));
  }, undefined);
}
