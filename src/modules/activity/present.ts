import { isoTime } from '../../core/clock.ts';
import type { AuditRecord } from '../../store/audit.ts';
import type { AuthEvent } from './model.ts';

export function presentRecord(row: AuditRecord): AuthEvent {
  const { id, applicationId, kind, ok, userId, email, actorUserId, actorApiKeyId, targetId, requestId } = row;
  return {
    id,
    applicationId,
    kind,
    ok,
    userId,
    email,
    actorType: row.actorType as AuthEvent['actorType'],
    actorUserId,
    actorApiKeyId,
    targetId,
    requestId,
    ip: row.ip,
    ipCountry: row.ipCountry,
    detail: row.detail,
    createdAt: isoTime(row.createdAt),
  };
}
