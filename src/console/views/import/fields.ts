/** Import fields, and guessing them from column names. */
import { type ImportedField, plainHeading, USER_COLUMNS } from '../../../core/user-columns.ts';
import type { Table } from './read-table.ts';

interface Words {
  readonly title: string;
  /** Alternative names in other systems, normalized without case and punctuation. */
  readonly also: readonly string[];
}

const WORDS: Readonly<Record<ImportedField, Words>> = {
  email: { title: 'E-mail', also: ['emailaddress', 'mail', 'useremail', 'primaryemail'] },
  username: { title: 'Username', also: ['login', 'handle', 'nickname', 'preferredusername'] },
  givenName: { title: 'Given name', also: ['firstname', 'forename', 'given', 'first', 'vorname'] },
  familyName: { title: 'Family name', also: ['lastname', 'surname', 'family', 'last', 'nachname', 'familienname'] },
  fullName: { title: 'Full name', also: ['name', 'displayname'] },
  roleSlugs: { title: 'Roles', also: ['role', 'roleslugs'] },
  membershipSlugs: {
    title: 'Groups',
    also: ['group', 'memberships', 'membership', 'membershipslugs', 'team', 'teams'],
  },
  scopeSlugs: { title: 'Scopes', also: ['scope', 'scopeslugs', 'permissions'] },
  locale: { title: 'Language of pages', also: ['language', 'lang', 'uilocale'] },
  timezone: { title: 'Time zone', also: ['tz', 'zoneinfo'] },
  externalId: { title: 'External ID', also: ['customerid', 'id', 'uid', 'sub'] },
  metadata: { title: 'Metadata (JSON)', also: ['appmetadata', 'privatemetadata', 'customdata'] },
  languages: { title: 'Languages spoken', also: ['spokenlanguages'] },
};

interface Field {
  readonly name: ImportedField;
  readonly title: string;
  /** Headings that map to the field, normalized without case and punctuation. */
  readonly called: readonly string[];
}

export const FIELDS: readonly Field[] = USER_COLUMNS.flatMap(({ name, field }) => {
  if (field === null) return [];
  const { title, also } = WORDS[field];
  return { name: field, title, called: [plainHeading(name), ...also] };
});

/** Field of each column; null for ignored columns. */
export type Mapping = readonly (ImportedField | null)[];

/** Maps each field once. An unnamed column becomes the e-mail column if its first cell holds an address. */
export function guessMapping({ columns, rows }: Table): Mapping {
  const taken = new Set<ImportedField>();
  return columns.map((column, index) => {
    const called = plainHeading(column);
    const holdsAddresses = rows[0]?.cells[index]?.includes('@');
    const field =
      FIELDS.find((one) => one.called.includes(called))?.name ??
      (holdsAddresses && /^column\d+$/.test(called) ? 'email' : null);
    if (field === null || taken.has(field)) return null;
    taken.add(field);
    return field;
  });
}
