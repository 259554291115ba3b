/** Suggestions for misspelt words. */
import { expect, test } from 'bun:test';
import { nearestWord } from '@/core/nearest-word.ts';

const WORDS = ['roles', 'scopes', 'groups', 'users', 'name', 'stage'];

test.each([
  ['rolez', 'roles'],
  ['Roles', 'roles'],
  ['user', 'users'],
  ['nmae', 'name'],
  ['stgae', 'stage'],
  ['scope', 'scopes'],
  ['id', null],
  ['xyz', null],
  ['', null],
  ['x'.repeat(100_000), null],
])('%p is corrected to %p', (word, meant) => expect(nearestWord(word, WORDS)).toBe(meant));
