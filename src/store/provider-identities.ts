/** People's identities at providers: which subject of which client stands for whom, and in which workspace. */
import { and, asc, eq, sql } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import type { Reader, Unit } from '../db/database.ts';
import { prepared, raw, rawChange } from '../db/statements.ts';
import { type ProviderIdentity, providerIdentities } from './schema/providers.ts';

export type { ProviderIdentity };

const { placeholder } = sql;

/** Who somebody is at a provider; never changes. */
export type ProviderSubject = Pick<ProviderIdentity, 'issuer' | 'subject'>;

const COLUMNS = `id, user_id AS "userId", workspace_id AS "workspaceId", issuer, client_id AS "clientId", subject, email,
  linked_by_holder_at AS "linkedByHolderAt", created_at AS "createdAt", last_used_at AS "lastUsedAt"`;

const identitiesOfSubject = raw<ProviderIdentity, [string, string, string | null]>(
  `SELECT ${COLUMNS} FROM provider_identities
   WHERE issuer = ? AND subject = ? AND (workspace_id IS NULL OR workspace_id = ?)
   ORDER BY workspace_id IS NULL, id`,
);

/**
 * Whom a subject stands for in a workspace (null: in the console), whichever client proved it: what counts there alone goes
 * before what counts everywhere.
 */
export function listIdentitiesOfSubject(
  reader: Reader,
  { issuer, subject }: ProviderSubject,
  workspaceId: string | null,
): Promise<ProviderIdentity[]> {
  return identitiesOfSubject(reader, issuer, subject, workspaceId);
}

const identityOfPerson = prepared((db) =>
  db
    .select()
    .from(providerIdentities)
    .where(and(eq(providerIdentities.id, placeholder('id')), eq(providerIdentities.userId, placeholder('userId'))))
    .prepare(),
);

/** One of this person's own. */
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

/** In the order they were connected. */
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

type NewIdentity = Omit<ProviderIdentity, 'id' | 'linkedByHolderAt' | 'createdAt' | 'lastUsedAt'> &
  Partial<Pick<ProviderIdentity, 'linkedByHolderAt'>>;

/** Makes a subject a sign-in method of a person. */
export async function insertIdentity(
  unit: Unit,
  { linkedByHolderAt = null, ...identity }: NewIdentity,
): Promise<ProviderIdentity> {
  const { now } = unit;
  const row = { id: newId('providerIdentity', now), ...identity, linkedByHolderAt, createdAt: now, lastUsedAt: now };
  await insertRow(unit, row);
  return row;
}

const touchRow = rawChange<[number, string | null, string | null, string]>(
  'UPDATE provider_identities SET last_used_at = ?, email = ?, client_id = ? WHERE id = ?',
);

/** It was used now. @param known the address that the provider gave last, and the client that proved it. */
export async function touchIdentity(
  unit: Unit,
  id: string,
  { email, clientId }: Pick<ProviderIdentity, 'email' | 'clientId'>,
): Promise<void> {
  await touchRow(unit, unit.now, email, clientId, id);
}

const setLinked = rawChange<[number, string]>('UPDATE provider_identities SET linked_by_holder_at = ? WHERE id = ?');

/** Notes that the person has connected an identity that a provider had claimed. */
export async function noteLinkedByHolder(unit: Unit, id: string): Promise<void> {
  await setLinked(unit, unit.now, id);
}

const deleteRow = rawChange<[string]>('DELETE FROM provider_identities WHERE id = ?');

/** The subject signs nobody in from now on; the sessions that rest on it are the caller's affair. */
export async function deleteIdentity(unit: Unit, id: string): Promise<void> {
  await deleteRow(unit, id);
}

const deleteRowsSince = rawChange<[string, number, string]>(
  `DELETE FROM provider_identities
   WHERE user_id = ? AND (created_at >= ? OR id IN (SELECT value FROM json_each(?)))`,
);

/** Those of a person that were connected at a time or later, and some more. @returns how many there were. */
export function deleteIdentitiesSince(
  unit: Unit,
  userId: string,
  since: number,
  more: readonly string[],
): Promise<number> {
  return deleteRowsSince(unit, userId, since, JSON.stringify(more));
}

const deleteRowsOf = rawChange<[string]>('DELETE FROM provider_identities WHERE user_id = ?');

/** All of a person who is gone. */
export async function deleteIdentitiesOf(unit: Unit, userId: string): Promise<void> {
  await deleteRowsOf(unit, userId);
}
