/** Authorization codes (RFC 6749 §4.1.2). Only the hash of a code is stored. */
import { MINUTE } from '../../core/clock.ts';
import type { Random } from '../../core/random.ts';
import { hashSecret, mintSecret } from '../../core/secret.ts';
import type { Unit } from '../../db/database.ts';
import { insertOAuthCode, type NewOAuthCode } from '../../store/oauth-codes.ts';

/** RFC 6749 §4.1.2 recommends at most ten minutes, RFC 9700 a short time. */
export const AUTHORIZATION_CODE_LIFETIME_MS = MINUTE;

const MAX_USER_AGENT = 300;

/** The sign-in that a code stands for. Address and country are those of the unit's actor, who is the person. */
export type CodeToIssue = Omit<NewOAuthCode, 'codeHash' | 'expiresAt' | 'ip' | 'ipCountry'>;

/**
 * Issues a code in the caller's change, which must have checked that the page's session lives and the person may sign in.
 *
 * @returns the code in plain text.
 */
export async function issueCode(unit: Unit, random: Random, code: CodeToIssue): Promise<string> {
  const text = mintSecret('authorizationCode', random);
  const { ip, ipCountry } = unit.actor;
  await insertOAuthCode(unit, {
    ...code,
    userAgent: code.userAgent?.slice(0, MAX_USER_AGENT) ?? null,
    codeHash: hashSecret(text),
    ip,
    ipCountry,
    expiresAt: unit.now + AUTHORIZATION_CODE_LIFETIME_MS,
  });
  return text;
}
