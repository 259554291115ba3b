/** CSV that no spreadsheet executes, and that is read back unchanged. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import Papa from 'papaparse';
import { BrokenCsv, BYTE_ORDER_MARK, csvOf, rowsOfCsv } from '@/core/csv.ts';

/** Returns the cells that a spreadsheet sees if it splits at this separator. */
const seenBy = (text: string, separator: string) => text.split(/\r\n|\r|\n/).flatMap((line) => line.split(separator));

/** Matches a formula at the start of a cell. Such a spreadsheet reads two quotes as an empty text and goes on. */
const FORMULA_ELSEWHERE = /^"{0,2}[=+\-@＝＋－＠]/;

describe('a table as CSV', () => {
  test.each([
    '=1+1',
    '+49 30 1',
    '-2',
    '@SUM(A1)',
    '@home',
    '\t=1',
    '\r=1',
    '\n=1',
    '＝1+1',
    '＋1',
    '－1',
    '＠x',
    "'=1",
    "''@x",
  ])('is not executed by a spreadsheet and is read back unchanged: %p', async (cell) => {
    const text = csvOf([[cell, 'x']]);
    const [[read = ''] = []] = Papa.parse<string[]>(text.replace(/\r\n$/, ''), { delimiter: ',' }).data;
    expect(read).toBe(`'${cell.replace(/^([\t\r\n])=/, "$1'=")}`);
    expect(await rowsOfCsv(text)).toEqual([[cell, 'x']]);
  });

  test.each(['a;b', 'c\td', 'e|f'])('quotes cells with separators of other spreadsheets: %p', (cell) => {
    expect(csvOf([[cell]])).toBe(`"${cell}"\r\n`);
  });

  test.each(['a;=1+1;b', 'a\t@SUM(A1)', 'a\n=1+1\nb', 'a\r\n-2', ';;+1', 'roles;-x', 'a|＝1', 'a;＋1', 'a;"=1+1;b'])(
    'is not executed by a spreadsheet with another separator: %p',
    async (cell) => {
      const text = csvOf([['ada@example.com', cell, 'Ada']]);
      // Countries with decimal commas split at semicolons, where a quote within a cell is an ordinary character.
      for (const separator of [';', '\t', '|'])
        for (const seen of seenBy(text, separator)) expect(seen).not.toMatch(FORMULA_ELSEWHERE);
      expect(await rowsOfCsv(text)).toEqual([['ada@example.com', cell, 'Ada']]);
    },
  );

  test('writes numbers without a guard, and null or undefined as an empty cell', () => {
    expect(csvOf([[-2.5, true, null, undefined, '']])).toBe('-2.5,true,,,\r\n');
  });
});

/** Cells with formulas, guards, separators, quotes and line ends. */
const cell = fc.oneof(
  fc.string({ unit: fc.constantFrom(...`=+-@＝＋－＠'";,|\t\r\n a1`), maxLength: 8 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
);
const table = fc
  .integer({ min: 2, max: 4 })
  .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 6 }));

describe('CSV with random cells', () => {
  test('survives any number of round trips', async () => {
    await fc.assert(
      fc.asyncProperty(table, fc.boolean(), async (rows, isMarked) => {
        const once = (isMarked ? BYTE_ORDER_MARK : '') + csvOf([['head', 'of it'], ...rows]);
        const [, ...read] = await rowsOfCsv(once);
        expect(read).toEqual(rows);
        expect(csvOf(read)).toBe(csvOf(rows));
      }),
      { numRuns: 500 },
    );
  });

  test('contains no formula for any separator', async () => {
    await fc.assert(
      fc.property(table, (rows) => {
        const text = csvOf(rows);
        const cells = Papa.parse<string[]>(text, { delimiter: ',', newline: '\r\n' }).data.flat();
        for (const seen of cells) expect(seen).not.toMatch(/^[=+\-@＝＋－＠]/);
        for (const separator of [';', '\t', '|'])
          for (const seen of seenBy(text, separator)) expect(seen).not.toMatch(FORMULA_ELSEWHERE);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a CSV file of another program', () => {
  test.each([
    ['commas', 'a,b\n1,2\n'],
    ['semicolons', 'a;b\n1;2\n'],
    ['tabs', 'a\tb\r\n1\t2'],
    ['bars', 'a|b\r1|2\r'],
    ['quotes everywhere', '"a";"b"\r\n"1";"2"\r\n'],
    ['more commas in its cells than semicolons between them', 'a;b\n"1";2'],
    ['a byte order mark', '\uFEFFa,b\n1,2\n'],
  ])('is read with %s', async (_, text) => {
    expect(await rowsOfCsv(text)).toEqual([
      ['a', 'b'],
      ['1', '2'],
    ]);
  });

  test('keeps its empty lines, so that rows can be counted, and is read up to a maximum', async () => {
    expect(await rowsOfCsv('a,b\n\n1,2\n')).toEqual([['a', 'b'], [''], ['1', '2']]);
    expect(await rowsOfCsv('a,b\n1,2\n3,4\n', 2)).toHaveLength(2);
    expect(await rowsOfCsv('')).toEqual([]);
  });

  test.each([
    ['email\n"ada@example.com\n', 2],
    ['"a" b,c\n', 1],
  ])('is refused when its quotes do not match: %p', async (text, row) => {
    await expect(rowsOfCsv(text)).rejects.toEqual(new BrokenCsv(row));
  });
});
