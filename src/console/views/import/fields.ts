/** What a column of a file can mean, and what it means by its name. */
import { unguarded } from '../../csv.ts';
import type { Table } from './read-table.ts';

export type FieldName =
  | 'email'
  | 'username'
  | 'givenName'
  | 'familyName'
  | 'fullName'
  | 'roleSlugs'
  | 'scopeSlugs'
  | 'membershipSlugs'
  | 'locale'
  | 'timezone'
  | 'languages';

interface Field {
  readonly name: FieldName;
  readonly title: string;
  /** How columns of it are called, without case and punctuation. */
  readonly called: readonly string[];
}

export const FIELDS: readonly Field[] = [
  { name: 'email', title: 'E-mail', called: ['email', 'emailaddress', 'mail', 'useremail', 'primaryemail'] },
  { name: 'givenName', title: 'Given name', called: ['givenname', 'firstname', 'forename', 'given', 'first'] },
  { name: 'familyName', title: 'Family name', called: ['familyname', 'lastname', 'surname', 'family', 'last'] },
  { name: 'fullName', title: 'Full name', called: ['fullname', 'name', 'displayname'] },
  { name: 'username', title: 'Username', called: ['username', 'login', 'handle', 'nickname', 'preferredusername'] },
  { name: 'roleSlugs', title: 'Roles', called: ['roles', 'role', 'roleslugs'] },
  {
    name: 'membershipSlugs',
    title: 'Groups',
    called: ['groups', 'group', 'memberships', 'membership', 'membershipslugs', 'team', 'teams'],
  },
  { name: 'scopeSlugs', title: 'Scopes', called: ['scopes', 'scope', 'scopeslugs', 'permissions'] },
  { name: 'locale', title: 'Language of pages', called: ['locale', 'language', 'lang', 'uilocale'] },
  { name: 'timezone', title: 'Time zone', called: ['timezone', 'tz', 'zoneinfo'] },
  { name: 'languages', title: 'Languages spoken', called: ['languages', 'spokenlanguages'] },
];

/** The field of each column; null for one that is left out. */
export type Mapping = readonly (FieldName | null)[];

/** No field twice; a column without a name is the e-mail where addresses stand in it. */
export function guessMapping({ columns, rows }: Table): Mapping {
  const taken = new Set<FieldName>();
  return columns.map((column, index) => {
    const called = unguarded(column)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]/gu, '');
    const holdsAddresses = rows[0]?.cells[index]?.includes('@');
    const field =
      FIELDS.find((one) => one.called.includes(called))?.name ??
      (holdsAddresses && /^column\d+$/.test(called) ? 'email' : null);
    if (field === null || taken.has(field)) return null;
    taken.add(field);
    return field;
  });
}
