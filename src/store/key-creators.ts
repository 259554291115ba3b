/** Creators of API keys, and the keys that a person has created. */
import { and, eq, inArray, isNull } from 'drizzle-orm';
import type { Reader } from '../db/database.ts';
import { longRead, orm } from '../db/statements.ts';
import type { ApiKey, KeysBefore } from './api-keys.ts';
import { apiKeys } from './schema/credentials.ts';
import { applicationUsers, users } from './schema/users.ts';
import { workspaceMembers } from './schema/workspace-members.ts';

/** The person or key that received a key's token. */
export interface KeyCreator {
  readonly userId: string;
  /** Null for a key, and for a person outside the workspace. */
  readonly email: string | null;
  /** Null for a person. */
  readonly key: { readonly id: string; readonly name: string } | null;
}

/** Returns the creators of keys; of a person outside the workspace, only the id. @param userIds principals included. */
export async function findKeyCreators(
  reader: Reader,
  workspaceId: string,
  userIds: readonly string[],
): Promise<Map<string, KeyCreator>> {
  const ids = [...new Set(userIds)];
  if (ids.length === 0) return new Map();
  const seatHere = and(
    eq(workspaceMembers.userId, users.id),
    eq(workspaceMembers.workspaceId, workspaceId),
    isNull(workspaceMembers.invitedEmail),
  );
  const people = await orm(reader)
    .select({ email: users.email, userId: workspaceMembers.userId })
    .from(users)
    .innerJoin(workspaceMembers, seatHere)
    .where(inArray(users.id, ids));
  const keys = await orm(reader)
    .select({ userId: applicationUsers.userId, id: apiKeys.id, name: apiKeys.name })
    .from(applicationUsers)
    .innerJoin(users, eq(users.id, applicationUsers.userId))
    .innerJoin(apiKeys, eq(apiKeys.applicationUserId, applicationUsers.id))
    .where(
      and(
        inArray(applicationUsers.userId, ids),
        eq(users.kind, 'api_key'),
        eq(apiKeys.workspaceId, workspaceId),
        isNull(apiKeys.rotatedToId),
      ),
    );
  const emails = new Map(people.map(({ userId, email }) => [userId, email]));
  const named = new Map(keys.map(({ userId, id, name }) => [userId, { id, name }]));
  return new Map(
    ids.map((userId) => [userId, { userId, email: emails.get(userId) ?? null, key: named.get(userId) ?? null }]),
  );
}

export type MadeKey = Pick<ApiKey, 'id' | 'name' | 'prefix' | 'access' | 'applicationId' | 'createdAt' | 'lastUsedAt'>;

const SHOWN = `k.id, k.name, k.prefix, k.access, k.application_id AS "applicationId", k.created_at AS "createdAt",
  k.last_used_at AS "lastUsedAt"`;

const WORKS = `k.source <> 'device' AND k.device_key_id IS NULL AND k.revoked_at IS NULL AND k.ended_at IS NULL
  AND (k.expires_at IS NULL OR k.expires_at > :now) AND (k.grace_period_ends_at IS NULL OR k.grace_period_ends_at > :now)
  AND k.created_by_user_id IN (SELECT user_id FROM creators) AND k.id < :before
  AND EXISTS (SELECT 1 FROM application_users m WHERE m.id = k.application_user_id AND m.status = 'active')`;

/** The person, and the principals of keys that they or their keys have created, revoked ones included. */
const CREATORS = `WITH RECURSIVE creators (user_id) AS (
    SELECT id FROM users WHERE id = :userId
    UNION
    SELECT m.user_id FROM creators c JOIN api_keys k ON k.created_by_user_id = c.user_id
      JOIN application_users m ON m.id = k.application_user_id WHERE k.workspace_id = :workspaceId AND k.source <> 'device'
  )`;

const madeBy = longRead.rows<
  MadeKey,
  { workspaceId: string; userId: string; now: number; before: string; limit: number }
>(
  `${CREATORS} SELECT * FROM (
     SELECT ${SHOWN} FROM api_keys k WHERE k.workspace_id = :workspaceId AND k.application_id IS NULL AND ${WORKS}
     UNION ALL
     SELECT ${SHOWN} FROM applications a JOIN api_keys k ON k.application_id = a.id
     WHERE a.workspace_id = :workspaceId AND ${WORKS}
   ) AS made ORDER BY id DESC LIMIT :limit`,
);

/** Sorts after every id. */
const END = '~';

/**
 * Returns a page of the keys that a person, or a key of theirs, has created and that outlive their workspace
 * membership, newest first. Excludes keys made with a personal key, which end with it. A long read: no index helps.
 */
export function listKeysMadeBy(
  reader: Reader,
  creator: { readonly workspaceId: string; readonly userId: string },
  { before = END, limit, now }: KeysBefore & { readonly now: number },
): Promise<MadeKey[]> {
  return madeBy(reader, { ...creator, before, limit, now });
}
