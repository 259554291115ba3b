/**
 * Search text of members (`member_search`), for `member-search.ts`. Triggers of the tables that it derives from enter
 * each member, empty the text in the change that makes it wrong, and delete it with the member; a job fills what is empty.
 */
import { displayName } from '../core/display-name.ts';
import { foldText } from '../core/search-text.ts';
import { tokensOf } from '../core/search-tokens.ts';
import type { Unit } from '../db/database.ts';
import { note, query } from '../db/statements.ts';
import type { ReservedProfile } from './schema/users.ts';

/** Columns that the search text of a member derives from. */
export interface SearchedRow {
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

/** Selects a {@link SearchedRow} from a membership `m` and the account `u` whose profile it shows. */
export const SEARCHED_COLUMNS = `u.email, m.username, u.name, u.full_name AS "fullName", u.given_name AS "givenName",
  u.family_name AS "familyName", m.reserved_email AS "reservedEmail", m.reserved_profile AS "reservedProfile",
  m.profile_user_id AS "profileUserId"`;

export interface SearchText {
  readonly handles: string;
  readonly names: string;
}

/** Returns the folded text that a member is found by: of a reservation the reserved data, never its person's. */
export function searchTextOf({ email, username, ...row }: SearchedRow): SearchText {
  const { reservedEmail, reservedProfile, profileUserId, ...names } = row;
  const isReserved = reservedEmail !== null && profileUserId === null;
  const reserved = reservedProfile === null ? null : (JSON.parse(reservedProfile) as ReservedProfile);
  const name = isReserved ? reserved && displayName({ ...reserved, name: null }) : displayName(names);
  return { handles: foldText(`${reservedEmail ?? email}\n${username ?? ''}`), names: foldText(name ?? '') };
}

const KEY_TEXT = { handles: '', names: '', tokens: '' };

const missing = query.rows<SearchedRow & { entry: number; applicationId: string; kind: 'person' | 'api_key' }, number>(
  `SELECT s.entry, m.application_id AS "applicationId", u.kind, ${SEARCHED_COLUMNS}
   FROM (SELECT * FROM member_search WHERE handles IS NULL ORDER BY application_id, entry LIMIT :limit) AS s
   JOIN application_users m ON m.id = s.member_id JOIN users u ON u.id = coalesce(m.profile_user_id, m.user_id)
   ORDER BY s.entry`,
);

const setTexts = note<{ texts: readonly object[] }>(
  ({ jsonRows }) => `UPDATE member_search SET handles = filled.handles, names = filled.names, tokens = filled.tokens
   FROM (SELECT * FROM ${jsonRows(':texts', { entry: 'integer', handles: 'text', names: 'text', tokens: 'text' })}) AS filled
   WHERE member_search.entry = filled.entry`,
);

/** Indexes about `limit` members whose text is missing. @returns how many it has indexed. */
export async function indexMissing(unit: Unit, limit: number): Promise<number> {
  const rows = await missing(unit, limit);
  if (rows.length === 0) return 0;
  const texts = rows.map(({ entry, applicationId, kind, ...row }) => {
    if (kind !== 'person') return { entry, ...KEY_TEXT };
    const { handles, names } = searchTextOf(row);
    const tokens = new Set([
      ...tokensOf(applicationId, 'handles', handles),
      ...tokensOf(applicationId, 'names', names),
    ]);
    return { entry, handles, names, tokens: [...tokens].join(' ') };
  });
  await setTexts(unit, { texts });
  return rows.length;
}

export const hasMissing = query.exists('SELECT 1 FROM member_search WHERE handles IS NULL LIMIT 1');

/** Kind of the background task that a migration has begun; while there is one, the index lacks members. */
export const ENTER_MEMBERS = 'users.enter_search';

const lastOfBatch = query.row<{ last: string | null; rows: number }, { after: string; limit: number }>(
  `SELECT max(id) AS last, count(*) AS rows
   FROM (SELECT id FROM application_users WHERE id > :after ORDER BY id LIMIT :limit) AS batch`,
);
const enterBatch = note<{ after: string; last: string }>(
  `INSERT INTO member_search (member_id, application_id)
   SELECT id, application_id FROM application_users WHERE id > :after AND id <= :last ON CONFLICT DO NOTHING`,
);

/** Enters members from before the table existed, to be indexed. @returns the last of the batch; null at the end. */
export async function enterMembers(
  unit: Unit,
  after: string,
  limit: number,
): Promise<{ last: string | null; rows: number }> {
  const { last = null, rows = 0 } = (await lastOfBatch(unit, { after, limit })) ?? {};
  if (last !== null) await enterBatch(unit, { after, last });
  return { last, rows };
}
