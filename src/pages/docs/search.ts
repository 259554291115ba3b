import type { SearchEntry } from './docs.ts';

const MOST = 12;

/** Requires every word. Ranks matches in titles and at word starts first; ties keep the given order, guides first. */
export function findEntries(entries: readonly SearchEntry[], query: string): SearchEntry[] {
  const words = wordsOf(query);
  if (words.length === 0) return [];
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, MOST)
    .map(({ entry }) => entry);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

function scoreOf({ title, place, words = '' }: SearchEntry, query: readonly string[]): number {
  let sum = 0;
  for (const word of query) {
    const score = Math.max(weigh(title, word, 8), weigh(place, word, 4), weigh(words, word, 2));
    if (score === 0) return 0;
    sum += score;
  }
  return sum;
}

/** Returns the full weight for a match at a word start, half of it within a word. */
function weigh(text: string, word: string, most: number): number {
  const at = text.toLowerCase().indexOf(word);
  if (at < 0) return 0;
  return at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? '') ? most : most / 2;
}
