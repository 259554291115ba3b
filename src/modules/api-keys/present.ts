import { isoTime } from '../../core/clock.ts';
import type { Reader } from '../../db/database.ts';
import { KEY_DAY, KEY_MINUTE, keySubject } from '../../http/limits.ts';
import type { RateLimiter } from '../../http/rate-limit.ts';
import type { HeldKey } from '../../store/api-keys.ts';
import type { HeldGrants } from '../../store/grants.ts';
import { findKeyCreators, type KeyCreator } from '../../store/key-creators.ts';
import type { ApiKeyRecord } from './model.ts';

export function creatorsOf(
  reader: Reader,
  workspaceId: string,
  keys: readonly HeldKey[],
): Promise<Map<string, KeyCreator>> {
  return findKeyCreators(
    reader,
    workspaceId,
    keys.flatMap(({ key }) => key.createdByUserId ?? []),
  );
}

/** Presents keys without their secrets. @param limiter provides usage counts from memory. */
export function presenter(limiter: Pick<RateLimiter, 'used'>) {
  return (
    { key, userId }: HeldKey,
    { roles, scopes, memberships }: HeldGrants,
    creators: ReadonlyMap<string, KeyCreator>,
  ): ApiKeyRecord => {
    const subject = keySubject(key.source === 'device', { keyId: key.id, userId });
    return {
      id: key.id,
      name: key.name,
      prefix: key.prefix,
      access: key.access,
      applicationId: key.applicationId,
      applicationIds: key.applicationIds,
      userId,
      source: key.source,
      createdBy: (key.createdByUserId !== null && creators.get(key.createdByUserId)) || null,
      deviceKeyId: key.deviceKeyId,
      roles,
      scopes,
      memberships,
      rateLimits: { perMinute: key.perMinute, perDay: key.perDay },
      usage: { minute: limiter.used(KEY_MINUTE, subject), day: limiter.used(KEY_DAY, subject) },
      expiresAt: isoTime(key.expiresAt),
      revokedAt: isoTime(key.revokedAt),
      rotatedToId: key.rotatedToId,
      gracePeriodEndsAt: isoTime(key.gracePeriodEndsAt),
      lastUsedAt: isoTime(key.lastUsedAt),
      createdAt: isoTime(key.createdAt),
      updatedAt: isoTime(key.updatedAt),
    };
  };
}
