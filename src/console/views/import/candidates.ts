/** Converts table rows to import rows and validates what can be checked locally. */
import { fileRow, type ImportedField } from '../../../core/user-columns.ts';
import type { Schemas } from '../../api.ts';
import type { HeldKind } from '../grants/access.ts';
import type { Mapping } from './fields.ts';
import type { Table } from './read-table.ts';

export type ImportRow = Schemas['ImportRow'];

export interface Candidate {
  readonly line: number;
  readonly email: string;
  readonly row: ImportRow;
  /** Reason for leaving the row out; null if it is sent. */
  readonly problem: string | null;
}

/** Number of rows that name each slug. */
export type NamedGrants = Readonly<Record<HeldKind, ReadonlyMap<string, number>>>;

export interface Candidates {
  readonly all: readonly Candidate[];
  readonly unusable: readonly Candidate[];
  readonly repeated: readonly { readonly candidate: Candidate; readonly firstLine: number }[];
  readonly usernames: readonly string[];
  readonly grants: NamedGrants;
}

const SLUG_FIELDS = [
  ['roles', 'roleSlugs'],
  ['scopes', 'scopeSlugs'],
  ['memberships', 'membershipSlugs'],
] as const satisfies readonly (readonly [HeldKind, ImportedField])[];

/** Coarser than the server's check, which is authoritative. */
const ADDRESS = /^[^\s@"(),:;<>[\\\]]+@[^\s@.,;:/]+(?:\.[^\s@.,;:/]+)+$/u;
const EXTERNAL_ID = /^[!-~](?:[ -~]{0,126}[!-~])?$/;
const MAX_TEXT = 200;
const MAX_SLUG = 64;
const MAX_SLUGS = 100;
const LEVELS = new Set(['NATIVE', 'FLUENT', 'ADVANCED', 'INTERMEDIATE', 'BASIC'] as const);
type Level = Schemas['LanguageLevel'];
const MAX_LANGUAGES = 50;

export function candidatesOf(table: Table, mapping: Mapping): Candidates {
  const indexes = new Map<ImportedField, number>();
  mapping.forEach((field, index) => field && indexes.set(field, index));
  const all: Candidate[] = [];
  const unusable: Candidate[] = [];
  const repeated: { candidate: Candidate; firstLine: number }[] = [];
  const usernames = new Set<string>();
  const grants = {
    roles: new Map<string, number>(),
    scopes: new Map<string, number>(),
    memberships: new Map<string, number>(),
  };
  const firstLines = new Map<string, number>();
  for (const { line, cells } of table.rows) {
    const textOf = (field: ImportedField) => cells[indexes.get(field) ?? -1] ?? '';
    const row = fileRow<Level>(textOf);
    const candidate = { line, email: row.email, row, problem: problemOf(row) };
    all.push(candidate);
    if (candidate.problem !== null) {
      unusable.push(candidate);
      continue;
    }
    for (const [kind, field] of SLUG_FIELDS)
      for (const slug of row[field] ?? []) grants[kind].set(slug, (grants[kind].get(slug) ?? 0) + 1);
    const address = candidate.email.toLowerCase();
    const firstLine = firstLines.get(address);
    if (firstLine === undefined) firstLines.set(address, line);
    else repeated.push({ candidate, firstLine });
    if (candidate.row.profile?.username) usernames.add(candidate.row.profile.username);
  }
  return { all, unusable, repeated, usernames: [...usernames], grants };
}

function problemOf({ email, externalId, metadata, profile = {}, ...lists }: ImportRow): string | null {
  const { languages = [], ...texts } = profile;
  if (email === '') return 'It has no e-mail address.';
  if (!ADDRESS.test(email)) return 'This is not a valid e-mail address.';
  if (Object.values(texts).some((text) => text !== null && text.length > MAX_TEXT))
    return `A text is longer than ${MAX_TEXT} characters.`;
  if (externalId && !EXTERNAL_ID.test(externalId))
    return 'The external ID must be 1 to 128 printable ASCII characters.';
  if (metadata !== undefined && (typeof metadata !== 'object' || Array.isArray(metadata)))
    return 'Metadata must be a JSON object, such as {"plan":"pro"}.';
  if (!languages.every(isLanguage)) return 'Languages must look like “en:FLUENT; de:NATIVE”.';
  if (languages.length > MAX_LANGUAGES) return `It has more than ${MAX_LANGUAGES} languages.`;
  if (Object.values(lists).some((slugs) => slugs.length > MAX_SLUGS || slugs.some(({ length }) => length > MAX_SLUG)))
    return `At most ${MAX_SLUGS} slugs of ${MAX_SLUG} characters are allowed.`;
  return null;
}

function isLanguage({ code, level }: { readonly code: string; readonly level: Level }): boolean {
  return code.length >= 2 && code.length <= 35 && LEVELS.has(level);
}

export function withoutUsername({ profile, ...row }: ImportRow): ImportRow {
  if (!profile) return row;
  const { username: _, ...rest } = profile;
  return { ...row, profile: rest };
}
