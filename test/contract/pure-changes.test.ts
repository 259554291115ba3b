/** A change may run again after a conflict with another, so its code keeps nothing outside of its unit. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import ts from 'typescript';

const SRC = join(import.meta.dir, '../../src');

/** Code of commands, browsers and customers, and the engines, which run changes. */
const ELSEWHERE = /^(?:client|console|pages|cli|db)\//;

/** Changes that keep something nevertheless, each with its reason. */
const EXEMPT: Record<string, string> = {
  'store/delivery-claims.ts deliveryLeases.take': 'a statement',
  'store/mails.ts mailLeases.take': 'a statement',
  'events/emit.ts subscribers.set': 'by unit, so of one run',
  'modules/import/chunk.ts known.set': 'made for each run',
  'modules/import/chunk.ts known.add': 'made for each run',
  'jobs/retention.ts size.run': 'the size of the next batch, which adapts to the time of each run',
  'jobs/background-tasks.ts size.run': 'the size of the next batch, which adapts to the time of each run',
};

const MUTATES = /^(?:push|set|add|delete|splice|clear|shift|unshift|pop|take|release|run|wake|observe)$/;

/** Names that a function and those inside it declare; not the parameters of the function itself. */
function declaredIn(scope: ts.Node): Set<string> {
  const names = new Set<string>();
  const look = (node: ts.Node): void => {
    const isOwn = ts.isParameter(node) && node.parent === scope;
    if (!isOwn && (ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isBindingElement(node)))
      if (ts.isIdentifier(node.name)) names.add(node.name.text);
    ts.forEachChild(node, look);
  };
  look(scope);
  return names;
}

/** Returns the variable at the beginning of an expression, such as `a` of `a.b[0].c()`. */
function rootOf(expression: ts.Expression): string {
  let node: ts.Node = expression;
  while (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node) || ts.isCallExpression(node))
    node = node.expression;
  return node.getText();
}

const isAssignment = (kind: ts.SyntaxKind) =>
  kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;

const isChange = (node: ts.Node): boolean =>
  ts.isFunctionLike(node) && node.parameters.some(({ name }) => name.getText() === 'unit');

/** Returns what the functions that take a unit change outside of themselves: a variable, or something in one. */
function keptOutside(path: string, text: string): string[] {
  const kept: string[] = [];
  function lookInside(scope: ts.Node): void {
    const own = declaredIn(scope);
    const note = (changed: ts.Expression, how: string) => {
      const root = rootOf(changed);
      if (!own.has(root) && /^[\w$]+$/.test(root) && !root.startsWith('orm')) kept.push(`${path} ${root}${how}`);
    };
    const look = (node: ts.Node): void => {
      if (ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind)) note(node.left, ' =');
      if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
        const { name, expression } = node.expression;
        if (MUTATES.test(name.text)) note(expression, `.${name.text}`);
      }
      ts.forEachChild(node, look);
    };
    look(scope);
  }
  function look(node: ts.Node): void {
    if (isChange(node)) lookInside(node);
    else ts.forEachChild(node, look);
  }
  look(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return kept;
}

test('a change that keeps something outside of its unit is found', () => {
  const found = (body: string) => keptOutside('a.ts', `db.write(actor, async (unit) => { ${body} })`);
  expect(found('total += 1;')).toEqual(['a.ts total =']);
  expect(found('seen.add(await find(unit));')).toEqual(['a.ts seen.add']);
  expect(found('const seen = new Set(); seen.add(1); await orm(unit).delete(users);')).toEqual([]);
  expect(keptOutside('a.ts', 'async function claim(unit, free) { free.take(1); }')).toEqual(['a.ts free.take']);
});

test('no change keeps anything outside of its unit', async () => {
  const kept = new Set<string>();
  for (const path of new Bun.Glob('**/*.ts').scanSync(SRC))
    if (!ELSEWHERE.test(path))
      for (const found of keptOutside(path, await Bun.file(join(SRC, path)).text())) kept.add(found);
  expect([...kept].filter((found) => !(found in EXEMPT))).toEqual([]);
  expect(Object.keys(EXEMPT).filter((found) => !kept.has(found))).toEqual([]);
});
