import { type Liquid, type Template, toValueSync, Value } from 'liquidjs';

/** Every node of a parsed template, those inside conditions and loops included, in the order of the text. */
export function* walkNodes(nodes: readonly Template[]): Generator<Template> {
  for (const node of nodes) {
    yield node;
    if (node.children !== undefined) yield* walkNodes(toValueSync(node.children(false, true)) as Template[]);
  }
}

/** Every filtered expression that a node holds itself. */
export function* listValues(node: Template): Generator<Value> {
  for (const argument of node.arguments?.() ?? []) {
    if (argument instanceof Value) yield argument;
  }
}

export interface VariableUse {
  readonly name: string;
  /** From 1, in the template's own text. */
  readonly line: number;
  readonly column: number;
  /** What is read of it: `{{ name.size }}` gives `['size']`. */
  readonly properties: readonly unknown[];
}

/** Every use of a name that the template does not define itself, so that it must be a column. */
export function listVariableUses(engine: Liquid, nodes: Template[]): VariableUse[] {
  const { globals } = engine.analyzeSync(nodes, { partials: false });
  return Object.values(globals)
    .flat()
    .map(({ segments, location }) => ({
      name: String(segments[0]),
      line: location.row,
      column: location.col,
      properties: segments.slice(1),
    }))
    .sort((left, right) => left.line - right.line || left.column - right.column);
}
