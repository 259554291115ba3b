import { describe, expect, test } from 'bun:test';
import { metadataIn, patchBetween, textOfMetadata } from '@/console/views/users/metadata-text.ts';
import { mergePatch } from '@/core/metadata.ts';

describe('metadata as text', () => {
  test.each([
    ['{\n  "plan": pro\n}', 'line 2, column 11'],
    ['{"a": 1,}', 'line 1, column 9'],
    ['{"a": 1', 'line 1, column 8'],
    ['{"a": [1, 2}', 'line 1, column 12'],
    ['{"a": 1} {', 'line 1, column 10'],
    ["{'a': 1}", 'line 1, column 2'],
    ['{"a" 1}', 'line 1, column 6'],
  ])('%j is refused with the place of its error', (text, where) => {
    expect(metadataIn(text)).toEqual({ problem: `This is no valid JSON: see ${where}.` });
  });

  test('is an object; blank is none', () => {
    expect(metadataIn('[1]')).toHaveProperty('problem');
    expect(metadataIn(' \n')).toEqual({ metadata: {} });
    expect(textOfMetadata({})).toBe('');
  });

  test.each([
    [
      { a: 1, b: { c: 2, d: 3 } },
      { b: { c: 2 }, e: [null] },
    ],
    [{ a: { b: 1 } }, { a: 'text' }],
    [{ a: [1] }, { a: { b: 1 } }],
    [{ a: 1 }, {}],
  ])('a patch makes %j into %j, and names only what differs', (before, after) => {
    expect(mergePatch(before, patchBetween(before, after))).toEqual(after);
    expect(patchBetween(after, after)).toEqual({});
  });
});
