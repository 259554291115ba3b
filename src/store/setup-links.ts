/** Setup links: single-use, with a time by which they have to be used. Only the hash of a link's token is kept. */
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

/** Of a server that is started again and again. */
const MAX_UNUSED = 10;

/** Makes a link beside those that are still good: whoever holds one need not look for the newest. */
export async function addSetupLink(unit: Unit, tokenHash: Uint8Array, expiresAt: number): Promise<void> {
  await deleteSpent(unit, unit.now);
  await deleteOldest(unit, MAX_UNUSED - 1);
  await insertRow(unit, tokenHash, unit.now, expiresAt);
}

/** Makes a link, in place of all before. */
export async function replaceSetupLinks(unit: Unit, tokenHash: Uint8Array, expiresAt: number): Promise<void> {
  await deleteAll(unit);
  await insertRow(unit, tokenHash, unit.now, expiresAt);
}

const openByHash = raw<{ expiresAt: number }, [Uint8Array, number]>(
  'SELECT expires_at AS "expiresAt" FROM setup_links WHERE token_hash = ? AND consumed_at IS NULL AND expires_at > ?',
);

/** Whether the link is there, unused and in time. */
export async function isSetupLinkOpen(reader: Reader, tokenHash: Uint8Array, now: number): Promise<boolean> {
  return (await openByHash(reader, tokenHash, now)).length > 0;
}

const consumeByHash = rawChange<[number, Uint8Array, number]>(
  'UPDATE setup_links SET consumed_at = ? WHERE token_hash = ? AND consumed_at IS NULL AND expires_at > ?',
);

const deleteUnused = rawChange('DELETE FROM setup_links WHERE consumed_at IS NULL');

/** Uses the link up, and all others with it. @returns whether it was there, unused and in time. */
export async function consumeSetupLink(unit: Unit, tokenHash: Uint8Array): Promise<boolean> {
  const isConsumed = (await consumeByHash(unit, unit.now, tokenHash, unit.now)) > 0;
  if (isConsumed) await deleteUnused(unit);
  return isConsumed;
}
