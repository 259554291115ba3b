/** Which suites start processes, browsers among them, by what they and what they import lead to. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What starts processes, and clears away behind each file that loads it. */
const STARTERS = ['test/support/binary.ts', 'test/support/browser.ts'];

const transpilers = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) };
const known = new Map<string, readonly string[]>();

/** The files of the tests that one of them imports; types are none. */
function importsOf(path: string): readonly string[] {
  let imports = known.get(path);
  if (imports === undefined) {
    imports = transpilers[path.endsWith('x') ? 'tsx' : 'ts']
      .scanImports(readFileSync(path, 'utf8'))
      .filter(({ path: name }) => /^\.\.?\/.*\.tsx?$/.test(name))
      .map(({ path: name }) => join(path, '..', name))
      .filter((name) => name.startsWith('test/'));
    known.set(path, imports);
  }
  return imports;
}

/** @param path from the repository's folder. */
export function startsProcesses(path: string): boolean {
  const reached = new Set([path]);
  // A set that grows is walked to its end.
  for (const file of reached) for (const imported of importsOf(file)) reached.add(imported);
  return STARTERS.some((starter) => reached.has(starter));
}
