import { describe, expect, test } from 'bun:test';
import { isClaimableUsername, normalizeUsername, suggestedUsername, usernameProblem } from '../../src/core/username.ts';

describe('normalizeUsername', () => {
  test.each([
    ['ada', 'ada'],
    ['  Ada \n', 'ada'],
    ['ADA.LOVELACE', 'ada.lovelace'],
    // NFKC maps full-width letters, ligatures, superscripts and ideographic spaces.
    ['ａｄａ', 'ada'],
    ['ﬁnn', 'finn'],
    ['ada²', 'ada2'],
    ['\u3000ada\u3000', 'ada'],
    ['Ⓐⓓⓐ', 'ada'],
    // Composed and decomposed letters are one name.
    ['ame\u0301lie', 'am\u00e9lie'],
  ])('reads %j as %j', (text, normal) => {
    expect(normalizeUsername(text)).toBe(normal);
  });

  test('is idempotent', () => {
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
  ])('may be %j', (name) => {
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
  ])('with %s, %j, is refused', (_why, name) => {
    expect(isClaimableUsername(name)).toBe(false);
  });

  test.each(['ADMIN', ' Root ', 'ｓｕｐｐｏｒｔ', 'Ⓡⓞⓞⓣ'])('is reserved in any spelling: %j', (text) => {
    expect(isClaimableUsername(normalizeUsername(text))).toBe(false);
  });

  test('is refused as reserved or as malformed', () => {
    expect(usernameProblem('admin')).toBe('reserved');
    expect(usernameProblem('ada lovelace')).toBe('malformed');
    expect(usernameProblem('ada')).toBeNull();
  });

  test.each([
    ['Ada Lovelace', 'ada-lovelace'],
    ['  Zoë O’Neil! ', 'zoe-oneil'],
    ['42 things', 'things'],
    [`${'long '.repeat(10)}`, 'long-long-long-long-long-long'],
    ['Ада', null],
    ['Admin!', null],
    ['!', null],
  ])('made of %j is suggested as %p', (text, suggestion) => {
    expect(suggestedUsername(text)).toBe(suggestion);
  });

  test('that is far too long is refused as a whole, not read by its beginning', () => {
    expect(isClaimableUsername(normalizeUsername(`ada${' '.repeat(500)}lovelace`))).toBe(false);
    expect(isClaimableUsername(normalizeUsername('a'.repeat(100_000)))).toBe(false);
  });
});
