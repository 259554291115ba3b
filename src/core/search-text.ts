/** Folds text for searches: case, accents and letters that keyboards lack make no difference. */

/** Letters that no Unicode normalization takes apart, and the letters that people type for them. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', ı: 'i', đ: 'd', ð: 'd', þ: 'th', ħ: 'h', ŧ: 't', ŋ: 'n', ς: 'σ' },
};
const LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g');

/** Accents of Latin, Greek and Cyrillic, and the vowel points of Hebrew and Arabic. Other marks are letters. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05bd\u064b-\u065f]/g;

export function foldText(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(ACCENTS, '')
    .replace(LETTER, (letter) => LETTERS[letter] ?? letter);
}

/** Words of a search; more would only cost time. */
const MOST_WORDS = 8;

/** Returns the folded words of a search, each of which must be found. A username may be written as `@name`. */
export function searchWords(q: string): readonly string[] {
  const words = foldText(q)
    .split(/\s+/)
    .map((word) => word.replace(/^@(?=.)/, ''))
    .filter((word) => word !== '');
  return [...new Set(words)].slice(0, MOST_WORDS);
}

const WHOLE_USER_ID = /^usr_[0-9a-hjkmnp-tv-z]{26}$/;

/** Returns the user id that a search consists of; null for words. */
export function wholeUserId(q: string): string | null {
  const text = q.trim().toLowerCase();
  return WHOLE_USER_ID.test(text) ? text : null;
}
