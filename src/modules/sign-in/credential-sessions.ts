/** Ends the sessions of a sign-in method that its person removes. */
import type { SessionPrincipal } from '../../core/principal.ts';
import type { SignInMethod } from '../../core/sign-in-methods.ts';
import type { Unit } from '../../db/database.ts';
import { endSessions } from '../sessions/end.ts';

export interface RemovedCredential {
  readonly credentialId: string;
  readonly method: SignInMethod;
}

/**
 * Ends all of the credential's sessions, the asking one included: a thief of the credential has no others.
 *
 * @param isAll also ends all other sessions within reach of the asking one. @returns how many ended.
 */
export async function endWithCredential(
  unit: Unit,
  { userId, workspaceId, sessionId }: SessionPrincipal,
  credential: RemovedCredential,
  isAll: boolean,
): Promise<number> {
  const ended = await endSessions(unit, { userId, ...credential }, 'credential_removed');
  if (!isAll) return ended;
  return ended + (await endSessions(unit, { userId, workspaceId, exceptSessionId: sessionId }, 'revoked_by_user'));
}
