/** One exported name has one meaning everywhere, and types replace non-null assertions. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { ENTRIES } from '@/client/package.ts';

const SRC = join(import.meta.dir, '../../src');

/** Names that two files declare for the same thing, with the reason. */
const SAME_THING: Record<string, string> = {
  DeviceRequest: 'an answer of the API, as the device page’s script reads it: pages know nothing of modules',
  PublicState: 'an answer of the API, as the sign-in page reads it',
  SignedIn: 'an answer of the API, as the scripts of the pages read it',
};

const sources = await Promise.all(
  [...new Bun.Glob('**/*.{ts,tsx}').scanSync(SRC)]
    .filter((path) => !path.includes('/generated/'))
    .sort()
    .map(async (path) => ({ path, text: await Bun.file(join(SRC, path)).text() })),
);

/** Returns the exported names; a schema and its type share one name in one file. */
function exportedNames(text: string): Set<string> {
  const declarations =
    /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;
  return new Set([...text.matchAll(declarations)].flatMap(([, name]) => name ?? []));
}

/** Returns the uses of `value!` outside comments. */
function assertions(text: string): string[] {
  return text.split('\n').filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line) && /[\w)\]]!(?:[^=\w'"`<’]|$)/.test(line));
}

/** An entry point of the package next to the main one: whoever imports it takes the same names from no other. */
const isAdapter = (path: string) =>
  Object.values(ENTRIES).some((entry) => entry !== ENTRIES['.'] && path.startsWith(`client/${entry}.`));

/**
 * Returns the repeated names of one program; the console and the client are separate programs with their own names.
 */
function repeatedIn(isOfProgram: (path: string) => boolean): [name: string, paths: string[]][] {
  const files = new Map<string, string[]>();
  for (const { path, text } of sources)
    if (isOfProgram(path)) for (const name of exportedNames(text)) files.set(name, [...(files.get(name) ?? []), path]);
  return [...files].filter(([, paths]) => paths.length > 1);
}

describe('exported names', () => {
  test('are detected', () => {
    expect([...exportedNames('export type A = 1;\nexport const A = 2;\nexport async function* b() {}')]).toEqual([
      'A',
      'b',
    ]);
    expect(assertions('const a = b!;\nc![0];\nd!.e;\n// f!.\nif (!g && h !== i && j!== k) l(m!)')).toHaveLength(4);
  });

  test('have one meaning: no two files declare the same name', () => {
    const repeated = [
      repeatedIn((path) => !/^(?:console|client)\//.test(path)),
      repeatedIn((path) => path.startsWith('console/')),
      repeatedIn((path) => path.startsWith('client/') && !isAdapter(path)),
    ].flat();
    expect(repeated.filter(([name]) => !(name in SAME_THING))).toEqual([]);
    expect(repeated.map(([name]) => name).sort()).toEqual(Object.keys(SAME_THING).sort());
  });
});

test('no value is asserted with `!`: a type states it, or `required` throws and names what is missing', () => {
  expect(sources.flatMap(({ path, text }) => assertions(text).map((line) => `${path}: ${line.trim()}`))).toEqual([]);
});
