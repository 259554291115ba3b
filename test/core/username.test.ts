import { describe, expect, test } from 'bun:test';
import { isClaimableUsername, normalizeUsername } from '../../src/core/username.ts';

describe('the normal form of a username', () => {
  test.each([
    ['ada', 'ada'],
    ['  Ada \n', 'ada'],
    ['ADA.LOVELACE', 'ada.lovelace'],
    // NFKC: full-width, ligature, superscript, ideographic space.
    ['ａｄａ', 'ada'],
    ['ﬁnn', 'finn'],
    ['ada²', 'ada2'],
    ['\u3000ada\u3000', 'ada'],
    ['Ⓐⓓⓐ', 'ada'],
    // Composed and decomposed are one name.
    ['ame\u0301lie', 'am\u00e9lie'],
  ])('of %j is %j', (text, normal) => {
    expect(normalizeUsername(text)).toBe(normal);
  });

  test('is its own normal form', () => {
    for (const text of ['Ａda', 'ﬃn', 'İda', 'ǅa', 'ß', 'Σας'])
      expect(normalizeUsername(normalizeUsername(text))).toBe(normalizeUsername(text));
  });
});

describe('a username', () => {
  test.each([
    'ada',
    'a1b',
    'ada.lovelace',
    'ada_lovelace',
    'ada-lovelace',
    'a.b_c-d',
    'x'.repeat(30),
    'adminton',
    'roots',
    'the-admin',
  ])('%j can be claimed', (name) => {
    expect(isClaimableUsername(name)).toBe(true);
  });

  test.each([
    ['nothing', ''],
    ['too short', 'ab'],
    ['too long', 'x'.repeat(31)],
    ['begins with a digit', '1ada'],
    ['begins with punctuation', '.ada'],
    ['begins with punctuation', '_ada'],
    ['ends in punctuation', 'ada.'],
    ['ends in punctuation', 'ada-'],
    ['ends in punctuation', 'ada_'],
    ['doubled punctuation', 'ada..lovelace'],
    ['doubled punctuation', 'ada._lovelace'],
    ['doubled punctuation', 'ada--lovelace'],
    ['a space', 'ada lovelace'],
    ['a foreign letter', 'adá'],
    ['a Cyrillic look-alike', 'аda'],
    ['an at sign', 'ada@example'],
    ['a slash', 'ada/lovelace'],
    ['a line end', 'ada\n'],
    ['a zero-width joiner', 'a\u200dda'],
    ['an upper-case letter, which is no normal form', 'Ada'],
    ['a reserved word', 'admin'],
    ['a reserved word', 'root'],
    ['a reserved word', 'support'],
    ['a reserved word', 'no-reply'],
    ['a reserved word', 'gatehouse'],
    ['a reserved word', 'null'],
    ['a property of every object', 'constructor_'],
  ])('with %s, %j, cannot', (_why, name) => {
    expect(isClaimableUsername(name)).toBe(false);
  });

  test.each(['ADMIN', ' Root ', 'ｓｕｐｐｏｒｔ', 'Ⓡⓞⓞⓣ'])('reserved however it is written: %j', (text) => {
    expect(isClaimableUsername(normalizeUsername(text))).toBe(false);
  });

  test('far too long cannot be claimed by what stands at its beginning', () => {
    expect(isClaimableUsername(normalizeUsername(`ada${' '.repeat(500)}lovelace`))).toBe(false);
    expect(isClaimableUsername(normalizeUsername('a'.repeat(100_000)))).toBe(false);
  });
});
