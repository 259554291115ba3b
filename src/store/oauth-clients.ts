/** OAuth clients: the OpenID settings of applications, and clients that registered themselves. */
import { eq, sql } from 'drizzle-orm';
import type { Reader, Unit } from '../db/database.ts';
import { note, orm, prepared } from '../db/statements.ts';
import { type Application, applications } from './schema/applications.ts';
import { type OAuthClientRow, oauthClients } from './schema/oauth.ts';

export { OAUTH_CLIENT_KINDS, type OAuthClientRow, type PublicJwk, SIGNING_ALGORITHMS } from './schema/oauth.ts';

const byClientId = prepared((db) =>
  db
    .select()
    .from(oauthClients)
    .where(eq(oauthClients.clientId, sql.placeholder('clientId')))
    .prepare(),
);

/** Returns a client's settings, also of one that has ended by `expiresAt`; undefined if OpenID was never set up for it. */
export async function findOAuthClient(reader: Reader, clientId: string): Promise<OAuthClientRow | undefined> {
  const [row] = await byClientId(reader, { clientId });
  return row;
}

const withApplication = prepared((db) =>
  db
    .select({ client: oauthClients, application: applications })
    .from(oauthClients)
    .innerJoin(applications, eq(applications.id, oauthClients.applicationId))
    .where(eq(oauthClients.clientId, sql.placeholder('clientId')))
    .prepare(),
);

/** Works like {@link findOAuthClient}, with the application that its people sign in to, in any state. */
export async function findClientWithApplication(
  reader: Reader,
  clientId: string,
): Promise<{ readonly client: OAuthClientRow; readonly application: Application } | undefined> {
  const [row] = await withApplication(reader, { clientId });
  return row;
}

/** Columns that an application's settings give. */
export type OAuthClientSettings = Omit<OAuthClientRow, 'name' | 'expiresAt' | 'createdAt' | 'updatedAt'>;

/** Inserts or replaces the settings of an application's own client. */
export async function saveOAuthClient(unit: Unit, settings: OAuthClientSettings): Promise<OAuthClientRow> {
  const row = { ...settings, name: null, expiresAt: null, createdAt: unit.now, updatedAt: unit.now };
  const { clientId: _id, createdAt: _created, ...changed } = row;
  const [saved] = await orm(unit)
    .insert(oauthClients)
    .values(row)
    .onConflictDoUpdate({ target: oauthClients.clientId, set: changed })
    .returning();
  return saved as OAuthClientRow;
}

/**
 * Switches an application's own client off. Its row stays until retention: logout tokens are signed as it asked for.
 *
 * @returns the number of clients that were on.
 */
export const endOAuthClient = note<string>(
  'UPDATE oauth_clients SET expires_at = :now WHERE client_id = :clientId AND expires_at IS NULL',
);

/** Inserts a client that registered itself (RFC 7591). */
export async function insertRegisteredClient(
  unit: Unit,
  row: Omit<OAuthClientRow, 'createdAt' | 'updatedAt'>,
): Promise<void> {
  await orm(unit)
    .insert(oauthClients)
    .values({ ...row, createdAt: unit.now, updatedAt: unit.now });
}

/** Moves the expiry of a client that registered itself. An application's own has none. */
export const noteClientUsed = note<{ clientId: string; expiresAt: number }>(
  'UPDATE oauth_clients SET expires_at = :expiresAt WHERE client_id = :clientId AND expires_at IS NOT NULL',
);
