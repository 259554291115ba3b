/** Identity provider clients that applications bring themselves. */
import { eq, inArray, sql } from 'drizzle-orm';
import type { Reader, Unit } from '../db/database.ts';
import { orm, prepared } from '../db/statements.ts';
import { providerClients } from './schema/providers.ts';

const { placeholder } = sql;

export type ProviderClient = typeof providerClients.$inferSelect;

const clientOfApplication = prepared((db) =>
  db
    .select()
    .from(providerClients)
    .where(eq(providerClients.applicationId, placeholder('applicationId')))
    .prepare(),
);

/** Returns an application's client, with its secret still sealed. */
export async function findProviderClient(reader: Reader, applicationId: string): Promise<ProviderClient | undefined> {
  const [client] = await clientOfApplication(reader, { applicationId });
  return client;
}

export async function listProviderClients(
  reader: Reader,
  applicationIds: readonly string[],
): Promise<ReadonlyMap<string, Pick<ProviderClient, 'issuer' | 'clientId'>>> {
  if (applicationIds.length === 0) return new Map();
  const { applicationId, issuer, clientId } = providerClients;
  const rows = await orm(reader)
    .select({ applicationId, issuer, clientId })
    .from(providerClients)
    .where(inArray(applicationId, [...applicationIds]));
  return new Map(rows.map((row) => [row.applicationId, row]));
}

export async function putProviderClient(
  unit: Unit,
  applicationId: string,
  client: Pick<ProviderClient, 'issuer' | 'clientId' | 'sealedSecret' | 'name'>,
): Promise<void> {
  const { now } = unit;
  await orm(unit)
    .insert(providerClients)
    .values({ applicationId, ...client, createdAt: now, updatedAt: now })
    .onConflictDoUpdate({ target: providerClients.applicationId, set: { ...client, updatedAt: now } });
}

export async function deleteProviderClient(unit: Unit, applicationId: string): Promise<ProviderClient | undefined> {
  const [removed] = await orm(unit)
    .delete(providerClients)
    .where(eq(providerClients.applicationId, applicationId))
    .returning();
  return removed;
}
