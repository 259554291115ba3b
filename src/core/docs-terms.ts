/** Terms of the documentation's search. Server and browser share them: the one indexes by them, the other searches. */
import { foldText } from './search-text.ts';

/** A word of prose, or a name of several parts, such as `Retry-After`, `GATEHOUSE_SMTP_URL` or `api/v1/verify`. */
const WORD = /[\p{L}\p{N}]+(?:[-_./][\p{L}\p{N}]+)*/gu;

/** Words that other documentation uses for ours. */
const SYNONYMS: Readonly<Record<string, string>> = {
  login: 'sign in',
  logon: 'sign in',
  signin: 'sign in',
  logout: 'sign out',
  logoff: 'sign out',
  signout: 'sign out',
};

/** Words that nearly every text has. */
const STOP_WORDS = new Set(
  'a an and are as at be been but by can do does for from has have if in into is it its not of on or so than that the their then there these they this to was were what when where which who with you your'.split(
    ' ',
  ),
);

/** Names that look like plurals. */
const NAMES = new Set(['aws', 'cors', 'css', 'dns', 'https', 'kubernetes', 'sms', 'tls']);

/** A name and its parts; a word of prose has none. */
export interface Term {
  readonly whole: string;
  readonly parts: readonly string[];
}

/** Returns the terms of a text in order, without case and accents, and with prose in its base form. */
export function termsOf(text: string): Term[] {
  return (text.match(WORD) ?? [])
    .flatMap((word) => SYNONYMS[word.toLowerCase()]?.split(' ') ?? word)
    .map((word) => {
      const parts = word
        .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1-')
        .split(/[-_./]/)
        .map((part) => baseForm(foldText(part)));
      return parts.length > 1 ? { whole: foldText(word), parts } : { whole: parts[0] ?? word, parts: [] };
    })
    .filter(({ whole }) => !STOP_WORDS.has(whole));
}

/** Returns everything that a text is found by: whole names and their parts. */
export function indexedTerms(text: string): string[] {
  return termsOf(text).flatMap(({ whole, parts }) => [whole, ...parts.filter((part) => !STOP_WORDS.has(part))]);
}

/** Removes the commonest English endings, so that `retries` finds `retry` and `banned` finds `ban`. */
function baseForm(word: string): string {
  if (word.length < 4 || NAMES.has(word) || /\d/.test(word)) return word;
  return word
    .replace(/(?<![su])s$/, '')
    .replace(/(?<=[aeiouy].*[^e])(?:ed|ing)$/, '')
    .replace(/([bdgmnprt])\1$/, '$1')
    .replace(/(?<=[^aeiou])(?:ie|y)$/, 'i')
    .replace(/(?<=[aeiou][^aeiou])e$/, '');
}

/** Options of the index (MiniSearch), which must be the same where it is made and where it is read. */
export const DOCS_INDEX = {
  fields: ['title', 'place', 'text'],
  storeFields: ['title', 'place', 'href', 'weight'],
  tokenize: indexedTerms,
  processTerm: (term: string) => term,
};
