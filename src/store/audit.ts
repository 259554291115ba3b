/** The audit trail: what was done, by whom, recorded in the change itself; and an application's activity, read from it. */
import { and, desc, eq, inArray, sql } from 'drizzle-orm';
import { type AuditEntry, familiesBeginning } from '../core/audit.ts';
import { newId } from '../core/id.ts';
import type { Reader, Unit } from '../db/database.ts';
import { longRead, orm, prepared, raw } from '../db/statements.ts';
import { findEmailOfPerson } from './people.ts';
import { auditRecords } from './schema/records.ts';

const { placeholder } = sql;

export type AuditRecord = typeof auditRecords.$inferSelect;

const insertRecord = prepared((orm) =>
  orm
    .insert(auditRecords)
    .values({
      id: placeholder('id'),
      applicationId: placeholder('applicationId'),
      // What is done in an application is done in its workspace.
      workspaceId: sql`coalesce(${placeholder('workspaceId')},
        (SELECT workspace_id FROM applications WHERE id = ${placeholder('applicationId')}))`,
      kind: placeholder('kind'),
      ok: placeholder('ok'),
      userId: placeholder('userId'),
      email: placeholder('email'),
      actorType: placeholder('actorType'),
      actorUserId: placeholder('actorUserId'),
      actorApiKeyId: placeholder('actorApiKeyId'),
      targetId: placeholder('targetId'),
      requestId: placeholder('requestId'),
      ip: placeholder('ip'),
      ipCountry: placeholder('ipCountry'),
      detail: placeholder('detail'),
      createdAt: placeholder('createdAt'),
    })
    .prepare(),
);

/**
 * Puts one thing that happened on record, with the change's actor and time. Together with the change, or not at all.
 *
 * @returns the record's id.
 */
export async function recordAudit(unit: Unit, entry: AuditEntry): Promise<string> {
  const { actor, now } = unit;
  const id = newId('audit', now);
  await insertRecord(unit, {
    id,
    applicationId: entry.applicationId ?? null,
    workspaceId: entry.workspaceId ?? null,
    kind: entry.kind,
    ok: entry.ok ?? true,
    userId: entry.userId ?? null,
    // Activity is searched by the person's address.
    email:
      entry.email ?? (entry.userId ? await findEmailOfPerson(unit, entry.userId, entry.applicationId ?? null) : null),
    actorType: actor.type,
    actorUserId: actor.userId,
    actorApiKeyId: actor.apiKeyId,
    targetId: entry.targetId ?? null,
    requestId: actor.requestId,
    ip: actor.ip,
    ipCountry: actor.ipCountry,
    detail: entry.detail ?? null,
    createdAt: now,
  });
  return id;
}

const addedByMovers = raw<{ targetId: string }, [string, number]>(
  `SELECT w.target_id AS targetId FROM audit_records w
   WHERE w.user_id = ?1 AND w.kind IN ('passkey.added', 'provider.linked') AND w.detail ->> '$.sessionId' IN (
     SELECT c.target_id FROM audit_records c
     WHERE c.user_id = ?1 AND c.kind = 'account.email_changed' AND c.created_at >= ?2)`,
);

/** The passkeys and identities of a person that came by a session that has changed their address since. */
export async function listAddedByMovers(reader: Reader, userId: string, since: number): Promise<string[]> {
  return (await addedByMovers(reader, userId, since)).map(({ targetId }) => targetId);
}

/** For what is done in several changes and is one thing on record: says how far it is by now. */
export async function amendAudit(unit: Unit, id: string, detail: Record<string, unknown>): Promise<void> {
  await orm(unit).update(auditRecords).set({ detail }).where(eq(auditRecords.id, id));
}

/** Which records of an application; what is absent is not asked for. */
export interface AuditFilter {
  readonly applicationId: string;
  readonly ok?: boolean | undefined;
  /** What the kind begins with. */
  readonly family?: string | undefined;
  /** Upper case. */
  readonly country?: string | undefined;
}

/** Where a list goes on: behind this record. */
export type AuditPosition = readonly [createdAt: number, id: string];

/** The families are what an index knows; the rest of the prefix is looked at. */
function familyOf(prefix: string) {
  return { families: familiesBeginning(prefix), length: prefix.length };
}

function isOfFamily(prefix: string) {
  const { families, length } = familyOf(prefix);
  const [family = ''] = families;
  const isOne = families.length > 1 ? inArray(sql`family`, families) : sql`family = ${family}`;
  return and(isOne, family === prefix ? undefined : sql`substr(${auditRecords.kind}, 1, ${length}) = ${prefix}`);
}

/** Records, newest first; answered by an index. */
export async function listAuditRecords(
  reader: Reader,
  { applicationId, ok, family, country }: AuditFilter,
  { after, limit }: { readonly after: AuditPosition | null; readonly limit: number },
): Promise<AuditRecord[]> {
  const { createdAt, id, ipCountry } = auditRecords;
  return orm(reader)
    .select()
    .from(auditRecords)
    .where(
      and(
        eq(auditRecords.applicationId, applicationId),
        // Written out, so that the partial index of errors is recognised.
        ok === undefined ? undefined : ok ? sql`ok = 1` : sql`ok = 0`,
        family === undefined ? undefined : isOfFamily(family),
        country === undefined ? undefined : eq(ipCountry, country),
        after === null ? undefined : sql`(${createdAt}, ${id}) < (${after[0]}, ${after[1]})`,
      ),
    )
    .orderBy(desc(createdAt), desc(id))
    .limit(limit);
}

/** Records by id, in no order. */
export async function findAuditRecords(reader: Reader, ids: readonly string[]): Promise<Map<string, AuditRecord>> {
  if (ids.length === 0) return new Map();
  const rows = await orm(reader)
    .select()
    .from(auditRecords)
    .where(inArray(auditRecords.id, [...ids]));
  return new Map(rows.map((row) => [row.id, row]));
}

/** What looking through a stretch of records has found. */
export interface AuditScan {
  /** Those that match, newest first; no more than were asked for. */
  readonly matches: readonly AuditPosition[];
  /** The last record looked at; null where there was none. */
  readonly last: AuditPosition | null;
  readonly scanned: number;
}

/** How far to look, and for what. */
export interface AuditSearch {
  readonly after: AuditPosition | null;
  /** In lower case. */
  readonly needle: string;
  /** How many records to look at. */
  readonly stretch: number;
  /** How many matches to give. */
  readonly limit: number;
}

/** Looks through the next records for a piece of an address: no index answers that, so it is a long read. */
export async function scanAuditRecords(
  reader: Reader,
  { applicationId, ok, family, country }: AuditFilter,
  { after, needle, stretch, limit }: AuditSearch,
): Promise<AuditScan> {
  const conditions: [string, ...(string | number)[]][] = [['application_id = ?', applicationId]];
  if (ok !== undefined) conditions.push([`ok = ${ok ? 1 : 0}`]);
  if (family !== undefined) {
    const { families, length } = familyOf(family);
    conditions.push([`family IN (${families.map(() => '?').join(', ')})`, ...families]);
    conditions.push([`substr(kind, 1, ${length}) = ?`, family]);
  }
  if (country !== undefined) conditions.push(['ip_country = ?', country]);
  if (after !== null) conditions.push(['(created_at, id) < (?, ?)', ...after]);
  const scan = longRead<{ role: 'match' | 'last'; createdAt: number; id: string; scanned: number }>(
    `WITH stretch AS (
       SELECT created_at, id, email FROM audit_records
       WHERE ${conditions.map(([condition]) => condition).join(' AND ')}
       ORDER BY created_at DESC, id DESC LIMIT ${stretch}
     )
     SELECT * FROM (
       SELECT 'match' AS role, created_at AS "createdAt", id, 0 AS scanned FROM stretch
       WHERE instr(lower(coalesce(email, '')), ?) > 0
       ORDER BY created_at DESC, id DESC LIMIT ${limit}
     ) AS matches
     UNION ALL
     SELECT * FROM (
       SELECT 'last' AS role, created_at AS "createdAt", id, (SELECT count(*) FROM stretch) AS scanned FROM stretch
       ORDER BY created_at, id LIMIT 1
     ) AS ends`,
  );
  const rows = await scan(reader, ...conditions.flatMap(([, ...values]) => values), needle);
  const end = rows.find(({ role }) => role === 'last');
  return {
    matches: rows.filter(({ role }) => role === 'match').map(({ createdAt, id }) => [createdAt, id] as const),
    last: end ? [end.createdAt, end.id] : null,
    scanned: end?.scanned ?? 0,
  };
}
