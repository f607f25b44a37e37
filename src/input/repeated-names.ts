/**
 * Names that stand twice in a header. Such columns are numbered, `email (1)` and `email (2)`: they appear in every
 * output, and none is taken for the job's `email`.
 */

export interface NumberedNames {
  readonly names: readonly string[];
  /** A sentence for each repeated name. */
  readonly notices: readonly string[];
}

export function numberRepeated(names: readonly string[]): NumberedNames {
  const places = new Map<string, number[]>();
  for (const [index, name] of names.entries()) {
    const known = places.get(name);
    if (known === undefined) places.set(name, [index]);
    else known.push(index);
  }
  const numbered = [...names];
  const notices: string[] = [];
  for (const [name, indexes] of places) {
    if (name === '' || indexes.length < 2) continue;
    let number = 0;
    for (const index of indexes) {
      do number += 1;
      while (places.has(withNumber(name, number)));
      numbered[index] = withNumber(name, number);
    }
    const shown = indexes.map((index) => numbered[index]).join(', ');
    const columns = listPlaces(indexes.map((index) => index + 1));
    notices.push(`columns ${columns} have the same name and are numbered: ${shown}`);
  }
  return { names: numbered, notices };
}

function withNumber(name: string, number: number): string {
  return `${name} (${number})`;
}

function listPlaces(places: readonly number[]): string {
  return `${places.slice(0, -1).join(', ')} and ${places.at(-1)}`;
}
