/** Setup links: single-use, with a time by which they have to be used. Only the hash of a link's token is kept. */
import type { Reader, Unit } from '../db/database.ts';
import { raw, rawChange } from '../db/statements.ts';

const deleteAll = rawChange('DELETE FROM setup_links');
const insertRow = rawChange<[Uint8Array, number, number]>(
  'INSERT INTO setup_links (token_hash, created_at, expires_at) VALUES (?, ?, ?)',
);

/** Makes a link, in place of the one before. */
export async function replaceSetupLinks(unit: Unit, tokenHash: Uint8Array, expiresAt: number): Promise<void> {
  await deleteAll(unit);
  await insertRow(unit, tokenHash, unit.now, expiresAt);
}

const openByHash = raw<{ expiresAt: number }, [Uint8Array, number]>(
  'SELECT expires_at AS expiresAt FROM setup_links WHERE token_hash = ? AND consumed_at IS NULL AND expires_at > ?',
);

/** Whether the link is there, unused and in time. */
export async function isSetupLinkOpen(reader: Reader, tokenHash: Uint8Array, now: number): Promise<boolean> {
  return (await openByHash(reader, tokenHash, now)).length > 0;
}

const consumeByHash = rawChange<[number, Uint8Array, number]>(
  'UPDATE setup_links SET consumed_at = ? WHERE token_hash = ? AND consumed_at IS NULL AND expires_at > ?',
);

/** Uses the link up. @returns whether it was there, unused and in time. */
export async function consumeSetupLink(unit: Unit, tokenHash: Uint8Array): Promise<boolean> {
  return (await consumeByHash(unit, unit.now, tokenHash, unit.now)) > 0;
}
