/**
 * Tokens of folded text for an index of trigrams: a text that contains a word has all of the word's tokens. A token
 * stands for one part of one tenant's texts, so a search reads nothing of another tenant's.
 */

/** Parts of a member's text that are searched apart from each other. */
export type SearchPart = 'handles' | 'names';

type Part = SearchPart | 'address';

const SIZE = 3;

/** Tokens of a long word that a search looks up. Its matches are compared with the whole word. */
const MOST_OF_WORD = 24;

/** Scripts whose words are often shorter than a trigram. */
const SHORT_WORDS = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+$/u;

/** Returns the tokens of a text, each once. @param tenantId of the application or workspace that is searched. */
export function tokensOf(tenantId: string, part: Part, text: string): string[] {
  const grams = new Set<string>();
  for (const word of text.split(/\s+/))
    for (let at = 0; at < word.length; at += 1) {
      if (at + SIZE <= word.length) grams.add(word.slice(at, at + SIZE));
      for (let size = 1; size < SIZE && at + size <= word.length; size += 1) {
        const short = word.slice(at, at + size);
        if (SHORT_WORDS.test(short)) grams.add(short);
      }
    }
  return [...grams].map((gram) => token(tenantId, part, gram));
}

/** Returns the tokens that every text with this word has; none if the word is too short to tell. */
export function tokensToFind(tenantId: string, part: Part, word: string): string[] {
  if (word.length < SIZE) return SHORT_WORDS.test(word) ? [token(tenantId, part, word)] : [];
  const grams = Array.from({ length: word.length - SIZE + 1 }, (_, at) => word.slice(at, at + SIZE));
  const step = Math.max(1, grams.length / MOST_OF_WORD);
  const chosen = Array.from({ length: Math.min(grams.length, MOST_OF_WORD) }, (_, at) => grams[Math.floor(at * step)]);
  return [...new Set([...chosen, grams.at(-1)])].map((gram = '') => token(tenantId, part, gram));
}

/** A hash, since indexes split text at signs. Equal ones of different trigrams are harmless: matches are compared. */
function token(tenantId: string, part: Part, gram: string): string {
  return (Bun.hash.xxHash32(`${tenantId} ${part} ${gram}`) >>> 2).toString(36);
}
