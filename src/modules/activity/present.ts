import { isoTime } from '../../core/clock.ts';
import type { AuditRecord } from '../../store/audit.ts';
import type { AuditNames } from '../../store/audit-names.ts';
import type { AuthEvent } from './model.ts';

/** @param maySeeNames whether the caller may see names of people: a key with read access sees addresses only. */
export function presentRecord(row: AuditRecord, names: AuditNames, maySeeNames: boolean): AuthEvent {
  const { id, applicationId, kind, ok, userId, email, actorUserId, actorApiKeyId, targetId, requestId } = row;
  const userName = maySeeNames ? names.subjectOf(row) : null;
  return {
    id,
    applicationId,
    kind,
    ok,
    userId,
    userName,
    email,
    actorType: row.actorType as AuthEvent['actorType'],
    actorUserId,
    actorApiKeyId,
    actorName: actorName(row, names, maySeeNames, userName),
    targetId,
    targetName: recordedName(row) ?? (targetId === null ? null : names.things.get(targetId)) ?? slugOf(row),
    requestId,
    ip: row.ip,
    ipCountry: row.ipCountry,
    detail: row.detail,
    createdAt: isoTime(row.createdAt),
  };
}

function actorName(
  { actorType, actorUserId, actorApiKeyId, userId, email }: AuditRecord,
  { people, things }: AuditNames,
  maySeeNames: boolean,
  userName: string | null,
): string | null {
  if (actorType === 'key') return actorApiKeyId === null ? null : (things.get(actorApiKeyId) ?? null);
  if (actorType !== 'user' || actorUserId === null) return null;
  if (actorUserId === userId) return userName ?? email;
  const person = people.get(actorUserId);
  return (maySeeNames && person?.name) || (person?.email ?? null);
}

/** Parts of a record's detail that name its object. */
const NAMES = ['name', 'device', 'issuer'] as const;

function recordedName({ detail }: AuditRecord): string | null {
  for (const part of NAMES) {
    const name = detail?.[part];
    if (typeof name === 'string' && name !== '') return name;
  }
  return null;
}

function slugOf({ detail }: AuditRecord): string | null {
  const slug = detail?.['slug'];
  return typeof slug === 'string' ? slug : null;
}
