/** Tells which values of a browser's cookies this server has issued, before each is read: anybody can send hundreds. */
import { equalDigests } from '../../core/instance-key.ts';
import { pageSecretOf } from '../../core/page-secret.ts';
import { hashSecret, isSecret } from '../../core/secret.ts';
import type { Reader } from '../../db/database.ts';
import { findHeldHashes } from '../../store/page-sessions.ts';

/** Maximum number of values of one request that are offered. */
export const MAX_VALUES = 30;

/** Returns whether a value has the form of a page secret or of a session's token. */
export function isWellFormed(value: string): boolean {
  return isSecret('session', value) || pageSecretOf(value) !== null;
}

/** Looks well-formed values up. @returns those that open a session, ended or not. */
export async function knownValues(reader: Reader, values: readonly string[]): Promise<Set<string>> {
  const tokens = values
    .filter((value) => isSecret('session', value))
    .map((value) => ({ value, hash: hashSecret(value) }));
  const secrets = values.flatMap((value) => {
    const secret = pageSecretOf(value);
    return secret === null ? [] : [{ value, ...secret }];
  });
  const sessionIds = [...new Set(secrets.map(({ sessionId }) => sessionId))];
  const held = await findHeldHashes(reader, { sessionIds, tokenHashes: tokens.map(({ hash }) => hash) });
  const byId = new Map(held.map(({ sessionId, pageTokenHash }) => [sessionId, pageTokenHash]));
  const knownSecrets = secrets.filter(({ sessionId, token }) => {
    const hash = byId.get(sessionId);
    return hash != null && equalDigests(hash, hashSecret(token));
  });
  const knownTokens = tokens.filter(({ hash }) => held.some(({ tokenHash }) => equalDigests(tokenHash, hash)));
  return new Set([...knownSecrets, ...knownTokens].map(({ value }) => value));
}
