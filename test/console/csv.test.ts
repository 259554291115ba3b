import { describe, expect, test } from 'bun:test';
import Papa from 'papaparse';
import { csvOf, unguarded } from '@/console/csv.ts';

describe('a table as CSV', () => {
  test.each(['=1+1', '+49 30 1', '-2', '@SUM(A1)', '\t=1', '\r=1'])('carries out nothing: %p', (cell) => {
    const [[read = ''] = []] = Papa.parse<string[]>(csvOf([[cell]]).replace(/\r\n$/, ''), { delimiter: ',' }).data;
    expect(read).toBe(`'${cell}`);
    expect(unguarded(read)).toBe(cell);
  });

  test('does not split where another spreadsheet would', () => {
    expect(csvOf([['a;=1+1', 'b\t=1+1']])).toBe('"a;=1+1","b\t=1+1"\r\n');
  });

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
