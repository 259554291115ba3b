/** Activity lists, read from the audit log, newest first. Filters without an index are scanned for in batches. */
import { and, eq, inArray, sql } from 'drizzle-orm';
import { familiesBeginning } from '../core/audit.ts';
import type { Reader } from '../db/database.ts';
import { longRead, orm, prepared, query, type Sql, sqlOf } from '../db/statements.ts';
import type { AuditNotice, AuditRecord } from './audit.ts';
import { auditRecords } from './schema/records.ts';

export interface AuditScope {
  readonly workspaceId: string;
  /** Null for the whole workspace. */
  readonly applicationId: string | null;
}

/** Filters of an activity list; absent ones do not apply. */
export interface AuditFilter {
  readonly ok?: boolean | undefined;
  /** Prefix of the kind. */
  readonly family?: string | undefined;
  /** Upper case. */
  readonly country?: string | undefined;
  /** The person the record is about. */
  readonly userId?: string | undefined;
  /** The person or key's principal that acted. */
  readonly actorUserId?: string | undefined;
  readonly actorApiKeyId?: string | undefined;
  /** The object the record is about. */
  readonly targetId?: string | undefined;
  readonly requestId?: string | undefined;
  /** Full address, normalized. */
  readonly email?: string | undefined;
  /** The reason in its detail, such as the error code of a refusal. */
  readonly reason?: string | undefined;
  /** Substring of the address, in lower case. */
  readonly needle?: string | undefined;
  /** Time range in epoch milliseconds; `to` is exclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Cursor: the list continues after this record. */
export type AuditPosition = readonly [createdAt: number, id: string];

/** Conditions served by an index in time order, and conditions to scan for, each with its column. */
interface Plan {
  readonly known: readonly Sql[];
  readonly looked: readonly (readonly [column: string, condition: Sql])[];
}

/** Literal, to match the partial indexes of refusals. */
const IS_REFUSED = 'ok = 0';

const IS_OF_COUNTRY = 'ip_country = :country';
const IS_OF_EMAIL = 'email = :email';

/** Filters by an id, the most selective first. `hasWorkspace` tells whether the workspace is in the filter's index. */
const ID_FILTERS = [
  { name: 'requestId', column: 'request_id', hasWorkspace: false },
  { name: 'targetId', column: 'target_id', hasWorkspace: false },
  { name: 'userId', column: 'user_id', hasWorkspace: true },
  { name: 'actorApiKeyId', column: 'actor_api_key_id', hasWorkspace: false },
  { name: 'actorUserId', column: 'actor_user_id', hasWorkspace: true },
] as const;

const IN_WORKSPACE = 'workspace_id = :workspaceId';

function planOf({ applicationId }: AuditScope, filter: AuditFilter): Plan {
  const { ok, family, country, email, reason, needle } = filter;
  const home = applicationId === null ? IN_WORKSPACE : 'application_id = :applicationId';
  const known: Sql[] = [home];
  const looked: (readonly [string, Sql])[] = [];
  const isKnown = { refused: false, email: false, family: false, country: false };
  const [byId, ...otherIds] = ID_FILTERS.filter(({ name }) => filter[name] !== undefined);
  if (byId) {
    const { name, column, hasWorkspace } = byId;
    known.splice(0, 1, `${column} = :${name}`);
    known.push(hasWorkspace ? IN_WORKSPACE : ({ unindexed }) => `${unindexed('workspace_id')} = :workspaceId`);
    for (const other of otherIds) looked.push([other.column, `${other.column} = :${other.name}`]);
    if (applicationId !== null) looked.push(['application_id', home]);
  } else if (ok === false && (email === undefined || applicationId !== null)) {
    isKnown.refused = true;
    known.push(IS_REFUSED);
    isKnown.email = email !== undefined;
    if (isKnown.email) known.push(IS_OF_EMAIL);
  } else if (email !== undefined) {
    isKnown.email = true;
    known.splice(0, 1, IN_WORKSPACE, IS_OF_EMAIL);
    if (applicationId !== null) known.push(home);
  } else if (family !== undefined && familiesBeginning(family).length < 2) {
    isKnown.family = family.length <= wholeFamily(family).length;
    known.push('family = :wholeFamily');
  } else if (country !== undefined && applicationId !== null) {
    isKnown.country = true;
    known.push(IS_OF_COUNTRY);
  }
  if (ok !== undefined && !isKnown.refused) looked.push(['ok', `ok = ${ok ? 1 : 0}`]);
  if (family !== undefined && !isKnown.family) looked.push(['kind', `substr(kind, 1, ${family.length}) = :family`]);
  if (country !== undefined && !isKnown.country) looked.push(['ip_country', IS_OF_COUNTRY]);
  if (email !== undefined && !isKnown.email) looked.push(['email', IS_OF_EMAIL]);
  if (reason !== undefined) looked.push(['detail', ({ jsonText }) => `${jsonText('detail', 'reason')} = :reason`]);
  if (needle !== undefined)
    looked.push(['email', ({ textPosition }) => `${textPosition("lower(coalesce(email, ''))", ':needle')} > 0`]);
  return { known, looked };
}

function allOf(conditions: readonly Sql[]): Exclude<Sql, string> {
  return (dialect) => conditions.map((condition) => sqlOf(condition, dialect)).join(' AND ');
}

function wholeFamily(family: string): string {
  return familiesBeginning(family)[0] ?? family;
}

function rangeOf({ from, to }: AuditFilter, after: AuditPosition | null): string[] {
  return [
    ...(from === undefined ? [] : ['created_at >= :from']),
    ...(to === undefined ? [] : ['created_at < :to']),
    ...(after === null ? [] : ['(created_at, id) < (:afterTime, :afterId)']),
  ];
}

function valuesOf(scope: AuditScope, filter: AuditFilter, after: AuditPosition | null) {
  const [afterTime, afterId] = after ?? [];
  return { ...scope, ...filter, wholeFamily: wholeFamily(filter.family ?? ''), afterTime, afterId };
}

/** Returns whether an index serves the whole filter. */
export function isIndexed(scope: AuditScope, filter: AuditFilter): boolean {
  return planOf(scope, filter).looked.length === 0;
}

/** Returns a page of records, newest first. Requires {@link isIndexed}. */
export async function listAuditRecords(
  reader: Reader,
  scope: AuditScope,
  filter: AuditFilter,
  { after, limit }: { readonly after: AuditPosition | null; readonly limit: number },
): Promise<AuditPosition[]> {
  const conditions = [...planOf(scope, filter).known, ...rangeOf(filter, after)];
  const list = query.rows<{ createdAt: number; id: string }, object>(
    (dialect) =>
      `SELECT created_at AS "createdAt", id FROM audit_records WHERE ${allOf(conditions)(dialect)}
     ORDER BY created_at DESC, id DESC LIMIT :limit`,
  );
  const rows = await list(reader, { ...valuesOf(scope, filter, after), limit });
  return rows.map(({ createdAt, id }) => [createdAt, id]);
}

/** Records that are read for a list of addresses; with more, a scan by time finds a page sooner. */
const MOST_OF_ADDRESSES = 10_000;

/** Joined in this order, so that SQLite reads no record of another address. */
const OF_ADDRESSES: Sql = ({ jsonRows, joinInOrder }) =>
  `(SELECT email FROM ${jsonRows(':emails', { email: 'text' })}) AS e ${joinInOrder} audit_records r
   ON r.workspace_id = :workspaceId AND r.email = e.email`;

const countOfAddresses = query.count<{ workspaceId: string; emails: readonly object[]; most: number }>(
  (dialect) => `SELECT count(*) FROM (SELECT 1 FROM ${sqlOf(OF_ADDRESSES, dialect)} LIMIT :most) AS records`,
);

/**
 * Returns a page of the records that have one of these addresses, newest first.
 * @returns null where the addresses have so many records that a scan finds a page sooner.
 */
export async function listAuditRecordsOf(
  reader: Reader,
  scope: AuditScope,
  { needle: _, ...filter }: AuditFilter,
  { emails, after, limit }: { emails: readonly string[]; after: AuditPosition | null; limit: number },
): Promise<AuditPosition[] | null> {
  if (emails.length === 0) return [];
  const addressed = { workspaceId: scope.workspaceId, emails: emails.map((email) => ({ email })) };
  if ((await countOfAddresses(reader, { ...addressed, most: MOST_OF_ADDRESSES })) >= MOST_OF_ADDRESSES) return null;
  const { known, looked } = planOf(scope, filter);
  const conditions = [...known, ...looked.map(([, condition]) => condition), ...rangeOf(filter, after)];
  // The limit inside keeps the planner from reading all records by time.
  const list = query.rows<{ createdAt: number; id: string }, object>(
    (dialect) => `SELECT r.created_at AS "createdAt", r.id FROM (
       SELECT r.* FROM ${sqlOf(OF_ADDRESSES, dialect)} LIMIT :most) AS r
     WHERE ${allOf(conditions)(dialect)} ORDER BY r.created_at DESC, r.id DESC LIMIT :limit`,
  );
  const values = { ...valuesOf(scope, filter, after), ...addressed, most: 2 * MOST_OF_ADDRESSES, limit };
  return (await list(reader, values)).map(({ createdAt, id }) => [createdAt, id]);
}

export async function findAuditRecord(
  reader: Reader,
  { workspaceId, applicationId }: AuditScope,
  id: string,
): Promise<AuditRecord | undefined> {
  const isWithin =
    applicationId === null ? eq(auditRecords.workspaceId, workspaceId) : eq(auditRecords.applicationId, applicationId);
  const [row] = await orm(reader)
    .select()
    .from(auditRecords)
    .where(and(eq(auditRecords.id, id), isWithin));
  return row;
}

const recordsAfter = (column: 'workspaceId' | 'applicationId') =>
  prepared((orm) =>
    orm
      .select()
      .from(auditRecords)
      .where(
        and(
          eq(auditRecords[column], sql.placeholder('owner')),
          sql`(${auditRecords.createdAt}, ${auditRecords.id}) > (${sql.placeholder('at')}, ${sql.placeholder('id')})`,
        ),
      )
      .orderBy(auditRecords.createdAt, auditRecords.id)
      .limit(sql.placeholder('limit'))
      .prepare(),
  );
const workspaceRecordsAfter = recordsAfter('workspaceId');
const applicationRecordsAfter = recordsAfter('applicationId');

/** Returns records in order, from the one after a position on. @param after null for the first. */
export function listAuditRecordsAfter(
  reader: Reader,
  { workspaceId, applicationId }: AuditScope,
  after: AuditPosition | null,
  limit: number,
): Promise<AuditRecord[]> {
  const [at, id] = after ?? [0, ''];
  return applicationId === null
    ? workspaceRecordsAfter(reader, { owner: workspaceId, at, id, limit })
    : applicationRecordsAfter(reader, { owner: applicationId, at, id, limit });
}

const idsFrom = (column: 'workspace_id' | 'application_id') =>
  query.values<string, { owner: string; from: number; limit: number }>(
    `SELECT id FROM audit_records WHERE ${column} = :owner AND created_at >= :from
     ORDER BY created_at DESC, id DESC LIMIT :limit`,
  );
const workspaceIdsFrom = idsFrom('workspace_id');
const applicationIdsFrom = idsFrom('application_id');

/** Returns the newest ids of records from a time on. */
export function listAuditIdsFrom(
  reader: Reader,
  { workspaceId, applicationId }: AuditScope,
  within: { readonly from: number; readonly limit: number },
): Promise<string[]> {
  return applicationId === null
    ? workspaceIdsFrom(reader, { owner: workspaceId, ...within })
    : applicationIdsFrom(reader, { owner: applicationId, ...within });
}

/** Returns the newest notices of workspaces' records from a time on, newest first. */
export const listAuditNotices = query.rows<
  AuditNotice,
  { workspaceIds: readonly string[]; from: number; limit: number }
>(
  ({
    idList,
  }) => `SELECT id, application_id AS "applicationId", workspace_id AS "workspaceId", user_id AS "userId", kind,
     created_at AS "createdAt"
   FROM audit_records WHERE workspace_id IN ${idList(':workspaceIds')} AND created_at >= :from
   ORDER BY created_at DESC, id DESC LIMIT :limit`,
);

export async function findAuditRecords(reader: Reader, ids: readonly string[]): Promise<Map<string, AuditRecord>> {
  if (ids.length === 0) return new Map();
  const rows = await orm(reader)
    .select()
    .from(auditRecords)
    .where(inArray(auditRecords.id, [...ids]));
  return new Map(rows.map((row) => [row.id, row]));
}

export interface AuditScan {
  /** Matches, newest first, at most `limit`. */
  readonly matches: readonly AuditPosition[];
  readonly last: AuditPosition | null;
  readonly scanned: number;
}

export interface AuditSearch {
  readonly after: AuditPosition | null;
  readonly size: number;
  readonly limit: number;
}

/** Scans the next batch of records for conditions without an index. A long read. */
export async function scanAuditRecords(
  reader: Reader,
  scope: AuditScope,
  filter: AuditFilter,
  { after, size, limit }: AuditSearch,
): Promise<AuditScan> {
  const plan = planOf(scope, filter);
  const known = [...plan.known, ...rangeOf(filter, after)];
  const looked = allOf(plan.looked.map(([, condition]) => condition));
  // Only the columns needed, so that the covering index of refusals is enough.
  const columns = [...new Set(['created_at', 'id', ...plan.looked.map(([column]) => column)])];
  const scan = longRead.rows<{ role: 'match' | 'last'; createdAt: number; id: string; scanned: number }, object>(
    (dialect) => `WITH stretch AS (
       SELECT ${columns.join(', ')} FROM audit_records
       WHERE ${allOf(known)(dialect)}
       ORDER BY created_at DESC, id DESC LIMIT :size
     )
     SELECT * FROM (
       SELECT 'match' AS role, created_at AS "createdAt", id, 0 AS scanned FROM stretch
       WHERE ${looked(dialect)}
       ORDER BY created_at DESC, id DESC LIMIT :limit
     ) AS matches
     UNION ALL
     SELECT * FROM (
       SELECT 'last' AS role, created_at AS "createdAt", id, (SELECT count(*) FROM stretch) AS scanned FROM stretch
       ORDER BY created_at, id LIMIT 1
     ) AS ends`,
  );
  const rows = await scan(reader, { ...valuesOf(scope, filter, after), size, limit });
  const end = rows.find(({ role }) => role === 'last');
  return {
    matches: rows.filter(({ role }) => role === 'match').map(({ createdAt, id }) => [createdAt, id] as const),
    last: end ? [end.createdAt, end.id] : null,
    scanned: end?.scanned ?? 0,
  };
}
