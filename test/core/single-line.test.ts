import { describe, expect, test } from 'bun:test';
import { singleLine } from '../../src/core/single-line.ts';

describe('a plain line', () => {
  test.each([
    ['Ada Lovelace'],
    ['O’Brien-Ślązak'],
    ['<b>Ada</b> & "Bob"'],
    ['李小龍'],
    ['葛\u{e0100}城'],
    ['Ada 👩🏽‍🚀'],
    ['👩‍👩‍👧‍👦 ❤️ 🇩🇪'],
    ['🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'],
    // Persian and Sinhala need joiners inside a word, Malayalam at its end.
    ['علی\u200cرضا'],
    ['ශ්\u200dරී'],
    ['മോഹന്\u200d'],
    ['Nguyễn Thị Minh Khai'],
    ['𝒜𝒹𝒶'],
    ['__proto__'],
  ])('may be %j', (text) => {
    expect(singleLine(text, 100)).toBe(text.normalize('NFC'));
  });

  test.each([
    ['nothing', ''],
    ['blanks', ' \u00a0\u3000 '],
    ['NUL', 'a\0b'],
    ['a tab', 'a\tb'],
    ['a line end', 'a\nb'],
    ['a line separator', 'a\u2028b'],
    ['an escape', 'a\u001b[31mb'],
    ['a C1 control', 'a\u0085b'],
    ['a bidirectional override', 'a\u202eb'],
    ['a bidirectional isolate', 'a\u2066b'],
    ['a direction mark', 'a\u200fb'],
    ['a zero-width space', 'a\u200bb'],
    ['a word joiner', 'a\u2060b'],
    ['a soft hyphen', 'a\u00adb'],
    ['a byte order mark', 'a\ufeffb'],
    ['an interlinear annotation', 'a\ufff9b'],
    ['a letter that is blank', '\u3164'],
    ['a braille sign that is blank', '\u2800'],
    ['a variation selector of nothing', '\ufe0f'],
    ['two variation selectors', 'a\ufe0f\ufe0e'],
    ['a text in variation selectors', 'a\u{e0101}\u{e0120}\u{e0121}'],
    ['a joiner between Latin letters', 'a\u200db'],
    ['text in invisible tags', 'a\u{e0041}\u{e0064}\u{e0061}'],
    ['a joiner at the beginning', '\u200dabc'],
    ['a joiner after a letter at the end', 'abc\u200d'],
    ['two joiners in a row', 'a\u200d\u200db'],
    ['a joiner between digits', '1\u200d2'],
    ['half of a surrogate pair', 'a\ud800b'],
    ['the other half', '\udc00'],
    ['private use', 'a\ue000b'],
  ])('with %s is refused', (_, text) => {
    expect(singleLine(text, 100)).toBeNull();
  });

  test('is trimmed and composed', () => {
    expect(singleLine(' \n Zoe\u0308 \t', 100)).toBe('Zo\u00eb');
  });

  test('is measured in code points of its composed form', () => {
    expect(singleLine('😀'.repeat(100), 100)).toBe('😀'.repeat(100));
    expect(singleLine('😀'.repeat(101), 100)).toBeNull();
    expect(singleLine('e\u0301'.repeat(100), 100)).toBe('\u00e9'.repeat(100));
    expect(singleLine('각'.normalize('NFD').repeat(100), 100)).toBe('각'.repeat(100));
    // These characters grow when they are composed.
    expect(singleLine('\u0958'.repeat(51), 100)).toBeNull();
    expect(singleLine(`${' '.repeat(5000)}a`, 100)).toBe('a');
  });

  test('of any length is checked quickly', () => {
    const started = performance.now();
    for (const text of ['a', 'e\u0301', '\u200d', '👩‍👧', '\u0958'])
      expect(singleLine(text.repeat(200_000), 100)).toBeNull();
    expect(performance.now() - started).toBeLessThan(500);
  });
});
