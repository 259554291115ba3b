/** Holds comments to the rules that a machine can hold: their first word and their width. */
import { expect, test } from 'bun:test';

/** First words of inverted clauses: a comment begins with its subject or an imperative verb. */
const INVERTED = /^\s*(?:\/\/|\/?\*\*?)\s*(?:What|Whose|Whom|Whoever|Those|Of|As|Nobody|Who|Such|Whichever)\b/;
const COMMENT = /^\s*(?:\/\/|\/?\*)/;
const MAX_WIDTH = 140;
const FOLDERS = ['src', 'test/support', 'test/browser', 'test/binary', 'test/faults'];

async function commentLines(): Promise<string[]> {
  const found: string[] = [];
  const paths = FOLDERS.flatMap((folder) => [...new Bun.Glob(`${folder}/**/*.{ts,tsx}`).scanSync('.')]);
  for (const path of paths) {
    if (path.includes('/generated/')) continue;
    const lines = (await Bun.file(path).text()).split('\n');
    for (const [index, line] of lines.entries()) if (COMMENT.test(line)) found.push(`${path}:${index + 1}:${line}`);
  }
  return found;
}

const lines = await commentLines();
const textOf = (line: string) => line.split(':').slice(2).join(':');

test('a comment begins with its subject or a verb, not with an inverted clause', () => {
  expect(lines.length).toBeGreaterThan(1000);
  expect(lines.filter((line) => INVERTED.test(textOf(line)))).toEqual([]);
});

test('a comment fits next to the code', () => {
  expect(lines.filter((line) => textOf(line).length > MAX_WIDTH)).toEqual([]);
});
