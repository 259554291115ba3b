/** Searches the index of the documentation, in the browser. */
import MiniSearch, { type Query, type SearchResult } from 'minisearch';
import { DOCS_INDEX, type Term, termsOf } from '../../core/docs-terms.ts';

const MOST = 12;
/** A title that is the query, and one that contains it. */
const SAME_TITLE = 4;
const WITHIN_TITLE = 2;

export interface SearchEntry {
  readonly title: string;
  /** Context, such as the guide of a section. */
  readonly place: string;
  readonly href: string;
}

export type DocsSearch = (query: string, most?: number) => SearchEntry[];

/** @param index as JSON. */
export function docsSearch(index: string): DocsSearch {
  const search = MiniSearch.loadJSON(index, DOCS_INDEX);
  return (query, most = MOST) => {
    const terms = termsOf(query);
    if (terms.length === 0) return [];
    const words = terms.map(({ whole }) => whole).join(' ');
    const find = (isTyping: boolean) =>
      search.search(queryOf(terms, isTyping), {
        tokenize: (term) => [term],
        processTerm: (term) => term,
        boost: { title: 4, place: 1.5 },
        boostDocument: (_, __, entry) => Number(entry?.['weight']) * titleFactor(String(entry?.['title']), words),
      });
    const whole = find(false);
    // A word that nothing contains is taken for the start of one.
    const found: SearchResult[] = whole.length > 0 ? whole : find(true);
    return found.slice(0, most).map(({ title, place, href }) => ({ title, place, href }) as SearchEntry);
  };
}

/** Requires every word, whole or by its parts. @param isTyping takes the last one for the start of a word. */
function queryOf(terms: readonly Term[], isTyping: boolean): Query {
  return {
    combineWith: 'AND',
    queries: terms.map(({ whole, parts }, at) => ({
      combineWith: 'OR',
      prefix: isTyping && at === terms.length - 1,
      queries: [whole, ...(parts.length > 0 ? [{ combineWith: 'AND' as const, queries: [...parts] }] : [])],
    })),
  };
}

function titleFactor(title: string, words: string): number {
  const own = termsOf(title)
    .map(({ whole }) => whole)
    .join(' ');
  if (own === words) return SAME_TITLE;
  return ` ${own} `.includes(` ${words} `) ? WITHIN_TITLE : 1;
}
