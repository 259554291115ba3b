/** One exported name means one thing, wherever it is read; and what is known to be there, a type says. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';

const SRC = join(import.meta.dir, '../../src');

/** Names that two files declare for one and the same thing, and why they do. */
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

/** A schema and its type share a name in one file, and are one thing. */
function exportedNames(text: string): Set<string> {
  const declarations =
    /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;
  return new Set([...text.matchAll(declarations)].flatMap(([, name]) => name ?? []));
}

/** The places of `value!`, outside comments. */
function assertions(text: string): string[] {
  return text.split('\n').filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line) && /[\w)\]]!(?:[^=\w'"`<’]|$)/.test(line));
}

/** The console and the client are programs of their own, which know the product by its public API alone: each has its names. */
function repeatedIn(isOfProgram: (path: string) => boolean): [name: string, paths: string[]][] {
  const files = new Map<string, string[]>();
  for (const { path, text } of sources)
    if (isOfProgram(path)) for (const name of exportedNames(text)) files.set(name, [...(files.get(name) ?? []), path]);
  return [...files].filter(([, paths]) => paths.length > 1);
}

describe('names', () => {
  test('are found at all', () => {
    expect([...exportedNames('export type A = 1;\nexport const A = 2;\nexport async function* b() {}')]).toEqual([
      'A',
      'b',
    ]);
    expect(assertions('const a = b!;\nc![0];\nd!.e;\n// f!.\nif (!g && h !== i && j!== k) l(m!)')).toHaveLength(4);
  });

  test('that are exported mean one thing: no two files declare the same one', () => {
    const repeated = [
      repeatedIn((path) => !/^(?:console|client)\//.test(path)),
      repeatedIn((path) => path.startsWith('console/')),
      repeatedIn((path) => path.startsWith('client/')),
    ].flat();
    expect(repeated.filter(([name]) => !(name in SAME_THING))).toEqual([]);
    expect(repeated.map(([name]) => name).sort()).toEqual(Object.keys(SAME_THING).sort());
  });
});

test('nothing is asserted to be there with `!`: a type says it, or `required` does and names what is missing', () => {
  expect(sources.flatMap(({ path, text }) => assertions(text).map((line) => `${path}: ${line.trim()}`))).toEqual([]);
});
