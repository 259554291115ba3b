/** Identities at providers: the person that an issuer's subject identifies, and the workspace where it is valid. */
import { and, asc, eq, sql } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import type { Reader, Unit } from '../db/database.ts';
import { change, prepared, query } from '../db/statements.ts';
import { type ProviderIdentity, providerIdentities } from './schema/providers.ts';

export type { ProviderIdentity };

const { placeholder } = sql;

/** A person's immutable identifier at a provider. */
export type ProviderSubject = Pick<ProviderIdentity, 'issuer' | 'subject'>;

const COLUMNS = `id, user_id AS "userId", workspace_id AS "workspaceId", issuer, client_id AS "clientId", subject, email,
  linked_by_holder_at AS "linkedByHolderAt", created_at AS "createdAt", last_used_at AS "lastUsedAt"`;

/**
 * Returns a subject's identities valid in a workspace (null: the console), whichever client proved them.
 * Identities of the workspace come before those valid everywhere.
 */
export const listIdentitiesOfSubject = query.rows<ProviderIdentity, ProviderSubject & { workspaceId: string | null }>(
  `SELECT ${COLUMNS} FROM provider_identities
   WHERE issuer = :issuer AND subject = :subject AND (workspace_id IS NULL OR workspace_id = :workspaceId)
   ORDER BY workspace_id IS NULL, id`,
);

const identityOfPerson = prepared((db) =>
  db
    .select()
    .from(providerIdentities)
    .where(and(eq(providerIdentities.id, placeholder('id')), eq(providerIdentities.userId, placeholder('userId'))))
    .prepare(),
);

/** Returns an identity of this person; undefined for anyone else's. */
export async function findIdentityOf(
  reader: Reader,
  userId: string,
  id: string,
): Promise<ProviderIdentity | undefined> {
  const [identity] = await identityOfPerson(reader, { userId, id });
  return identity;
}

const identitiesOfPerson = prepared((db) =>
  db
    .select()
    .from(providerIdentities)
    .where(eq(providerIdentities.userId, placeholder('userId')))
    .orderBy(asc(providerIdentities.id))
    .prepare(),
);

/** Returns a person's identities in the order they were linked. */
export function listIdentitiesOf(reader: Reader, userId: string): Promise<ProviderIdentity[]> {
  return identitiesOfPerson(reader, { userId });
}

const insertRow = prepared((db) =>
  db
    .insert(providerIdentities)
    .values({
      id: placeholder('id'),
      userId: placeholder('userId'),
      workspaceId: placeholder('workspaceId'),
      issuer: placeholder('issuer'),
      clientId: placeholder('clientId'),
      subject: placeholder('subject'),
      email: placeholder('email'),
      linkedByHolderAt: placeholder('linkedByHolderAt'),
      createdAt: placeholder('createdAt'),
      lastUsedAt: placeholder('lastUsedAt'),
    })
    .prepare(),
);

/** Returns whether a workspace's provider claimed the identity, and the person has not linked it themselves. */
export function isClaim({
  workspaceId,
  linkedByHolderAt,
}: Pick<ProviderIdentity, 'workspaceId' | 'linkedByHolderAt'>): boolean {
  return workspaceId !== null && linkedByHolderAt === null;
}

type NewIdentity = Omit<ProviderIdentity, 'id' | 'linkedByHolderAt' | 'createdAt' | 'lastUsedAt'> &
  Partial<Pick<ProviderIdentity, 'linkedByHolderAt'>>;

export async function insertIdentity(
  unit: Unit,
  { linkedByHolderAt = null, ...identity }: NewIdentity,
): Promise<ProviderIdentity> {
  const { now } = unit;
  const row = { id: newId('providerIdentity', now), ...identity, linkedByHolderAt, createdAt: now, lastUsedAt: now };
  await insertRow(unit, row);
  return row;
}

/** Records a use now, with the provider's current address and the client that proved the identity. */
export const touchIdentity = change<Pick<ProviderIdentity, 'id' | 'email' | 'clientId'>>(
  'UPDATE provider_identities SET last_used_at = :now, email = :email, client_id = :clientId WHERE id = :id',
);

/** Records that the person linked an identity that a provider had claimed. */
export const noteLinkedByHolder = change<string>(
  'UPDATE provider_identities SET linked_by_holder_at = :now WHERE id = :id',
);

/** Deletes an identity. The caller ends the sessions that depend on it. */
export const deleteIdentity = change<string>('DELETE FROM provider_identities WHERE id = :id');

/** Deletes a person's identities linked at or after a time, and the ids in `more`. @returns the number deleted. */
export const deleteIdentitiesSince = change<{ userId: string; since: number; more: readonly string[] }>(
  ({ idList }) => `DELETE FROM provider_identities
   WHERE user_id = :userId AND (created_at >= :since OR id IN ${idList(':more')})`,
);

export const deleteIdentitiesOf = change<string>('DELETE FROM provider_identities WHERE user_id = :userId');
