import { describe, expect, test } from 'bun:test';
import { systemRandom } from '@/core/random.ts';

describe('random text', () => {
  test('has the given length and alphabet', () => {
    for (const length of [0, 1, 8, 100])
      expect(systemRandom.text('ABC', length)).toMatch(new RegExp(`^[ABC]{${length}}$`));
    expect(systemRandom.text('Z', 5)).toBe('ZZZZZ');
  });

  test('favours no character at any position', () => {
    const [alphabet, length, draws] = ['BCDFGHJKLMNPQRSTVWXZ', 8, 40_000];
    const counts = new Map<string, number>();
    for (let draw = 0; draw < draws; draw += 1)
      [...systemRandom.text(alphabet, length)].forEach((character, place) => {
        const cell = `${place}${character}`;
        counts.set(cell, (counts.get(cell) ?? 0) + 1);
      });
    const expected = draws / alphabet.length;
    // Chi-squared with 8 × 19 degrees of freedom: ten deviations are no accident. Bytes modulo 20 would give 18.
    const squares = [...counts.values()].map((count) => (count - expected) ** 2 / expected);
    const chiSquared = squares.reduce((sum, square) => sum + square, 0);
    expect(counts.size).toBe(alphabet.length * length);
    expect(chiSquared).toBeLessThan(152 + 10 * Math.sqrt(2 * 152));
  });
});
