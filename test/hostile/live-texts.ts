import ts from 'typescript';

const TESTS = new Set(['test', 'it', 'describe', 'suite']);
/** With a condition, too: it may not hold where it counts. */
const LEFT_OUT = new Set(['skip', 'todo', 'skipIf', 'runIf', 'fails']);

/** The texts of a test file, as they are written, save those of tests that may be left out, and of comments. */
export function listLiveTexts(source: string): string[] {
  const file = ts.createSourceFile('a.test.ts', source, ts.ScriptTarget.Latest, true);
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isLeftOut(node)) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) texts.push(node.getText(file));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return texts;
}

function isLeftOut(call: ts.CallExpression): boolean {
  const names = listNames(call.expression);
  if (!TESTS.has(names[0] ?? '')) return false;
  return names.some((name) => LEFT_OUT.has(name)) || call.arguments.some(saysSo);
}

/** `['test', 'skip', 'each']` of `test.skip.each(…)(…)`. */
function listNames(node: ts.Expression): string[] {
  if (ts.isIdentifier(node)) return [node.text];
  if (ts.isPropertyAccessExpression(node)) return [...listNames(node.expression), node.name.text];
  if (ts.isCallExpression(node) || ts.isTaggedTemplateExpression(node)) {
    return listNames(ts.isCallExpression(node) ? node.expression : node.tag);
  }
  return [];
}

/** `{ skip: true }` */
function saysSo(argument: ts.Expression): boolean {
  return (
    ts.isObjectLiteralExpression(argument) &&
    argument.properties.some(({ name }) => name !== undefined && ts.isIdentifier(name) && LEFT_OUT.has(name.text))
  );
}
