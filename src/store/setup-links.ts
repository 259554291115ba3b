/** Setup links: single-use and expiring. Only the hash of a link's token is stored. */
import type { Unit } from '../db/database.ts';
import { change, query } from '../db/statements.ts';

const insertRow = change<{ tokenHash: Uint8Array; expiresAt: number }>(
  'INSERT INTO setup_links (token_hash, created_at, expires_at) VALUES (:tokenHash, :now, :expiresAt)',
);
const deleteAll = change('DELETE FROM setup_links');
const deleteSpent = change('DELETE FROM setup_links WHERE consumed_at IS NOT NULL OR expires_at <= :now');
const deleteOldest = change<number>(
  `DELETE FROM setup_links WHERE token_hash NOT IN (
     SELECT token_hash FROM setup_links ORDER BY created_at DESC LIMIT :keptLinks)`,
);

/** Bounds the links of a server that restarts again and again. */
const MAX_UNUSED = 10;

/** Adds a link and keeps earlier open ones valid, so that their holders need not find the newest. */
export async function addSetupLink(unit: Unit, tokenHash: Uint8Array, expiresAt: number): Promise<void> {
  await deleteSpent(unit);
  await deleteOldest(unit, MAX_UNUSED - 1);
  await insertRow(unit, { tokenHash, expiresAt });
}

export async function replaceSetupLinks(unit: Unit, tokenHash: Uint8Array, expiresAt: number): Promise<void> {
  await deleteAll(unit);
  await insertRow(unit, { tokenHash, expiresAt });
}

/** Returns whether the link exists, unused and not expired. */
export const isSetupLinkOpen = query.exists<{ tokenHash: Uint8Array; now: number }>(
  'SELECT expires_at FROM setup_links WHERE token_hash = :tokenHash AND consumed_at IS NULL AND expires_at > :now',
);

const consumeByHash = change<Uint8Array>(
  'UPDATE setup_links SET consumed_at = :now WHERE token_hash = :tokenHash AND consumed_at IS NULL AND expires_at > :now',
);

const deleteUnused = change('DELETE FROM setup_links WHERE consumed_at IS NULL');

/** Uses the link and deletes all others. @returns whether it existed, unused and not expired. */
export async function consumeSetupLink(unit: Unit, tokenHash: Uint8Array): Promise<boolean> {
  const isConsumed = (await consumeByHash(unit, tokenHash)) > 0;
  if (isConsumed) await deleteUnused(unit);
  return isConsumed;
}
