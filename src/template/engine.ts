import {
  type Context,
  CycleTag,
  defaultOperators,
  EchoTag,
  type Emitter,
  evalToken,
  ForTag,
  Liquid,
  type Template as LiquidTemplate,
  type Tag,
  TypeGuards,
  Value,
} from 'liquidjs';
import { dateFilter } from './found-faults.js';
import { MissingCell, passMissing } from './missing.js';

/** Tags that a message has no use for, or that reach for files: what to say instead of "no such tag". */
export const REFUSED_TAGS: Readonly<Record<string, string>> = {
  include: 'a template reads no other files; write the text here',
  render: 'a template reads no other files; write the text here',
  layout: 'a template reads no other files; write the text here',
  block: 'a template reads no other files; write the text here',
  tablerow: 'it writes HTML; use {% for %}',
};

const RANDOM = 'its result is random, and a plan must be the same each time';
const UNCHECKED =
  'it contains an expression in a string, which cannot be checked before the rows are read; use {% for %} with {% if %}';
const OTHER_DATE = 'write the date with a format: {{ day | date: "%d %b %Y" }}';
/** LiquidJS filters that are refused, and why. */
export const REFUSED_FILTERS: Readonly<Record<string, string>> = {
  sample: RANDOM,
  shuffle: RANDOM,
  date_to_xmlschema: OTHER_DATE,
  date_to_rfc822: OTHER_DATE,
  date_to_string: OTHER_DATE,
  date_to_long_string: OTHER_DATE,
  where_exp: UNCHECKED,
  reject_exp: UNCHECKED,
  group_by_exp: UNCHECKED,
  has_exp: UNCHECKED,
  find_exp: UNCHECKED,
  find_index_exp: UNCHECKED,
};

/** Characters of a template. A message has 1,530 at most; the rest is conditions. */
const MAX_TEMPLATE_LENGTH = 100_000;
/** Characters and list entries that one row may make: stops `(1..1000000000)`, and stops it on every machine alike. */
const MAX_MEMORY = 1_000_000;
/** The last resort against an endless template; far above any real rendering time. */
const MAX_RENDER_MS = 10_000;

/** LiquidJS, strict, without files, clock and randomness. Every cell that it is given is a string or a `MissingCell`. */
export function createEngine(): Liquid {
  const engine = new Liquid({
    strictVariables: true,
    lenientIf: true,
    strictFilters: true,
    ownPropertyOnly: true,
    templates: {},
    parseLimit: MAX_TEMPLATE_LENGTH,
    memoryLimit: MAX_MEMORY,
    renderLimit: MAX_RENDER_MS,
    operators: { ...defaultOperators, contains: containsPresent },
    outputEscape: (value) => {
      MissingCell.refuse(value);
      return value;
    },
  });
  for (const tag of Object.keys(REFUSED_TAGS)) delete engine.tags[tag];
  for (const filter of Object.keys(REFUSED_FILTERS)) delete engine.filters[filter];
  for (const [name, filter] of Object.entries(engine.filters)) {
    if (name !== 'default') engine.registerFilter(name, passMissing(filter));
  }
  engine.registerFilter('date', passMissing(dateFilter));
  engine.registerTag('echo', requireArguments(EchoTag));
  engine.registerTag('cycle', requireArguments(CycleTag));
  engine.registerTag('for', requireArguments(ForTag));
  return engine;
}

/** LiquidJS would look for the word "null". */
function* containsPresent(left: unknown, right: unknown, context: Context): Generator<unknown, boolean, unknown> {
  if (right instanceof MissingCell) return false;
  return (yield defaultOperators.contains?.(left, right, context)) as boolean;
}

type PrintingTag = typeof EchoTag | typeof CycleTag | typeof ForTag;

/** The tag, refusing a row that lacks what the tag would print or loop over; LiquidJS would print nothing. */
function requireArguments(base: PrintingTag): PrintingTag {
  // biome-ignore lint/suspicious/noExplicitAny: TypeScript takes `any[]` only for the constructor of a mixin.
  const Base = base as new (...args: any[]) => Tag & LiquidTemplate;
  class StrictTag extends Base {
    override *render(context: Context, emitter: Emitter): Generator<unknown, unknown, unknown> {
      for (const argument of this.arguments?.() ?? []) {
        if (argument instanceof Value) MissingCell.refuse(yield argument.value(context, false));
        else if (TypeGuards.isRangeToken(argument)) {
          MissingCell.refuse(yield evalToken(argument.lhs, context));
          MissingCell.refuse(yield evalToken(argument.rhs, context));
        } else MissingCell.refuse(yield evalToken(argument, context));
      }
      return yield super.render(context, emitter);
    }
  }
  return StrictTag as unknown as PrintingTag;
}
