/** The audit log, written in the change it describes. `audit-lists.ts` reads activity from it. */
import { eq } from 'drizzle-orm';
import type { Actor } from '../core/actor.ts';
import type { AuditEntry } from '../core/audit.ts';
import { newId } from '../core/id.ts';
import { type Reader, topic, topicForAll, type Unit } from '../db/database.ts';
import { note, orm, pipelined, query } from '../db/statements.ts';
import { findEmailOfPerson } from './people.ts';
import { auditRecords } from './schema/records.ts';

export type AuditRecord = typeof auditRecords.$inferSelect;

/** Published for each record, in order. */
export const AUDIT_RECORDED = topic<AuditRecord>('audit recorded');

/** Notice of a record for open streams, without personal data. */
export type AuditNotice = Pick<AuditRecord, 'id' | 'applicationId' | 'workspaceId' | 'userId' | 'kind' | 'createdAt'>;

/** Published for each record, on every instance. */
export const AUDIT_NOTICED = topicForAll<AuditNotice>('audit');

const insertRecord = note.row<Pick<AuditRecord, 'workspaceId'>, Omit<AuditRecord, 'ok'> & { readonly ok: 0 | 1 }>(
  `INSERT INTO audit_records (id, application_id, workspace_id, kind, ok, user_id, email, actor_type, actor_user_id,
     actor_api_key_id, target_id, request_id, ip, ip_country, detail, created_at)
   VALUES (:id, :applicationId,
     coalesce(:workspaceId, (SELECT workspace_id FROM applications WHERE id = :applicationId)), :kind, :ok, :userId, :email,
     :actorType, :actorUserId, :actorApiKeyId, :targetId, :requestId, :ip, :ipCountry, :detail, :createdAt)
   RETURNING workspace_id AS "workspaceId"`,
);

/**
 * Records an action, atomically with the change. @returns the record's id.
 * @param actor replaces the change's actor where a workspace must not learn who and where that is.
 */
export async function recordAudit(unit: Unit, entry: AuditEntry, actor: Actor = unit.actor): Promise<string> {
  const { now } = unit;
  const id = newId('audit', now);
  const record = {
    id,
    applicationId: entry.applicationId ?? null,
    kind: entry.kind,
    ok: entry.ok ?? true,
    userId: entry.userId ?? null,
    // Activity is searchable by the person's address.
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
  };
  const workspaceId = await insert(unit, { ...record, workspaceId: entry.workspaceId ?? null });
  unit.publish(AUDIT_RECORDED, { ...record, workspaceId });
  const { applicationId, userId, kind, createdAt } = record;
  unit.publish(AUDIT_NOTICED, { id, applicationId, workspaceId, userId, kind, createdAt });
  return id;
}

/** @returns the record's workspace; without one given, that of the application. */
async function insert(unit: Unit, record: AuditRecord): Promise<string | null> {
  const row = { ...record, ok: record.ok ? 1 : 0 } as const;
  if (record.workspaceId === null) return (await insertRecord(unit, row))?.workspaceId ?? null;
  await pipelined(unit, () => insertRecord(unit, row));
  return record.workspaceId;
}

/** Returns the passkeys and identities that were added in a session which has changed the person's address since. */
export const listAddedByMovers = query.values<string, { userId: string; since: number }>(
  ({ jsonText }) => `SELECT w.target_id FROM audit_records w
   WHERE w.user_id = :userId AND w.kind IN ('passkey.added', 'provider.linked') AND ${jsonText('w.detail', 'sessionId')} IN (
     SELECT c.target_id FROM audit_records c
     WHERE c.user_id = :userId AND c.kind = 'account.email_changed' AND c.created_at >= :since)`,
);

const interestMoves = query.rows<WaitlistMove, { userId: string; since: number }>(
  `SELECT target_id AS "interestId", application_id AS "applicationId", email AS "from" FROM audit_records
   WHERE user_id = :userId AND kind = 'beta.moved' AND created_at >= :since AND email IS NOT NULL ORDER BY id`,
);

/** A waitlist entry that was moved to its person's new address. */
export interface WaitlistMove {
  readonly interestId: string;
  readonly applicationId: string;
  /** The address before the move. */
  readonly from: string;
}

/** Returns the person's waitlist entries moved since a time, each with its original address. */
export async function listWaitlistMoves(reader: Reader, userId: string, since: number): Promise<WaitlistMove[]> {
  const first = new Map<string, WaitlistMove>();
  for (const move of await interestMoves(reader, { userId, since }))
    if (!first.has(move.interestId)) first.set(move.interestId, move);
  return [...first.values()];
}

/** Updates the progress detail of a record whose action spans several changes. */
export async function amendAudit(unit: Unit, id: string, detail: Record<string, unknown>): Promise<void> {
  await orm(unit).update(auditRecords).set({ detail }).where(eq(auditRecords.id, id));
}
