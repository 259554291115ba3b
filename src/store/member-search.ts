/** Scans an application's members for matches in batches, for lack of an index. */
import { displayName } from '../core/display-name.ts';
import type { Reader } from '../db/database.ts';
import { type Dialect, longRead, type Sql, sqlOf } from '../db/statements.ts';
import type { MemberOrder, MemberPosition } from './members.ts';
import type { MembershipStatus, ReservedProfile } from './schema/users.ts';

/** Search criteria; absent ones do not apply. An unknown slug matches nobody. */
export interface MemberFilter {
  readonly status?: MembershipStatus | undefined;
  readonly role?: string | undefined;
  readonly membership?: string | undefined;
  /** Lower-case word. SQL lower-cases ASCII only, so it just excludes impossible matches; callers check the rest. */
  readonly word?: string | undefined;
}

/** A member's searchable fields. A reservation matches only reserved data, never its person's name. */
export interface FoundMember extends MemberPosition {
  /** E-mail and username. */
  readonly handles: readonly (string | null)[];
  readonly name: string | null;
}

export interface MemberScan {
  /** Matches, in the requested order. */
  readonly found: readonly FoundMember[];
  readonly last: MemberPosition | null;
  readonly scanned: number;
}

interface ScanRow {
  readonly lastSeenAt: number;
  readonly id: string;
  /** Set on the row that ends the batch; null on a match. */
  readonly scanned: number | null;
  readonly email: string;
  readonly username: string | null;
  readonly name: string | null;
  readonly fullName: string | null;
  readonly givenName: string | null;
  readonly familyName: string | null;
  readonly reservedEmail: string | null;
  readonly reservedProfile: string | null;
  readonly profileUserId: string | null;
}

const holds = (grants: string, table: string, column: string, value: keyof MemberFilter) =>
  `EXISTS (SELECT 1 FROM ${grants} h JOIN ${table} g ON g.id = h.${column}
     WHERE h.application_user_id = m.id AND g.slug = :${value} AND g.removed_at IS NULL)`;

/** All searchable text of a member. */
const TEXTS = `coalesce(m.reserved_email, u.email) || ' ' || coalesce(m.username, '') || ' ' || coalesce(u.name, '') || ' ' ||
  coalesce(u.full_name, '') || ' ' || coalesce(u.given_name, '') || ' ' || coalesce(u.family_name, '') || ' ' ||
  coalesce(m.reserved_profile, '')`;

const CONDITIONS: Readonly<Record<keyof MemberFilter, Sql>> = {
  status: 'm.status = :status',
  role: holds('application_user_roles', 'roles', 'role_id', 'role'),
  membership: holds('application_user_groups', 'membership_groups', 'group_id', 'membership'),
  word: ({ textPosition }) =>
    `(${textPosition(`lower(${TEXTS})`, ':word')} > 0 OR octet_length(${TEXTS}) > length(${TEXTS}))`,
};

/** SQL for continuing after a cursor, and for both directions through a batch. */
const ORDERS: Readonly<Record<MemberOrder, { behind: string; forth: string; back: string }>> = {
  last_seen: {
    behind: '(last_seen_at, id) < (:lastSeenAt, :id)',
    forth: 'last_seen_at DESC, id DESC',
    back: 'last_seen_at, id',
  },
  joined: { behind: 'id > :id', forth: 'id', back: 'id DESC' },
};

/** Scans the next batch for people, starting after a cursor. */
export async function scanMembers(
  reader: Reader,
  applicationId: string,
  filter: MemberFilter,
  {
    order = 'last_seen',
    after,
    size,
  }: { readonly order?: MemberOrder | undefined; readonly after: MemberPosition | null; readonly size: number },
): Promise<MemberScan> {
  const { behind, forth, back } = ORDERS[order];
  const asked = (Object.keys(CONDITIONS) as (keyof MemberFilter)[]).filter((name) => filter[name] !== undefined);
  const conditions = (dialect: Dialect) => [
    "u.kind = 'person'",
    ...asked.map((name) => sqlOf(CONDITIONS[name], dialect)),
  ];
  const scan = longRead.rows<ScanRow, object>(
    (dialect) => `WITH stretch AS (
       SELECT * FROM application_users WHERE application_id = :applicationId${after === null ? '' : ` AND ${behind}`}
       ORDER BY ${forth} LIMIT :size
     )
     SELECT * FROM (
       SELECT m.last_seen_at AS "lastSeenAt", m.id, CAST(NULL AS INTEGER) AS scanned, u.email, m.username, u.name,
         u.full_name AS "fullName", u.given_name AS "givenName", u.family_name AS "familyName",
         m.reserved_email AS "reservedEmail", m.reserved_profile AS "reservedProfile", m.profile_user_id AS "profileUserId"
       FROM stretch m JOIN users u ON u.id = coalesce(m.profile_user_id, m.user_id) WHERE ${conditions(dialect).join(' AND ')}
       ORDER BY ${order === 'joined' ? 'm.id' : 'm.last_seen_at DESC, m.id DESC'}
     ) AS found
     UNION ALL
     SELECT * FROM (
       SELECT last_seen_at, id, (SELECT count(*) FROM stretch), '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM stretch
       ORDER BY ${back} LIMIT 1
     ) AS ends`,
  );
  const rows = await scan(reader, { ...filter, ...after, applicationId, size });
  const end = rows.find(({ scanned }) => scanned !== null);
  return {
    found: rows.filter(({ scanned }) => scanned === null).map(foundMember),
    last: end ? { lastSeenAt: end.lastSeenAt, id: end.id } : null,
    scanned: end?.scanned ?? 0,
  };
}

function foundMember({
  lastSeenAt,
  id,
  reservedEmail,
  reservedProfile,
  profileUserId,
  email,
  username,
  ...names
}: ScanRow): FoundMember {
  if (reservedEmail === null || profileUserId !== null)
    return { lastSeenAt, id, handles: [reservedEmail ?? email, username], name: displayName(names) };
  const reserved = reservedProfile === null ? null : (JSON.parse(reservedProfile) as ReservedProfile);
  const name = reserved && displayName({ ...reserved, name: null });
  return { lastSeenAt, id, handles: [reservedEmail, username], name };
}
