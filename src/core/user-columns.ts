/** The columns of user files: written by exports, read by imports, in the console and on the command line. */
import type { CsvCell } from './csv.ts';

/** The fields of an import that a column can hold. */
export type ImportedField =
  | 'email'
  | 'username'
  | 'givenName'
  | 'familyName'
  | 'fullName'
  | 'roleSlugs'
  | 'membershipSlugs'
  | 'scopeSlugs'
  | 'locale'
  | 'timezone'
  | 'languages'
  | 'externalId'
  | 'metadata';

interface Language<Level extends string = string> {
  readonly code: string;
  readonly level: Level;
}

export interface ExportedUser {
  readonly userId: string;
  readonly email: string;
  readonly externalId: string | null;
  readonly metadata?: Record<string, unknown> | undefined;
  readonly username: string | null;
  readonly status: string;
  readonly roles: readonly string[];
  readonly memberships: readonly string[];
  readonly scopes: readonly string[];
  readonly joinedAt: string;
  readonly lastSeenAt: string | null;
  readonly profile?:
    | {
        readonly givenName: string | null;
        readonly familyName: string | null;
        readonly fullName: string | null;
        readonly locale: string | null;
        readonly timezone: string | null;
        readonly languages: readonly Language[];
      }
    | undefined;
}

interface UserColumn {
  readonly name: string;
  readonly cellOf: (user: ExportedUser) => CsvCell;
  /** Exported only for those who may see profiles. */
  readonly isOfProfile?: true;
  /** Null for columns that only exports have. */
  readonly field: ImportedField | null;
}

/** In the order of exported files. */
export const USER_COLUMNS: readonly UserColumn[] = [
  { name: 'email', field: 'email', cellOf: ({ email }) => email },
  { name: 'username', field: 'username', cellOf: ({ username }) => username },
  { name: 'givenName', field: 'givenName', isOfProfile: true, cellOf: ({ profile }) => profile?.givenName },
  { name: 'familyName', field: 'familyName', isOfProfile: true, cellOf: ({ profile }) => profile?.familyName },
  { name: 'fullName', field: 'fullName', isOfProfile: true, cellOf: ({ profile }) => profile?.fullName },
  { name: 'status', field: null, cellOf: ({ status }) => status },
  { name: 'roles', field: 'roleSlugs', cellOf: ({ roles }) => roles.join(' ') },
  { name: 'groups', field: 'membershipSlugs', cellOf: ({ memberships }) => memberships.join(' ') },
  { name: 'scopes', field: 'scopeSlugs', cellOf: ({ scopes }) => scopes.join(' ') },
  { name: 'locale', field: 'locale', isOfProfile: true, cellOf: ({ profile }) => profile?.locale },
  { name: 'timezone', field: 'timezone', isOfProfile: true, cellOf: ({ profile }) => profile?.timezone },
  {
    name: 'languages',
    field: 'languages',
    isOfProfile: true,
    cellOf: ({ profile }) => profile?.languages.map(({ code, level }) => `${code}:${level}`).join(' '),
  },
  { name: 'externalId', field: 'externalId', cellOf: ({ externalId }) => externalId },
  {
    name: 'metadata',
    field: 'metadata',
    isOfProfile: true,
    cellOf: ({ metadata = {} }) => (Object.keys(metadata).length > 0 ? JSON.stringify(metadata) : null),
  },
  { name: 'joinedAt', field: null, cellOf: ({ joinedAt }) => joinedAt },
  { name: 'lastSeenAt', field: null, cellOf: ({ lastSeenAt }) => lastSeenAt },
  { name: 'userId', field: null, cellOf: ({ userId }) => userId },
];

export function exportedColumns(hasProfiles: boolean): readonly UserColumn[] {
  return USER_COLUMNS.filter(({ isOfProfile }) => hasProfiles || !isOfProfile);
}

/** Normalises a heading by removing case and punctuation: `given_name` equals `givenName`. */
export function plainHeading(heading: string): string {
  return heading.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** A row as the import accepts it. @template Level of languages, which only the import validates. */
export interface FileRow<Level extends string> {
  email: string;
  roleSlugs?: string[];
  scopeSlugs?: string[];
  membershipSlugs?: string[];
  externalId?: string;
  metadata?: Record<string, unknown>;
  profile?: Partial<Record<(typeof TEXTS)[number], string>> & { languages?: { code: string; level: Level }[] };
}

const TEXTS = ['username', 'givenName', 'familyName', 'fullName', 'locale', 'timezone'] as const;
const LISTS = ['roleSlugs', 'scopeSlugs', 'membershipSlugs'] as const;

/** Converts the cells of a file to an import row, without the empty ones. */
export function fileRow<Level extends string>(textOf: (field: ImportedField) => string): FileRow<Level> {
  const row: FileRow<Level> = { email: textOf('email') };
  for (const field of LISTS) {
    const slugs = listIn(textOf(field));
    if (slugs.length > 0) row[field] = slugs;
  }
  const externalId = textOf('externalId');
  if (externalId !== '') row.externalId = externalId;
  const metadata = textOf('metadata');
  if (metadata !== '') row.metadata = jsonIn(metadata);
  const profile: FileRow<Level>['profile'] = {};
  for (const field of TEXTS) {
    const text = textOf(field);
    if (text !== '') profile[field] = text;
  }
  const languages = listIn(textOf('languages')).map(languageIn<Level>);
  if (languages.length > 0) profile.languages = languages;
  if (Object.keys(profile).length > 0) row.profile = profile;
  return row;
}

/** Splits a list of slugs or language tags, which contain no spaces. */
function listIn(text: string): string[] {
  return [...new Set(text.split(/[\s,;|]+/).filter(Boolean))];
}

/** Parses JSON; the import refuses anything but an object, such as the text itself where it is no JSON. */
function jsonIn(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return text as never;
  }
}

/** Parses `en:FLUENT`; the level of a tag alone is fluent. The import refuses other text. */
function languageIn<Level extends string>(text: string): { code: string; level: Level } {
  const [code = '', ...rest] = text.split(':');
  return { code, level: (rest.join(':') || 'FLUENT').toUpperCase() as Level };
}
