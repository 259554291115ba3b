/** The columns of users in files: what exports write and imports read, in the console and on the command line. */
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
  | 'languages';

/** A language as files and the import have it. */
interface Language<Level extends string = string> {
  readonly code: string;
  readonly level: Level;
}

/** A user as an export gets them. */
export interface ExportedUser {
  readonly userId: string;
  readonly email: string;
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
  /** Its heading. */
  readonly name: string;
  readonly cellOf: (user: ExportedUser) => CsvCell;
  /** Written for those who may see profiles. */
  readonly isOfProfile?: true;
  /** Null for columns of exports alone. */
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
  { name: 'joinedAt', field: null, cellOf: ({ joinedAt }) => joinedAt },
  { name: 'lastSeenAt', field: null, cellOf: ({ lastSeenAt }) => lastSeenAt },
  { name: 'userId', field: null, cellOf: ({ userId }) => userId },
];

/** The columns of an export. */
export function exportedColumns(hasProfiles: boolean): readonly UserColumn[] {
  return USER_COLUMNS.filter(({ isOfProfile }) => hasProfiles || !isOfProfile);
}

/** A heading without case and punctuation: `given_name` is `givenName`. */
export function plainHeading(heading: string): string {
  return heading.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** A row as the import takes it. @template Level of languages, which only the import judges. */
export interface FileRow<Level extends string> {
  email: string;
  roleSlugs?: string[];
  scopeSlugs?: string[];
  membershipSlugs?: string[];
  profile?: Partial<Record<(typeof TEXTS)[number], string>> & { languages?: { code: string; level: Level }[] };
}

const TEXTS = ['username', 'givenName', 'familyName', 'fullName', 'locale', 'timezone'] as const;
const LISTS = ['roleSlugs', 'scopeSlugs', 'membershipSlugs'] as const;

/** Makes a row for the import of the cells of a file; empty ones are left out. */
export function fileRow<Level extends string>(textOf: (field: ImportedField) => string): FileRow<Level> {
  const row: FileRow<Level> = { email: textOf('email') };
  for (const field of LISTS) {
    const slugs = listIn(textOf(field));
    if (slugs.length > 0) row[field] = slugs;
  }
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

/** Slugs and language tags have no spaces in them. */
function listIn(text: string): string[] {
  return [...new Set(text.split(/[\s,;|]+/).filter(Boolean))];
}

/** `en:FLUENT`; a tag alone is spoken fluently. What else stands there is left for the import to refuse. */
function languageIn<Level extends string>(text: string): { code: string; level: Level } {
  const [code = '', ...rest] = text.split(':');
  return { code, level: (rest.join(':') || 'FLUENT').toUpperCase() as Level };
}
