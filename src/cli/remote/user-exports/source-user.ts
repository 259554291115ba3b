/** A user from another service's export, as an import row. */
import { isClaimableUsername, normalizeUsername } from '../../../core/username.ts';
import type { FileRow } from '../../../core/user-columns.ts';
import type { ExportedRecord } from './exported-record.ts';

export interface SourceUser {
  /** Their id in the other service, by which messages name them. */
  readonly id: string;
  readonly row: FileRow<never>;
  /** Banned or disabled there. */
  readonly isBlocked: boolean;
  /** A username that is not allowed here and is left out. */
  readonly lostUsername: string | null;
}

/** A user who cannot sign in by e-mail, such as a guest or a service. */
export interface LeftOut {
  readonly id: string;
  readonly reason: string;
}

export interface Source {
  /** Name for people. */
  readonly name: string;
  /** Heads of the columns, for a CSV without them. */
  readonly columns?: readonly string[];
  /** Says what to do about a file without users. */
  readonly empty?: string;
  /** @param now in milliseconds. @throws {Error} naming the place and the field that cannot be read. */
  read(record: ExportedRecord, now: number): SourceUser | LeftOut;
}

interface Given {
  readonly id: string;
  readonly email: string;
  readonly username?: string;
  readonly givenName?: string;
  readonly familyName?: string;
  readonly fullName?: string;
  readonly locale?: string;
  readonly roles?: readonly string[];
  readonly groups?: readonly string[];
  /** Values that only the service's backend could write. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Values that users may have written themselves: kept under one key, so that nobody takes them for trusted ones. */
  readonly written?: readonly [key: string, values: Readonly<Record<string, unknown>>];
  readonly isBlocked?: boolean;
}

const MAX_SLUG = 64;

export function sourceUser(given: Given): SourceUser | LeftOut {
  const { id, email, username = '', roles = [], groups = [], metadata = {}, written, isBlocked = false } = given;
  if (email === '') return { id, reason: 'without an e-mail address' };
  const name = normalizeUsername(username);
  const isUsable = name !== '' && isClaimableUsername(name);
  const isAddress = username.includes('@');
  const kept = { ...metadata, ...(written && Object.keys(written[1]).length > 0 && { [written[0]]: written[1] }) };
  const profile = filled({
    username: isUsable ? name : '',
    givenName: given.givenName ?? '',
    familyName: given.familyName ?? '',
    // Services put the address where they know no name.
    fullName: given.fullName?.includes('@') ? '' : (given.fullName ?? ''),
    locale: given.locale ?? '',
  });
  return {
    id,
    isBlocked,
    lostUsername: name === '' || isUsable || isAddress ? null : username,
    row: {
      email,
      externalId: id,
      ...(roles.length > 0 && { roleSlugs: slugsOf(roles) }),
      ...(groups.length > 0 && { membershipSlugs: slugsOf(groups) }),
      ...(Object.keys(kept).length > 0 && { metadata: kept }),
      ...(Object.keys(profile).length > 0 && { profile }),
    },
  };
}

/** Returns the roles in a claim, a text or a list of texts: `role` or `roles`, as most applications call them. */
export function rolesIn(record: ExportedRecord, field: string, values: Readonly<Record<string, unknown>>): string[] {
  return ['role', 'roles'].flatMap((name) => {
    const value = values[name] ?? [];
    const list = Array.isArray(value) ? value : [value];
    const odd = list.find((one) => typeof one !== 'string');
    if (odd !== undefined) throw record.error(`${field}.${name}`, 'is neither a text nor a list of texts');
    return list as string[];
  });
}

/** Returns the object without these keys. */
export function without(
  values: Readonly<Record<string, unknown>>,
  keys: readonly string[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).filter(([key]) => !keys.includes(key)));
}

function filled<Name extends string>(texts: Readonly<Record<Name, string>>): Partial<Record<Name, string>> {
  // A name in a file may have line breaks.
  const given = Object.entries<string>(texts).map(([name, text]) => [name, text.replace(/\s+/g, ' ').trim()] as const);
  return Object.fromEntries(given.filter(([, text]) => text !== '')) as Partial<Record<Name, string>>;
}

/** Returns the names as slugs of roles or groups: `Support Staff` is `support-staff`. */
function slugsOf(names: readonly string[]): string[] {
  const slugs = names.map((name) =>
    name
      .normalize('NFKD')
      .toLowerCase()
      .replace(/\p{M}/gu, '')
      .replace(/[^a-z0-9_:.-]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, MAX_SLUG),
  );
  return [...new Set(slugs)].filter((slug) => slug !== '');
}
