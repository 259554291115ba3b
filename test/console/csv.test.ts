import { describe, expect, test } from 'bun:test';
import Papa from 'papaparse';
import { csvOf, unguarded } from '@/console/csv.ts';

describe('a table as CSV', () => {
  test.each(['=1+1', '+49 30 1', '-2', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1+1'])(
    'carries out nothing: %p',
    (cell) => {
      const [[read = ''] = []] = Papa.parse<string[]>(csvOf([[cell]]).replace(/\r\n$/, ''), { delimiter: ',' }).data;
      expect(read).toStartWith("'");
      expect(unguarded(read)).toBe(cell);
    },
  );

  test('does not split where another spreadsheet would', () => {
    expect(csvOf([['a;b', 'c\td']])).toBe('"a;b","c\td"\r\n');
  });

  test.each(['a;=1+1;b', 'a\t@SUM(A1)', 'a\n=1+1\nb', 'a\r\n-2', ';;+1', 'roles;-x'])(
    'carries out nothing where it is opened by another separator: %p',
    (cell) => {
      const text = csvOf([['ada@example.com', cell, 'Ada']]);
      // As in a country that writes decimals with a comma: a quote within a cell is a character like any other.
      for (const separator of [';', '\t'])
        for (const seen of text.split(/\r\n|\r|\n/).flatMap((line) => line.split(separator)))
          expect(seen).not.toMatch(/^"?[=+\-@]/);
      const [row = []] = Papa.parse<string[]>(text.replace(/\r\n$/, ''), { delimiter: ',' }).data;
      expect(row.map(unguarded)).toEqual(['ada@example.com', cell, 'Ada']);
    },
  );

  test('is read again as it was written', () => {
    const rows = [
      ['name', 'said'],
      ['Ada "the Countess"', 'one, two\r\nthree'],
      ['Ελένη', "it's"],
    ];
    expect(Papa.parse<string[]>(csvOf(rows).replace(/\r\n$/, '')).data).toEqual(rows);
  });

  test('leaves numbers as they are, and what is missing empty', () => {
    expect(csvOf([[-2.5, true, null, undefined, '']])).toBe('-2.5,true,,,\r\n');
  });
});
