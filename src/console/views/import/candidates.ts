/** The rows of a table as the import takes them, judged as far as that goes without the server. */
import type { Schemas } from '../../api.ts';
import type { FieldName, Mapping } from './fields.ts';
import type { Table } from './read-table.ts';

export type ImportRow = Schemas['ImportRow'];

export interface Candidate {
  readonly line: number;
  /** As it stands in the file. */
  readonly email: string;
  readonly row: ImportRow;
  /** Why it is not sent; null where it is. */
  readonly problem: string | null;
}

export interface Candidates {
  readonly all: readonly Candidate[];
  readonly unusable: readonly Candidate[];
  /** Whose address stands in a row above. */
  readonly repeated: readonly { readonly candidate: Candidate; readonly firstLine: number }[];
  readonly usernames: readonly string[];
}

/** Coarser than the server, which has the last word. */
const ADDRESS = /^[^\s@"(),:;<>[\\\]]+@[^\s@.,;:/]+(?:\.[^\s@.,;:/]+)+$/u;
const MAX_TEXT = 200;
const MAX_SLUG = 64;
const MAX_SLUGS = 100;
const LEVELS = new Set(['NATIVE', 'FLUENT', 'ADVANCED', 'INTERMEDIATE', 'BASIC'] as const);
type Level = Schemas['LanguageLevel'];
const MAX_LANGUAGES = 50;

export function candidatesOf(table: Table, mapping: Mapping): Candidates {
  const places = new Map<FieldName, number>();
  mapping.forEach((field, index) => field && places.set(field, index));
  const all: Candidate[] = [];
  const unusable: Candidate[] = [];
  const repeated: { candidate: Candidate; firstLine: number }[] = [];
  const usernames = new Set<string>();
  const firstLines = new Map<string, number>();
  for (const { line, cells } of table.rows) {
    const textOf = (field: FieldName) => cells[places.get(field) ?? -1] ?? '';
    const candidate = candidateOf(line, textOf);
    all.push(candidate);
    if (candidate.problem !== null) {
      unusable.push(candidate);
      continue;
    }
    const address = candidate.email.toLowerCase();
    const firstLine = firstLines.get(address);
    if (firstLine === undefined) firstLines.set(address, line);
    else repeated.push({ candidate, firstLine });
    if (candidate.row.profile?.username) usernames.add(candidate.row.profile.username);
  }
  return { all, unusable, repeated, usernames: [...usernames] };
}

function candidateOf(line: number, textOf: (field: FieldName) => string): Candidate {
  const email = textOf('email');
  const profile: NonNullable<ImportRow['profile']> = {};
  let problem =
    email === '' ? 'It has no e-mail address.' : ADDRESS.test(email) ? null : 'This is no valid e-mail address.';
  const refuse = (why: string) => (problem ??= why);

  for (const field of ['username', 'givenName', 'familyName', 'fullName', 'locale', 'timezone'] as const) {
    const text = textOf(field);
    if (text.length > MAX_TEXT) refuse(`A text is longer than ${MAX_TEXT} characters.`);
    else if (text !== '') profile[field] = text;
  }
  const languages = listOf(textOf('languages')).map(languageOf);
  if (languages.includes(null)) refuse('Languages are given as “en:FLUENT; de:NATIVE”.');
  else if (languages.length > MAX_LANGUAGES) refuse(`It has more than ${MAX_LANGUAGES} languages.`);
  else if (languages.length > 0) profile.languages = languages.filter((one) => one !== null);

  const row: ImportRow = { email };
  for (const field of ['roleSlugs', 'scopeSlugs', 'membershipSlugs'] as const) {
    const slugs = listOf(textOf(field));
    if (slugs.length > MAX_SLUGS || slugs.some(({ length }) => length > MAX_SLUG))
      refuse(`At most ${MAX_SLUGS} slugs of ${MAX_SLUG} characters are taken.`);
    else if (slugs.length > 0) row[field] = slugs;
  }
  if (Object.keys(profile).length > 0) row.profile = profile;
  return { line, email, row, problem };
}

/** Slugs and language tags have no spaces in them. */
function listOf(text: string): string[] {
  return [...new Set(text.split(/[\s,;|]+/).filter(Boolean))];
}

/** `en:FLUENT`; a tag alone is spoken fluently. */
function languageOf(text: string): { code: string; level: Level } | null {
  const [code = '', level = 'fluent', ...rest] = text.split(':');
  const known = level.toUpperCase() as Level;
  return code.length >= 2 && code.length <= 35 && LEVELS.has(known) && rest.length === 0
    ? { code, level: known }
    : null;
}

/** The row without its username. */
export function withoutUsername({ profile, ...row }: ImportRow): ImportRow {
  if (!profile) return row;
  const { username: _, ...rest } = profile;
  return { ...row, profile: rest };
}
