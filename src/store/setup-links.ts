/** Setup links: single-use and expiring. Only the hash of a link's token is stored. */
import type { Reader, Unit } from '../db/database.ts';
import { raw, rawChange } from '../db/statements.ts';

const insertRow = rawChange<[Uint8Array, number, number]>(
  'INSERT INTO setup_links (token_hash, created_at, expires_at) VALUES (?, ?, ?)',
);
const deleteAll = rawChange('DELETE FROM setup_links');
const deleteSpent = rawChange<[number]>('DELETE FROM setup_links WHERE consumed_at IS NOT NULL OR expires_at <= ?');
const deleteOldest = rawChange<[number]>(
  'DELETE FROM setup_links WHERE token_hash NOT IN (SELECT token_hash FROM setup_links ORDER BY created_at DESC LIMIT ?)',
);

/** Bounds the links of a server that restarts again and again. */
const MAX_UNUSED = 10;

/** Adds a link and keeps earlier open ones valid, so that their holders need not find the newest. */
export async function addSetupLink(unit: Unit, tokenHash: Uint8Array, expiresAt: number): Promise<void> {
  await deleteSpent(unit, unit.now);
  await deleteOldest(unit, MAX_UNUSED - 1);
  await insertRow(unit, tokenHash, unit.now, expiresAt);
}

export async function replaceSetupLinks(unit: Unit, tokenHash: Uint8Array, expiresAt: number): Promise<void> {
  await deleteAll(unit);
  await insertRow(unit, tokenHash, unit.now, expiresAt);
}

const openByHash = raw<{ expiresAt: number }, [Uint8Array, number]>(
  'SELECT expires_at AS "expiresAt" FROM setup_links WHERE token_hash = ? AND consumed_at IS NULL AND expires_at > ?',
);

/** Returns whether the link exists, unused and not expired. */
export async function isSetupLinkOpen(reader: Reader, tokenHash: Uint8Array, now: number): Promise<boolean> {
  return (await openByHash(reader, tokenHash, now)).length > 0;
}

const consumeByHash = rawChange<[number, Uint8Array, number]>(
  'UPDATE setup_links SET consumed_at = ? WHERE token_hash = ? AND consumed_at IS NULL AND expires_at > ?',
);

const deleteUnused = rawChange('DELETE FROM setup_links WHERE consumed_at IS NULL');

/** Uses the link and deletes all others. @returns whether it existed, unused and not expired. */
export async function consumeSetupLink(unit: Unit, tokenHash: Uint8Array): Promise<boolean> {
  const isConsumed = (await consumeByHash(unit, unit.now, tokenHash, unit.now)) > 0;
  if (isConsumed) await deleteUnused(unit);
  return isConsumed;
}
