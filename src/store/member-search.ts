/** Finds an application's members: rare words by the index of trigrams, the rest by a scan in batches in the list's order. */
import { searchWords, wholeUserId } from '../core/search-text.ts';
import { type SearchPart, tokensToFind } from '../core/search-tokens.ts';
import type { Reader } from '../db/database.ts';
import { type Dialect, dialectOf, longRead, query } from '../db/statements.ts';
import { ENTER_MEMBERS, SEARCHED_COLUMNS, type SearchedRow, searchTextOf } from './member-index.ts';
import type { MemberOrder, MemberPosition } from './members.ts';
import type { MembershipStatus } from './schema/users.ts';

/** Search criteria; absent ones do not apply. An unknown slug matches nobody. */
export interface MemberFilter {
  readonly status?: MembershipStatus | undefined;
  /** Only imported people who have never signed in. */
  readonly isImported?: true | undefined;
  readonly role?: string | undefined;
  readonly membership?: string | undefined;
}

/** Terms of a search: a whole id, or words, each of which is in one of the parts. */
export interface MemberTerms {
  readonly userId: string | null;
  readonly words: readonly string[];
  readonly parts: readonly SearchPart[];
}

/** @param isByName whether names are searched as well as e-mail and username. */
export function memberTerms(q: string | undefined, isByName: boolean): MemberTerms {
  const parts: readonly SearchPart[] = isByName ? ['handles', 'names'] : ['handles'];
  const userId = wholeUserId(q ?? '');
  return { userId, words: userId === null ? searchWords(q ?? '') : [], parts };
}

export interface MembersAsked {
  readonly applicationId: string;
  readonly filter: MemberFilter;
  readonly terms: MemberTerms;
  readonly order: MemberOrder;
  readonly after: MemberPosition | null;
}

const holds = (grants: string, table: string, column: string, value: keyof MemberFilter) =>
  `EXISTS (SELECT 1 FROM ${grants} h JOIN ${table} g ON g.id = h.${column}
     WHERE h.application_user_id = m.id AND g.slug = :${value} AND g.removed_at IS NULL)`;

const CONDITIONS: Readonly<Record<keyof MemberFilter, string>> = {
  status: 'm.status = :status',
  isImported: `m.status = 'active' AND m.last_seen_at = 0`,
  role: holds('application_user_roles', 'roles', 'role_id', 'role'),
  membership: holds('application_user_groups', 'membership_groups', 'group_id', 'membership'),
};

/** SQL for continuing after a cursor, and for both directions through a batch. */
const ORDERS: Readonly<Record<MemberOrder, { behind: string; forth: string; back: string; sorted: string }>> = {
  last_seen: {
    behind: '(last_seen_at, id) < (:lastSeenAt, :id)',
    forth: 'last_seen_at DESC, id DESC',
    back: 'last_seen_at, id',
    sorted: 'm.last_seen_at DESC, m.id DESC',
  },
  joined: { behind: 'id > :id', forth: 'id', back: 'id DESC', sorted: 'm.id' },
};

function isBefore(order: MemberOrder, left: MemberPosition, right: MemberPosition): boolean {
  if (order === 'joined') return left.id < right.id;
  return left.lastSeenAt === right.lastSeenAt ? left.id > right.id : left.lastSeenAt > right.lastSeenAt;
}

function filterSql({ filter, terms }: MembersAsked): string[] {
  const asked = (Object.keys(CONDITIONS) as (keyof MemberFilter)[]).filter((name) => filter[name] !== undefined);
  return [
    "u.kind = 'person'",
    ...asked.map((name) => CONDITIONS[name]),
    ...(terms.userId === null ? [] : ['m.user_id = :userId']),
  ];
}

/** Compares a search row `s` with every word. */
function wordsSql({ words, parts }: MemberTerms, { textPosition }: Dialect): string[] {
  return words.map(
    (_, at) => `(${parts.map((part) => `${textPosition(`s.${part}`, `:word${at}`)} > 0`).join(' OR ')})`,
  );
}

function valuesOf({ applicationId, filter, terms, after }: MembersAsked) {
  const words = Object.fromEntries(terms.words.map((word, at) => [`word${at}`, word]));
  return { ...filter, ...after, ...words, applicationId, userId: terms.userId };
}

/** Compares a row that is not indexed yet with every word. */
function isMatch(row: SearchedRow, { words, parts }: MemberTerms): boolean {
  const text = searchTextOf(row);
  return words.every((word) => parts.some((part) => text[part].includes(word)));
}

const JOINS = 'JOIN users u ON u.id = coalesce(m.profile_user_id, m.user_id)';

export interface MemberScan {
  /** Matches, in the requested order. */
  readonly found: readonly MemberPosition[];
  readonly last: MemberPosition | null;
  readonly scanned: number;
}

type ScanRow = MemberPosition & SearchedRow & { readonly scanned: number | null; readonly isIndexed: boolean };

/** Scans the next batch for people, starting after a cursor. */
export async function scanMembers(reader: Reader, asked: MembersAsked, size: number): Promise<MemberScan> {
  const { terms, after } = asked;
  const { behind, forth, back, sorted } = ORDERS[asked.order];
  const { status } = asked.filter;
  // Literal, to match the partial index of everybody else.
  const isRare = asked.order === 'last_seen' && status !== undefined && status !== 'active';
  const within = `${isRare ? "AND status = :status AND status <> 'active'" : ''} ${after === null ? '' : `AND ${behind}`}`;
  const matches = (dialect: Dialect) => {
    const words = wordsSql(terms, dialect);
    return [...filterSql(asked), ...(words.length === 0 ? [] : [`(s.handles IS NULL OR ${words.join(' AND ')})`])];
  };
  const blank = Array.from({ length: 8 }, () => 'CAST(NULL AS TEXT)').join(', ');
  const scan = longRead.rows<ScanRow, object>(
    (dialect) => `WITH stretch AS (
       SELECT * FROM application_users WHERE application_id = :applicationId ${within}
       ORDER BY ${forth} LIMIT :size
     )
     SELECT * FROM (
       SELECT m.last_seen_at AS "lastSeenAt", m.id, CAST(NULL AS INTEGER) AS scanned, s.handles IS NOT NULL AS "isIndexed",
         ${SEARCHED_COLUMNS}
       FROM stretch m ${JOINS} LEFT JOIN member_search s ON s.member_id = m.id
       WHERE ${matches(dialect).join(' AND ')} ORDER BY ${sorted}
     ) AS found
     UNION ALL
     SELECT * FROM (
       SELECT last_seen_at, id, (SELECT count(*) FROM stretch), 1 = 1, '', ${blank} FROM stretch ORDER BY ${back} LIMIT 1
     ) AS ends`,
  );
  const rows = await scan(reader, { ...valuesOf(asked), size });
  const end = rows.find(({ scanned }) => scanned !== null);
  return {
    found: rows
      .filter((row) => row.scanned === null && (row.isIndexed || isMatch(row, terms)))
      .map(({ lastSeenAt, id }) => ({ lastSeenAt, id })),
    last: end ? { lastSeenAt: end.lastSeenAt, id: end.id } : null,
    scanned: end?.scanned ?? 0,
  };
}

/** Rows that the index may yield, and rows not indexed yet; with more, a scan in order finds a page sooner. */
const MOST_CANDIDATES = 2000;

const findMissing = (asked: MembersAsked) =>
  query.rows<MemberPosition & SearchedRow, object>(`SELECT m.last_seen_at AS "lastSeenAt", m.id, ${SEARCHED_COLUMNS}
   FROM (SELECT member_id FROM member_search WHERE application_id = :applicationId AND handles IS NULL
     ORDER BY entry LIMIT :size) AS s
   JOIN application_users m ON m.id = s.member_id ${JOINS}
   WHERE ${[...filterSql(asked), ...behindSql(asked)].join(' AND ')} ORDER BY m.id`);

function behindSql({ after, order }: MembersAsked): string[] {
  if (after === null) return [];
  return [order === 'joined' ? 'm.id > :id' : '(m.last_seen_at, m.id) < (:lastSeenAt, :id)'];
}

/** @returns the query of the index; null if no word is long enough for it. */
function tokenQuery({ applicationId, terms: { words, parts } }: MembersAsked, { tokenQuery }: Dialect): string | null {
  const { and, or } = tokenQuery;
  const each = words.flatMap((word) => {
    const ofParts = parts.map((part) => tokensToFind(applicationId, part, word)).filter((tokens) => tokens.length > 0);
    return ofParts.length === 0 ? [] : [`(${ofParts.map((tokens) => `(${tokens.join(and)})`).join(or)})`];
  });
  return each.length === 0 ? null : each.join(and);
}

const countCandidates = query.count<{ applicationId: string; tokens: string; size: number }>(
  ({ tokenMatches }) => `SELECT CASE WHEN EXISTS (SELECT 1 FROM long_works WHERE kind = '${ENTER_MEMBERS}') THEN :size
     ELSE (SELECT count(*) FROM (${tokenMatches('member_search', ':tokens', ':size')}) AS candidates) + (SELECT count(*) FROM (
       SELECT 1 FROM member_search WHERE application_id = :applicationId AND handles IS NULL LIMIT :size) AS missing) END`,
);

const findCandidates = (asked: MembersAsked) =>
  query.rows<MemberPosition, object>(
    (dialect) => `SELECT m.last_seen_at AS "lastSeenAt", m.id
     FROM (${dialect.tokenMatches('member_search', ':tokens', ':size')}) AS c
     ${dialect.joinInOrder} member_search s ON s.entry = c.entry AND s.handles IS NOT NULL
     ${dialect.joinInOrder} application_users m ON m.id = s.member_id
     ${dialect.joinInOrder} users u ON u.id = coalesce(m.profile_user_id, m.user_id)
     WHERE m.application_id = :applicationId
       AND ${[...filterSql(asked), ...behindSql(asked), ...wordsSql(asked.terms, dialect)].join(' AND ')}
     ORDER BY ${ORDERS[asked.order].sorted} LIMIT :limit`,
  );

/**
 * Finds a page of members by the index, in order.
 * @returns null where a scan must find them: the words are too short or too common, or many rows are not indexed yet.
 */
export async function findIndexedMembers(
  reader: Reader,
  asked: MembersAsked,
  limit: number,
): Promise<MemberPosition[] | null> {
  const tokens = tokenQuery(asked, dialectOf(reader));
  if (tokens === null) return null;
  const values = { ...valuesOf(asked), size: MOST_CANDIDATES, limit, tokens };
  if ((await countCandidates(reader, values)) >= MOST_CANDIDATES) return null;
  // First, so that a member who is indexed between the two statements is in both, not in neither.
  const missing = await findMissing(asked)(reader, values);
  const indexed = await findCandidates(asked)(reader, values);
  const found = new Map<string, MemberPosition>();
  for (const { lastSeenAt, id, ...row } of missing) if (isMatch(row, asked.terms)) found.set(id, { lastSeenAt, id });
  for (const { lastSeenAt, id } of indexed) found.set(id, { lastSeenAt, id });
  return [...found.values()].sort((left, right) => (isBefore(asked.order, left, right) ? -1 : 1)).slice(0, limit);
}

const findById = (asked: MembersAsked) =>
  query.rows<MemberPosition, object>(
    `SELECT m.last_seen_at AS "lastSeenAt", m.id FROM application_users m ${JOINS}
     WHERE m.application_id = :applicationId AND ${[...filterSql(asked), ...behindSql(asked)].join(' AND ')}`,
  );

/** Finds the member with a whole id. */
export function findMemberByTerm(reader: Reader, asked: MembersAsked): Promise<MemberPosition[]> {
  return findById(asked)(reader, valuesOf(asked));
}
