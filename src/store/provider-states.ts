/** Flows in progress at identity providers, by the hash of `state`. */
import { and, eq, gt, isNull, sql } from 'drizzle-orm';
import type { Unit } from '../db/database.ts';
import { prepared } from '../db/statements.ts';
import { providerStates } from './schema/providers.ts';

const { placeholder } = sql;

export type ProviderState = typeof providerStates.$inferSelect;

const insertRow = prepared((db) =>
  db
    .insert(providerStates)
    .values({
      stateHash: placeholder('stateHash'),
      purpose: placeholder('purpose'),
      applicationId: placeholder('applicationId'),
      sessionId: placeholder('sessionId'),
      browserHash: placeholder('browserHash'),
      issuer: placeholder('issuer'),
      clientId: placeholder('clientId'),
      returnTo: placeholder('returnTo'),
      locale: placeholder('locale'),
      timezone: placeholder('timezone'),
      createdAt: placeholder('createdAt'),
      expiresAt: placeholder('expiresAt'),
    })
    .prepare(),
);

/** @param state contains hashes of its secrets, never the secrets. */
export async function insertProviderState(
  unit: Unit,
  state: Omit<ProviderState, 'createdAt' | 'consumedAt'>,
): Promise<void> {
  await insertRow(unit, { ...state, createdAt: unit.now });
}

const useUp = prepared((db) =>
  db
    .update(providerStates)
    .set({ consumedAt: sql`${placeholder('now')}` })
    .where(
      and(
        eq(providerStates.stateHash, placeholder('stateHash')),
        eq(providerStates.browserHash, placeholder('browserHash')),
        isNull(providerStates.consumedAt),
        gt(providerStates.expiresAt, placeholder('now')),
      ),
    )
    .returning()
    .prepare(),
);

/** Marks a state as used, atomically. @returns undefined if it is unknown, expired, used, or another browser's. */
export async function consumeProviderState(
  unit: Unit,
  hashes: Pick<ProviderState, 'stateHash' | 'browserHash'>,
): Promise<ProviderState | undefined> {
  const [consumed] = await useUp(unit, { ...hashes, now: unit.now });
  return consumed;
}
