import { foldText } from '../../core/search-text.ts';

const MOST = 12;

/** Something that is found by its words. */
export interface Findable {
  readonly title: string;
  /** Context, such as the guide of a section. */
  readonly place: string;
  /** Additional search terms. */
  readonly words?: string;
}

/** Requires every word. Ranks matches in titles and at word starts first; ties keep the given order, guides first. */
export function findEntries<Entry extends Findable>(entries: readonly Entry[], query: string, most = MOST): Entry[] {
  const words = foldText(query).split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, most)
    .map(({ entry }) => entry);
}

function scoreOf({ title, place, words = '' }: Findable, query: readonly string[]): number {
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
  const folded = foldText(text);
  const at = folded.indexOf(word);
  if (at < 0) return 0;
  return at === 0 || !/[\p{L}\p{N}]/u.test(folded[at - 1] ?? '') ? most : most / 2;
}
