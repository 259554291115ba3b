import { isoTime } from '../../core/clock.ts';
import type { Reader } from '../../db/database.ts';
import { KEY_DAY, KEY_MINUTE, keySubject } from '../../http/limits.ts';
import type { RateLimiter } from '../../http/rate-limit.ts';
import type { HeldKey } from '../../store/api-keys.ts';
import type { HeldGrants } from '../../store/grants.ts';
import { findKeyCreators, type KeyCreator } from '../../store/key-creators.ts';
import type { ApiKeyRecord } from './model.ts';

function creatorsOf(reader: Reader, workspaceId: string, keys: readonly HeldKey[]): Promise<Map<string, KeyCreator>> {
  return findKeyCreators(
    reader,
    workspaceId,
    keys.flatMap(({ key }) => key.createdByUserId ?? []),
  );
}

function subjectOf({ key, userId }: HeldKey): string {
  return keySubject(key.source === 'device', { keyId: key.id, userId });
}

/** Parts of a key's record from other tables. */
export interface KeySurroundings {
  readonly creators: ReadonlyMap<string, KeyCreator>;
  /** Uses in the current minute and day, by the subject of the limits. */
  readonly minute: ReadonlyMap<string, number>;
  readonly day: ReadonlyMap<string, number>;
}

/** Reads the parts of keys' records from other tables, in a constant number of statements. */
export async function surroundingsOf(
  reader: Reader,
  limiter: Pick<RateLimiter, 'used'>,
  workspaceId: string,
  keys: readonly HeldKey[],
): Promise<KeySurroundings> {
  const subjects = keys.map(subjectOf);
  return {
    creators: await creatorsOf(reader, workspaceId, keys),
    minute: await limiter.used(KEY_MINUTE, subjects, reader),
    day: await limiter.used(KEY_DAY, subjects, reader),
  };
}

/** Presents a key without its secret. */
export function presentKey(
  held: HeldKey,
  { roles, scopes, memberships }: HeldGrants,
  { creators, minute, day }: KeySurroundings,
): ApiKeyRecord {
  const { key, userId } = held;
  const subject = subjectOf(held);
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
    usage: { minute: minute.get(subject) ?? 0, day: day.get(subject) ?? 0 },
    expiresAt: isoTime(key.expiresAt),
    revokedAt: isoTime(key.revokedAt),
    rotatedToId: key.rotatedToId,
    gracePeriodEndsAt: isoTime(key.gracePeriodEndsAt),
    lastUsedAt: isoTime(key.lastUsedAt),
    createdAt: isoTime(key.createdAt),
    updatedAt: isoTime(key.updatedAt),
  };
}
